"""Linked members: households whose members a published column puts together again.

Where each member of a household is generalized by itself, the release has no household numbers. A
column that is published unchanged does the work of such a number if two members have a value in
common that no other household has: a calibrated weight, the exact income of the household.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import BadPlan, WayOut, preview
from shoal.base.wording import listed, many, short
from shoal.io.frames import Frame
from shoal.kernels.group import group_rows
from shoal.plan import Plan
from shoal.plan.toml_text import toml_line
from shoal.table.coded_columns import coded_as_text
from shoal.table.roles import columns_with_role, household_apart, other_columns
from shoal.table.samples.households import household_codes, own_persons

SUBSTANTIAL = 0.5  # share of the households beyond which a release is refused
AGREE = 0.5  # share of the households whose members have one value, of columns that are combined


@dataclass(frozen=True)
class LinkedMembers:
    """In how many households of two members or more two of them can be linked."""

    home: str  # the household column
    households: int  # of two members or more, in the release
    columns: Mapping[str, int]  # households by each column that links some, the most first
    linked: int  # households by any of them, or by several together
    refused: int  # the same by columns that the plan does not accept
    # The columns of which values are combined for it, if no single one links as many.
    combined: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()  # columns that the plan accepts
    weights: tuple[str, ...] = ()  # columns that can be used without being published

    @property
    def holds(self) -> bool:
        """Whether no more than a part of the households can be put together again."""
        return self.refused <= SUBSTANTIAL * self.households

    @property
    def most(self) -> bool:
        """Whether most households can be, also by columns that the plan accepts."""
        return self.linked > SUBSTANTIAL * self.households

    @property
    def by(self) -> list[str]:
        """The columns that link most; several, if only together they link as many."""
        first = next(iter(self.columns.values()), 0)
        telling = [name for name, count in self.columns.items() if 2 * count >= first]
        return telling if 2 * first >= self.linked else list(self.combined)

    @property
    def share(self) -> str:
        """How many households, as a part of a sentence."""
        of = many(self.households, "household")
        return f"{self.linked:,} of {of} with two or more members"

    @property
    def words(self) -> str:
        """What was found, in a sentence for the screen and for notes."""
        return (
            f"members can be linked in {self.share}, by {preview(self.by)}: not "
            "generalized, with values that occur in one household only; they do the work of a "
            "household number"
        )

    @property
    def sentence(self) -> str:
        """The same for a report."""
        each = [f"{short(name)} ({count:,})" for name, count in self.columns.items()]
        by = listed(each) if each else f"{listed(list(self.by))} together"
        return (
            f"In {self.share}, members can be linked as if the household number were "
            "published: two of them have a value in common that no other household has. "
            f"By column: {by}."
        )

    def notes(self) -> list[str]:
        """That members can be linked, and which column of the plan's `accept` is behind it."""
        names = [name for name in self.accepted if name in (*self.columns, *self.combined)]
        if not self.linked or not names:
            return []
        return [f"accepted by the plan: members can be linked in {self.share}"]

    def check(self) -> None:
        """Raise an error if most households can be put together again, which nothing accepts."""
        if self.holds:
            return
        names = [name for name in self.by if name not in self.accepted] or list(self.combined)
        hidden = [name for name in names if name in self.weights]
        line = toml_line("accept", [*self.accepted, *names])
        use = f"set publish = false for {preview(hidden)}, which is used then and not published; "
        rest = len(hidden) < len(names)
        raise BadPlan(
            f"members could be linked in {self.refused:,} of "
            f"{many(self.households, 'household')} with two or more members, by {preview(names)}"
            f"{' together' if len(names) > 1 else ''}: published unchanged, with values that occur "
            "in one household only. That does the work of the household number "
            f"({self.home!r}), which must not be published here, as household-k-anonymity protects "
            "members that nothing links; nothing is released. "
            + (f"{use[:1].upper()}{use[1:]}" if hidden else "")
            + (
                f"{'g' if hidden else 'G'}ive such a column the role quasi or drop; "
                if rest
                else ""
            )
            + f"or accept it with {line} at the top of the plan"
        ).offering(
            *(WayOut("hide", name) for name in hidden),
            *(
                WayOut("role", name, role)
                for role in ("quasi", "drop")
                for name in names
                if name not in hidden
            ),
            *(WayOut("accept", name) for name in names),
        )

    def as_dict(self) -> dict[str, object]:
        """The numbers, by the names of the JSON file."""
        return {
            "households": self.households,
            "linked": self.linked,
            "by_column": dict(self.columns),
            "combined": list(self.combined),
            "accepted": [name for name in self.accepted if name in self.columns],
        }


