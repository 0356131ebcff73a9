"""Dependencies: what columns published unchanged reveal of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shoal.base.errors import NotHeld, WayOut, preview
from shoal.base.wording import listed, many, short
from shoal.plan.toml_text import toml_line

ATTACK = "dependency"
SHOWN = 5  # columns and pairs of columns in a message


class Revealed(NamedTuple):
    """What a column reveals, or two columns together."""

    columns: tuple[str, ...]
    below: int  # people for whom fewer than k are left
    reads: tuple[str, ...]  # quasi-identifiers

    def within(self, names: Sequence[str]) -> bool:
        """Whether these columns are enough for it."""
        return set(self.columns) <= set(names)


@dataclass(frozen=True)
class Dependencies:
    """Who is among too few people if quasi-identifiers are read back from other columns."""

    k: int  # the required class size; 0: none is required
    people: int  # of the table
    others: Sequence[str] = ()  # the columns of the role other
    # People below k by each column; None: it was not measured, or nothing was.
    columns: Mapping[str, int | None] | None = None
    revealing: Sequence[Revealed] = ()  # columns and pairs by which there are such people
    together: int = 0  # people below k by all columns, also the sensitive ones
    fewest: int | None = None  # people who are left for the most exposed of them
    # The same two if it is known from elsewhere what goes together.
    together_if_known: int | None = None
    fewest_if_known: int | None = None
    by_other: int = 0  # people below k by columns of the role other
    below: int = 0  # those of them whom columns that are not accepted bring there
    alone: int = 0  # those of these who are the only one left
    refused: Sequence[str] = ()  # the columns that bring them there
    reads: Mapping[str, Sequence[str]] = field(default_factory=dict)  # quasi-identifiers by column
    # People below k by each column for an attacker who knows from elsewhere what goes together.
    if_known: Mapping[str, int | None] = field(default_factory=dict)
    accepted: Sequence[str] = ()  # columns that the plan accepts
    reading: str = "release"  # where the person's own values are from, original or release
    reason: str = ""  # why it was not measured

    @staticmethod
    def of(
        found: Sequence[Mapping[str, Any]],
        k: int,
        people: int,
        others: Sequence[str],
        accepted: Sequence[str],
    ) -> Dependencies:
        """From what the attack found, in the eyes of each attacker: the most of each number."""
        if any("columns" not in one for one in found):
            return Dependencies(k, people, others, accepted=accepted)
        worst = max(found, key=lambda one: one["refused"])
        by_column = {
            name: [one["columns"][name] for one in found if one["columns"][name] is not None]
            for name in found[0]["columns"]
        }
        return Dependencies(
            k=k,
            people=people,
            others=others,
            columns={
                name: max((one["people_below"] for one in some), default=None)
                for name, some in by_column.items()
            },
            revealing=_revealing(found),
            together=max(one["people_below"] for one in found),
            fewest=min((n for one in found if (n := one["fewest_left"]) is not None), default=None),
            together_if_known=max(
                (n for one in found if (n := one["people_below_if_known"]) is not None),
                default=None,
            ),
            fewest_if_known=min(
                (n for one in found if (n := one.get("fewest_left_if_known")) is not None),
                default=None,
            ),
            by_other=max(one["by_other"] for one in found),
            below=worst["refused"],
            alone=worst["refused_alone"],
            refused=list(dict.fromkeys(name for one in found for name in one["refused_columns"])),
            reads={
                name: list(dict.fromkeys(quasi for one in some for quasi in one["reads"]))
                for name, some in by_column.items()
            },
            if_known={
                name: max(
                    (n for one in some if (n := one["people_below_if_known"]) is not None),
                    default=None,
                )
                for name, some in by_column.items()
            },
            accepted=accepted,
            reading=worst["reading"],
        )

    @property
    def holds(self) -> bool:
        """Whether nothing is refused; also if no class size is required."""
        return not (self.k and self.below)

    def as_dict(self) -> dict[str, int | None] | None:
        """People below k by each column, for the JSON file; null: not measured."""
        return None if self.columns is None else dict(self.columns)

    def check(self) -> None:
        """Raise an error if columns that are not accepted bring people below k."""
        if not self.holds:
            raise NotHeld(
                f"the table that would be published reveals too much: {self.words}"
            ).offering(
                *(
                    WayOut("role", name, role)
                    for role in ("quasi", "drop")
                    for name in self.refused
                ),
                *(WayOut("accept", name) for name in self.refused),
            )

    @property
    def words(self) -> str:
        """What is refused and why, with the ways out."""
        return f"{self.found}. {self.ways_out}"

    @property
    def found(self) -> str:
        """What is refused and why."""
        alone = f", {self.alone:,} of them alone," if self.alone else ""
        ways = self._telling(one for one in self.revealing if one.within(self.refused))
        each = "; ".join(map(_revealed, ways[:SHOWN])) or "only all of them together"
        return (
            f"for {self.below:,} of {many(self.people, 'person', 'people')} fewer than the "
            f"required {self.k:,} people are left{alone} to an attacker who reads "
            f"quasi-identifiers back from {preview(self.refused)} ({each})"
        )

    @property
    def ways_out(self) -> str:
        """What to do about the columns that are refused."""
        line = toml_line("accept", [*self.accepted, *self.refused])
        unsure = (
            ". Compared with the original (--original), only people count about whom the attacker "
            "is right"
        )
        return (
            "Give such a column the role quasi, so that it is generalized too, or the role drop; "
            f"or accept it with {line} at the top of the plan"
            f"{unsure if self.reading == 'release' else ''}"
        )

    def notes(self, unsure: int = 0) -> list[str]:
        """What a reader should know: what was accepted, not measured, or measured otherwise.

        `unsure` are people for whom an original leaves it open whose record theirs was.
        """
        said = []
        if self.k and self.together and self.reading == "release":
            said.append(
                f"the attack {ATTACK} counts people. Without the original, an audit does not know "
                "whose record is whose: people about whom the attacker is wrong count too, so that "
                "it may find more people, or fewer, than the run that made the release"
            )
        elif self.k and unsure and (self.together or self.together_if_known):
            said.append(
                f"the attack {ATTACK} counts people. For "
                f"{many(unsure, 'person', 'people')} the original fits several classes: one "
                "possibility was assumed, so that the run that made the release may have found "
                "slightly more people, or fewer"
            )
        if self.unknown:
            said.append(
                f"not measured: whether quasi-identifiers can be read back from "
                f"{preview(self.unknown)}{f' ({self.reason})' if self.reason else ''}"
            )
        return said + [f"accepted by the plan: {one}" for one in self.effects]

    @property
    def unknown(self) -> list[str]:
        """The columns of the role other that were not measured."""
        known = self.columns or {}
        return [name for name in self.others if known.get(name) is None]

    @property
    def effects(self) -> list[str]:
        """What would be refused if the plan did not accept it, in a sentence each."""
        if not self.k:
            return []
        ways = self._telling(
            one
            for one in self.revealing
            if one.within(self.others) and set(one.columns) & set(self.accepted)
        )
        said = [f"{_published(one)}; {self._left(one.below)}" for one in ways[:SHOWN]]
        beyond = self.by_other > max((one.below for one in ways), default=0)
        if self.accepted and self.by_other > self.below and beyond:
            said.append(f"with all columns of the role other together, {self._left(self.by_other)}")
        return said

    @property
    def beyond_accepted(self) -> str:
        """For whom the risk is higher by columns that are not refused, as a sensitive one.

        Empty if nobody is, or if the plan accepts all that is behind it.
        """
        if not self.k or self.together <= self.by_other:
            return ""
        names = list(dict.fromkeys(name for one in self.revealing for name in one.columns))
        where = listed(names) if names else "all columns that are not generalized"
        least = "" if self.fewest is None else f" ({self.fewest:,} at the least)"
        return (
            f"for {self.together:,} of {many(self.people, 'person', 'people')} fewer than "
            f"{self.k:,} people{least} are left to an attacker who reads quasi-identifiers back "
            f"from {where}"
        )

    def _telling(self, ways: Iterable[Revealed]) -> list[Revealed]:
        """Without pairs that bring no more people below k than their columns do one by one."""
        alone = {one.columns[0]: one.below for one in self.revealing if len(one.columns) == 1}
        return [
            one
            for one in ways
            if len(one.columns) == 1 or one.below > sum(alone.get(name, 0) for name in one.columns)
        ]

    def _left(self, below: int) -> str:
        return (
            f"for {below:,} of {many(self.people, 'person', 'people')} fewer than "
            f"{self.k:,} people are left to an attacker who reads that back"
        )


def _revealing(found: Sequence[Mapping[str, Any]]) -> list[Revealed]:
    """The columns and pairs by which somebody is below k, by most people first."""
    each: dict[tuple[str, ...], Revealed] = {}
    for one in found:
        single = {(name,): way for name, way in one["columns"].items() if way is not None}
        double = {tuple(way["columns"]): way for way in one["pairs"]}
        for columns, way in (single | double).items():
            below, reads = way["people_below"], tuple(way["reads"])
            if below:
                before = each.get(columns, Revealed(columns, 0, ()))
                both = dict.fromkeys((*before.reads, *reads))
                each[columns] = Revealed(columns, max(below, before.below), tuple(both))
    return sorted(each.values(), key=lambda one: -one.below)


def _revealed(one: Revealed) -> str:
    """What a column or a pair reveals, in a message."""
    names = " and ".join(map(repr, one.columns))
    verb = "reveals" if len(one.columns) == 1 else "together reveal"
    return f"{names} {verb} {preview(one.reads)}: {many(one.below, 'person', 'people')}"


def _published(one: Revealed) -> str:
    """The same as a part of a sentence."""
    names, reads = listed(list(map(short, one.columns))), listed(list(one.reads))
    if len(one.columns) == 1:
        return f"{names} is not generalized and reveals {reads}"
    return f"{names} are not generalized and together reveal {reads}"
