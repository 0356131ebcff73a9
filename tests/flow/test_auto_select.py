"""auto: what is tried, what is chosen, and that the choice can be repeated and explained."""

from __future__ import annotations

import json
from time import process_time

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, CannotReach, Plan, catalog
from shoal.algorithms._shared.recode import recode
from shoal.algorithms.auto import Auto
from shoal.algorithms.gaa import GAA
from shoal.cli.release_tables import show_release
from shoal.flow.auto_select import search as choose
from shoal.flow.auto_select.candidates import Candidate, label, supporting_algorithms
from shoal.flow.auto_select.search import CandidateSearch, sample
from shoal.flow.auto_select.trials import BRAKE
from shoal.flow.freeing import freed
from shoal.io.frames import open_frame
from shoal.losses._alterations import alterations
from shoal.losses._mean_costs import metrics_in_mean
from shoal.losses.mean import Mean
from shoal.losses.nllm import NLLM
from shoal.table.encode import encode
from shoal.table.recoding import SUPPRESSED, Recoding
from tests.cli.test_console import printed


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
    monkeypatch.setattr(choose, "CLASSES", 5)


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
    assert {one.loss for one in release.tried} == {"mean", *metrics_in_mean()}
    able = [n for n, kind in catalog.algorithms.decided.items() if kind().serves(plan().models[0])]
    able.remove("microaggregation")  # it does not look at the loss
    assert {one.algorithm for one in release.tried} == set(able)


def test_the_same_seed_gives_the_same_choice(small):
    once, again = (shoal.anonymize(table(), plan()) for _ in range(2))
    assert once.frame.equals(again.frame)
    told = [[(t.algorithm, t.loss, t.on, t.lost, t.chosen) for t in r.tried] for r in (once, again)]
    assert told[0] == told[1]
    full = [one for one in once.tried if one.on == "table"]
    assert len(full) == 2 + choose.FINALISTS  # the default, guided by the mean and by nllm
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


def test_strategies_if_a_model_is_about_a_sensitive_column():
    model = {"name": "entropy-l-diversity", "column": "disease", "l": 3}
    asked = plan(models=[{"name": "k-anonymity", "k": 4}, model])
    tried = [label(one) for one in supporting_algorithms(asked, encoded(table(), asked))]
    assert "gaa strategy=S4 column=disease" in tried
    assert not any("S5" in name for name in tried)
    assert "concealment" not in tried
    release = shoal.anonymize(table(), asked)
    assert all(check.holds for check in release.checks)
    assert {one.algorithm for one in release.tried} == set(tried)
    bare = plan()
    assert not any("S4" in label(a) for a in supporting_algorithms(bare, encoded(table(), bare)))


