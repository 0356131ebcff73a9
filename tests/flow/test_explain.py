"""Which promise made a row as general as it is, against runs without each of them."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadTable, Plan
from shoal.cli import main as cli
from shoal.cli.release_tables import show_release
from shoal.flow import explain
from shoal.flow.explain import AS_IT_IS
from shoal.report.page import render
from shoal.report.release_report import facts, page
from tests.cli.test_console import printed
from tests.strategies import examples

COLUMNS = {
    "name": "identifier",
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
    "disease": "sensitive",
    "row": "other",
}
BOTH = [
    {"name": "k-anonymity", "k": 3},
    {"name": "distinct-l-diversity", "column": "disease", "l": 3},
]


def people(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "zip": rng.choice(["02138", "02139", "02141", "10001", "10002"], n),
            "disease": rng.choice(["flu", "cold", "gout", "flu"], n),
            "row": np.arange(n),
        }
    )


def plan(models=BOTH, **more):
    return Plan(**{"columns": COLUMNS, "models": models, "loss": "lm", "seed": 4, **more})


def lost(release, labels, row):
    """By hand: the loss of a row in percent, lm of each column with the same weight."""
    table = release.explainer.table
    total = 0.0
    for tree, name in zip(table.trees, table.names, strict=True):
        node = tree.node(str(labels[name]))
        total += (int(tree.leaves[node]) - 1) / (int(tree.leaves[0]) - 1)
    return 100 * total / len(table.names)


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_record_without_each_requirement_is_what_another_run_publishes(seed):
    table = people(seed=seed)
    release = shoal.anonymize(table, plan(), keep_order=True)
    now = release.frame.to_pylist()
    others = []
    for left_out in (0, 1):
        rest = [model for i, model in enumerate(BOTH) if i != left_out]
        others.append(shoal.anonymize(table, plan(rest), keep_order=True).frame.to_pylist())
    originals = table.to_pylist()
    forced = np.zeros((2, 60), bool)
    for row in range(60):
        found = release.explain(row)
        assert found.row == row
        assert found.published == {name: str(now[row][name]) for name in ("age", "zip")}
        assert found.loss == pytest.approx(lost(release, now[row], row))
        alike = [r for r in now if (r["age"], r["zip"]) == (now[row]["age"], now[row]["zip"])]
        assert found.models[0].reached == len(alike)
        assert found.models[0].margin == len(alike) - 3
        assert found.models[1].reached == len({r["disease"] for r in alike})
        for i, one in enumerate(found.models):
            other = lost(release, others[i][row], row)
            assert one.loss_without == pytest.approx(other, abs=1e-9)
            assert one.forced == (other < lost(release, now[row], row) - 1e-9)
            forced[i, row] = one.forced
            for name in ("age", "zip"):
                label = str(others[i][row][name])
                if label == str(originals[row][name]) and label != str(now[row][name]):
                    label = AS_IT_IS
                assert one.without[name] == label
        assert found.forced_by == [
            m["name"] for m, f in zip(BOTH, forced[:, row], strict=True) if f
        ]
        assert "Person" not in str(found)
    for i, reason in enumerate(release.reasons()):
        assert reason.rows == forced[i].sum()
        assert reason.percent == pytest.approx(100 * forced[i].mean())
        assert reason.loss == pytest.approx(release.losses["lm"])
        mean = np.mean([lost(release, others[i][row], row) for row in range(60)])
        assert reason.loss_without == pytest.approx(mean)


def test_without_any_requirement_a_record_is_published_unchanged():
    release = shoal.anonymize(people(), plan(BOTH[:1]))
    (reason,) = release.reasons()
    assert reason.loss_without == 0
    wider = release.explainer.recoding.codes() != release.explainer.table.codes
    assert reason.rows == wider.any(axis=1).sum()
    found = release.explain(7)
    assert found.models[0].loss_without == 0
    mine = people().to_pylist()[7]
    for name, label in found.models[0].without.items():
        assert label in (AS_IT_IS, found.published[name])
        assert label == AS_IT_IS or str(mine[name]) == label


def test_no_original_value_is_shown_unless_it_is_published():
    """Also where free ranges and sets are made of original values."""
    columns = COLUMNS | {
        "age": {"role": "quasi", "hierarchy": {"free_ranges": True}},
        "zip": {"role": "quasi", "hierarchy": {"free_sets": True}},
    }
    release = shoal.anonymize(people(), plan(columns=columns))
    shown = {str(v) for name in ("age", "zip") for v in release.frame[name].to_pylist()}
    wide = 0
    for row in range(60):
        for one in release.explain(row).models:
            for label in one.without.values():
                assert label in shown or label[0] == "("
                wide += label.startswith("(a ")
        json.dumps(release.explain(row).as_dict())
    assert wide


def test_rows_that_cannot_be_explained():
    release = shoal.anonymize(people(), plan())
    for row in (-1, 60, "3", 1.0, True, None):
        with pytest.raises(BadTable, match="rows of the original are 0 to 59"):
            release.explain(row)
    assert release.explain(np.int64(3)).row == 3
    release.explainer.recoding.record[5] = -1
    found = release.explain(5)  # rows of many levels: nobody knows the class that it was in
    assert found.left_out
    assert found.people is None
    assert "is not known for this algorithm" in str(found)
    assert json.dumps(found.as_dict())


def test_why_a_record_is_suppressed():
    """Full-domain leaves out classes: the promise that each fails, and its people, by hand."""
    table = pa.table(
        {
            "age": [21, 22, 23, 31, 32, 33, 41, 51, 52, 53],
            "disease": ["a", "b", "c", "a", "b", "c", "a", "b", "b", "b"],
        }
    )
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "disease": "sensitive"}
    models = [
        {"name": "k-anonymity", "k": 2},
        {"name": "distinct-l-diversity", "column": "disease", "l": 2},
    ]
    algorithm = {"name": "full-domain", "suppression": 0.5}
    asked = Plan(columns=columns, models=models, algorithm=algorithm)
    release = shoal.anonymize(table, asked)
    assert release.suppressed == 4
    assert not release.explain(0).left_out
    alone, alike = release.explain(6), release.explain(8)
    assert alone.left_out
    assert alike.left_out
    assert (alone.people, alike.people) == (1, 3)
    assert alone.failed == ("k-anonymity", "distinct-l-diversity[disease]")
    assert alike.failed == ("distinct-l-diversity[disease]",)
    assert [one.reached for one in alike.models] == [3, 1]
    assert alike.forced_by == ["distinct-l-diversity"]
    assert "its class has 3 people and would violate distinct-l-diversity[disease]" in str(alike)
    assert alike.published == {}
    for value in table["age"].to_pylist():
        assert str(value) not in str(alike).removeprefix("Row 8")


def test_a_row_is_suppressed_for_a_requirement_about_the_whole_table():
    hierarchy = {"levels": [["a", "ab", "all"], ["b", "ab", "all"], ["c", "cd", "all"]]}
    asked = Plan(
        columns={"x": {"role": "quasi", "hierarchy": hierarchy}},
        models=[{"name": "average-risk", "r": 0.2}],
        algorithm={"name": "full-domain", "suppression": 0.5},
    )
    release = shoal.anonymize(pa.table({"x": ["a"] * 9 + ["b", "c"]}), asked)
    assert release.suppressed == 1
    # Which of the two is decided by their values.
    words = "\n".join(str(release.explain(row)) for row in (9, 10))
    assert "with its class, which has 1 person, the table would exceed average-risk" in words
    assert "average-risk requires at most 0.2, with it the table reaches 0.272727" in words
    assert "would violate" not in words
    assert "requires at most 0.2, the table reaches 0.2" in str(release.explain(0))


def test_a_record_that_no_single_requirement_forced():
    release = shoal.anonymize(people(), plan())
    found = [release.explain(row) for row in range(60)]
    wide = [one for one in found if not one.forced_by and one.loss > 0]
    assert wide
    for one in found:
        assert one.together == (not one.forced_by and one.loss > 1e-9)
        assert ("together they did" in str(one)) == one.together
        assert one.as_dict()["together"] == one.together


def test_a_higher_loss_without_a_requirement_is_reported_as_an_effect_of_the_search():
    release = shoal.anonymize(people(), plan())
    known = facts(release, explain=True)
    assert not any(reason.by_search for reason in known.reasons)
    worse = [replace(one, loss=28.9, loss_without=32.2) for one in known.reasons]
    assert all(one.by_search for one in worse)
    assert all(one.as_dict()["by_search"] for one in worse)
    html = render(page(replace(known, reasons=worse)))
    assert "an effect of the greedy search, not of this requirement" in html
    assert "an effect of the search, see above" in html
    row = next(one for row in range(60) if (one := release.explain(row)).forced_by)
    assert "effect of the search" not in str(row)
    doubted = replace(row, models=[replace(one, by_search=True) for one in row.models])
    assert "effect of the search" in str(doubted)
    assert "an effect of the search" not in render(page(known))
    out = printed(show_release, release)
    assert "effect of the search" not in " ".join(out.split())
    release.explainer.reasons = lambda progress=None: worse
    assert "effect of the search" in " ".join(printed(show_release, release).split())


def test_the_most_general_classes_and_what_forced_them():
    table = people()
    release = shoal.anonymize(table, plan(), keep_order=True)
    frame = release.frame.to_pylist()
    found = release.explainer.classes()
    assert 0 < len(found) <= 10
    losses = [one.loss for one in found]
    assert losses == sorted(losses, reverse=True)
    rows = [release.explain(row) for row in range(60)]
    assert losses[0] == pytest.approx(max(one.loss for one in rows))
    for one in found:
        mine = [row for row in rows if row.published == one.published]
        assert one.rows == len(mine)
        assert one.loss == pytest.approx(np.mean([row.loss for row in mine]))
        forced = {without.key: without for without in one.forced}
        for i, model in enumerate(release.plan.models):
            count = sum(bool(row.models[i].forced) for row in mine)
            assert (forced[model.key].rows if model.key in forced else 0) == count
            if model.key in forced:
                mean = np.mean([r.models[i].loss_without for r in mine if r.models[i].forced])
                assert mean < one.loss
                assert forced[model.key].loss == pytest.approx(mean)
        for name, label in one.published.items():
            assert label in {str(row[name]) for row in frame}
    html = render(page(facts(release)))
    assert "The most general classes" in html
    assert "loss without it" in html


def test_the_comparison_has_the_very_seed_that_was_drawn(monkeypatch):
    from shoal.algorithms.peel import Peel

    seeds = []
    usual = Peel.recode

    def recode(self, table, models, loss, rng, progress):
        seeds.append(rng.bit_generator.seed_seq.entropy)
        return usual(self, table, models, loss, rng, progress)

    monkeypatch.setattr(Peel, "recode", recode)
    release = shoal.anonymize(people(), plan(seed=None))
    release.reasons()
    assert len(seeds) == 3
    assert len(set(seeds)) == 1
    assert release.seed is None
    assert str(seeds[0]) not in json.dumps(release.as_dict())


def test_the_loss_is_measured_once_for_each_requirement(monkeypatch):
    calls = []
    usual = explain.kept
    monkeypatch.setattr(explain, "kept", lambda *a: calls.append(1) or usual(*a))
    release = shoal.anonymize(people(), plan())
    for row in range(60):
        release.explain(row)
    assert len(calls) == 2 + 2  # what could be lost, the release, and each promise


def test_people_with_several_rows_and_linkage_models():
    table = people().append_column("who", pa.array(np.arange(60) // 2))
    columns = COLUMNS | {"who": "person"}
    release = shoal.anonymize(table, plan(columns=columns))
    assert release.explain(0).published == release.explain(1).published
    assert release.explain(0).models[0].reached >= 3
    linked = [
        {"name": "k-concealment", "k": 3},
        {"name": "distinct-l-diversity", "column": "disease", "l": 2},
        {"name": "k-k-anonymity", "k": 2},
    ]
    release = shoal.anonymize(people(), plan(linked, algorithm="concealment"))
    for row in range(60):
        for one in release.explain(row).models:
            assert one.margin >= 0
    levels = [release.explain(row).models for row in range(60)]
    for i, check in enumerate(release.checks):
        assert min(level[i].reached for level in levels) >= check.reached
    reasons = release.reasons()
    assert reasons[0].percent is None  # the algorithm needs it for sensitive values
    assert reasons[0].loss_without is None
    assert "needs this requirement" in str(release.explain(0))


def test_each_requirement_is_dropped_once(monkeypatch):
    from shoal.algorithms.peel import Peel

    told, runs = [], []
    release = shoal.anonymize(people(), plan())
    usual = Peel.recode
    monkeypatch.setattr(Peel, "recode", lambda self, *a: runs.append(1) or usual(self, *a))
    assert "explained" not in release.as_dict()
    release.reasons(progress=lambda stage, share: told.append((stage, share)))
    release.explain(3)
    release.reasons()
    assert len(runs) == 2
    assert {stage for stage, _ in told} == {"explain"}
    assert all(0 <= share <= 1 for _, share in told)
    assert [one["model"] for one in release.as_dict()["explained"]] == [m["name"] for m in BOTH]


def test_the_report_shows_percents_only():
    release = shoal.anonymize(people(), plan())
    release.explainer.seconds = 0.1  # however busy the machine is
    html = render(page(facts(release)))
    assert "What forced the generalization" in html
    assert "loss without it" in html
    assert "Person" not in html
    one = render(page(facts(shoal.anonymize(people(), plan(BOTH[:1])))))
    assert "There is one requirement" in one
    assert "loss without it" not in render(page(facts(release, explain=False)))
    long = shoal.anonymize(people(), plan())
    long.explainer.seconds = 200.0
    html = render(page(facts(long)))
    assert "Not computed: which requirement" in html
    assert "about 7 minutes here: run <code>shoal anonymize --explain</code>" in html
    assert not long.explainer.known
    one = shoal.anonymize(people(), plan(BOTH[:1]))
    one.explainer.seconds = 200.0
    assert one.explainer.cheap  # nothing has to run
    assert "loss without it" in render(page(facts(long, explain=True)))
    assert "loss without it" in render(page(facts(long)))  # it is known by now


def test_on_the_command_line(monkeypatch, capsys, tmp_path):
    import pyarrow.csv as pa_csv

    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(people(), "people.csv")
    plan().save("plan.toml")
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--explain"]
    monkeypatch.setattr(sys, "argv", ["shoal", *words, "--json", "r.json"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    assert "What forced the generalization" in capsys.readouterr().out
    told = json.loads((tmp_path / "r.json").read_text())["explained"]
    assert [set(one) for one in told] == [
        {"model", "column", "rows", "percent", "loss", "loss_without", "by_search"}
    ] * 2


@pytest.mark.parametrize("words", [["--explain"], ["--explain", "--report", "r.html"]])
def test_the_release_is_there_before_anything_is_explained(monkeypatch, capsys, tmp_path, words):
    import pyarrow.csv as pa_csv

    def stop(self, progress):
        assert (tmp_path / "r.csv").exists()
        assert (tmp_path / "fit.json").exists()
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(people(), "people.csv")
    plan().save("plan.toml")
    call = ["shoal", "anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv"]
    call += ["--recoding", "fit.json", "--json", "r.json"]
    monkeypatch.setattr(explain.Explainer, "reasons", stop)
    monkeypatch.setattr(sys, "argv", [*call, *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    err = capsys.readouterr().err
    assert "the release is written: r.csv" in err
    assert "nothing was written" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "fit.json", "people.csv", "plan.toml", "r.csv",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "argv", [*call, "--no-explain", "--report", "r.html"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    assert "Not computed: which requirement" in (tmp_path / "r.html").read_text()


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.1, 0.3, 0.6]))
def test_the_class_of_a_suppressed_record_is_that_of_the_levels_found(seed, share):
    """Full-domain tells its levels in a note; the classes at those levels, by hand."""
    table = people(40, seed=seed)
    algorithm = {"name": "full-domain", "suppression": share}
    models = [BOTH[0], {"name": "t-closeness", "column": "disease", "t": 0.4}]
    release = shoal.anonymize(table, plan(models, algorithm=algorithm))
    note = next(note for note in release.notes if "the levels are" in note)
    levels = [int(at) for at in re.findall(r"(?:age|zip) (\d+) of", note)]
    codes, trees = release.explainer.table.codes, release.explainer.table.trees
    at = []
    for j, tree in enumerate(trees):
        column = codes[:, j].copy()
        for i, node in enumerate(column):
            while tree.level[node] < levels[j] and node > 0:
                node = tree.parent[node]
            column[i] = node
        at.append(column)
    at = np.stack(at, axis=1)
    for row in np.flatnonzero(release.explainer.recoding.record < 0):
        found = release.explain(int(row))
        alike = (at == at[row]).all(axis=1)
        assert found.people == alike.sum()
        assert ("k-anonymity" in found.failed) == (alike.sum() < 3)


def test_levels_are_those_that_the_most_knowing_attacker_sees():
    """No attacker knows all quasi-identifiers, so that classes of all of them are nobody's."""
    known = [{"knows": ["age"]}, {"knows": ["zip"]}]
    release = shoal.anonymize(
        pa.table({"age": ["1", "1", "2", "2"] * 3, "zip": ["a", "b", "a", "b"] * 3}),
        {
            "columns": {"age": "quasi", "zip": "quasi"},
            "models": [{"name": "k-anonymity", "k": 4}],
            "attackers": known,
        },
    )
    for row in range(12):
        (judged,) = release.explain(row).models
        assert judged.reached == 6
