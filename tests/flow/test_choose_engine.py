"""The engine is chosen by the size of the table, unless the plan names one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import BadPlan, Plan
from shoal.flow import choose_engine as module
from shoal.flow.choose_engine import choose_engine


def plan(**change: object) -> Plan:
    asked: dict = {"columns": {"a": "quasi"}, "models": [{"name": "k-anonymity", "k": 2}]}
    return Plan(**asked | change)


@pytest.fixture(params=[".csv", ".parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that takes 80,000 bytes in memory or more; none is too small to look at."""
    monkeypatch.setattr(module, "SMALL", 0)
    path = tmp_path / f"people{request.param}"
    if request.param == ".csv":
        path.write_text("a\n" + "1234567\n" * 10_000)
    else:
        pq.write_table(pa.table({"a": np.zeros(10_000, np.int64)}), path)
    return path


def test_by_a_share_of_the_memory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "machine_memory", lambda: 400_000)
    assert choose_engine(file, plan(), False).name == "memory"
    monkeypatch.setattr(module, "machine_memory", lambda: 300_000)
    assert choose_engine(file, plan(), False).name == "duckdb"
    assert choose_engine(str(file), plan(), False).name == "duckdb"
    assert choose_engine(file, plan(engine="memory"), False).name == "memory"
    assert choose_engine(pa.table({"a": [1]}), plan(), False).name == "memory"
    assert choose_engine(file, plan(memory="1GB"), False).name == "memory"  # a limit of the plan


def test_by_name(file: Path) -> None:
    assert choose_engine(file, plan(), False).name == "memory"
    assert choose_engine(file, plan(engine="duckdb"), False).name == "duckdb"


def test_what_duckdb_does_not_support_stays_in_memory(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "machine_memory", lambda: 1_000)
    found = choose_engine(file, plan(algorithm="mdav"), False)
    assert found.name == "memory"
    assert "mdav" in found.notes[0]
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    found = choose_engine(file, plan(), False)
    assert found.name == "memory"
    assert "pip install 'shoal[duckdb]'" in found.notes[0]


def test_a_folder_that_cannot_be_read_otherwise(tmp_path: Path) -> None:
    assert choose_engine(tmp_path, plan(), False).name == "duckdb"
    with pytest.raises(BadPlan, match=r"keep_order.*one file"):
        choose_engine(tmp_path, plan(), True)
