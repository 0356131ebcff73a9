"""Class sets: people by the classes in which they have records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Longs
from shoal.table.profiles import Profiles


@dataclass(frozen=True, eq=False)
class ClassSets:
    """The different sets of classes in which a person of a table has records."""

    of_person: Longs  # int64[people], the set of each person
    people: Longs  # int64[sets], the people who have each
    start: Longs  # int64[sets + 1]
    member: Longs  # set s has the classes member[start[s]:start[s + 1]]

    @staticmethod
    def of(people: Longs, label: Longs, weight: Longs | None = None) -> ClassSets:
        """Compare the classes of people; `weight`, int64[people]: how many each stands for.

        >>> from itertools import pairwise
        >>> found = ClassSets.of(np.array([0, 0, 0, 1, 2, 2]), np.array([5, 6, 5, 9, 6, 5]))
        >>> found.people[found.of_person].tolist()
        [2, 1, 2]
        >>> [found.member[low:high].tolist() for low, high in pairwise(found.start)]
        [[5, 6], [9]]
        """
        classes = int(label.max()) + 1
        who, what = np.divmod(np.unique(people * classes + label), classes)
        found = Profiles.of(who, what)
        of_person = np.empty(len(found.of_person), np.int64)
        of_person[who[found.record]] = found.of_person
        return ClassSets(
            of_person,
            np.bincount(of_person, weight).astype(np.int64),
            np.append(0, np.cumsum(np.bincount(found.people))),
            what[found.first],
        )

    @property
    def size(self) -> Longs:
        """The classes of each set, int64[sets]."""
        return np.diff(self.start)
