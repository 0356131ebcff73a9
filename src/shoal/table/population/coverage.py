"""Coverage: the people of a population whom the published values of classes cover."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.base.arrays import Bools, Longs


@dataclass(frozen=True, eq=False)
class Coverage:
    """Whom classes cover in a population.

    A class covers a person of the population if each of its published values covers the value of
    that person: of all of their records, if they have several and records are published linked.
    Classes of a release may cover the same people.
    """

    people: Longs  # int64[classes], people of the population whom the class covers
    shared: Bools  # bool[classes], whether another class covers some of them too
    nobody: int  # people of the population whom no class covers
    incomplete: bool = False  # whether the population may lack people of the table

    def without(self, classes: Bools) -> Coverage:
        """The same if nobody is known to match the people of these classes.

        The records of a person are linked. If they are in several classes, only people of the
        population who match all of them count, and it is not known how many these are.
        """
        if not classes.any():
            return self
        return replace(self, people=np.where(classes, 0, self.people), shared=self.shared | classes)
