"""Anatomize: publish quasi-identifiers and sensitive values in two tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadPlan, BadTable, CannotReach, ShoalError, WayOut, preview
from shoal.base.progress import Progress, silent
from shoal.flow.anatomy.form_groups import form_groups
from shoal.flow.anatomy.two_tables import COUNT, GROUP, AnatomyAttacks, TwoTables
from shoal.flow.opening import open_table
from shoal.io import frames
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.models import Check, Model
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.p_sensitivity import PSensitivity
from shoal.plan import Plan
from shoal.table.coded_columns import coded, merged_codes
from shoal.table.roles import check_columns, columns_with_role
from shoal.table.written.coded_numbers import check_coded, coded_columns, words_for

SERVED = FrequencyLDiversity, DistinctLDiversity, EntropyLDiversity, PSensitivity
NAMES = "frequency-l-diversity, distinct-l-diversity, entropy-l-diversity and p-sensitivity"


@dataclass(frozen=True, eq=False)
class Anatomy:
    """Two tables that may be published together, with what they guarantee and disclose."""

    quasi_identifiers: pa.Table  # one row per record, with the number of its group
    sensitive: pa.Table  # how often each sensitive value occurs in each group
    plan: Plan
    column: str  # the sensitive column
    checks: list[Check]
    attacks: AnatomyAttacks
    reconstruction_error: float  # mean over records, from 0 to 2; 0: nothing was lost
    lowest_error: float | None  # of any groups that satisfy the models; None: not known
    groups: int
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """All that was measured, by the names of the JSON file."""
        return {
            "records": self.quasi_identifiers.num_rows,
            "groups": self.groups,
            "checks": [check.as_dict() for check in self.checks],
            "attacks": self.attacks.as_dict(),
            "reconstruction_error": self.reconstruction_error,
            "lowest_reconstruction_error": self.lowest_error,
            "notes": self.notes,
        }

    def save(self, quasi_identifiers: str | Path, sensitive: str | Path) -> None:
        """Write both files, which are read back and verified before they get their names."""
        if Path(quasi_identifiers).resolve() == Path(sensitive).resolve():
            raise BadTable("the two tables need two files; give two different names")
        with ExitStack() as stack:
            read = []
            for path, table in (
                (quasi_identifiers, self.quasi_identifiers),
                (sensitive, self.sensitive),
            ):
                target = stack.enter_context(frames.atomic(path))
                reading = self.plan.read.of_release
                frames.write(Frame(table), target, reading)
                read.append(frames.read_back(target, reading))
                if not frames.same_rows(read[-1], Frame(table)):
                    raise ShoalError(
                        f"{path} does not contain the rows of the release in their order; this is "
                        "a bug in shoal, and nothing is released"
                    )
            words = self.plan.missing_of(self.column)
            seen = TwoTables.of(read[0], read[1], self.column, words)
            seen.check(self.plan.models, self.column)


def anatomize(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    read: Reading | Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Anatomy:
    """Publish exact quasi-identifiers in one table and sensitive values in another (anatomy).

    Both have the number of a group. Each group has l different sensitive values or more, each in
    one record, so that nobody's value is known with a probability above 1 / l (Xiao and Tao 2006)
    to an attacker who does not know which values go with which quasi-identifiers.
    Quasi-identifiers are published as they are: whoever knows those of a person can find out
    whether that person is in the table.

    >>> people = pa.table({"age": [31, 38, 52, 57], "disease": ["flu", "cough", "flu", "ulcer"]})
    >>> model = {"name": "frequency-l-diversity", "column": "disease", "l": 2}
    >>> plan = Plan(columns={"age": "quasi", "disease": "sensitive"}, models=[model], seed=1)
    >>> anatomize(people, plan).attacks.surest
    0.5
    """
    plan = Plan.of(plan).with_reading(read)
    column = _checked(plan)
    progress("read", 0.0)
    frame = open_table(table, plan)
    check_columns(plan.columns, frame)
    progress("recode", 0.0)
    secret = merged_codes(frame, column, plan.missing_of(column))
    values = np.unique(secret.codes, return_inverse=True)[1].astype(np.int64)
    size = max(_size(model) for model in plan.models)
    rng = np.random.default_rng(plan.seed)
    group = form_groups(values, size, rng)
    if group is None:
        raise _out_of_reach(plan.models, values)
    first, second = _tables(frame, plan, column, group, rng)
    progress("verify", 0.0)
    for published in (first, second):
        check_coded(Frame(published), plan.columns)
    seen = TwoTables.of(Frame(first), Frame(second), column, plan.missing_of(column))
    return Anatomy(
        first,
        second,
        plan,
        column,
        checks=seen.check(plan.models, column),
        attacks=seen.attacks(),
        reconstruction_error=seen.reconstruction_error(),
        lowest_error=_lowest_error(plan.models),
        groups=len(seen.size),
        notes=_notes(plan),
    )


def _notes(plan: Plan) -> list[str]:
    """What the reader of the two tables has to know."""
    notes = [
        "quasi-identifiers are published as they are: whoever knows those of a person can find "
        "out whether the person is in the table, and which records could be theirs",
        "an attacker who knows which sensitive values go with which quasi-identifiers, or learns "
        "it from the two tables, can be surer of a value than the requirements say",
    ]
    if plan.seed is not None:
        notes.append(
            "the groups were drawn with a random seed: an attacker who knows it can find out more; "
            "make the final release without a seed"
        )
    return notes + [words_for(name, one) for name, one in coded_columns(plan.columns).items()]


def _checked(plan: Plan) -> str:
    """The sensitive column; raise an error unless anatomy can do what the plan asks."""
    secret = columns_with_role(plan.columns, "sensitive")
    if len(secret) != 1:
        raise BadPlan(
            f"anatomy needs one sensitive column, and the plan has {len(secret)}"
            f"{f' ({preview(secret)})' if secret else ''}; give the role sensitive to one column"
        )
    if not columns_with_role(plan.columns, "quasi"):
        raise BadPlan("the plan has no quasi-identifier; give some column the role quasi")
    for name, one in plan.columns.items():
        if one.role not in ("quasi", "sensitive", "identifier", "drop"):
            raise BadPlan(
                f"anatomy does not support the role {one.role} (column {name!r}): give it the role "
                "quasi, so that it is published with the quasi-identifiers, or drop"
            )
    if taken := [name for name in (GROUP, COUNT) if name in plan.columns]:
        raise BadPlan(f"anatomy writes a column {taken[0]!r}; rename that of the table")
    if plan.limits:
        raise BadPlan(
            f"anatomy does not measure limits ({preview(list(plan.limits.stated()))}): remove "
            "[limits] from the plan"
        )
    if plan.attackers:
        raise BadPlan(
            "anatomy does not support several attackers: remove [[attackers]] from the plan"
        )
    if not plan.models:
        raise BadPlan(f"the plan has no requirements; anatomy serves {NAMES}")
    for model in plan.models:
        if not isinstance(model, SERVED):
            raise BadPlan(
                f"anatomy does not support {model.key}, as it publishes exact quasi-identifiers; "
                f"it serves {NAMES}"
            ).offering(WayOut("remove", model.key))
    return secret[0]


def _size(model: Model) -> int:
    """The records with different values that a group needs: so many satisfy the model."""
    return max(2, ceil(model.required - 1e-9))


def _lowest_error(models: list[Model]) -> float | None:
    """A lower bound on the reconstruction error; None: the models say nothing about it.

    The mean error of a group is 1 - Σ p², over the shares p of its values. If none is above 1 / l,
    the sum is 1 / l at the most (Xiao and Tao 2006).
    """
    found = [1 - 1 / one.required for one in models if isinstance(one, FrequencyLDiversity)]
    return max(found, default=None)


def _out_of_reach(models: list[Model], values: np.ndarray[Any, Any]) -> CannotReach:
    most = int(np.bincount(values).max())
    best = floor(len(values) / most)
    model = max(models, key=lambda one: one.required)
    return CannotReach(
        model.key,
        best,
        f"{model.key} with {model.required:g} cannot be reached by anatomy: {most:,} of "
        f"{len(values):,} records have the same value, so that l = {best} is the most possible; "
        "ask for less, or choose another algorithm",
    ).offering(WayOut("remove", model.key))


def _tables(
    frame: Frame, plan: Plan, column: str, group: np.ndarray[Any, Any], rng: np.random.Generator
) -> tuple[pa.Table, pa.Table]:
    """Both tables; neither the numbers of groups nor the order of rows says anything."""
    number = 1 + rng.permutation(int(group.max()) + 1)[group]
    rows = rng.permutation(frame.height)
    names = [name for name in frame.names if plan.columns[name].role == "quasi"]
    arrays = [pa.array(number[rows])]
    arrays += [_plain(frame, name).take(pa.array(rows)) for name in names]
    first = pa.Table.from_arrays(arrays, names=[GROUP, *names])
    codes, values = coded(frame, column, ())
    # Sorted by what is published, which says nothing about the original order.
    rank = np.append(np.argsort(np.argsort([str(one) for one in values])), -1)
    pairs, count = np.unique(np.stack([number, rank[codes]], axis=1), axis=0, return_counts=True)
    known, example = np.unique(rank[codes], return_index=True)
    place = pa.array(example[np.searchsorted(known, pairs[:, 1])])
    second = pa.Table.from_arrays(
        [pa.array(pairs[:, 0]), _plain(frame, column).take(place), pa.array(count)],
        names=[GROUP, column, COUNT],
    )
    return first, second


def _plain(frame: Frame, name: str) -> pa.Array:
    cells = frame.column(name)
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    return whole.cast(whole.type.value_type) if pa.types.is_dictionary(whole.type) else whole
