"""auto: what is tried, what is chosen, and that the choice can be repeated and explained."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, CannotReach, Plan, catalog, choose
from shoal.algorithms.auto import Auto
from shoal.algorithms.gaa import GAA
from shoal.choose import alterations, candidates, sample
from shoal.columns import encode
from shoal.frames import open_frame
from shoal.losses.mean import Mean
from shoal.losses.nllm import NLLM
from shoal.quality import METRICS
from shoal.screen import show_release
from tests.test_cli import run  # noqa: F401 (a fixture)
from tests.test_screen import printed


def table(rows=300, persons=False):
    rng = np.random.default_rng(4)
    columns = {
        "age": rng.integers(20, 80, rows),
        "zip": [f"{zip:05}" for zip in rng.integers(10_000, 10_400, rows)],
        "sex": rng.choice(["f", "m"], rows),
        "disease": rng.choice(["flu", "gout", "cold", "mumps"], rows),
    }
    return pa.table(columns | ({"who": rng.integers(0, rows // 2, rows)} if persons else {}))


def plan(persons=False, **change):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
        "sex": "quasi",
        "disease": "sensitive",
    } | ({"who": "person"} if persons else {})
    asked = {"columns": columns, "models": [{"name": "k-anonymity", "k": 4}], "seed": 5}
    return Plan(**asked | {"algorithm": "auto", "loss": "auto"} | change)


def encoded(frame, asked):
    return encode(open_frame(frame), asked.columns, asked.missing, asked.missing_values)


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(table(), plan())


@pytest.fixture
def small(monkeypatch):
    """Samples that are smaller than the table."""
    monkeypatch.setattr(choose, "SAMPLE", 120)
    monkeypatch.setattr(choose, "CROWDS", 5)


def test_the_release_is_that_of_the_plan_that_was_chosen(release):
    asked = release.plan
    assert asked.algorithm.name != "auto"
    assert asked.loss.name != "auto"
    assert release.checks[0].holds
    again = shoal.anonymize(table(), asked)
    assert again.frame.equals(release.frame)
    assert not again.tried
    assert again.as_dict()["tried"] == []


def test_nothing_that_was_tried_is_better(release):
    (chosen,) = [one for one in release.tried if one.chosen]
    assert chosen.on == "table"
    assert chosen.lost == pytest.approx(release.quality.mean_loss)
    assert chosen.lost == min(one.lost for one in release.tried if one.rows == 300)
    assert {one.loss for one in release.tried} == {"mean", *METRICS}
    able = [n for n, kind in catalog.algorithms.decided.items() if kind().serves(plan().models[0])]
    assert {one.algorithm for one in release.tried} == set(able)


def test_the_same_seed_gives_the_same_choice(small):
    once, again = (shoal.anonymize(table(), plan()) for _ in range(2))
    assert once.frame.equals(again.frame)
    told = [[(t.algorithm, t.loss, t.on, t.lost, t.chosen) for t in r.tried] for r in (once, again)]
    assert told[0] == told[1]
    full = [one for one in once.tried if one.on == "table"]
    assert len(full) == choose.FINALISTS
    assert len({one.algorithm for one in full}) > 1
    assert next(one for one in full if one.chosen).lost == min(one.lost for one in full)
    assert shoal.anonymize(table(), plan(seed=None)).checks[0].holds


def test_the_loss_of_the_plan_is_the_yardstick_where_it_names_one():
    release = shoal.anonymize(table(), plan(loss="ncp"))
    assert {one.loss for one in release.tried} == {"ncp"}
    (chosen,) = [one for one in release.tried if one.chosen]
    assert chosen.lost == pytest.approx(release.losses["ncp"])
    assert "(ncp)" in release.notes[0]


def test_the_algorithm_of_the_plan_stays_where_it_names_one():
    release = shoal.anonymize(table(), plan(algorithm={"name": "gaa", "weight": "unit"}))
    assert {one.algorithm for one in release.tried} == {"gaa weight=unit"}
    assert release.plan.algorithm == GAA(weight="unit")


def test_own_weights_are_a_yardstick_too():
    columns = dict.fromkeys(table().column_names, "other") | {"sex": "quasi"}
    loss = {"name": "weights", "edge_weights": {"sex": {"f": 1.0, "m": 2.0}}}
    release = shoal.anonymize(table(), plan(columns=columns, loss=loss))
    assert {one.loss for one in release.tried} == {"weights"}
    loss["edge_weights"] = {"sex": {"f": 1.0}}
    with pytest.raises(BadPlan, match="lack the values 'm'"):
        shoal.anonymize(table(), plan(columns=columns, loss=loss))


def test_strategies_where_a_sensitive_column_is_promised_something():
    model = {"name": "entropy-l-diversity", "column": "disease", "l": 3}
    asked = plan(models=[{"name": "k-anonymity", "k": 4}, model])
    tried = [choose.label(one) for one in candidates(asked, encoded(table(), asked))]
    assert "gaa strategy=S4 column=disease" in tried
    assert not any("S5" in name for name in tried)
    assert "concealment" not in tried
    release = shoal.anonymize(table(), asked)
    assert all(check.holds for check in release.checks)
    assert {one.algorithm for one in release.tried} == set(tried)
    bare = plan()
    assert not any("S4" in choose.label(a) for a in candidates(bare, encoded(table(), bare)))


def test_models_that_few_algorithms_serve():
    release = shoal.anonymize(table(80), plan(models=[{"name": "k-concealment", "k": 3}]))
    assert release.plan.algorithm.name == "concealment"
    both = [{"name": "k-concealment", "k": 3}, {"name": "k-anonymity", "k": 3}]
    with pytest.raises(
        BadPlan, match=r"auto finds no algorithm for this plan: .*leave one of them"
    ):
        shoal.anonymize(table(80), plan(models=both))


def test_free_ranges():
    columns = dict(plan().columns) | {"age": {"role": "quasi", "hierarchy": {"free_ranges": True}}}
    asked = plan(columns=columns, models=plan().models)
    release = shoal.anonymize(table(), asked)
    assert release.checks[0].holds
    assert "forest" not in {one.algorithm for one in release.tried}
    (chosen,) = [one for one in release.tried if one.chosen]
    assert chosen.lost == pytest.approx(release.quality.mean_loss)


def test_what_cannot_be_reached_is_told_as_ever():
    with pytest.raises(CannotReach, match="the best k possible is 300"):
        shoal.anonymize(table(), plan(models=[{"name": "k-anonymity", "k": 301}]))


# ── Samples ──


def test_a_sample_holds_all_rows_of_its_people():
    asked = plan(persons=True)
    whole = encoded(table(persons=True), asked)
    part = sample(whole, 100, np.random.default_rng(1))
    assert 60 < part.rows < 140
    assert part.people.max() + 1 == part.crowd == len(np.unique(part.people))
    rows = [tuple(row) for row in np.column_stack([part.codes, part.sensitive[0].codes]).tolist()]
    all_rows = np.column_stack([whole.codes, whole.sensitive[0].codes])
    by_person = {
        frozenset(map(tuple, all_rows[whole.people == who].tolist())) for who in set(whole.people)
    }
    for who in range(part.crowd):
        mine = frozenset(row for row, p in zip(rows, part.people, strict=True) if p == who)
        assert mine in by_person
    assert part.trees is whole.trees
    assert [one.values for one in part.sensitive] == [
        one.values for one in whole.take(np.arange(whole.rows)).sensitive
    ]


def test_a_sample_has_the_sensitive_values_of_its_rows_only():
    """As every other part of a table: the ranks of t-closeness are those of values that occur."""
    rows = table(400).set_column(3, "disease", pa.array([f"d{i:03}" for i in range(400)]))
    part = sample(encoded(rows, plan()), 100, np.random.default_rng(1))
    assert len(part.sensitive[0].values) == part.rows == 100
    assert sorted(part.sensitive[0].codes) == list(range(100))


def test_people_are_counted(small):
    release = shoal.anonymize(table(persons=True), plan(persons=True))
    assert release.smallest_class >= 4
    assert all(check.holds for check in release.checks)
    assert any(one.on == "sample" and one.rows < 300 for one in release.tried)


@pytest.mark.parametrize("name", catalog.algorithms.decided)
def test_alterations_are_those_of_the_release(name):
    model = {"name": "k-concealment" if name == "concealment" else "k-anonymity", "k": 4}
    asked = plan(models=[model], algorithm=name, loss="nllm")
    whole = encoded(table(), asked)
    rng = np.random.default_rng(5)
    recoding = asked.algorithm.recode(whole, asked.models, NLLM(), rng)
    release = shoal.anonymize(table(), asked)
    found = alterations(whole, recoding, [NLLM(), Mean()])
    assert found == pytest.approx([release.losses["nllm"], release.quality.mean_loss])


# ── Time ──


def test_what_takes_too_long_by_estimate_is_not_run(small, monkeypatch):
    monkeypatch.setattr(catalog.algorithms["peel"], "pace", 1e6)  # it is the best on samples
    release = shoal.anonymize(table(), plan())
    full = [one.algorithm for one in release.tried if one.on == "table"]
    assert "peel" not in full
    assert len(full) == choose.FINALISTS
    assert any("by estimate there was no time" in note and "peel" in note for note in release.notes)


def test_something_is_run_however_short_the_time(small):
    release = shoal.anonymize(table(), plan(algorithm={"name": "auto", "seconds": 1e-9}))
    (full,) = [one for one in release.tried if one.on == "table"]
    assert full.algorithm in ("gaa", "forest")  # the quickest by estimate
    assert release.checks[0].holds


class Watch:
    """A stopwatch that moves when somebody looks at it, or is told to."""

    def __init__(self, tick=0.0):
        self.tick, self.now = tick, 0.0

    @property
    def seconds(self):
        self.now += self.tick
        return self.now


def searched(watch, **change):
    asked = plan(**change)
    return choose._Search(encoded(table(), asked), asked, lambda *_: None, watch)


def on(tried, where):
    return [one for one in tried if one.on == where]


def test_the_clock_begins_with_the_samples(small):
    """Thirty seconds that go by on samples are not had again on the table."""
    found = searched(Watch(tick=1.0)).run()
    assert 0 < len(on(found.tried, "sample")) < 12
    assert len(on(found.tried, "table")) == 1
    assert any("was not tried on the sample" in note for note in found.notes)
    for note in found.notes[1:]:
        assert "depends on the speed of the machine" in note


def slow(monkeypatch, name, watch, seconds):
    """Make an algorithm take so long between two words about progress."""
    kind = catalog.algorithms[name]
    real = kind.recode

    def recode(self, table, models, loss, rng, progress=lambda *_: None):
        for _ in range(round(10 * seconds)):
            watch.now += 0.1
            progress("recode", 0.5)
        return real(self, table, models, loss, rng, progress)

    monkeypatch.setattr(kind, "recode", recode)


def test_what_takes_too_long_on_the_sample_is_stopped_there(small, monkeypatch):
    """peel is the best on samples; where it is slow the others still get their turn."""
    watch = Watch()
    slow(monkeypatch, "peel", watch, 1000.0)
    found = searched(watch).run()
    assert watch.now <= 30
    (peel,) = [one for one in found.tried if one.algorithm == "peel"]
    assert peel.reason.startswith("stopped after ")
    assert {one.algorithm for one in on(found.tried, "sample")} == {
        name for name in catalog.algorithms.decided if name != "concealment"
    }
    assert found.plan.algorithm.name != "peel"
    assert any("peel guided by mean was stopped on the sample" in note for note in found.notes)


def test_what_was_slow_on_the_sample_is_not_begun_on_the_table(monkeypatch):
    monkeypatch.setattr(choose, "SAMPLE", 60)
    monkeypatch.setattr(choose, "CROWDS", 5)
    watch = Watch()
    slow(monkeypatch, "peel", watch, 3.6)  # five times the rows would take longer than 20
    found = searched(watch, loss="nllm").run()
    assert "peel" not in {one.algorithm for one in on(found.tried, "table")}
    assert any("peel guided by nllm was too slow on the sample" in n for n in found.notes)


def test_the_quickest_finalist_brings_the_first_release(small):
    search = searched(Watch())
    found = search.run()
    first, *rest = on(found.tried, "table")
    pace = catalog.algorithms[first.algorithm].pace
    assert all(pace <= catalog.algorithms[one.algorithm].pace for one in rest)
    assert len(rest) == choose.FINALISTS - 1


def test_a_run_on_the_table_is_stopped_when_there_is_a_release_and_the_time_is_over(
    small, monkeypatch
):
    watch = Watch()
    search = searched(watch)
    ranked = search._on_samples()
    slow(monkeypatch, "peel", watch, 1000.0)
    search._on_the_table(ranked)
    (peel,) = [one for one in on(search.tried, "table") if one.algorithm == "peel"]
    assert peel.lost is None
    assert peel.reason.startswith("stopped after")
    assert watch.now < 31
    assert search.found[0][2].algorithm.name != "peel"
    assert "was stopped after" in search.notes[0]


def test_the_first_run_on_the_table_goes_on_to_its_end(small, monkeypatch):
    watch = Watch()
    search = searched(watch, algorithm="gaa")
    ranked = search._on_samples()
    slow(monkeypatch, "gaa", watch, 100.0)
    search._on_the_table(ranked)
    assert len([one for one in on(search.tried, "table") if one.lost is not None]) == 1
    assert watch.now > 99


def test_of_equals_what_was_better_on_the_sample_is_kept():
    search = searched(Watch())
    ways = [choose._Way(GAA(), NLLM()) for _ in range(2)]
    search._run(ways[0], 1, None)
    search._run(ways[1], 0, None)
    assert search._best[2] is ways[1]


def test_every_algorithm_can_be_stopped():
    """Each of them says how far it is, also on a few hundred rows."""
    for name in catalog.algorithms.decided:
        model = {"name": "k-concealment" if name == "concealment" else "k-anonymity", "k": 4}
        search = searched(Watch(), models=[model], algorithm=name, loss="nllm")
        search._run(choose._Way(search.algorithms[0], NLLM()), 0, over=-1.0)
        assert search.tried[0].reason.startswith("stopped after"), name


def test_seconds_are_checked():
    with pytest.raises(BadPlan, match="auto needs seconds above 0, got seconds=0"):
        plan(algorithm={"name": "auto", "seconds": 0})
    with pytest.raises(BadPlan, match="stands for a choice"):
        Auto().recode(encoded(table(), plan()), plan().models, NLLM(), np.random.default_rng(1))


# ── What people see ──


def test_the_release_says_what_it_tried_and_why(release, tmp_path):
    note = release.notes[0]
    assert note.startswith(f"auto chose {release.plan.algorithm.name} guided by ")
    for words in ("% lost (mean of the seven metrics)", "; next ", "it tried "):
        assert words in note
    assert "auto chose" in printed(show_release, release)
    numbers = json.loads(json.dumps(release.as_dict(), allow_nan=False))
    assert sum(one["chosen"] for one in numbers["tried"]) == 1
    assert numbers["algorithm"]["name"] == release.plan.algorithm.name
    release.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "How the algorithm was chosen" in page
    assert "auto chose" in page
    assert 'name = "auto"' not in page


def test_plain_releases_say_nothing_of_it(tmp_path):
    shoal.anonymize(table(), plan(algorithm="gaa", loss="nllm")).report(tmp_path / "r.html")
    assert "was chosen" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_plan_file_with_auto(run, tmp_path):  # noqa: F811
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(table(), tmp_path / "t.csv")
    plan(algorithm={"name": "auto", "seconds": 20.0}).save(tmp_path / "plan.toml")
    assert "seconds = 20.0" in (tmp_path / "plan.toml").read_text()
    loaded = Plan.load(tmp_path / "plan.toml")
    assert loaded.algorithm == Auto(seconds=20)
    assert loaded.loss.name == "auto"
    status, out, err = run("anonymize", "t.csv", "--plan", "plan.toml", "--out", "r.csv")
    assert status == 0, err
    assert "auto chose" in out
    status, out, err = run("audit", "r.csv", "--plan", "plan.toml", "--original", "t.csv")
    assert status == 0, err
    assert "information lost (auto)" in out


def test_compare_knows_auto():
    found = shoal.compare(table(), plan(), algorithms=["auto", "gaa"], apart=False)
    assert found.yardstick == "mean"
    assert not found.failed()
    best, other = (line.found.mean_loss for line in found.at(4))
    assert best <= other
    assert found.best(4).algorithm == "auto"
    assert "auto" not in {
        line.algorithm for line in shoal.compare(table(), plan(), apart=False).lines
    }


def test_the_mean_of_the_seven_as_a_loss():
    """Its alteration is the mean of the seven alterations, on any release."""
    release = shoal.anonymize(table(), plan(algorithm="gaa", loss="mean"))
    assert release.losses["mean"] == pytest.approx(release.quality.mean_loss)
    by_nllm = shoal.anonymize(table(), plan(algorithm="gaa", loss="nllm"))
    assert "mean" not in by_nllm.losses
    assert "auto" not in by_nllm.losses
