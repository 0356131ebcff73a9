"""A table that takes long to anonymize, so that a run can be caught in the middle."""

from __future__ import annotations

from pathlib import Path
from random import Random

PLAN = """
seed = 1
[columns]
a = { role = "quasi", hierarchy = { ranges = [5, 10, 50] } }
b = { role = "quasi", hierarchy = { ranges = [5, 10, 50] } }
c = { role = "quasi", hierarchy = { ranges = [5, 10, 50] } }
d = { role = "quasi", hierarchy = { ranges = [5, 10, 50] } }
secret = { role = "sensitive" }
[[models]]
name = "k-anonymity"
k = 50
[algorithm]
name = "agglomerative"
"""


def slow_table(folder: Path, rows: int = 20_000) -> tuple[Path, Path]:
    """The paths of a table and of a plan."""
    random = Random(1)
    table, plan = folder / "slow.csv", folder / "slow.toml"
    lines = [",".join(str(random.randrange(200)) for _ in range(4)) + f",marker{i}"
             for i in range(rows)]  # fmt: skip
    table.write_text("\n".join(["a,b,c,d,secret", *lines]) + "\n", encoding="utf-8")
    plan.write_text(PLAN, encoding="utf-8")
    return table, plan
