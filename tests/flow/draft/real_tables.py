"""Real tables that drafts are judged on, and the judgement."""

from __future__ import annotations

import lzma
import tomllib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from shoal.datasets import adult, cmc, nursery
from shoal.io.frames import open_frame

HERE = Path(__file__).parent
# The roles that experts gave, by table and column.
ROLES: dict[str, dict[str, str]] = tomllib.loads((HERE / "roles.toml").read_text(encoding="utf-8"))
INSTALLED: dict[str, Callable[[], pa.Table]] = {"adult": adult, "cmc": cmc, "nursery": nursery}
FILES = {
    "informs": "informs/demographics05.csv.gz",
    "wake": "voters/wake_county_nc.csv.gz",
    "michigan": "voters/michigan_social.csv.gz",
    "florida": "voters/florida_sample.csv.gz",
    "cup": "cup/cup.csv.gz",
    "diabetes": "diabetes130/diabetic_data.csv.xz",
    "census": "census_income/census-income.train.csv.xz",
    "births": "births2006/births2006.csv.xz",
    "military": "military/military.csv.xz",
}


def real_table(name: str, shared: Path) -> pa.Table:
    """One of the tables: from an installed package, or from the shared folder."""
    if name in INSTALLED:
        return INSTALLED[name]()
    if name == "census":  # it has no header, and blanks after its commas
        content = lzma.decompress((shared / FILES[name]).read_bytes()).replace(b", ", b",")
        names = list(ROLES["census"])
        return csv.read_csv(
            pa.BufferReader(content),
            csv.ReadOptions(column_names=names),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    table: pa.Table = open_frame(shared / FILES[name]).native
    return table


def judge(drafted: str, experts: str) -> str:
    """Right, unsure or wrong.

    >>> judge("quasi", "quasi"), judge("other", "sensitive other"), judge("quasi", "other")
    ('right', 'unsure', 'wrong')
    """
    roles = experts.split()
    if drafted not in roles:
        return "wrong"
    return "right" if len(roles) == 1 else "unsure"
