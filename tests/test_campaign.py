"""A smoke test of `make campaign`: a handful of cases of each kind, so that the script cannot rot.

The campaign itself runs for minutes; see benchmarks/campaign. Here a few cheap cases must pass, and
the independent oracle must notice releases that are wrong.
"""

from __future__ import annotations

import ast
from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from benchmarks.campaign import __main__ as campaign
from benchmarks.campaign import kills, linked
from benchmarks.campaign.oracle import Published, class_levels, enough, level
from benchmarks.campaign.releases import Case
from benchmarks.campaign.tables import Column, Table
from benchmarks.campaign.texts import read_table, write_table
from benchmarks.campaign.trees import same
from benchmarks.campaign.trial import Trial
from benchmarks.campaign.worker import Shoal
from benchmarks.campaign.written import may_be_middle, with_labels

FOLDER = Path(campaign.__file__).parent


@pytest.fixture(scope="module")
def shoal():
    process = Shoal()
    yield process
    process.close()


def test_it_shares_no_code_with_shoal():
    """Only the worker touches shoal, and of it only the command line."""
    for path in FOLDER.glob("*.py"):
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            found |= {name for name in names if name.split(".")[0] == "shoal"}
        assert found <= ({"shoal.cli.main"} if path.name == "worker.py" else set()), path.name


@pytest.mark.parametrize("kind", ["releases", "spoiled", "markers"])
def test_smoke(kind, shoal, tmp_path):
    """The first small cases of a fixed seed pass."""
    total: Counter = Counter()
    for index in SMOKE[kind]:
        told = campaign.one(kind, index, 1, shoal, tmp_path)
        assert not told["failures"], told
        total.update(told["counts"])
    assert total["checks"] >= 4
    if kind == "releases":
        assert total["requirements recomputed"] >= 2
        assert total["losses recomputed"] >= 20


SMOKE = {"releases": [3, 5, 6], "spoiled": [5], "markers": [4]}


def test_smoke_kills(shoal, tmp_path, monkeypatch):
    """One command, ended politely while it runs."""
    monkeypatch.setattr(kills, "KILLS", 1)
    monkeypatch.setattr(kills, "SIGNALS", {"SIGTERM": kills.SIGNALS["SIGTERM"]})
    words = ["draft", "data.csv", "--out", "new.toml", "--force"]
    monkeypatch.setattr(kills, "_command", lambda _: (words, ["new.toml"]))
    told = campaign.one("kills", 0, 1, shoal, tmp_path)
    assert not told["failures"], told
    assert told["counts"]["kills"] == 1


def example() -> tuple[Table, dict]:
    cells = {
        "a": ["u", "u", "v", "v"], "s": ["x", "y", "x", "y"], "tag": ["t0", "t1", "t2", "t3"],
    }  # fmt: skip
    roles = {"a": "quasi", "s": "sensitive", "tag": "other"}
    table = Table([Column(name, roles[name], list(column)) for name, column in cells.items()])
    models = [
        {"name": "k-anonymity", "k": 2},
        {"name": "distinct-l-diversity", "column": "s", "l": 2},
    ]
    return table, {"columns": {}, "models": models}


def numbers(**change) -> dict:
    checks = [{"holds": True, "reached": 2}, {"holds": True, "reached": 2}]
    names = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm", "lm", "entropy")
    known = {
        "published": 4, "suppressed": 0, "rows": 4, "classes": 2, "smallest_class": 2,
        "discernibility": 8, "algorithm": {"name": "peel"}, "loss": "lm",
        "losses": dict.fromkeys(names, 0.0), "mean_loss": 0.0, "checks": checks,
    }  # fmt: skip
    return {**known, **change}


def judged(tmp_path, cells: dict, **change) -> list[str]:
    table, plan = example()
    trial = Trial(Random(1), tmp_path, Shoal())
    write_table(cells, tmp_path / "release.csv")
    Case(trial, table, plan).check_release("release.csv", numbers(**change), keep_order=True)
    return trial.failures


GOOD = {"a": ["u", "u", "v", "v"], "s": ["x", "y", "x", "y"], "tag": ["t0", "t1", "t2", "t3"]}


