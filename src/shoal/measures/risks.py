"""Risks: the probability that a record is re-identified."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.base.errors import BadTable, did_you_mean, preview
from shoal.hierarchies.values import text
from shoal.kernels.group import group_rows
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, of_people
from shoal.table.match_graph import MatchGraph
from shoal.table.population.population import Population
from shoal.table.published_table import Published, places

# What to do about a population that lacks people of the table.
INCOMPLETE = (
    "; or set incomplete = true under [population] to count the people of the table as people of "
    "the population where it has fewer"
)


@dataclass(frozen=True)
class Risks:
    """Re-identification risks, from 0 to 1.

    A record in a class of 5 people has a risk of 1/5. Averages are over records, not over classes:
    most classes are small, but most records are not in small classes. If the table has a person
    column, there are averages over people too, as a person with many records counts many times
    in an average over records.

    Three attackers (El Emam and Dankar 2008, 2010). The *prosecutor* looks for one person who is
    known to be in the table. The *journalist* does not know who is in the table and matches a
    record with a whole population; without a table of the population there is no number. The
    *marketer* links every record to a person and counts the correct links: to people of the
    population if there is one, otherwise to people of the table, where it equals the average.
    """

    prosecutor: float  # the highest risk of any record, among the people of the table
    average: float  # the mean risk over records, among the people of the table
    unique: float  # the share of records that are alone in their class
    marketer: float  # the share of records linked correctly if all are linked at once
    journalist: float | None = None  # the highest risk of any record, among the population
    # The same over people; None: the table has no person column.
    average_over_people: float | None = None  # the mean risk over people
    unique_people: float | None = None  # the share of people who are unique
    marketer_over_people: float | None = None  # the share of people linked correctly

    @property
    def mean(self) -> float:
        """The mean risk over people, as limits judge it; without a person column, over records."""
        return self.average if self.average_over_people is None else self.average_over_people

    def as_dict(self) -> dict[str, float | None]:
        """The risks by name; those over people only if the table has a person column."""
        return {
            name: chance
            for name, chance in asdict(self).items()
            if chance is not None or not name.endswith("people")
        }


def risks(
    published: Published,
    population: Published | Table | None = None,
    linkage: MatchGraph | None = None,
) -> Risks:
    """The risks in a table; with a `linkage`, for an attacker who knows all originals.

    `population` is a table of all people who could be in this one, including those who are. As a
    Published it is generalized in the same way; as a Table it has original values, encoded with
    the hierarchies of the plan.
    """
    candidates = published.classes.candidates if linkage is None else linkage.candidates
    weight = published.weight if linkage is None else None
    average = _mean_risk(candidates, weight)
    marketer, journalist = average, None
    each: Longs | None = None  # int64[people]
    if linkage is None and published.people is not None:
        each = of_people(candidates, published.people)
    often = published.person_weight  # int64[people], how many people each stands for
    average_people = None if each is None else _mean_risk(each, often)
    marketer_people = average_people
    if population is not None:
        outside = _outside(published, population)  # int64[n]
        marketer, journalist = _mean_risk(outside, weight), 1.0 / int(outside.min())
        if each is not None and published.people is not None:
            marketer_people = _mean_risk(of_people(outside, published.people), often)
    return Risks(
        prosecutor=1.0 / int(candidates.min()),
        average=average,
        unique=float(np.average(candidates == 1, weights=weight)),
        marketer=marketer,
        journalist=journalist,
        average_over_people=average_people,
        unique_people=(None if each is None else float(np.average(each == 1, weights=often))),
        marketer_over_people=marketer_people,
    )


def record_risks(published: Published, population: Published | Table | None = None) -> Floats:
    """The risk of each record, float64[n]: the prosecutor's, or the journalist's."""
    if population is None:
        return 1.0 / published.classes.candidates
    return 1.0 / _outside(published, population)


def people_outside(published: Published, population: Published | Table) -> Longs:
    """The people of the population whom the class of each record covers, int64[n]."""
    return _covered(published, population)[published.classes.label]


def _mean_risk(candidates: Longs, weight: Longs | None = None) -> float:
    """The mean of 1 / candidates, summed in an order that is independent of that of records."""
    if candidates.max() <= len(candidates):  # sorting takes longer
        records = np.bincount(candidates, weight)  # by number of candidates
        size = np.flatnonzero(records)
        records = records[size]
    else:
        size, place = np.unique(candidates, return_inverse=True)
        records = np.bincount(place, weight)
    return float((records / size).sum() / records.sum())


def _outside(published: Published, population: Published | Table) -> Longs:
    """The candidates of each record in the population, int64[n]."""
    found = people_outside(published, population)
    if published.people is not None:
        # The records of a person are linked: a candidate must match the rarest of them.
        fewest = np.full(int(published.people.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(fewest, published.people, found)
        found = fewest[published.people]
    return found


def _covered(published: Published, population: Published | Table) -> Longs:
    """The people of the population whom each class covers, int64[classes]."""
    classes = published.classes
    lacking = [name for name in published.names if name not in population.names]
    if lacking:
        raise BadTable(
            f"the population lacks the quasi-identifiers {preview(lacking)} of the table"
            f"{did_you_mean(lacking[0], population.names)}"
        )
    known = published.population
    if known is not None and known.table is population and known.incomplete:
        # Whoever is in the table is in the population too: too few people, never too many.
        people = enough = np.maximum(_inside(published, known.table), classes.people)
    elif isinstance(population, Table):
        # It knows all published values.
        published.vectors(population, "population", INCOMPLETE)
        people = enough = _inside(published, population)
        if published.people is None and population.people is not None:
            # The release counts records, as its person numbers may have been dropped.
            enough = _inside(published, replace(population, people=None))
    else:
        people = enough = _alike(published, population)
    _check_holds(published, classes, enough)
    return people


def _check_holds(published: Published, classes: Classes, people: Longs) -> None:
    """Raise an error if the population lacks people of the table."""
    short = np.flatnonzero(people < classes.people)
    if not len(short):
        return
    worst = short[np.argmin(people[short])]
    values = ", ".join(
        f"{name}={'missing' if code < 0 else text(known[code])!r}"
        for name, known, code in zip(
            published.names, published.values, published.codes[classes.first[worst]], strict=True
        )
    )
    raise BadTable(
        f"the population lacks people of the table: {classes.people[worst]} of the table have "
        f"{values}, but {people[worst]} of the population ({len(short)} of {len(classes)} "
        "classes have too few); give a population that includes all people of the table, with "
        f"original values, or generalized in the same way{INCOMPLETE}"
    )


def _alike(published: Published, population: Published) -> Longs:
    """For each class the people of the population with the same published values."""
    mine = published.codes[published.classes.first]  # int32[classes, q]
    theirs = np.empty((len(population.classes), mine.shape[1]), np.int32)
    for j, name in enumerate(published.names):
        i = population.names.index(name)
        same = {text(value): code for code, value in enumerate(published.values[j])}
        code = [*places(population.values[i], same, -2), -1]  # -2: a value that the table lacks
        theirs[:, j] = np.array(code, np.int32)[population.codes[population.classes.first, i]]
    label, _, _ = group_rows(np.concatenate([mine, theirs]))
    people = np.bincount(label[len(mine) :], population.classes.people, len(mine))
    return people[: len(mine)].astype(np.int64)


def _inside(published: Published, population: Table) -> Longs:
    """For each class the people of the population whom its published values cover."""
    known = published.population
    if known is None or known.table is not population:
        known = Population(population)
    codes = published.codes[published.classes.first]
    return known.reader(published.names, published.values).people(codes)
