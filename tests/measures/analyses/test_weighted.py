"""Weighted means, shares and tables: as if each record were there as often as its weight says."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import shoal
from tests.measures.analyses.tables import PATHS, case
from tests.naive.analyses import contingency, interval, shares

NAMES = ("kind", "sex", "disease")
FLAT = {name: [name, "*"] for name in ("f", "m")}


def repeated(values, weights):
    """The naive twin of a weight: the record so many times."""
    return [one for one, w in zip(values, weights, strict=True) for _ in range(w)]


def naive_mean(labels, whole):
    there = [one for one in (interval(label, whole) for label in labels) if one is not None]
    return sum(mean for mean, _ in there) / len(there) if there else None


def parts(name, labels):
    """The categories that each label counts in, by the labels of its own table."""
    if name == "disease":
        return [None if one is None else {one: 1.0} for one in labels]
    paths = PATHS if name == "kind" else FLAT
    known = {label: shares(label, labels, paths) for label in set(labels)}
    return [known[label] for label in labels]


def moved(was, now):
    before, after = (sum(one.values()) for one in (was, now))
    if not before or not after:
        return None
    return sum(abs(was.get(c, 0) / before - now.get(c, 0) / after) for c in {*was, *now}) / 2


def single(each):
    found = Counter()
    for one in each:
        for category, share in (one or {}).items():
            found[category] += share
    return found


def close(found, expected):
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("times", [1, 0.25])
def test_weights_count_as_repeated_records(seed, times):
    one = case(seed, ["peel", "mondrian", "full-domain"][seed % 3])
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, len(one.before["sex"])).tolist()
    original = one.original.append_column("w", pa.array([w * times for w in weights]))
    columns = {**one.plan.columns, "w": "weight"}
    plan = one.plan.changed(columns=columns, accept=[*one.plan.accept])
    release = shoal.anonymize(original, hidden(plan))
    found = release.analyses.weighted
    taken = release.tables.taken
    before = {name: repeated(one.before[name], weights) for name in one.before}
    kept = [weights[row] for row in taken]
    text = {n: release.frame[n].to_pylist() for n in one.before}
    after = {
        n: repeated([None if v is None else str(v) for v in values], kept)
        for n, values in text.items()
    }
    for mean in found.means:
        whole = mean.column != "half"
        close(mean.before, naive_mean(before[mean.column], whole))
        close(mean.after, naive_mean(after[mean.column], whole))
    there = {one.columns[0]: one.distance for one in found.shares}
    for name in NAMES:
        both = [parts(name, table[name]) for table in (before, after)]
        close(there[name], moved(*map(single, both)))
    pairs = {one.columns: one.distance for one in found.tables}
    for pair in [("kind", "sex"), ("kind", "disease"), ("sex", "disease")]:
        both = [
            contingency(*(parts(name, table[name]) for name in pair)) for table in (before, after)
        ]
        close(pairs[pair], moved(*both))
    json.dumps(release.as_dict()["utility"]["weighted_analyses"], allow_nan=False)


def hidden(plan):
    """Weights that are drawn at random would reveal records: they are used, not published."""
    weight = {"role": "weight", "publish": False}
    return plan.changed(columns={**plan.columns, "w": weight})


def test_an_audit_finds_the_same_and_equal_weights_change_nothing():
    rng = np.random.default_rng(1)
    n = 60
    table = pa.table(
        {
            "age": rng.integers(20, 60, n),
            "ill": rng.choice(["x", "y"], n),
            "w": np.full(n, 2.5),
        }
    )
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "ill": "sensitive",
        "w": "weight",
    }
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 5}], "seed": 1}
    release = shoal.anonymize(table, plan)
    mine = release.analyses
    assert mine.weighted.means[0].before == pytest.approx(mine.numbers[0].mean.before.value)
    assert mine.weighted.means[0].after == pytest.approx(mine.numbers[0].mean.after.value)
    theirs = shoal.audit(release.frame, plan, original=table).analyses
    assert theirs.weighted == mine.weighted
    without = shoal.anonymize(table.drop_columns(["w"]), {**plan, "columns": dict_without(columns)})
    assert without.analyses.weighted is None
    assert without.as_dict()["utility"]["weighted_analyses"] is None


def dict_without(columns):
    return {name: one for name, one in columns.items() if name != "w"}


def test_report_and_screen_show_them(tmp_path, monkeypatch):
    import pyarrow.csv as pcsv
    from typer.testing import CliRunner

    from shoal.cli.main import app

    monkeypatch.chdir(tmp_path)
    table = pa.table({"age": [21, 22, 41, 42] * 5, "w": [1.0, 1.0, 3.0, 3.0] * 5})
    pcsv.write_csv(table, "people.csv")
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "w": "weight"}
    model = {"name": "k-anonymity", "k": 5}
    plan = shoal.Plan(columns=columns, models=[model], seed=1, accept=["w"])
    plan.save("plan.toml")
    release = shoal.anonymize("people.csv", plan)
    release.save("release.csv")
    release.report("report.html")
    assert "By the weights of the records" in (tmp_path / "report.html").read_text()
    words = ["audit", "release.csv", "--plan", "plan.toml", "--original", "people.csv"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "By the weights of the records" in done.output
    assert "36.5" in done.output  # (5 × 21 + 5 × 22 + 15 × 41 + 15 × 42) / 40
