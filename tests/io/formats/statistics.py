"""A labelled table for the files of statistics programs."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa

from shoal.io.labels import Labels, labelled

TABLE = pa.table(
    {
        "sex": [1, 2, 2, 9],
        "town": ["A", "B", None, "Zoë"],
        "income": [1.5, None, 0.1 + 0.2, -8.0],
        "born": [dt.date(1850, 1, 2), None, dt.date(2024, 5, 17), dt.date(9999, 12, 31)],
        "seen": pa.array([0, 1, None, -62_135_596_800_000], pa.timestamp("ms")),
    }
)
LABELS = {
    "sex": Labels("Sex", {"1": "male", "2": "female", "9": "refused"}, ("9",), "nominal"),
    "town": Labels("Größe", {"A": "Aachen"}),
    "income": Labels("", {"-8": "unknown"}, ("-8",)),
}  # fmt: skip


def people() -> pa.Table:
    return labelled(TABLE, LABELS)
