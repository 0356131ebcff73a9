"""View source: the views of an attacker on the classes of a release, or of an audited table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.base.errors import BadTable, did_you_mean, preview
from shoal.measures.analyses.variables import Tables
from shoal.measures.breakdowns.attacker_view import AttackerView
from shoal.measures.breakdowns.telling_apart import (
    Shown,
    class_of_original,
    class_order,
    most_surprising,
    view_class,
)
from shoal.table.published_table import Published
from shoal.table.recoding import SUPPRESSED

SMALLEST, SURPRISING = "smallest", "surprising"


@dataclass(frozen=True, eq=False)
class ViewSource:
    """What views are made from: the table as an attacker sees it, and the original."""

    seen: Published
    required: int  # people among whom the requirements hide everybody; 0: no such requirement
    tables: Tables | None = None  # None: no original
    shown: Shown | None = None  # the published table, if there is no recoding
    attacker: str | None = None  # if the plan names several
    # What each of several attackers sees, by their names.
    others: Mapping[str, Published] = field(default_factory=dict)

    def of_attacker(self, name: str | None) -> ViewSource:
        """The same in the eyes of another attacker of the plan; None: of this one."""
        if name is None or name == self.attacker:
            return self
        if name not in self.others:
            raise BadTable(
                f"the plan has no attacker {name!r}{did_you_mean(name, list(self.others))}; it "
                f"names {preview(self.others) if self.others else 'none'}"
            )
        return replace(self, seen=self.others[name], attacker=name)

    def asked(
        self, row: int | None, class_: int | None, linked: bool, first: int = 0
    ) -> AttackerView:
        """The view on the class of a row, or on a class by its size; both begin at `first`."""
        if (row is None) == (class_ is None):
            raise BadTable("name either a row or a class: row=17, or class_=0 for the smallest")
        if linked:
            raise BadTable(
                "the plan has a linkage model: records need not form classes that could be looked "
                "at; the attack matching measures such releases"
            )
        if row is not None:
            return self._of_row(row, first)
        classes = len(self.seen.classes)
        place = _checked(class_, classes, "class", "classes", first)
        number = int(class_order(self.seen)[place])
        return self._view(number)

    def examples(self) -> dict[str, AttackerView]:
        """A smallest class, and the one whose sensitive values differ most from the table.

        Of several smallest ones, that which differs most.
        """
        people = self.seen.classes.people
        smallest = most_surprising(self.seen, np.flatnonzero(people == people.min()))
        if smallest is None:
            smallest = int(class_order(self.seen)[0])
        found = {SMALLEST: self._view(smallest)}
        surprising = most_surprising(self.seen)
        if surprising is not None and surprising != smallest:
            found[SURPRISING] = self._view(surprising)
        return found

    def _of_row(self, row: int, first: int) -> AttackerView:
        recoding = None if self.tables is None else self.tables.recoding
        if self.tables is not None and recoding is not None:
            original = self.tables.original
            _check_single(original.weight is None)
            row = _checked(row, len(original.codes), "row", "rows", first)
            if recoding.record[row] == SUPPRESSED:
                raise BadTable(f"row {row} is suppressed: an attacker sees nothing of it")
            return self._view(class_of_original(self.tables, self.seen, row), row)
        _check_single(self.shown is not None and self.shown.frame.weight is None)
        of_row = self.seen.class_of_row
        row = _checked(row, len(of_row), "row", "rows", first)
        return self._view(int(of_row[row]), row)

    def _view(self, number: int, row: int | None = None) -> AttackerView:
        return view_class(
            self.seen, number, self.required, self.tables, self.shown, row, self.attacker
        )


def _checked(number: object, size: int, one: str, several: str, first: int) -> int:
    """The place of a number that counts from `first`; the first place is 0."""
    if isinstance(number, int | np.integer) and not isinstance(number, bool):
        place = int(number) - first
        if 0 <= place < size:
            return place
    raise BadTable(f"there is no {one} {number!r}: the {several} are {first} to {size - 1 + first}")


def _check_single(there: bool) -> None:
    """Raise an error if records are counted together, so that there are no rows."""
    if not there:
        raise BadTable(
            "the records are not in memory, so that none of them can be looked at; name a class "
            "instead: class_=0 is the smallest"
        )
