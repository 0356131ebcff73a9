"""A small table with its plan, for tests that run commands in a folder of their own."""

from __future__ import annotations

from pathlib import Path

PLAN = """
seed = 3
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { ranges = [5, 10, 20] } }
sex = { role = "quasi" }
disease = { role = "sensitive" }

[[models]]
name = "k-anonymity"
k = 3
"""
HEADER = "name,age,sex,disease\n"


def write_people(path: Path, numbers: range) -> None:
    """Write one record for each of these numbers."""
    rows = "".join(f"Person {i},{20 + i % 40},{'fm'[i % 2]},d{i % 5}\n" for i in numbers)
    path.write_text(HEADER + rows, encoding="utf-8")


def left(folder: Path) -> list[str]:
    """The files in a folder."""
    return sorted(path.name for path in folder.iterdir())
