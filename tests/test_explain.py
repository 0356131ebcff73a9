"""Which promise made a row as general as it is, against runs without each of them."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadTable, Plan, cli
from shoal.explain import AS_IT_IS
from shoal.report.page import render
from shoal.report.release_report import facts, page
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
def test_a_row_without_each_promise_is_what_another_run_publishes(seed):
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


def test_without_a_single_promise_a_row_is_published_as_it_is():
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
    with pytest.raises(BadTable, match="row 5 was suppressed"):
        release.explain(5)


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
    assert "cannot do without" in str(release.explain(0))


def test_each_promise_is_left_out_once(monkeypatch):
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


def test_the_report_tells_percents_only(monkeypatch):
    release = shoal.anonymize(people(), plan())
    html = render(page(facts(release)))
    assert "Which promise made it so" in html
    assert "lost without this one" in html
    assert "Person" not in html
    one = render(page(facts(shoal.anonymize(people(), plan(BOTH[:1])))))
    assert "There is one promise" in one
    monkeypatch.setattr("shoal.explain.FEW", 10)
    large = shoal.anonymize(people(), plan())
    assert "it was not asked" in render(page(facts(large)))
    large.reasons()
    assert "lost without this one" in render(page(facts(large)))


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
    assert "What each promise did" in capsys.readouterr().out
    told = json.loads((tmp_path / "r.json").read_text())["explained"]
    assert [set(one) for one in told] == [
        {"model", "column", "rows", "percent", "loss", "loss_without"}
    ] * 2
