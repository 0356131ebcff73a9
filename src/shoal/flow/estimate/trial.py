"""Trial: columns by which the release of a drafted plan would be refused.

The plan is run, on a sample if the table is large, and the attack `dependency` looks at what would
be published. Columns of the role other do not change which values are published, so one run is
enough: columns are taken away until the attack refuses nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.attacks._unchanged import Truth, unchanged_of
from shoal.attacks.dependency import Dependency
from shoal.base.arrays import Longs
from shoal.base.errors import ShoalError, preview
from shoal.base.progress import Progress, silent
from shoal.base.wording import listed, many, short
from shoal.flow.assistant import compiling_together
from shoal.flow.auto_select.search import recode
from shoal.io.frames import Frame
from shoal.measures.record_counts import enforced_class_size
from shoal.plan import Plan
from shoal.plan.toml_text import toml_line
from shoal.table.encode import Table, encode
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import Decoded, decode
from shoal.table.roles import UNCHANGED, columns_with_role, linking_columns

# Records of a trial, times the cube of the quasi-identifiers and the square of the other columns.
# Counted, so that a draft does not depend on the machine; about five processor seconds.
WORK, MOST = 100_000_000, 100_000
SEED = 0


@dataclass(frozen=True)
class Telling:
    """A column that gives quasi-identifiers back, in the release of the drafted plan."""

    column: str
    partners: tuple[str, ...]  # columns without which it does not; none: it does so by itself
    reads: tuple[str, ...]  # quasi-identifiers
    below: int  # people for whom fewer than k are left
    people: int
    k: int
    sampled: bool  # whether these are people of a sample
    refused: bool = True  # False: only to an attacker who knows from elsewhere what goes with it

    @property
    def found(self) -> str:
        """What it reveals, and what follows from that."""
        of = f"{many(self.people, 'person', 'people')}{' of a sample' if self.sampled else ''}"
        fewer = f"fewer than {self.k:,} people are left for {self.below:,} of {of}"
        if not self.refused:
            return (
                f"{fewer} to an attacker who knows from elsewhere what goes with it, so that the "
                "release of the whole table may be refused"
            )
        reads = listed(list(map(short, self.reads))) if self.reads else "quasi-identifiers"
        by = f"together with {listed(list(map(short, self.partners)))}, " if self.partners else ""
        return f"{by}it reveals {reads}: {fewer}, and the release would be refused"

    @property
    def dropped(self) -> str:
        """The reason why it is dropped, and what else can be done."""
        return f"drop it: {self.found}. {self._instead}"

    @property
    def kept(self) -> str:
        """The same for a column whose role the user has given."""
        return f"{self.found}, unless it gets the role drop. {self._instead}"

    @property
    def _instead(self) -> str:
        line = toml_line("accept", [self.column])
        return (
            f"Or the role quasi, which generalizes it, or {line} at the top of the plan and the "
            "role other"
        )


@dataclass(frozen=True)
class Trial:
    """What a run of the drafted plan has shown."""

    telling: Sequence[Telling] = ()
    records: int = 0  # of the trial; 0: there was none
    all_records: int = 0

    def remarks(self, dropped: Collection[str]) -> list[str]:
        """What a draft says about it; `dropped` are the columns that its plan drops."""
        said = []
        if names := [one.column for one in self.telling if one.column in dropped]:
            said.append(
                f"with {preview(names)} the release would be refused, as an attacker reads "
                "quasi-identifiers back from them, so that they are dropped: the reason for each "
                "column names the alternatives"
            )
        if names := [one.column for one in self.telling if one.column not in dropped]:
            said.append(
                f"the release will be refused because of {preview(names)}: give them the role "
                f"quasi or drop, or write {toml_line('accept', names)} at the top of the plan"
            )
        if self.records < self.all_records:
            said.append(
                "whether columns with the role other reveal quasi-identifiers was tried on a "
                f"sample of {self.records:,} of {self.all_records:,} records; the run tests all"
            )
        return said


def try_plan(
    frame: Frame,
    plan: Plan,
    varying: Sequence[str],
    given: Collection[str] = (),
    people: Longs | None = None,
    progress: Progress = silent,
) -> Trial:
    """Run a drafted plan, and find the columns of the role other by which it would be refused.

    `varying` are the columns of that role with more than one value; roles that are `given` stay,
    and other columns make way for theirs. `people` has the person of each record.
    """
    if not varying:
        return Trial()
    taken = _sample(frame.height, len(columns_with_role(plan.columns, "quasi")), varying, people)
    kept = {*linking_columns(plan.columns), *columns_with_role(plan.columns, "quasi")}
    # household-k-anonymity needs the households, also where members are not linked.
    kept |= {*varying, *columns_with_role(plan.columns, "household")}
    part = frame.rebuild(taken, {}, drop=[name for name in frame.names if name not in kept])
    asked = plan.changed(
        columns={name: column for name, column in plan.columns.items() if name in kept}, seed=SEED
    )
    try:
        with compiling_together(part, asked, progress):
            release = _Release.of(part, asked, progress)
    except ShoalError:  # the run says what is wrong with such a plan
        return Trial()
    sampled = len(taken) < frame.height
    return Trial(release.telling(varying, given, sampled, progress), len(taken), frame.height)


def _sample(height: int, quasi: int, others: Sequence[str], people: Longs | None) -> Longs:
    """The records of a trial: all of some people, or of all of them."""
    most = min(MOST, WORK // (quasi**3 + len(others) ** 2))
    if height <= most:
        return np.arange(height)
    persons = np.arange(height) if people is None else people
    order = np.random.default_rng(SEED).permutation(int(persons.max()) + 1)
    return np.flatnonzero(order[persons] < len(order) * most / height)


@dataclass(frozen=True, eq=False)
class _Release:
    """What would be published of the quasi-identifiers, next to all other columns."""

    plan: Plan
    original: Table
    decoded: Decoded
    published: Published

    @staticmethod
    def of(frame: Frame, plan: Plan, progress: Progress) -> _Release:
        def encoded(plan: Plan) -> Table:
            return encode(frame, plan.columns, plan.missing, plan.missing_values, progress)

        made = recode(encoded(plan), plan, progress, encoded)
        columns, missing = made.plan.columns, made.plan.missing_values
        decoded = decode(frame, columns, made.table, made.recoding, made.rng, True, missing)
        published = read_published(
            decoded.frame, columns, missing, decoded.people, decoded.households
        ).together()
        return _Release(made.plan, made.table, decoded, published)

    def telling(
        self, varying: Sequence[str], given: Collection[str], sampled: bool, progress: Progress
    ) -> list[Telling]:
        """The columns to take away, so that the attack refuses nothing by those that are left."""
        left = list(varying)
        found: list[Telling] = []
        while left:
            progress("trial", len(found) / len(varying))
            some = self._worst(self._attacked(left), given, sampled)
            if not some:
                break
            found += some
            left = [name for name in left if name not in {one.column for one in some}]
        return found

    def _attacked(self, others: Sequence[str]) -> dict[str, Any]:
        """What the attack finds by some columns."""
        columns = {
            name: column
            for name, column in self.plan.columns.items()
            if column.role not in UNCHANGED or name in others
        }
        unchanged = unchanged_of(
            self.decoded.frame,
            columns,
            self.published,
            self.plan.missing_values,
            k=enforced_class_size(self.plan.models),
            truth=Truth(self.original, self.decoded.rows),
        )
        return Dependency().run(self.published, unchanged=unchanged)

    def _worst(
        self, found: Mapping[str, Any], given: Collection[str], sampled: bool
    ) -> list[Telling]:
        """Those to take away next: by themselves, then of a pair, then of all together."""

        def made(
            column: str, way: Mapping[str, Any], partners: Sequence[str] = (), key: str = ""
        ) -> Telling:
            reads, below = way.get("reads", ()), way[f"people_below{key}"]
            people, k = self.published.person_count, found["k"]
            return Telling(
                column, tuple(partners), tuple(reads), below, people, k, sampled, refused=not key
            )

        columns = found["columns"]
        single = [made(name, one) for name, one in columns.items() if one["people_below"]]
        if sampled:
            # A larger table shows more. What the original shows without a release stands for that.
            single += [
                made(name, one, key="_if_known")
                for name, one in columns.items()
                if one["people_below_if_known"] and not one["people_below"]
            ]
        if single or not found["refused"]:
            return single
        if pairs := found["pairs"]:
            often: dict[str, int] = {}  # people, by the column that would be taken away
            for one in pairs:
                for name in _first_not_given(one["columns"], given):
                    often[name] = often.get(name, 0) + one["people_below"]
            worst = max(often, key=lambda name: often[name])
            way = next(one for one in pairs if worst in one["columns"])
            return [made(worst, way, [name for name in way["columns"] if name != worst])]
        refused = found["refused_columns"]
        return [
            made(one, {"people_below": found["refused"]}, [name for name in refused if name != one])
            for one in _first_not_given(refused, given)
        ]


def _first_not_given(names: Sequence[str], given: Collection[str]) -> Sequence[str]:
    """Those whose role nobody has given; all of them if there are none."""
    return [name for name in names if name not in given] or names
