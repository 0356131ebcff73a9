"""What models about a sensitive column have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.errors import BadPlan, BadTable, did_you_mean, preview
from shoal.models._model import Model
from shoal.table.alike import alike
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram, Sensitive


class SensitiveModel(Model):
    """A requirement about one sensitive column.

    If the table has a person column, a class is judged twice: by its records, and by its people,
    each of whom counts once per distinct value. The worse level counts. Many records of one person
    do not hide anyone, and a value that everyone in the class has is disclosed, even if it is one
    among several.
    """

    # Whether the share of a value is that of the people who have it, or of all pairs of a person
    # and a value.
    of_people: ClassVar[bool] = False
    # Whether it compares how frequent a value is in a class and in the table. Counting two values
    # as one is then not on the safe side.
    compares_shares: ClassVar[bool] = False
    # Whether it depends on how frequent values are, and not only on which there are.
    by_share: ClassVar[bool] = True
    column: str = Field(description="the sensitive column")

    def levels(self, classes: Classes) -> Floats:
        """The level of each class."""
        histogram = self.histogram(classes)
        if self.compares_shares:
            _check_case(self.name, histogram.column)
        levels = self.levels_of(histogram, classes)
        person_values = classes.person_values.get(self.column)
        if person_values is None:
            return levels
        by_people = self.levels_of(person_values.histogram(self.of_people), classes)
        worse = np.minimum if self.higher_is_safer else np.maximum
        return np.asarray(worse(levels, by_people))

    @abstractmethod
    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:
        """The level of each class with these sensitive values."""

    @property
    def about(self) -> str:
        """The sensitive column that the model is about."""
        return self.column

    def where(self, linked: bool) -> str:
        """How a sentence about the sensitive values begins."""
        return "Among the records that could be a person's" if linked else "In every class"

    def histogram(self, classes: Classes) -> Histogram:
        """The column's values, class by class."""
        try:
            return classes.histograms[self.column]
        except KeyError:
            raise BadPlan(not_sensitive(self.name, self.column, classes)) from None


def _check_case(model: str, column: Sensitive) -> None:
    """Refuse values that differ in letter case only: they may or may not mean the same."""
    for ways in column.spellings:
        known = {alike(value, case=True): value for value in ways if value is not None}
        if len(known) > 1:
            raise BadTable(
                f"{model} compares how frequent values are, and column {column.name!r} has values "
                f"that differ only in letter case: {preview(known.values())}; write them in one "
                "way if they mean the same, or in clearly different ways if they do not"
            )


def not_sensitive(model: str, column: str, classes: Classes) -> str:
    """The error message for a model about a column that is not a sensitive column."""
    return (
        f"{model} is about the column {column!r}, which is not a sensitive column of the table; "
        f"give it the role sensitive{did_you_mean(column, list(classes.histograms))}"
    )
