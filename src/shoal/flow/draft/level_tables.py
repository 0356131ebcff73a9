"""Level tables to fill in: all values of a column, for the user to group."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from shoal.base.errors import BadFile, BadHierarchy
from shoal.flow.draft.draft import Draft
from shoal.flow.draft.facts import Facts
from shoal.flow.draft.propose_hierarchy import HINT, LEAST
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.values import ROOT, text
from shoal.io.frames import atomic, check_writable
from shoal.io.sources import is_address
from shoal.plan import Plan

SEP = ";"
NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]+)?")


def level_files(proposed: Draft, folder: Path) -> dict[str, Path]:
    """The files of the level tables of a draft: for quasi-identifiers without a hierarchy."""
    found: dict[str, Path] = {}
    for name, column in proposed.plan.columns.items():
        facts = proposed.facts[name]
        if column.role == "quasi" and column.hierarchy is None and facts.distinct > LEAST:
            found[name] = folder / f"{_file_name(name, {path.stem for path in found.values()})}.csv"
    return found


def make_folder(folder: Path) -> None:
    """Make the folder, unless it is there."""
    if is_address(folder) and not folder.exists():  # it may contain a password: not repeated
        raise BadFile("level tables are files: give the name of a folder, not of a database")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot create the folder {folder}: {error.strerror}") from None


def check_files(files: Mapping[str, Path], force: bool) -> None:
    """Raise an error if a file is there already, or cannot be written."""
    for path in files.values():
        if path.exists() and not force:
            raise BadFile(f"{path} exists already, perhaps with your groups; --force overwrites it")
        check_writable(path)


def write_levels(proposed: Draft, files: Mapping[str, Path]) -> Plan:
    """Write the level tables; returns the plan that uses them.

    A column whose values cannot be told apart in such a table stays without a hierarchy.
    """
    tables = {name: _rows(proposed.facts[name]) for name in files}
    with ExitStack() as stack:
        for name, rows in tables.items():
            if rows:
                target = stack.enter_context(atomic(files[name], private=True))
                with target.open("w", encoding="utf-8", newline="") as lines:
                    csv.writer(lines, delimiter=SEP, lineterminator="\n").writerows(rows)
    columns = dict(proposed.plan.columns)
    for name, rows in tables.items():
        if rows:
            hierarchy = Hierarchy.from_csv(files[name], SEP)
            columns[name] = columns[name].model_copy(update={"hierarchy": hierarchy})
            note = proposed.plan.notes[name].replace(HINT, "")
            proposed.plan.notes[name] = f"{note}; group its values in {files[name].name}"
    return proposed.plan.changed(columns=columns)


def _rows(facts: Facts) -> list[list[str]]:
    """A row per value: the value, its group, which is its label or itself, and the root."""
    labels = sorted(map(text, facts.values), key=_by_size)
    named = [[one, facts.labels.get(one, one), ROOT] for one in labels]
    for rows in (named, [[one, one, ROOT] for one in labels]):
        try:
            tree = Hierarchy.from_levels(rows).tree()
        except BadHierarchy:
            continue
        if set(labels) <= set(tree.labels):
            return rows
    return []


def _by_size(label: str) -> tuple[bool, float, str]:
    """Numbers first, by size, also codes with leading zeros; then texts by their letters.

    >>> sorted(["b", "10", "-1.5", "09", "a2"], key=_by_size)
    ['-1.5', '09', '10', 'a2', 'b']
    """
    number = float(label) if NUMBER.fullmatch(label.strip()) else None
    return number is None, number or 0.0, label


def _file_name(column: str, taken: set[str]) -> str:
    name = re.sub(r"[^\w-]+", "_", column).strip("_")[:80] or "column"
    unique, count = name, 1
    while unique.lower() in {one.lower() for one in taken}:
        count += 1
        unique = f"{name}_{count}"
    return unique
