"""The codebook of a release: what readers of the published table need to know about its columns.

It is for publication. All of it follows from the published table and from what the plan says about
published columns; it has no original value, no seed, and no column that is left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from math import inf
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadFile, BadPlan, BadTable
from shoal.base.wording import many, percent, short
from shoal.hierarchies.base import Hierarchy, OpenEnd
from shoal.hierarchies.free_values import closed_range, elements_of
from shoal.hierarchies.values import ROOT, number_of, range_of
from shoal.io.frames import Frame, atomic, csv_parts, open_frame
from shoal.io.labels import NO_LABELS, labels_of
from shoal.io.sources import is_address
from shoal.io.text_writing import as_text
from shoal.io.written.formulas import escaped
from shoal.plan import Plan
from shoal.report.page import Block, Bullets, Cell, HtmlTable, Numbers, Page, Section, Text, render
from shoal.table.coded_columns import coded_as_text
from shoal.table.roles import Column
from shoal.table.written.coded_numbers import coding_of
from shoal.table.written.form import kept_as_text, new_names
from shoal.table.written.ranges import bound_names, range_columns, with_bounds

SHOWN = 40  # values of a column in HTML
Kind = Literal["value", "generalized", "suppressed", "missing"]
ROLES = {
    "quasi": "generalized where needed",
    "sensitive": "unchanged: sensitive",
    "other": "unchanged",
    "weight": "unchanged: how many people of the population a record stands for",
    "person": "a random number, the same for all records of a person",
    "household": "a random number, the same for all members of a household",
}


class Described(Protocol):
    """A release, as far as a codebook is about it."""

    @property
    def frame(self) -> Any:
        """The published table; None: it is not in memory."""

    @property
    def plan(self) -> Plan:
        """How it was made, and how it is written."""

    @property
    def published(self) -> int:
        """The number of its records."""

    def check_unchanged(self, frame: Frame | None = None) -> None:
        """Raise an error if the table was edited."""


@dataclass(frozen=True)
class PublishedValue:
    """A published value, what it is, and how many records have it."""

    text: str | None  # None: an empty cell
    kind: Kind
    records: int
    label: str = ""  # what the value means, if the table says it


@dataclass(frozen=True)
class CodebookColumn:
    """A published column."""

    name: str
    label: str  # what the column is about, if the table says it
    role: str
    published_as: str  # in a few words
    generalized: str  # how its hierarchy generalizes; "" for others
    levels: list[str]  # the steps of the hierarchy, from fine to coarse
    written_as: list[str]  # the columns of the file
    values: list[PublishedValue]  # empty for a person column
    different: int  # how many different values there are
    reading: list[str]  # how to read its values

    def as_dict(self) -> dict[str, Any]:
        """The column, by the names of the JSON file."""
        return {
            "name": self.name,
            "label": self.label,
            "role": self.role,
            "published_as": self.published_as,
            "generalized": self.generalized,
            "levels": self.levels,
            "written_as": self.written_as,
            "different_values": self.different,
            "reading": self.reading,
            "values": [
                {
                    "value": one.text,
                    "label": one.label,
                    "kind": one.kind,
                    "records": one.records,
                }
                for one in self.values
            ],
        }


def write_codebook(release: Described, path: str | Path) -> None:
    """Write the codebook as HTML, CSV or JSON, by the ending of the path."""
    ending = Path(path).suffix.lower()
    check_codebook(path)
    columns = codebook(release)
    with atomic(path) as target:
        if ending == ".csv":
            table = _lines(columns)
            frame = Frame(escaped(table) if release.plan.write.escapes("codebook.csv") else table)
            target.write_bytes(b"".join(bytes(part) for part in csv_parts(frame)))
        elif ending == ".json":
            content = {"records": release.published, "columns": [one.as_dict() for one in columns]}
            text = json.dumps(content, indent=2, ensure_ascii=False)
            target.write_text(text + "\n", encoding="utf-8")
        else:
            target.write_text(render(page(columns, release.published)), encoding="utf-8")


def check_codebook(path: str | Path, engine: str = "memory") -> None:
    """Raise an error unless a codebook can be written to this path by this engine."""
    if engine in ("duckdb", "spark"):
        raise BadPlan(
            f"engine = {engine!r} does not support a codebook, as the records are not in memory; "
            "use engine = 'memory'"
        )
    if Path(path).suffix.lower() not in (".html", ".csv", ".json"):
        shown = "an address" if is_address(Path(path)) else path  # it may contain a password
        raise BadFile(f"a codebook is a file .html, .csv or .json, not {shown}")


def codebook(release: Described) -> list[CodebookColumn]:
    """The columns of a release, with what readers need to know."""
    if release.frame is None:
        raise BadTable(
            "the records of this release are not in memory, so that their values cannot be counted "
            "for a codebook; use engine = 'memory'"
        )
    frame = open_frame(release.frame)
    release.check_unchanged(frame)
    return [_column(frame, name, release.plan) for name in frame.names]


def _column(frame: Frame, name: str, plan: Plan) -> CodebookColumn:
    column = plan.columns[name]
    labels = labels_of(frame.native.schema.field(name)) if frame.kind == "arrow" else NO_LABELS
    codes, found = coded_as_text(frame, name)
    counts = np.bincount(codes + 1, minlength=len(found) + 1).tolist()
    texts = as_text(found.array, name).to_pylist()
    values: list[PublishedValue] = []
    if column.role not in ("person", "household"):
        words = set(plan.missing_of(name))
        hierarchy = column.hierarchy if column.role == "quasi" else None
        pairs = zip([None, *texts], counts, strict=True)
        values = [
            PublishedValue(
                text,
                _kind(text, column, hierarchy, words),
                count,
                labels.values.get(text or "", ""),
            )
            for text, count in pairs
            if count
        ]
        values.sort(key=lambda value: _place(value, hierarchy))
    numbers = column.microaggregate is not None
    quasi = column.role == "quasi" and not numbers
    hierarchy = column.hierarchy or Hierarchy.flat()
    new = plan.write.names.get(name, name)  # readers of the file know no other
    return CodebookColumn(
        name=new,
        label=labels.column or (name if new != name else ""),
        role=column.role,
        published_as=_published_as(column),
        generalized=f"to the {column.microaggregate} of a class"
        if numbers
        else _generalized(hierarchy)
        if quasi and not column.codes_numbers
        else "",
        levels=[step.words for step in hierarchy.steps() if step.words] if quasi else [],
        written_as=_written_as(frame, name, plan),
        values=values,
        different=sum(count > 0 for count in counts),
        reading=[*_reading(values, column, plan), *_as_text(frame, name, plan)],
    )


def _published_as(column: Column) -> str:
    """How a column is published, for readers who have nothing but the release.

    >>> _published_as(Column(role="other", top=90, round=5))
    'coded numbers: rounded to multiples of 5; 90 stands for 90 or more'
    """
    if column.microaggregate is not None:
        return f"the {column.microaggregate} of each class"
    if not column.codes_numbers:
        return ROLES[column.role]
    said = f"coded numbers: {'; '.join(coding_of(column))}"
    return said + _ALSO_CODED.get(column.role, "")


_ALSO_CODED = {"quasi": "; suppressed where needed", "sensitive": " (sensitive)"}


def _generalized(hierarchy: Hierarchy) -> str:
    """How values are generalized; a level table has values that may not be published."""
    return "by a table of levels" if hierarchy.listed_values() else hierarchy.describe()


def _written_as(frame: Frame, name: str, plan: Plan) -> list[str]:
    if plan.write.ranges == "bounds" and name in range_columns(plan.columns):
        made = with_bounds(frame.select([name]), {name: plan.columns[name]}, plan.missing_values)
        new = new_names({name: plan.columns[name]}, plan.write)
        return [new.get(one, one) for one in bound_names(name) if one in made.names]
    return [plan.write.names.get(name, name)]


def _kind(text: str | None, column: Column, hierarchy: Hierarchy | None, words: set[str]) -> Kind:
    if text is None or text in words:
        return "missing"
    if column.role != "quasi":
        return "value"
    if text == ROOT:
        return "suppressed"
    if column.microaggregate is not None:
        return "generalized"
    exact = hierarchy is None or hierarchy.width(text).place == -np.inf
    return "value" if exact else "generalized"


def _place(value: PublishedValue, hierarchy: Hierarchy | None) -> tuple[Any, ...]:
    """Where a value is in the list: numbers and dates by their size, then texts, missing last."""
    last = {"suppressed": 1, "missing": 2}.get(value.kind, 0)
    text = value.text or ""
    ends = hierarchy.ends(text) if hierarchy is not None else None
    if ends is not None:
        low, high = (_size(end, open_) for end, open_ in zip(ends, (-inf, inf), strict=True))
        return last, 0, low, high, (text,)
    number = number_of(text)
    if number is not None:
        return last, 0, float(number), float(number), (text,)
    return last, 1, 0.0, 0.0, _natural(text)


def _size(end: OpenEnd, without: float) -> float:
    if end is None:
        return without
    return float(end.toordinal() if isinstance(end, date) else end)


def _natural(text: str) -> tuple[str | int, ...]:
    """Numbers inside texts by their size: the band [50-75) comes before [100-125).

    >>> sorted(["[100-125)", "[50-75)", "x"], key=_natural)
    ['[50-75)', '[100-125)', 'x']
    """
    pieces = re.split(r"([0-9]{1,18})", text)
    return tuple(int(one) if i % 2 else one for i, one in enumerate(pieces))


def _reading(values: list[PublishedValue], column: Column, plan: Plan) -> list[str]:
    """How to read the values that occur."""
    said = []
    if column.microaggregate is not None:
        said.append(
            f"A number is the {column.microaggregate} of the original numbers of all records with "
            "the same published values, rounded. An empty cell is missing in some of them."
        )
        return said
    texts = [one.text for one in values if one.text is not None and one.kind == "generalized"]
    ranges = [text for text in texts if range_of(text) is not None]
    if ranges:
        low, high = ranges[0][1:-1].split(", ")
        said.append(f"{ranges[0]} is a number of {low} or more and less than {high}.")
    said += _cut(texts, column.hierarchy)
    closed = [text for text in texts if closed_range(text) is not None]
    if closed:
        low, high = closed[0][1:-1].split(", ")
        said.append(f"{closed[0]} is a number from {low} to {high}, both included.")
    sets = [text for text in texts if elements_of(text)]
    if sets:
        said.append(f"{short(sets[0])} is one of these values.")
    cut = [text for text in texts if text.endswith(ROOT) and text.strip(ROOT)]
    if cut:
        said.append(f"{cut[0]} is a code that begins with {cut[0].rstrip(ROOT)}.")
    if any(one.kind == "suppressed" for one in values):
        said.append("* is any value: it is not published for these records.")
    missing = [one.text for one in values if one.kind == "missing"]
    if missing:
        names = ["an empty cell" if text is None else f"“{short(text)}”" for text in missing]
        mean = "means" if len(names) == 1 else "mean"
        said.append(f"{_capital(' and '.join(names))} {mean} that the value is missing.")
    if plan.write.ranges == "midpoint" and column.hierarchy and column.hierarchy.has_ends:
        said.append(
            "The file has the number or date in the middle of a range, and an empty cell for * "
            "and for ranges that lack an end."
            if column.hierarchy.open_labels()
            else "The file has the number or date in the middle of a range, and an empty cell "
            "for *."
        )
    return said


def _as_text(frame: Frame, name: str, plan: Plan) -> list[str]:
    """Why numbers are text in files that have types."""
    columns = {name: plan.columns[name]}
    found = kept_as_text(frame.select([name]), columns, plan.missing_values, plan.write)
    return [f"It is text and not a number: {why}." for why in found.values()]


def _cut(texts: list[str], hierarchy: Hierarchy | None) -> list[str]:
    """How to read ranges of dates, and ranges that lack an end."""
    said = []
    dated = [text for text in texts if text[:1] == "[" and range_of(text) is None]
    if dated and hierarchy is not None and hierarchy.name == "borders":
        begin, after = dated[0][1:-1].split(", ")
        said.append(f"{dated[0]} is a date from {begin} on and before {after}.")
    for text in texts:
        if hierarchy is not None and text in hierarchy.open_labels():
            low, high = hierarchy.ends(text) or (None, None)
            dates = isinstance(low, date) or isinstance(high, date)
            end = text.lstrip("<>=")
            if low is None:
                how = f"a date before {end}" if dates else f"a number less than {end}"
            else:
                how = f"a date from {end} on" if dates else f"a number of {end} or more"
            said.append(f"{text} is {how}.")
    return said


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _lines(columns: list[CodebookColumn]) -> pa.Table:
    """One line per value."""
    rows: list[tuple[str, str, str, str | None, str, str, int | None, str]] = []
    for one in columns:
        about = (one.name, one.label, one.role)
        rows += [(*about, v.text, v.label, v.kind, v.records, one.published_as) for v in one.values]
        if not one.values:
            rows.append((*about, None, "", "random number", None, one.published_as))
    cells = list(zip(*rows, strict=True))
    names = ["column", "column_label", "role", "value", "value_label", "kind", "records"]
    names.append("published_as")
    kinds = [pa.string()] * 6 + [pa.int64(), pa.string()]
    return pa.table([pa.array(list(c), kind) for c, kind in zip(cells, kinds, strict=True)], names)


def page(columns: list[CodebookColumn], records: int) -> Page:
    """Lay out the codebook."""
    overview = HtmlTable(
        ["column", "published as", "different values"],
        [
            [Cell(short(one.name), short(one.label)), one.published_as, f"{one.different:,}"]
            for one in columns
        ],
        widths=(30, 50, 20),
    )
    return Page(
        title="Codebook",
        about="Anonymized table",
        source="Values and how many records have them",
        summary=[
            Numbers([(f"{records:,}", "records"), (f"{len(columns):,}", "columns")]),
            overview,
        ],
        sections=[Section(short(one.name), _section(one, records)) for one in columns],
        foot="This page describes the published table, and nothing that is not in it.",
    )


def _section(column: CodebookColumn, records: int) -> list[Block]:
    quasi = column.published_as == ROLES["quasi"]
    how = f": {column.generalized}" if quasi and column.generalized else ""
    blocks: list[Block] = [Text(f"{_capital(column.published_as)}{how}.")]
    if column.label:
        blocks.insert(0, Text(short(column.label)))
    if column.written_as != [column.name]:
        names = ", ".join(f"`{short(name)}`" for name in column.written_as)
        blocks.append(Text(f"The file has the bounds of the values in the columns {names}."))
    if column.reading:
        blocks.append(Bullets(column.reading))
    if column.values:
        rows: list[list[Cell | str]] = [
            [
                Cell("(empty)" if one.text is None else short(one.text), short(one.label)),
                one.kind,
                f"{one.records:,}",
                percent(100 * one.records / records),
            ]
            for one in _most(column.values)
        ]
        left = len(column.values) - len(rows)
        more = (
            f"{many(left, 'less frequent value')} not shown; the CSV and JSON codebooks have all."
        )
        head = ["value", "kind", "records", "share"]
        blocks.append(HtmlTable(head, rows, more if left else "", numbers=True))
    return blocks


def _most(values: list[PublishedValue]) -> list[PublishedValue]:
    """The most frequent values, in their order."""
    often = sorted(range(len(values)), key=lambda i: -values[i].records)[:SHOWN]
    return [values[i] for i in sorted(often)]
