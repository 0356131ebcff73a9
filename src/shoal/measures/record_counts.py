"""Row counts: what the number of rows of a person gives away, where rows can be linked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal.kernels.group import group_rows
from shoal.models import Model
from shoal.table.published_table import Published


@dataclass(frozen=True)
class RowCount:
    """Whom class and number of rows together leave in a small crowd."""

    k: int  # the crowd that was asked for
    alone: int  # people who are the only one of their class with their number of rows
    below: int  # people of whom there are fewer than k with their class and number of rows
    most: int  # rows of the person who has most of them
    people: int  # all of them

    def as_dict(self) -> dict[str, int]:
        """The people by the names of the JSON file."""
        return {"alone": self.alone, "fewer_than_k": self.below}

    @property
    def words(self) -> str:
        """A sentence for whoever reads a chance to be found; nothing if nobody is alone."""
        if not self.alone:
            return ""
        return (
            "this holds for somebody who does not know how many rows a person has; whoever knows "
            f"that finds {self.alone:,} of {self.people:,} people for certain"
        )


def row_count(seen: Published, k: int) -> RowCount | None:
    """Count whom class and number of rows together leave in a small crowd.

    None where nobody has several rows. Somebody whose rows are in several classes is told by
    the number of rows in each of them.
    """
    if seen.people is None or seen.crowd == seen.rows:
        return None
    label = seen.classes.label
    pair, rows = np.unique(seen.people * len(seen.classes) + label, return_counts=True)
    person, place = pair // len(seen.classes), pair % len(seen.classes)
    _, sign = np.unique(place * (int(rows.max()) + 1) + rows, return_inverse=True)
    start = np.searchsorted(person, np.arange(seen.crowd + 1))
    many = np.diff(start)  # int64[people], classes in which each of them has rows
    crowd = np.zeros(seen.crowd, np.int64)  # int64[people], who are told by the same signs
    for classes in np.unique(many):
        who = np.flatnonzero(many == classes)
        signs = sign[start[who][:, None] + np.arange(classes)]  # int64[who, classes]
        same, _, size = group_rows(np.ascontiguousarray(signs, np.int32))
        crowd[who] = size[same]
    return RowCount(
        k=k,
        alone=int((crowd == 1).sum()),
        below=int((crowd < k).sum()),
        most=int(np.bincount(seen.people).max()),
        people=seen.crowd,
    )


def required_class_size(models: Iterable[Model]) -> int:
    """Among how many people the models hide each person; 0 if none says so."""
    return max((model.hidden_among for model in models if model.size_option), default=0)
