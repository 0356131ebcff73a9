"""A labelled table for the files of statistics programs, and what it takes to refuse a file."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from shoal.io.format import DAMAGED
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


LIMITED = """
import resource, sys
from shoal.base.errors import BadFile
from shoal.io.frames import read
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read(sys.argv[1])
except BadFile as error:
    print(error)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown // 1000, "MB")
"""


def memory_to_refuse(path: Path) -> int:
    """The memory in MB that a process of its own takes to refuse a damaged file."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=True
    )
    said, grown = done.stdout.splitlines()
    assert said == f"cannot read {path}: {DAMAGED}"
    return int(grown.split()[0])
