"""What models about the whole table have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Bools, Floats, Longs
from shoal.models._model import Model
from shoal.table.equivalence_classes import Classes


class TableModel(Model):
    """A requirement about the whole table, judged on all published classes together.

    Each person adds `risk`, which depends on the number of people in the person's class and never
    rises with it. The level is the mean over all published people; without a person column every
    record is a person. So merging classes never raises the level, and the whole table as one class
    has the lowest level possible. Suppressed people do not count.

    `levels` gives every class the level of the table: no class satisfies the model by itself.
    """

    higher_is_safer: ClassVar[bool] = False
    # Whether merging classes never raises the level; otherwise the mean of `risk` is an upper bound
    # on the level, and only for that mean it is known.
    falls_by_merging: ClassVar[bool] = True

    @abstractmethod
    def risk(self, people: Longs) -> Floats:
        """What a person adds to the mean in a class of so many people."""

    def level_of(self, people: Longs, classes: Longs | None = None) -> float:
        """The level of a table whose classes have so many people.

        With `classes`, so many classes have each of these different numbers of people, which rise.
        """
        many = 1 if classes is None else classes
        return float((many * self.total(people)).sum() / (many * people).sum())

    @property
    @abstractmethod
    def level_words(self) -> str:
        """What the level is, as a label below it."""

    @abstractmethod
    def meaning(self, level: float) -> str:
        """What a level of the table means, in a sentence."""

    @property
    @abstractmethod
    def sufficient_people(self) -> int:
        """The smallest class size that satisfies the model if all classes have at least it."""

    def total(self, people: Longs) -> Floats:
        """What classes of so many people add together before the mean is taken."""
        return people * self.risk(people)

    def reached(self, classes: Classes) -> float:
        """The mean risk over all people."""
        candidates, many = classes.people_by_candidates
        # By size, so that the sum does not depend on the order of the records.
        sizes, which = np.unique(candidates, return_inverse=True)
        counts = np.bincount(which, many)
        if not self.falls_by_merging:
            return self.level_of(sizes, np.ceil(counts / sizes).astype(np.int64))
        return float((counts * self.risk(sizes)).sum() / counts.sum())

    def levels(self, classes: Classes) -> Floats:
        """The level of the table, once per class."""
        return np.full(len(classes), self.reached(classes))

    def satisfied(self, classes: Classes) -> Bools:
        """All classes if the table satisfies the model; otherwise those that do not raise it.

        If the mean is too high, some class has a risk above the required level: merging or
        suppressing that class helps.
        """
        if self.holds(self.reached(classes)):
            return np.ones(len(classes), np.bool_)
        return self.holds_each(self.risk(classes.fewest_candidates))

    def holds_each(self, levels: Floats) -> Bools:
        """Which levels are enough."""
        return np.asarray(self._enough(levels), np.bool_)
