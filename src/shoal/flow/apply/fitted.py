"""Fitted: the published vectors of a release, to be applied to new rows of the same kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import BadFile, BadInput, BadPlan, BadTable, did_you_mean, preview
from shoal.base.progress import Progress, silent
from shoal.base.version import __version__
from shoal.flow.apply.placing import first_covering, keep_promises
from shoal.flow.publish import Clock, publish
from shoal.flow.release import Release
from shoal.hierarchies.base import FreeRanges, FreeSets, Hierarchy
from shoal.hierarchies.free_values import Covers, elements_of, ends_of
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT
from shoal.io.files import check_source
from shoal.io.frames import Frame, atomic, fingerprint, open_frame
from shoal.kernels.group import group_rows
from shoal.losses.weights import Weights
from shoal.measures.information_loss import kept
from shoal.measures.outcome import Applied
from shoal.plan import Plan
from shoal.table.alike import alike
from shoal.table.coding import value_codes
from shoal.table.encode import Column, Table, check_names, columns_with_role, encode, person_codes
from shoal.table.published_table import codes_of, read_published
from shoal.table.recoding import SUPPRESSED, Recoding

Vector = tuple[Label, ...]  # a label a quasi-identifier; None is a missing value

FORMAT, VERSION = "shoal recoding", 2
SAID = ("plan", "order", "columns", "vectors")  # what the checksum is of


@dataclass(frozen=True, eq=False)
class Fitted:
    """A plan and the vectors that a release publishes, those that lose least first.

    >>> import pyarrow as pa, shoal
    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}},
    ...     models=[{"name": "k-anonymity", "k": 2}],
    ... )
    >>> fitted = shoal.anonymize(pa.table({"age": [31, 38, 52, 57]}), plan).recoding
    >>> fitted
    Fitted(2 vectors of 1 quasi-identifier)
    >>> fitted.apply(pa.table({"age": [33, 39, 71]})).frame["age"].to_pylist()
    ['[30, 40)', '[30, 40)']
    """

    plan: Plan  # without its seed, and with hierarchies that need no file
    vectors: tuple[Vector, ...]
    order: tuple[str, ...] = ()  # of the columns in the release; those of the plan if it is empty

    @staticmethod
    def of(plan: Plan, table: Table, recoding: Recoding, order: Sequence[str] = ()) -> Fitted:
        """What a recoding publishes, with its columns in this order.

        Of vectors that cover the same row the first one is taken. What a row loses is what it
        kept less what the vector keeps, so the vectors that keep most come first, whatever the
        row; of those that keep the same the first by the alphabet.
        """
        used = recoding.vectors[np.unique(recoding.record[recoding.record != SUPPRESSED])]
        worth = kept(table, plan.loss, recoding.covers)
        most = sum(float(one.max()) for one in worth) or 1.0
        keeps = sum((one[used[:, j]] for j, one in enumerate(worth)), np.zeros(len(used)))
        labels = [
            recoding.covers[j].labels() if recoding.covers else list(tree.labels)
            for j, tree in enumerate(table.trees)
        ]
        vectors = [tuple(labels[j][code] for j, code in enumerate(vector)) for vector in used]
        # Sums in floating point differ in their last digits: those must not break a tie.
        rank = {
            vector: (-round(keep / most, 12), [(label is None, label or "") for label in vector])
            for vector, keep in zip(vectors, keeps.tolist(), strict=True)
        }
        trees = dict(zip(table.names, table.trees, strict=True))
        best = tuple(sorted(rank, key=rank.__getitem__))
        return Fitted(_settled(plan, trees), best, tuple(order))

    def __repr__(self) -> str:
        columns = len(self.names)
        some_columns = "1 quasi-identifier" if columns == 1 else f"{columns} quasi-identifiers"
        return f"Fitted({len(self.vectors):,} vectors of {some_columns})"

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return columns_with_role(self.plan.columns, "quasi")

    def save(self, path: str | Path) -> None:
        """Write a JSON file from which `load` makes the same again.

        It holds the plan without its seed, what is published, and whole hierarchies, also their
        values that are not published. It is for internal use, not for publication.
        """
        content = {
            "plan": _as_dict(self.plan),
            "order": self.order,
            "columns": self.names,
            "vectors": self.vectors,
        }
        head = {"format": FORMAT, "version": VERSION, "shoal": __version__, "sha256": _sum(content)}
        parts = [f"{json.dumps(key)}: {_json(value)}" for key, value in head.items()]
        parts.append(f'"plan": {_json(content["plan"])}')
        parts.append(f'"order": {_json(self.order)}')
        parts.append(f'"columns": {_json(self.names)}')
        lines = ",\n".join(map(_json, self.vectors))  # a vector a line
        parts.append(f'"vectors": [\n{lines}\n]')
        with atomic(path, private=True) as target:
            target.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")

    @staticmethod
    def load(path: str | Path) -> Fitted:
        """Read the file that `save` wrote."""
        check_source(Path(path), "the recoding ", "; `shoal anonymize --recoding` writes one")
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise BadFile(f"cannot read the recoding {path}: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise BadFile(
                f"{path} is damaged or no recoding file: it cannot be read as JSON; write it anew "
                "with `shoal anonymize --recoding`"
            ) from None
        try:
            return _from(content)
        except BadInput as error:
            raise BadFile(f"{path}: {error}") from None

    def apply(
        self,
        table: Any,
        *,
        seed: int | None = None,
        keep_order: bool | None = None,
        drop_extra: bool = False,
        most_left_out: float | None = None,
        progress: Progress = silent,
    ) -> Release:
        """Publish new rows by the vectors that are there, and verify the promises on them.

        A row gets the vector that covers it and loses least; all rows of a person get the same
        one. Where its class would break a promise in this table it gets the next one that covers
        it. What no class covers is suppressed. An error if nothing is left, or if more than the
        share `most_left_out` of the rows is not. Columns stand as in the release that the
        recoding was made with; `drop_extra` leaves out those that it did not have.
        """
        if most_left_out is not None and not 0 <= most_left_out <= 1:
            raise BadPlan(
                f"most_left_out is a share of the rows, from 0 to 1, got {most_left_out:g}; "
                "0.05 allows 5 %"
            )
        clock = Clock(progress)
        plan = self.plan.changed(seed=seed)
        rng = np.random.default_rng(seed)
        clock.start("read")
        given = open_frame(table, lambda done, size: progress("read", done / size))
        sha256 = fingerprint(table)
        clock.start("encode")
        whole = self._alike(given, drop_extra)
        unknown = _unknown(whole, plan)
        strange = _with_their_people(unknown, whole, plan)
        if strange.all():
            where = "; ".join(
                f"{name!r} has {preview(one.values)}" for name, one in unknown.items()
            )
            raise BadTable(
                "no row can be placed: all of them hold values that the hierarchies of the "
                f"recoding do not know: {where}. Is this a table of the same kind?"
            )
        frame = whole.rebuild(np.flatnonzero(~strange), {}, ()) if strange.any() else whole
        original = encode(frame, self._columns(), plan.missing, plan.missing_values, progress)
        clock.start("recode")
        vectors, covers = self._in(original)
        placed = first_covering(vectors, covers, original, progress)
        no_class = int((placed == SUPPRESSED).sum())
        if no_class == original.rows:
            raise BadTable(
                "no row of the table falls into a class of the recoding; is this a table of the "
                "same kind as the one that it was made with?"
            )
        held = keep_promises(plan, original, vectors, covers, placed, progress)
        applied = Applied(
            rows=whole.height,
            unknown={name: int(one.rows.sum()) for name, one in unknown.items()},
            unknown_rows=int(strange.sum()),
            no_class=no_class,
            broken=held.broken,
            moved=held.moved,
            classes=held.classes,
            dropped=[name for name in given.names if name not in whole.names],
            most_left_out=most_left_out,
        )
        applied.check()
        keep_order = plan.keep_order if keep_order is None else keep_order
        before = read_published(whole, _readable(plan.columns, unknown), plan.missing_values)
        release = publish(frame, plan, original, held.recoding, rng, keep_order, clock, before)
        return replace(
            release,
            notes=[*applied.notes(), *release.notes],
            applied=applied,
            original_sha256=sha256,
            fitted=partial(_itself, self),
        )

    def _alike(self, frame: Frame, drop_extra: bool) -> Frame:
        """The columns that the recoding was made with, in the order of its release."""
        columns = self.plan.columns
        lacking = [name for name in columns if name not in frame.names]
        if lacking:
            raise BadTable(
                f"the recoding was made with columns that the table lacks: {preview(lacking)}"
                f"{did_you_mean(lacking[0], frame.names)}; a table of the same kind has them all"
            )
        extra = [name for name in frame.names if name not in columns]
        if extra and not drop_extra:
            raise BadTable(
                f"the recoding says nothing of the columns {preview(extra)}: the table that it was "
                "made with did not have them, so nobody said whether they may be published; leave "
                "them out with --drop-extra (in Python: drop_extra=True)"
            )
        check_names(columns, frame.select(list(columns)))
        order = [*self.order, *(name for name in columns if name not in self.order)]
        return frame if frame.names == order else frame.select(order)

    def _columns(self) -> dict[str, Column]:
        """The columns, with hierarchies that can place the published labels in any table."""
        columns = dict(self.plan.columns)
        for j, name in enumerate(self.names):
            hierarchy = columns[name].hierarchy
            if isinstance(hierarchy, FreeRanges | FreeSets):
                labels = {vector[j] for vector in self.vectors}
                columns[name] = Column(role="quasi", hierarchy=_Placing(hierarchy, labels))
        return columns

    def _in(self, table: Table) -> tuple[Ints, tuple[Covers, ...]]:
        """The vectors as codes of this table, int32[vectors, q], without those that cover nothing.

        A label that the table's tree lacks covers no value of it.
        """
        covers = tuple(Covers(tree) for tree in table.trees)
        columns = [_codes([v[j] for v in self.vectors], one) for j, one in enumerate(covers)]
        vectors = np.stack(columns, axis=1).astype(np.int32)
        vectors = np.ascontiguousarray(vectors[(vectors >= 0).all(axis=1)])
        # Each once, in the order in which they come.
        return (vectors[group_rows(vectors)[1]] if len(vectors) else vectors), covers


# Values of a new table


class _Unknown(NamedTuple):
    """Values of a column that its hierarchy does not know."""

    rows: Bools  # bool[n], the rows that hold one
    values: list[Any]


def _unknown(frame: Frame, plan: Plan) -> dict[str, _Unknown]:
    """The columns with values that their hierarchy does not know."""
    found = {}
    for name in [
        *columns_with_role(plan.columns, "quasi"),
        *columns_with_role(plan.columns, "sensitive"),
    ]:
        hierarchy = plan.columns[name].hierarchy
        if hierarchy is None:
            continue
        codes, values = value_codes(frame.column(name), plan.missing_values)
        strange = np.array([*(not hierarchy.knows(value) for value in values), False])
        if strange.any() and plan.columns[name].role == "sensitive":  # known if written another way
            known = {alike(v) for v, one in zip(values, strange[:-1], strict=True) if not one}
            for i in np.flatnonzero(strange[:-1]).tolist():
                strange[i] = alike(values[i]) not in known
        if strange.any():
            unknown = [value for value, one in zip(values, strange[:-1], strict=True) if one]
            found[name] = _Unknown(strange[codes], unknown)
    return found


def _readable(columns: Mapping[str, Column], unknown: Mapping[str, _Unknown]) -> dict[str, Column]:
    """The columns, without hierarchies of sensitive values that do not know all of them."""
    return {
        name: Column(role="sensitive") if column.role == "sensitive" and name in unknown else column
        for name, column in columns.items()
    }


def _with_their_people(unknown: Mapping[str, _Unknown], frame: Frame, plan: Plan) -> Bools:
    """These rows, and the other rows of the same people."""
    strange = np.zeros(frame.height, np.bool_)
    for one in unknown.values():
        strange |= one.rows
    for name in columns_with_role(plan.columns, "person"):
        people = person_codes(frame.column(name), plan.missing_values)
        lost = np.zeros(int(people.max()) + 1, np.bool_)
        lost[people[strange]] = True
        strange = lost[people]
    return strange


def _codes(labels: Sequence[Label], covers: Covers) -> Longs:
    """The code of each label in this table; -1 where it covers no value of it."""
    number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    known = [label for label in number if label is not None]
    codes = dict(zip(known, codes_of(known, covers), strict=True))
    found = [covers.tree.node(None) if label is None else codes[label] for label in labels]
    return np.array(found, np.int64)


class _Placing(Hierarchy):
    """Free values of which some are given: the tree has all that they are made of."""

    def __init__(self, hierarchy: Hierarchy, labels: Iterable[Label]) -> None:
        self._hierarchy = hierarchy
        self._parts = elements_of if isinstance(hierarchy, FreeSets) else ends_of
        self._labels = [label for label in labels if label is not None]

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The values of the column, and the ends or elements of the published values.

        The root stands for anything: no range and no set that is published becomes the root.
        """
        parts: list[Label] = []
        for label in self._labels:
            parts += self._parts(label)
        more = [part for part in dict.fromkeys(parts) if part is not None]
        tree = self._hierarchy.tree([*values, *more, ROOT])
        return tree.with_missing() if None in parts else tree

    def setting(self) -> Any:
        """How a plan file writes it."""
        return self._hierarchy.setting()