def linked_members(
    frame: Frame, plan: Plan, homes: Longs | None = None, people: Longs | None = None
) -> LinkedMembers | None:
    """Which columns of a release link members of a household; None: it is not to be known.

    `homes` and `people` number the household and the person of each record, where the frame does
    not.
    """
    home = household_apart(plan.columns)
    if home is None or frame.weight is not None:
        return None
    if homes is None:
        homes = household_codes(frame, plan.columns, plan.missing_values)
    if homes is None:
        return None
    if people is None:
        people = own_persons(frame, plan.columns, plan.missing_values)
    members = _Members(homes, np.arange(len(homes)) if people is None else people)
    unchanged = [*other_columns(plan.columns), *columns_with_role(plan.columns, "sensitive")]
    names = [name for name in unchanged if name in frame.names]
    codes = {name: _codes(frame, plan, name) for name in names}
    shared = [_codes(frame, plan, name) for name in _of_household(plan) if name in frame.names]
    found = {name: members.linked_by(codes[name], shared) for name in names}
    together, combined = members.combined(codes, shared, found)
    free = [name for name in names if name not in plan.accept]
    refused, _ = members.combined({n: codes[n] for n in free}, shared, {n: found[n] for n in free})
    counts = {name: int(one.sum()) for name, one in found.items() if one.any()}
    return LinkedMembers(
        home,
        int(members.several.sum()),
        dict(sorted(counts.items(), key=lambda one: -one[1])),
        int(together.sum()),
        int(refused.sum()),
        tuple(combined),
        tuple(plan.accept),
        tuple(name for name in names if plan.columns[name].role == "weight"),
    )


@dataclass(frozen=True, eq=False)
class _Members:
    """The household and the person of each record."""

    home: Longs  # int64[n], from 0 on
    person: Longs  # int64[n]

    @property
    def several(self) -> Bools:
        """Households of two members or more, bool[households]."""
        low, high = _ends(self.home, self.person)
        return low < high

    def agreeing(self, codes: Ints) -> float:
        """The share of these households whose members have one value in common."""
        low, high = _ends(self.home, codes.astype(np.int64))
        return float((low == high)[self.several].mean()) if self.several.any() else 0.0

    def linked_by(self, codes: Ints, shared: Sequence[Ints]) -> Bools:
        """Households that a column links, alone or with quasi-identifiers of the household."""
        found = self._linked(codes)
        return found | self._linked(codes, *shared) if shared else found

    def combined(
        self, codes: Mapping[str, Ints], shared: Sequence[Ints], found: Mapping[str, Bools]
    ) -> tuple[Bools, list[str]]:
        """Households that are linked by any column, or by several, and which several.

        Columns are added one by one, first those in which members agree most: a column in which
        they differ would put nobody together.
        """
        linked = np.zeros(len(self.several), np.bool_)
        for one in found.values():
            linked |= one
        if not linked.size or not self.several.any():
            return linked, []
        agree = {name: self.agreeing(one) for name, one in codes.items()}
        order = [name for name in sorted(agree, key=lambda n: -agree[n]) if agree[name] >= AGREE]
        used = 0
        for many_columns, both in self._growing([codes[name] for name in order], shared):
            if (both & ~linked).any():
                linked |= both
                used = max(used, many_columns)
        return linked, order[:used]

    def _growing(
        self, codes: Sequence[Ints], shared: Sequence[Ints]
    ) -> Iterator[tuple[int, Bools]]:
        """The households that the first two columns link together, the first three, and so on."""
        for begin in ([], list(shared)) if shared else ([],):
            key = _grouped(*begin) if begin else np.zeros(len(self.home), np.int32)
            for i, one in enumerate(codes):
                key = _grouped(key, one)
                if i:
                    yield i + 1, self._linked(key)

    def _linked(self, *codes: Ints) -> Bools:
        """Households in which two members have a value in common that no other has."""
        group = _grouped(*codes)
        first, last = _ends(group, self.home)
        one, other = _ends(group, self.person)
        found = np.zeros(len(self.several), np.bool_)
        found[first[(first == last) & (one < other)]] = True
        return found


def _grouped(*codes: Ints) -> Ints:
    """The number of each different row of these columns, int32[n]."""
    return np.asarray(group_rows(np.stack(codes, axis=1))[0], np.int32)


def _ends(group: Longs | Ints, value: Longs) -> tuple[Longs, Longs]:
    """The lowest and the highest value of each group; groups are numbered from 0 on."""
    size = int(group.max(initial=-1)) + 1
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
    np.minimum.at(low, group, value)
    np.maximum.at(high, group, value)
    return low, high


def _of_household(plan: Plan) -> list[str]:
    """The quasi-identifiers that all members of a household have in common."""
    return [name for name, one in plan.columns.items() if one.role == "quasi" and one.of_household]


def _codes(frame: Frame, plan: Plan, name: str) -> Ints:
    """The values of a column as codes; missing, -1, is a value like any other."""
    return coded_as_text(frame, name, plan.missing_of(name))[0]
