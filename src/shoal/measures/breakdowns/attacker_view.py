"""The view of an attacker on one class: what is seen, who it could be, what would tell them apart.

It has published values, numbers and names of columns only: no value that is not published.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.base.wording import MISSING, listed, many, percent, short

LISTED = 5  # sensitive values of a column in words


@dataclass(frozen=True)
class SensitiveView:
    """How many of the candidates have each value of a sensitive column, the most frequent first."""

    column: str
    values: tuple[tuple[str | None, int], ...]  # None is a missing value


@dataclass(frozen=True)
class Knowledge:
    """What an attacker would know in addition, and how many people that would leave."""

    column: str
    precision: str  # in words; "" for a column that is published unchanged
    exact: bool  # whether nothing finer can be known
    fewest: int  # people left for the most exposed of the class
    most: int  # and for the least exposed
    alone: int  # people who would be alone
    below: int  # people who would be among fewer than required
    left: int | None = None  # for the person of the row; None: no row was named, or not known

    @property
    def splits(self) -> bool:
        """Whether it tells anybody apart."""
        return self.fewest < self.most or self.alone > 0 or self.below > 0


@dataclass(frozen=True)
class AttackerView:
    """A class as an attacker sees it; for the approver, not for publication."""

    published: dict[str, str | None]  # the values that the attacker knows; None is missing
    records: int
    people: int
    candidates: tuple[int, int]  # for the most and the least exposed person
    required: int  # people among whom the requirements hide everybody; 0: no such requirement
    sensitive: tuple[SensitiveView, ...]
    knowledge: tuple[Knowledge, ...]  # one per column and precision
    # People among whom `knowledge` of quasi-identifiers is counted: those of the class, or all of
    # the original whom the published values fit; None: there is no original.
    among: int | None
    fits: bool  # whether it is the latter
    # Few quasi-identifiers that, known exactly, leave somebody (or the person of the row) alone, or
    # among fewer than required; the fewest, unless there are too many to try. Empty: not even all.
    alone_by: tuple[str, ...]
    below_by: tuple[str, ...]
    attacker: str | None = None  # if the plan names several
    row: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file."""
        found = asdict(self)
        found["candidates"] = list(self.candidates)
        found["sensitive"] = {
            one.column: [{"value": value, "people": count} for value, count in one.values]
            for one in self.sensitive
        }
        return found

    @property
    def key_knowledge(self) -> list[Knowledge]:
        """Of each column the exact value, and the coarsest precision that exposes somebody.

        Columns that expose most come first; those that tell nobody apart are left out.
        """
        chosen: dict[str, list[Knowledge]] = {}
        for one in self.knowledge:
            mine = chosen.setdefault(one.column, [])
            more = not mine or _left(one) != _left(mine[-1])
            if one.splits and more and (one.exact or (one.below and not mine)):
                mine.append(one)
        every = sorted((mine for mine in chosen.values() if mine), key=lambda mine: _left(mine[-1]))
        return [one for mine in every for one in mine]

    def __str__(self) -> str:
        return "\n".join([*self.lines()])

    def lines(self) -> list[str]:
        """The view in words."""
        seen = ", ".join(
            f"{name} = {MISSING if v is None else v}" for name, v in self.published.items()
        )
        whose = "" if self.row is None else f" of record {self.row}"
        who = "An attacker" if self.attacker is None else f"The attacker {self.attacker}"
        said = [f"{who} sees{whose}: {seen}", f"  {self.who_else}"]
        for one in self.sensitive:
            said.append(f"  {short(one.column)}: {sensitive_words(one)}")
        said += [f"  {self.sentence(one)}" for one in self.key_knowledge]
        return [*said, *(f"  {line}" for line in self.conclusions)]

    @property
    def who_else(self) -> str:
        """Who else it could be, as numbers."""
        records = "" if self.records == self.people else f" with {many(self.records, 'record')}"
        low, high = self.candidates
        guess = many(low, "candidate") if low == high else f"{low:,} to {high:,} candidates"
        asked = f"; required: {self.required:,}" if self.required else ""
        look = "looks" if self.people == 1 else "look"
        right = f"a guess is right with {percent(100 / low)}" + ("" if low == high else " or less")
        return (
            f"{many(self.people, 'person', 'people')}{records} {look} like this; an attacker who "
            f"looks for one of them has {guess} ({right}{asked})"
        ).replace("\xa0", " ")

    def sentence(self, one: Knowledge) -> str:
        """What one more piece of knowledge would leave.

        >>> one = Knowledge("age", "the exact number", True, 1, 3, 2, 7, 2)
        >>> view = AttackerView({}, 7, 7, (7, 7), 5, (), (one,), 7, False, (), ())
        >>> view.sentence(one)
        'if the attacker also knew age (the exact number): 2 of 7 people would be left'
        """
        what = short(one.column) + (f" ({one.precision})" if one.precision else "")
        of = self.among if one.precision and self.among is not None else self.people
        said = f"if the attacker also knew {what}:"
        if one.left is not None:
            left = f"{one.left:,} of {of:,} people would be left"
            return f"{said} {'this person would be found' if one.left == 1 else left}"
        if one.most == 1:
            return f"{said} everybody would be found, all {of:,}"
        span = f"{one.fewest:,}" if one.fewest == one.most else f"{one.fewest:,} to {one.most:,}"
        alone = f"; {many(one.alone, 'person', 'people')} would be found" if one.alone else ""
        return f"{said} {span} of {of:,} people would be left{alone}"

    @property
    def conclusions(self) -> list[str]:
        """What would have to be known to tell the people apart."""
        if self.among is None:
            return ["without the original it is not known what quasi-identifiers would tell more"]
        one = self.row is not None and any(known.left is not None for known in self.knowledge)
        who = "this person" if one else "somebody"
        said = []
        if self.below_by and self.required and self.below_by != self.alone_by:
            said.append(
                f"known exactly, {listed(list(self.below_by))} would leave {who} among fewer than "
                f"{self.required:,} people"
            )
        if self.alone_by:
            said.append(f"known exactly, {listed(list(self.alone_by))} would single {who} out")
        else:
            said.append(f"known exactly, not even all quasi-identifiers would single {who} out")
        if self.fits:
            said.append(
                f"this counts the {self.among:,} people of the original whom these values fit, as "
                "it is not known which of them the records belong to"
            )
        return said


def sensitive_words(one: SensitiveView) -> str:
    """The values of a sensitive column among the candidates."""
    shown = [
        f"{count:,} × {MISSING if value is None else short(value)}"
        for value, count in one.values[:LISTED]
    ]
    rest = len(one.values) - LISTED
    return ", ".join(shown) + (f" and {many(rest, 'other value')}" if rest > 0 else "")


def _left(one: Knowledge) -> tuple[int, int, int]:
    """The people left, and how many are alone: to compare knowledge by."""
    return (one.fewest if one.left is None else one.left, -one.alone, one.most)