def test_models_that_few_algorithms_support():
    release = shoal.anonymize(table(80), plan(models=[{"name": "k-concealment", "k": 3}]))
    assert {one.algorithm.split()[0] for one in release.tried} == {"concealment", "freeform"}
    (chosen,) = [one for one in release.tried if one.chosen]
    assert chosen.lost == min(one.lost for one in release.tried if one.lost is not None)
    asked = plan(
        models=[{"name": "k-concealment", "k": 3}, {"name": "matching-belief", "belief": 0.4}]
    )
    release = shoal.anonymize(table(80), asked)
    assert release.plan.algorithm.name == "concealment"  # the only one that can
    assert (
        "auto tries concealment only because the plan asks for k-concealment and "
        "matching-belief; "
        "peel with k-anonymity or freeform with k-belief usually loses less for the same certainty "
        "of an attacker: consider asking for that instead"
    ) in release.notes
    assert not any("tries concealment only" in n for n in shoal.anonymize(table(), plan()).notes)
    both = [{"name": "k-concealment", "k": 3}, {"name": "k-anonymity", "k": 3}]
    with pytest.raises(
        BadPlan, match=r"auto finds no algorithm for this plan: .*remove one of them"
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


def test_what_cannot_be_reached_is_reported_as_before():
    with pytest.raises(CannotReach, match="the best k possible is 300"):
        shoal.anonymize(table(), plan(models=[{"name": "k-anonymity", "k": 301}]))


# ── Samples ──


def test_a_sample_holds_all_rows_of_its_people():
    asked = plan(persons=True)
    whole = encoded(table(persons=True), asked)
    part = sample(whole, 100, np.random.default_rng(1))
    assert 60 < part.rows < 140
    assert part.people.max() + 1 == part.person_count == len(np.unique(part.people))

    def people(one):
        """The records of each person."""
        secret = [one.sensitive[0].values[code] for code in one.sensitive[0].codes]
        rows = [(*codes, value) for codes, value in zip(one.codes.tolist(), secret, strict=True)]
        return [
            frozenset(row for row, p in zip(rows, one.people, strict=True) if p == who)
            for who in range(one.person_count)
        ]

    assert set(people(part)) <= set(people(whole))
    assert part.trees is whole.trees
    assert [set(one.values) for one in part.sensitive] == [
        set(one.values) for one in whole.sensitive
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
    model = {
        "name": "k-concealment" if name in ("concealment", "freeform") else "k-anonymity",
        "k": 4,
    }
    asked = plan(models=[model], algorithm=name, loss="nllm")
    whole = encoded(table(), asked)
    rng = np.random.default_rng(5)
    recoding = recode(asked.algorithm, whole, asked.models, NLLM(), rng)
    release = shoal.anonymize(table(), asked)
    found = alterations(whole, recoding, [NLLM(), Mean()])
    assert found == pytest.approx([release.losses["nllm"], release.quality.mean_loss])


# ── Time, and the default ──


class Watch:
    """A stopwatch that moves when somebody looks at it, or is told to."""

    def __init__(self, tick=0.0):
        self.tick, self.now = tick, 0.0

    @property
    def seconds(self):
        self.now += self.tick
        return self.now


class Slow:
    """The stopwatch of a machine that takes a million times as long for everything."""

    @property
    def seconds(self):
        return 1e6 * process_time()


def searched(watch, rows=None, **change):
    asked = plan(**change)
    frame = table() if rows is None else rows
    encoded_as = lambda plan: encoded(frame, plan)  # noqa: E731
    return CandidateSearch(encoded(frame, asked), asked, lambda *_: None, watch, encoded_as)


def on(tried, where):
    return [one for one in tried if one.on == where]


def slow(monkeypatch, name, watch, seconds):
    """Make an algorithm take so long between two words about progress."""
    kind = catalog.algorithms[name]
    real = kind.recode

    def recode(self, table, models, loss, rng, progress=lambda *_: None):
        for _ in range(round(seconds)):
            watch.now += 1.0
            progress("recode", 0.5)
        return real(self, table, models, loss, rng, progress)

    monkeypatch.setattr(kind, "recode", recode)


def told(tried):
    return [(t.algorithm, t.loss, t.on, t.free, t.lost, t.reason, t.chosen) for t in tried]


def test_issue_12_3_a_busy_machine_chooses_the_same(small, monkeypatch):
    """By its clock everything takes days: the same is tried, and chosen."""
    quick = searched(Watch(), loss="nllm").run()
    busy = searched(Slow(), loss="nllm").run()
    assert told(busy.tried) == told(quick.tried)
    assert busy.plan.to_toml() == quick.plan.to_toml()
    assert not any("took far longer than estimated" in note for note in busy.notes)
    # The very case: the clock stopped the default on the sample, and something worse was taken.
    watch = Watch()
    slow(monkeypatch, "peel", watch, 100_000.0)
    found = searched(watch, loss="nllm").run()
    assert told(found.tried) == told(quick.tried)
    lost = {one.algorithm: one.lost for one in on(found.tried, "table")}
    assert lost["peel"] is not None
    assert lost[found.plan.algorithm.name] == min(lost.values()) <= lost["peel"]


def test_issue_12_3_the_default_runs_however_short_the_time(small):
    release = shoal.anonymize(table(), plan(algorithm={"name": "auto", "seconds": 1e-9}))
    full = [(one.algorithm, one.loss) for one in release.tried if one.on == "table"]
    assert full == [("peel", "mean"), ("peel", "nllm")]
    assert release.checks[0].holds
    assert any("the estimated work exceeds 1e-09 seconds" in n for n in release.notes)


def test_what_takes_too_long_by_estimate_is_not_run(small, monkeypatch):
    monkeypatch.setattr(catalog.algorithms["k-member"], "pace", 1e6)
    monkeypatch.setattr(catalog.algorithms["peel"], "pace", 1e6)  # the default runs nevertheless
    search = searched(Watch(), loss="nllm")
    ranked = search.on_samples()
    ranked.sort(key=lambda candidate: candidate.algorithm.name != "k-member")
    full = [candidate.algorithm.name for candidate in search.finalists(ranked)]
    assert "k-member" not in full
    assert len(full) == choose.FINALISTS
    assert any("the estimated work exceeds" in n and "k-member" in n for n in search.trials.notes)
    search.run_defaults()
    assert [one.algorithm for one in on(search.trials.tried, "table")] == ["peel"]


def test_a_choice_that_suppresses_is_noted(small, monkeypatch):
    def recode(self, table, models, loss, rng, progress=None):
        record = np.arange(table.rows)
        record[: 1 + table.rows // 100] = SUPPRESSED
        return Recoding(table.unified, record)

    monkeypatch.setattr(catalog.algorithms["danonyir"], "recode", recode)
    notes = searched(Watch(), loss="nllm").run().notes
    assert notes[0].startswith("auto chose danonyir")
    assert notes[1].startswith("danonyir, which auto chose, suppresses ")
    monkeypatch.undo()
    assert not any("suppresses" in note for note in searched(Watch(), loss="nllm").run().notes)


def test_the_brake_ends_what_takes_many_times_its_estimate(small, monkeypatch):
    """A run on the sample that never ends does not keep the others from the table."""
    watch = Watch()
    slow(monkeypatch, "danonyir", watch, 1e9)
    found = searched(watch, loss="nllm").run()
    assert watch.now < 30 * BRAKE + 2
    (one,) = [one for one in found.tried if one.algorithm == "danonyir"]
    assert one.reason.startswith("stopped after ")
    assert any(one.algorithm == "peel" for one in on(found.tried, "table"))
    assert len(on(found.tried, "table")) == 1  # then there is no time for more
    (note,) = [note for note in found.notes if note.startswith("stopped on the sample")]
    assert "danonyir guided by nllm" in note
    assert "on another machine the choice may differ" in note


def test_the_brake_on_the_whole_table(small, monkeypatch):
    watch = Watch()
    search = searched(watch, loss="nllm")
    search.run_defaults()
    ranked = search.on_samples()
    finalists = search.finalists(ranked)
    for candidate in finalists:
        slow(monkeypatch, candidate.algorithm.name, watch, 1e9)
    search.on_the_table(ranked)
    stopped, *late = [one for one in on(search.trials.tried, "table") if one.algorithm != "peel"]
    assert stopped.reason.startswith("stopped after ")
    assert not late
    assert any(
        "not run on the whole table, as the search took" in note for note in search.trials.notes
    )
    assert search.trials.best.candidate is search.candidates.defaults[0]


def test_where_the_default_cannot_serve_the_quickest_that_can_runs(small):
    search = searched(Watch(), models=[{"name": "k-concealment", "k": 3}])
    assert {candidate.algorithm.name for candidate in search.candidates.defaults} == {"concealment"}
    columns = dict(plan().columns) | {"age": {"role": "quasi", "hierarchy": {"free_ranges": True}}}
    search = searched(Watch(), columns=columns)
    assert {candidate.algorithm.name for candidate in search.candidates.defaults} == {
        "gaa"
    }  # as without auto


def test_among_equals_the_default_wins_then_the_better_one_on_the_sample():
    search = searched(Watch())
    own = search.candidates.defaults[0].variant
    candidates = [Candidate(GAA(), NLLM(), own) for _ in range(2)]
    search.trials.on_table(candidates[0], 1, False)
    search.trials.on_table(candidates[1], 0, False)
    assert search.trials.best.candidate is candidates[1]
    search.trials.on_table(candidates[0], -1, False)
    assert search.trials.best.candidate is candidates[0]


def test_every_algorithm_can_be_stopped():
    """Each of them says how far it is, also on a few hundred rows."""
    for name in catalog.algorithms.decided:
        model = {
            "name": "k-concealment" if name in ("concealment", "freeform") else "k-anonymity",
            "k": 4,
        }
        search = searched(Watch(), models=[model], algorithm=name, loss="nllm")
        search.trials.brake = -1.0
        search.trials.on_table(search.candidates.defaults[0], 0, True)
        assert search.trials.tried[0].reason.startswith("stopped after"), name


# ── Never worse than the default ──

SOME_MODELS = (
    [],
    [{"name": "distinct-l-diversity", "column": "s", "l": 2}],
    [{"name": "t-closeness", "column": "s", "t": 0.6}],
)


def random_case(seed):
    """A small table and a plan, some columns with a hierarchy and some without one."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 80))
    frame = {
        "age": rng.integers(20, 20 + int(rng.integers(3, 60)), rows),
        "town": rng.choice(list("abcdefgh")[: int(rng.integers(2, 9))], rows),
        "zip": [f"{v:03}" for v in rng.integers(0, 40, rows)],
        "s": rng.choice(["x", "y", "z"], rows),
    }
    kinds = {"age": [None, {"ranges": [5, 20]}], "town": [None], "zip": [None, {"prefixes": True}]}
    columns = {
        name: {"role": "quasi", "hierarchy": some[int(rng.integers(len(some)))]}
        for name, some in kinds.items()
    }
    models = [{"name": "k-anonymity", "k": int(rng.integers(2, 5))}]
    models += SOME_MODELS[int(rng.integers(3))]
    loss = ["nllm", "ncp", "entropy", "mean", "auto", "distortion"][seed % 6]
    asked = {"columns": columns | {"s": "sensitive"}, "models": models, "seed": int(seed)}
    return pa.table(frame), asked, loss


def check_never_worse(seeds):
    gained = 0
    for seed in seeds:
        frame, asked, loss = random_case(seed)
        guide = {} if loss == "auto" else {"loss": loss}
        try:
            default = shoal.anonymize(frame, Plan(**asked, **guide))
        except CannotReach:
            continue
        found = shoal.anonymize(frame, Plan(**asked, algorithm="auto", loss=loss))
        lost = [
            one.quality.mean_loss if loss == "auto" else one.losses[loss]
            for one in (found, default)
        ]
        assert lost[0] <= lost[1] + 1e-9, seed
        assert all(check.holds for check in found.checks), seed
        again = shoal.anonymize(frame, found.plan)
        assert again.frame.equals(found.frame), seed
        gained += lost[0] < lost[1] - 1e-9
    return gained


def test_issue_12_3_never_worse_than_the_default(monkeypatch):
    monkeypatch.setattr(choose, "SAMPLE", 20)  # so that samples are parts of the tables
    monkeypatch.setattr(choose, "CLASSES", 3)
    assert check_never_worse(range(6)) > 2


@pytest.mark.slow
def test_issue_12_3_never_worse_than_the_default_many_times(monkeypatch):
    monkeypatch.setattr(choose, "SAMPLE", 20)
    monkeypatch.setattr(choose, "CLASSES", 3)
    assert check_never_worse(range(100, 300)) > 100


# ── Columns without a hierarchy ──


def flat_plan(**change):
    columns = {"age": "quasi", "zip": "quasi", "sex": "quasi", "disease": "sensitive"}
    return plan(**{"columns": columns, "loss": "ncp"} | change)


def test_issue_12_3_flat_columns_are_tried_as_free_ranges_and_sets():
    release = shoal.anonymize(table(), flat_plan())
    default = shoal.anonymize(table(), flat_plan(algorithm="peel"))
    assert release.losses["ncp"] < default.losses["ncp"] / 2
    hierarchies = {name: one.hierarchy for name, one in release.plan.columns.items()}
    assert hierarchies["age"].setting() == {"free_ranges": True}
    assert hierarchies["zip"].setting() == {"free_ranges": True}  # 10000 to 10399: numbers
    assert hierarchies["sex"] is None  # a set of two values is all of them
    (chosen,) = [one for one in release.tried if one.chosen]
    assert chosen.free == ("age", "zip")
    assert chosen.lost == pytest.approx(release.losses["ncp"])
    assert "with free ranges or sets of 'age', 'zip'" in release.notes[0]
    assert "hierarchy = { flat = true }" in release.notes[0]
    again = shoal.anonymize(table(), release.plan)
    assert again.frame.equals(release.frame)
    assert release.explain(0) is not None
    audited = shoal.audit(release.frame, release.plan, original=table())
    assert audited.quality.losses["ncp"] == pytest.approx(release.losses["ncp"])
    json.dumps(release.as_dict(), allow_nan=False)


def test_issue_12_3_explicit_flat_columns_stay():
    flat = {"role": "quasi", "hierarchy": {"flat": True}}
    columns = {"age": flat, "zip": flat, "sex": "quasi", "disease": "sensitive"}
    release = shoal.anonymize(table(80), flat_plan(columns=columns))
    assert not any(one.free for one in release.tried)
    assert Plan(**{"columns": columns, "models": []}).columns["age"].hierarchy is not None


def test_issue_12_3_free_sets_where_values_are_no_numbers():
    rows = table(200)
    codes = [f"0{value}" for value in rows["zip"].to_pylist()]
    rows = rows.set_column(1, "zip", pa.array(codes))
    asked = flat_plan()
    free = freed(asked, encoded(rows, asked))
    assert free.columns["zip"].hierarchy.setting() == {"free_sets": True}  # codes, not numbers
    braces = rows.set_column(1, "zip", pa.array([f"{{{value}}}" for value in codes]))
    assert freed(asked, encoded(braces, asked)).columns["zip"].hierarchy is None
    assert freed(plan(), encoded(table(), plan())) is None  # sex has two values
    weights = {"name": "weights", "edge_weights": {}}
    assert freed(flat_plan(loss=weights), encoded(rows, asked)) is None


def test_issue_12_3_linkage_models_keep_their_trees():
    asked = flat_plan(models=[{"name": "k-concealment", "k": 3}])
    release = shoal.anonymize(table(60), asked)
    assert release.plan.algorithm.name in ("concealment", "freeform")
    assert not any(one.free for one in release.tried)


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


def test_a_plan_file_with_auto(run, tmp_path):
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
    assert "information loss (auto)" in out


@pytest.mark.slow
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


def test_a_release_of_auto_is_audited_by_the_plan_that_was_written():
    """Whoever wrote no hierarchy has no plan with free sets at hand."""
    rng = np.random.default_rng(4)
    town, age = rng.choice([f"t{i}" for i in range(30)], 200), rng.integers(20, 60, 200)
    given = pa.table({"town": town, "age": age, "s": rng.choice(list("abc"), 200)})
    plan = Plan(columns={"town": "quasi", "age": "quasi", "s": "sensitive"}, seed=3,
                models=[{"name": "k-anonymity", "k": 4}], algorithm={"name": "auto"})  # fmt: skip
    release = shoal.anonymize(given, plan)
    assert {"town", "age"} <= {name for one in release.tried for name in one.free}
    found = shoal.audit(release.frame, plan, original=given)
    assert found.holds
    assert found.quality.losses == pytest.approx(release.losses)


def test_numbers_that_are_coded_are_not_freed():
    # A range around top would not cover the numbers beyond it, and a plan with both is refused.
    table = pa.table({"hours": [str(i * 7 % 90) for i in range(60)], "sex": list("mf") * 30})
    plan = shoal.Plan(
        columns={"hours": {"role": "quasi", "top": 60}, "sex": "quasi"},
        models=[{"name": "k-anonymity", "k": 3}],
        algorithm="auto",
        seed=1,
    )
    published = set(shoal.anonymize(table, plan).frame["hours"].to_pylist()) - {"*"}
    assert all(float(value) <= 60 for value in published)
