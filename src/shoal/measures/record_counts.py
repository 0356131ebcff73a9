"""Record counts: what the number of records of a person discloses, if they can be linked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.kernels.group import group_rows
from shoal.models import Model, min_class_size
from shoal.table.published_table import Published


@dataclass(frozen=True)
class RowCount:
    """How many people are identifiable by their class and their number of records together."""

    k: int  # the required class size
    alone: int  # people who are the only one of their class with their number of records
    below: int  # people who share class and number of records with fewer than k - 1 others
    most: int  # the largest number of records of a person
    people: int  # all people

    def as_dict(self) -> dict[str, int]:
        """The counts by the names of the JSON file."""
        return {"alone": self.alone, "fewer_than_k": self.below}

    @property
    def words(self) -> str:
        """A sentence to go next to a re-identification risk; empty if nobody is identifiable."""
        if not self.alone:
            return ""
        return (
            "this is for an attacker who does not know how many records a person has; an attacker "
            f"who knows that identifies {self.alone:,} of {self.people:,} people"
        )


def row_count(seen: Published, k: int) -> RowCount | None:
    """Count the people who are identifiable by their class and number of records together.

    None if nobody has several records. A person with records in several classes is recognized by
    the number of records in each of them.
    """
    if seen.people is None or seen.person_count == seen.rows:
        return None
    label = seen.classes.label
    pair, rows = np.unique(seen.people * len(seen.classes) + label, return_counts=True)
    person, place = pair // len(seen.classes), pair % len(seen.classes)
    _, sign = np.unique(place * (int(rows.max()) + 1) + rows, return_inverse=True)
    people = int(seen.people.max()) + 1
    often = seen.person_weight  # int64[people], how many people each stands for
    if often is None:
        often = np.ones(people, np.int64)
    start = np.searchsorted(person, np.arange(people + 1))
    many = np.diff(start)  # int64[people], classes in which each has records
    alike = np.zeros(people, np.int64)  # int64[people], people with the same signs
    for classes in np.unique(many):
        who = np.flatnonzero(many == classes)
        signs = sign[start[who][:, None] + np.arange(classes)]  # int64[who, classes]
        same, _, _ = group_rows(np.ascontiguousarray(signs, np.int32))
        alike[who] = np.bincount(same, often[who])[same]
    return RowCount(
        k=k,
        alone=int((alike == 1).sum()),
        below=int(often[alike < k].sum()),
        most=int(np.bincount(seen.people).max()),
        people=seen.person_count,
    )


def enforced_class_size(models: Sequence[Model]) -> int:
    """Among how many people everybody must stay, whatever other columns reveal; 0: no model says.

    Models about sensitive values also need classes of some size.
    """
    size = max(required_class_size(models), min_class_size(models))
    return size if size > 1 else 0


def required_class_size(models: Iterable[Model]) -> int:
    """Among how many people the models hide each person; 0 if none says so."""
    return max((model.hidden_among for model in models if model.size_option), default=0)