# The file


def _settled(plan: Plan, trees: Mapping[str, Tree]) -> Plan:
    """The plan without seed and notes, and with hierarchies that read no file and no column."""
    columns = {}
    for name, column in plan.columns.items():
        hierarchy = column.hierarchy
        if isinstance(plan.loss, Weights) and name in trees:
            hierarchy = _frozen(trees[name])
        elif hierarchy is not None:
            hierarchy = hierarchy.settled(trees.get(name))
        columns[name] = Column(role=column.role, hierarchy=hierarchy, publish=column.publish)
    settled = plan.changed(columns=columns, seed=None)
    settled.notes.clear()
    settled.remarks.clear()
    return settled


def _frozen(tree: Tree) -> Hierarchy:
    """The very nodes of a tree: weights are given for these values, and new ones have none."""
    parents = {
        label: tree.labels[above]
        for label, above in zip(tree.labels[1:], tree.parent[1:], strict=True)
        if label is not None
    }
    return Hierarchy.from_parents(parents) if parents else Hierarchy.flat()


def _as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as JSON can write it."""
    columns = {
        name: {"role": column.role}
        | ({} if column.hierarchy is None else {"hierarchy": column.hierarchy.setting()})
        | ({} if column.publish else {"publish": False})
        for name, column in plan.columns.items()
    }
    return {
        "columns": columns,
        "models": [model.setting() for model in plan.models],
        "algorithm": plan.algorithm.setting(),
        "loss": plan.loss.setting(),
        "missing": plan.missing,
        "missing_values": plan.missing_values,
        "keep_order": plan.keep_order,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _sum(content: Mapping[str, Any]) -> str:
    """A checksum of what the file says."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _from(content: Any) -> Fitted:
    """What a file says, or an error unless all of it is as it was written."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadFile("this is no recoding file; `shoal anonymize --recoding` writes one")
    if content.get("version") != VERSION:
        raise BadFile(
            f"it has version {content.get('version')!r} of the format, and this shoal reads "
            f"{VERSION}; write it anew, or use the shoal that wrote it"
        )
    said: dict[str, Any] = {key: content.get(key) for key in SAID}
    if content.get("sha256") != _sum(said):
        raise BadFile(
            "it was changed after it was written, or is damaged: its checksum does not fit. Plan "
            "and vectors belong together; write it anew with `shoal anonymize --recoding`"
        )
    plan, vectors, order = said["plan"], said["vectors"], said["order"]
    lists = isinstance(vectors, list) and isinstance(order, list)
    if not isinstance(plan, dict) or not lists:
        raise BadFile("it lacks the plan, the vectors or the order of columns; write it anew")
    labels = [*order, *(label for one in vectors if isinstance(one, list) for label in one)]
    if not all(isinstance(one, list) for one in vectors) or not all(
        label is None or isinstance(label, str) for label in labels
    ):
        raise BadFile("its vectors are not lists of values as text; write it anew")
    fitted = Fitted(Plan(**plan), tuple(tuple(vector) for vector in vectors), tuple(order))
    fitted.plan.check_served()  # a file that promises nothing would publish anything
    if not set(fitted.order) <= set(fitted.plan.columns):
        raise BadFile("it publishes columns that its plan does not have; write it anew")
    width = len(fitted.names)
    if said["columns"] != fitted.names or any(len(vector) != width for vector in fitted.vectors):
        raise BadFile("its vectors are those of another plan; write it anew")
    return fitted


def _itself(fitted: Fitted) -> Fitted:
    return fitted
