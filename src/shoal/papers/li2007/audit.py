"""The tables of the slides, audited: levels, what the attacks find, and in which classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal import catalog
from shoal.attacks import SensitiveAttack
from shoal.base.threads import cached_property
from shoal.flow.audit import Audit, audit
from shoal.hierarchies.values import text
from shoal.io.frames import open_frame
from shoal.models import Model
from shoal.models import _distances as distances
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.papers.li2007.slides import DISEASE, SALARY, SLIDES, Person, Slide, Stated
from shoal.plan import Plan
from shoal.table.published_table import Published, read_published
from shoal.table.sensitive import Histogram

ATTACKS = ("homogeneity", "background-knowledge", "similarity", "skewness")
Counted = Literal["rows", "once"]  # whether Q counts every row, or every value once


def closeness(slide: Slide, column: str, t: float = 1.0) -> TCloseness:
    """t-closeness as the slides measure the column: by rank, by tree, or neither."""
    if column == SALARY:
        return TCloseness(column=column, t=t, distance="ordered")
    tree = slide.columns[column].hierarchy is not None
    return TCloseness(column=column, t=t, distance="hierarchical" if tree else "equal")


@dataclass(frozen=True)
class Judged:
    """A table of the slides with its audit."""

    slide: Slide
    audit: Audit
    published: Published

    @cached_property
    def names(self) -> list[str]:
        """What each class is published as."""
        seen = self.published
        return [
            ", ".join(
                text(values[code])
                for values, code in zip(seen.values, seen.codes[row], strict=True)
            )
            for row in seen.classes.first
        ]

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns."""
        return list(self.published.classes.histograms)

    def level(self, model: str, column: str | None = None) -> float:
        """A level of the audit."""
        return self.audit.levels[model if column is None else f"{model}[{column}]"]

    def histogram(self, column: str, counted: Counted = "rows") -> Histogram:
        """The values of a column, class by class."""
        histogram = self.published.classes.histograms[column]
        if counted == "once":
            return replace(histogram, total=np.minimum(histogram.total, 1))
        return histogram

    def distances(self, column: str, counted: Counted) -> list[float]:
        """The Earth Mover's Distance of each class from the table."""
        measure = distances.ordered if column == SALARY else distances.hierarchical
        found: list[float] = measure(self.histogram(column, counted)).tolist()
        return found

    def found(self, attack: str, column: str) -> list[str]:
        """The classes in which an attack succeeds."""
        make = catalog.attacks[attack]()
        assert isinstance(make, SensitiveAttack)
        victims = make.victims(self.histogram(column))
        return [name for name, victim in zip(self.names, victims, strict=True) if victim]

    def class_of(self, person: Person) -> str:
        """The one class in which a person can be."""
        known = (person.zip, str(person.age))
        (name,) = [
            name
            for name in self.names
            if all(covers(*pair) for pair in zip(name.split(", "), known, strict=True))
        ]
        return name

    def values(self, column: str, name: str) -> Counter[str]:
        """How often a class has each value."""
        label, content = self.published.classes.label, self.slide.content[column]
        wanted = self.names.index(name)
        return Counter(text(content[row]) for row in np.flatnonzero(label == wanted))

    def belief(self, column: str, name: str, value: str) -> float:
        """The share of a class that has a value."""
        values = self.values(column, name)
        return values[value] / values.total()


def covers(published: str, value: str) -> bool:
    """Whether a published value of the slides may represent an original one.

    >>> covers("476**", "47678"), covers("2*", "32"), covers("≥ 40", "43"), covers("≤ 40", "43")
    (True, False, True, False)
    """
    if published.startswith("≥ "):
        return int(value) >= int(published[2:])
    if published.startswith("≤ "):
        return int(value) <= int(published[2:])
    return len(published) == len(value) and all(
        shown in ("*", hidden) for shown, hidden in zip(published, value, strict=True)
    )


def judge(slide: Slide) -> Judged:
    """Audit one table, against its original if the slides show it."""
    about = [name for name in (SALARY, DISEASE) if name in slide.columns]
    models: list[Model] = [KAnonymity(k=2)]  # what is asked for does not matter: levels are read
    for column in about:
        models += [DistinctLDiversity(column=column, l=2), EntropyLDiversity(column=column, l=2)]
        models.append(closeness(slide, column))
    plan = Plan(columns=slide.columns, models=models)
    found = audit(slide.frame, plan, original=slide.original and _frame(slide))
    return Judged(slide, found, read_published(open_frame(slide.frame), plan.columns))


def _frame(slide: Slide) -> object:
    return slide._replace(content=slide.original or {}).frame


def judge_all() -> dict[str, Judged]:
    """Audit every table of the slides, by its name."""
    return {slide.name: judge(slide) for slide in SLIDES}


def distance(tables: Mapping[str, Judged], stated: Stated, counted: Counted) -> float:
    """Our number for a distance that the slides state."""
    table = tables[stated.table]
    found = table.distances(stated.column, counted)
    if stated.of_class is None:
        return max(found)
    return found[table.names.index(stated.of_class)]


def shares(values: Sequence[str], counts: Mapping[str, int]) -> list[float]:
    """The share of each value, of all that are counted."""
    total = sum(counts.values())
    return [counts.get(value, 0) / total for value in values]


def plain_distances(table: Judged, column: str) -> dict[str, npt.NDArray[np.float64]]:
    """The two distances that the slides consider insufficient."""
    histogram = table.histogram(column)
    return {
        "variational distance": distances.equal(histogram),
        "Kullback-Leibler distance": distances.kl(histogram),
    }