def test_the_oracle_passes_what_is_right(tmp_path):
    assert judged(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("cells", "change", "what"),
    [
        ({"a": ["u", "*", "v", "v"]}, {}, "VIOLATED: {'name': 'k-anonymity'"),
        ({"a": ["v", "v", "v", "v"]}, {}, "does not cover"),
        ({"s": ["x", "x", "x", "y"]}, {}, "not those of the original"),
        ({"tag": ["t1", "t0", "t2", "t3"]}, {}, "the order is another"),
        ({"tag": ["t0", "t0", "t2", "t3"]}, {}, "published twice"),
        ({}, {"losses": dict.fromkeys(numbers()["losses"], 1.0)}, "loss lm: 1.0 reported"),
        ({}, {"suppressed": 1}, "suppressed rows"),
        ({}, {"classes": 3}, "classes"),
        ({}, {"checks": [{"holds": True, "reached": 3}] * 2}, "3 reported, 2 recomputed"),
    ],
)  # fmt: skip
def test_the_oracle_notices_what_is_wrong(tmp_path, cells, change, what):
    assert any(what in failure for failure in judged(tmp_path, {**GOOD, **cells}, **change))


def test_complete_assignments_are_counted():
    """Against all permutations; some originals and some rows are alike."""
    rng = Random(3)
    for _ in range(60):
        n = rng.randint(1, 6)
        kinds = [[rng.random() < 0.6 for _ in range(3)] for _ in range(3)]
        person, row = ([rng.randrange(3) for _ in range(n)] for _ in range(2))
        fits = [[r for r in range(n) if r == i or kinds[person[i]][row[r]]] for i in range(n)]
        ways = [w for w in permutations(range(n)) if all(w[i] in fits[i] for i in range(n))]
        often = [Counter(w[i] for w in ways) for i in range(n)]
        found = linked.assignments(fits)
        for i in range(n):
            assert set(found[i]) == set(often[i])
            assert all(found[i][r] == pytest.approx(often[i][r] / len(ways)) for r in found[i])


# Missing values: empty cells, and two words for them in one column.

SAID = ["u", "u", None, None, "?", "?", "NA", "NA"]


def judged_words(tmp_path, missing: str, published: list, classes: int) -> list[str]:
    tags = [f"t{i}" for i in range(8)]
    quasi = Column("a", "quasi", SAID, words=["?", "NA"], own_words=True)
    table = Table([quasi, Column("tag", "other", tags)])
    plan = {"columns": {}, "models": [{"name": "k-anonymity", "k": 2}], "missing": missing}
    trial = Trial(Random(1), tmp_path, Shoal())
    write_table({"a": published, "tag": tags}, tmp_path / "release.csv")
    told = numbers(published=8, rows=8, classes=classes, checks=[{"holds": True, "reached": 2}])
    told["discernibility"] = sum(Counter(published)[cell] for cell in published)
    case = Case(trial, table, plan)
    if set(published) <= {*case.trees[0].parent, case.trees[0].root}:
        told["losses"] = {n: case.losses.percent(n, [published], 0) for n in told["losses"]}
        told["mean_loss"] = sum(list(told["losses"].values())[:7]) / 7
    case.check_release("release.csv", told, keep_order=True)
    return trial.failures


EMPTY = ["u", "u", *[None] * 6]


@pytest.mark.parametrize(
    ("missing", "published", "classes", "wrong"),
    [
        ("value", SAID, 4, None),
        ("value", ["u", "u", *["*"] * 6], 2, None),
        ("value", EMPTY, 2, "does not cover: [(None, '?'), (None, 'NA')]"),
        ("value", ["u", "u", None, None, *["?"] * 4], 3, "does not cover: [('?', 'NA')]"),
        ("value", SAID, 2, "JSON: classes"),  # each word is a value of its own
        ("empty", EMPTY, 2, None),
        ("empty", SAID, 4, "does not cover: [('?', None), ('NA', None)]"),
        ("root", ["u", "u", *["*"] * 6], 2, None),
        ("root", EMPTY, 2, "does not cover: [(None, '*')]"),
    ],
)
def test_the_oracle_knows_words_for_missing(tmp_path, missing, published, classes, wrong):
    failures = judged_words(tmp_path, missing, published, classes)
    assert failures == [] if wrong is None else any(wrong in failure for failure in failures)


