"""Labels: what a column is about and what its codes mean, as SPSS, Stata and SAS store them.

They travel as metadata of the fields of an arrow table. A release keeps the label of a column, and
the labels of the values that it publishes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.compact import ArrowColumn
from shoal.io.text_writing import as_text

KEY = b"shoal.labels"
NO_VALUES: Mapping[str, str] = MappingProxyType({})


class Labels(NamedTuple):
    """The label of a column, those of its values, and which values mean that one is missing."""

    column: str = ""
    values: Mapping[str, str] = NO_VALUES  # by value, as a text file would have it: "1", "2.5"
    missing: tuple[str, ...] = ()  # values that the file declares as missing, such as "99"
    measure: str = ""  # "nominal", "ordinal" or "scale"; "" if the file does not say it


NO_LABELS = Labels()


def labels_of(field: pa.Field) -> Labels:
    """The labels of a field; empty ones if it has none.

    >>> field = with_labels(pa.field("sex", pa.int64()), Labels("Sex", {"1": "male"}))
    >>> labels_of(field).values
    {'1': 'male'}
    """
    note = (field.metadata or {}).get(KEY)
    if note is None:
        return NO_LABELS
    try:
        said = json.loads(note)
        values = {str(value): str(label) for value, label in said["values"].items()}
        missing = tuple(str(value) for value in said["missing"])
        return Labels(str(said["column"]), values, missing, str(said["measure"]))
    except (ValueError, TypeError, KeyError, AttributeError):  # a note of somebody else
        return NO_LABELS


def with_labels(field: pa.Field, labels: Labels) -> pa.Field:
    """The same field with these labels, and no other metadata."""
    if labels == NO_LABELS:
        return field.remove_metadata()
    note = json.dumps({**labels._asdict(), "values": dict(labels.values)}, ensure_ascii=False)
    return field.with_metadata({KEY: note.encode()})


def table_labels(schema: pa.Schema) -> dict[str, Labels]:
    """The labels of all columns that have some."""
    found = {field.name: labels_of(field) for field in schema}
    return {name: labels for name, labels in found.items() if labels != NO_LABELS}


def labelled(table: pa.Table, labels: Mapping[str, Labels]) -> pa.Table:
    """The same table; these columns have these labels."""
    fields = [
        with_labels(field, labels[field.name]) if field.name in labels else field
        for field in table.schema
    ]
    return pa.table(table.columns, pa.schema(fields, table.schema.metadata))


def published(labels: Labels, values: ArrowColumn) -> Labels:
    """The labels without those of values that do not occur in the column.

    >>> published(Labels("Sex", {"1": "male", "2": "female"}), pa.array([2, 2])).values
    {'2': 'female'}
    """
    if not labels.values and not labels.missing:
        return labels
    found = set(as_text(pc.unique(values), "").to_pylist())
    kept = {value: label for value, label in labels.values.items() if value in found}
    missing = tuple(value for value in labels.missing if value in found)
    return labels._replace(values=kept, missing=missing)