def test_sensitive_words_for_missing_are_one_value():
    column = Column("s", "sensitive", ["x", "9.0", None, "?"], words=["?", "9"])
    assert column.meanings() == ["x", None, None, None]


def test_bounds_are_read_as_labels():
    years = Column("d", "quasi", ["2020-02-03"], {"dates": ["month", "year"]})
    ages = Column("a", "quasi", ["31", "31.0", "7 ", "?"], {"ranges": [10]}, words=["?"])
    cells = {
        "d_low": ["2020-01-01", "2020-02-01", "2020-02-03", None],
        "d_high": ["2020-12-31", "2020-02-29", "2020-02-03", None],
        "tag": ["t0", "t1", "t2", "t3"],
        "a_low": ["30", "31", "7", None],
        "a_high": ["40", "31", "7", None],
        "a_note": [None, None, None, "?"],
    }
    assert with_labels(cells, [years, ages]) == {
        "d": ["2020", "2020-02", "2020-02-03", "*"],
        "tag": ["t0", "t1", "t2", "t3"],
        "a": ["[30, 40)", "31", "7 ", "?"],
    }


def test_midpoints_must_be_those_of_labels_that_cover():
    ages = Column("a", "quasi", ["31", "38", "45"], {"ranges": [10]})
    assert may_be_middle(ages, ages.tree(), "35", "31")
    assert not may_be_middle(ages, ages.tree(), "45", "31")
    free = Column("a", "quasi", ["31", "38", "45"], {"free_ranges": True})
    assert may_be_middle(free, free.tree(), "34.5", "31")
    assert not may_be_middle(free, free.tree(), "41.5", "31")
    days = Column("d", "quasi", ["2020-02-03"], {"dates": ["month"]})
    assert may_be_middle(days, days.tree(), "2020-02-15", "2020-02-03")
    assert not may_be_middle(days, days.tree(), "2020-02-16", "2020-02-03")


def test_the_oracle_counts_as_the_definitions_do():
    """By hand: two classes, the second of one person with two rows and one disease."""
    seen = Published(
        [("a",), ("a",), ("b",), ("b",)], [1, 2, 3, 3], {"s": ["x", "y", "x", "x"]}, {"s": None}
    )
    assert class_levels({"name": "k-anonymity", "k": 2}, seen) == {("a",): 2, ("b",): 1}
    distinct = {"name": "distinct-l-diversity", "column": "s", "l": 2}
    assert class_levels(distinct, seen) == {("a",): 2, ("b",): 1}
    close = {"name": "t-closeness", "column": "s", "t": 0.3, "distance": "equal"}
    # By rows b has all of x, which 3/4 of the table have; by people 2/3 of what people have is x.
    assert level(close, seen) == pytest.approx(1 / 3)
    assert not enough(close, level(close, seen))
    assert level({"name": "eir-l-diversity", "column": "s", "l": 2}, seen) == 1
    assert same(" 1.0") == same("1") == "1"
    assert same("007") == "007"


def test_matches_are_those_of_all_perfect_matchings():
    """Against a list of all perfect matchings of small graphs."""
    from itertools import permutations

    rng = Random(1)
    for _ in range(200):
        n = rng.randint(1, 5)
        fits = [sorted({i, *(j for j in range(n) if rng.random() < 0.3)}) for i in range(n)]
        every = [p for p in permutations(range(n)) if all(r in fits[i] for i, r in enumerate(p))]
        owner = linked.perfect_matching(fits)
        assert owner is not None
        expected = [sorted({p[i] for p in every}) for i in range(n)]
        assert linked.matches(fits, owner) == expected


def test_half_written_files_are_noticed():
    assert kills._whole("numbers.json", b'{"a": 1}\n', None)
    assert not kills._whole("numbers.json", b'{"a": ', None)
    assert not kills._whole("report.html", b"<html>", None)
    assert not kills._whole("release.csv", b"a\n1\n", b"a\n1\n2\n")


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.xz", "t.csv.zst",
             "t.parquet", "t.feather", "t.jsonl", "t.xlsx"]
)  # fmt: skip
def test_tables_come_back_as_they_were(tmp_path, name):
    cells = {"a": ["1", None, 'x,"y"'], "b": ["l\nm", "ü", "z"]}
    write_table(cells, tmp_path / name)
    assert read_table(tmp_path / name, ["a", "b"]) == cells
