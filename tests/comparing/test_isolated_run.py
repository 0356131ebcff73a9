"""Runs in processes of their own, with warm kernels."""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module

import numba
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, catalog
from shoal.base.stopwatch import stopwatch
from shoal.comparing.isolated_run import Apart, Failed, Here, loosened
from shoal.models._people import PeopleModel
from tests.comparing.tables import compare, plan, table

compare_module = import_module("shoal.comparing.compare")

trial_module = import_module("shoal.comparing.isolated_run")


# ── In processes of their own ──


def test_isolated_runs_give_the_same_numbers_and_their_own_memory():
    ballast = bytearray(b"x") * 400_000_000  # this process is large; the run's must not seem so
    here = compare(table(), plan(), algorithms=["gaa"])
    apart = compare(table(), plan(), algorithms=["gaa"], apart=True)
    assert len(ballast) == 400_000_000
    a, b = here.lines[0].found, apart.lines[0].found
    assert a.losses == b.losses
    assert a.peak_mb is None
    assert "memory was not measured" in here.notes[0]
    if b.peak_mb is not None:
        assert 50 < apart.rest_mb <= b.peak_mb < 600
        assert apart.as_dict()["memory_at_rest_mb"] == apart.rest_mb


def test_a_run_that_takes_too_long_or_dies(monkeypatch):
    trial = Apart(table(2000), table())
    with pytest.raises(Failed, match=r"not finished after 0\.001 seconds"):
        trial.run(plan(), limit=0.001)
    assert trial.run(plan(algorithm="gaa"), limit=60).classes > 1  # another process took its place
    trial.close()
    monkeypatch.setattr(
        trial_module, "SERVE", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    )
    with pytest.raises(Failed, match="because memory ran out"):
        trial.run(plan())
    monkeypatch.setattr(trial_module, "SERVE", "raise SystemExit(3)")
    with pytest.raises(Failed, match="status 3"):
        trial.run(plan())
    with pytest.raises(BadPlan, match="limit needs a number of seconds above 0"):
        compare(table(), plan(), limit=0, apart=True)


def test_one_process_serves_many_runs():
    trial = Apart(table(), table())
    first = trial.run(plan(algorithm="gaa"))
    process = trial._process
    with pytest.raises(Failed, match="the best k possible is 60"):
        trial.run(plan(models=[{"name": "k-anonymity", "k": 61}]))
    again = trial.run(plan(algorithm="gaa"))
    if first.peak_mb is not None and trial_module.forget_peak():
        assert trial._process is process
    assert again.losses == first.losses
    trial.close()
    assert process.poll() is not None


@pytest.mark.skipif(not trial_module.forget_peak(), reason="the system cannot forget a peak")
def test_the_peak_of_a_run_is_its_own():
    """A large run before a small one does not make the small one look large."""
    before = trial_module.resting_memory()
    ballast = bytearray(b"x") * 200_000_000
    assert trial_module.peak_memory() >= before + 190
    del ballast
    assert trial_module.resting_memory() <= before + 20


def test_where_a_peak_cannot_be_forgotten_every_run_has_a_process(monkeypatch):
    trial = Here(table(), table())
    monkeypatch.setattr(trial_module, "forget_peak", lambda: False)
    found, go_on = trial_module._served(trial, plan(algorithm="gaa"), lambda *words: None)
    assert found.classes > 1
    assert not go_on


# ── Kernels are warm before anything is measured ──

MODELS = {
    "matching-belief": {"belief": 0.01},
    "alpha-k-anonymity": {"k": 400, "alpha": 0.2},
    "average-risk": {"r": 0.001},
    "beta-likeness": {"beta": 0.01},
    "delta-disclosure": {"delta": 0.01},
    "delta-presence": {"high": 0.01},
    "distinct-l-diversity": {"l": 30},
    "eir-alpha-beta-anonymity": {"alpha": 0.01, "beta": 0.01},
    "eir-l-diversity": {"l": 30},
    "entropy-l-diversity": {"l": 30.0},
    "frequency-l-diversity": {"l": 30.0},
    "ir-alpha-beta-anonymity": {"alpha": 0.01, "beta": 0.01},
    "ir-k-anonymity": {"k": 400},
    "ir-kl-anonymity": {"k": 400, "l": 30},
    "k-anonymity": {"k": 400},
    "max-belief": {"rho": 0.01},
    "p-sensitivity": {"p": 30},
    "population-uniqueness": {"u": 0.0, "sampling_fraction": 0.1},
    "recursive-cl-diversity": {"c": 0.1, "l": 30},
    "share-at-risk": {"share": 0.0, "threshold": 0.001},
    "strict-average-risk": {"r": 0.001, "k": 400},
    "t-closeness": {"t": 0.001},
}

LINKED = ("k-1-anonymity", "1-k-anonymity", "k-k-anonymity", "k-concealment", "matching-belief")


@pytest.mark.parametrize("name", catalog.models)
def test_a_warm_up_asks_for_little_of_the_same_kind(name):
    """Whatever is promised, a sample of a few rows reaches the loosened promise."""
    kind = catalog.models[name]
    column = {"column": "disease"} if "column" in kind.model_fields else {}
    persons = {"who": "person"} if issubclass(kind, PeopleModel) or name == "ir-k-anonymity" else {}
    rows = (
        table().append_column("who", pa.array([i // 2 for i in range(60)])) if persons else table()
    )
    algorithm = "concealment" if name in LINKED else "danonyir" if persons else "gaa"
    algorithm = "freeform" if name in ("k-belief", "max-belief") else algorithm
    columns = dict(plan().columns) | persons
    if name == "household-k-anonymity":
        rows = table().append_column("home", pa.array([i // 2 for i in range(60)]))
        columns["home"] = {"role": "household", "publish": False, "together": False}
    models = [{"name": name, **MODELS.get(name, {"k": 400}), **column}]
    people = {"data": table()} if name in ("k-map", "delta-presence") else {}
    asked = plan(models=models, columns=columns, algorithm=algorithm, population=people)
    easy = loosened(asked)
    assert [type(model) for model in easy.models] == [kind]
    assert easy.models != asked.models
    if name == "k-concealment" or name not in LINKED:
        assert all(check.holds for check in shoal.anonymize(rows, easy).checks)


def test_a_sample_too_small_for_the_requirement_still_warms_up(monkeypatch):
    asked = []
    real = trial_module.anonymize
    monkeypatch.setattr(
        trial_module,
        "anonymize",
        lambda table, plan, **options: asked.append(plan) or real(table, plan, **options),
    )
    found = Here(table(900), table(300)).run(plan(models=[{"name": "k-anonymity", "k": 450}]))
    assert [one.models[0].k for one in asked] == [2, 450]
    assert found.cold == ""


def test_a_warm_up_that_fails_is_reported(monkeypatch):
    monkeypatch.setattr(compare_module, "_sample", lambda frame, plan: table(1))
    found = compare(table(), plan(), algorithms=["gaa"])
    assert not found.failed()
    assert any("warm-up on 300 records failed for 'gaa'" in note for note in found.notes)


def test_a_run_in_which_something_was_compiled_is_run_again(monkeypatch):
    """Seconds and memory are those of the second time."""
    begun = []

    class Compiles:
        compiling = 100.0

    @contextmanager
    def compiling():
        yield Compiles()

    Here(table(), table()).run(plan(), begin=lambda: begun.append(1))
    assert len(begun) in (1, 2)
    begun.clear()
    monkeypatch.setattr(trial_module, "stopwatch", compiling)
    Here(table(), table()).run(plan(), begin=lambda: begun.append(1))
    assert len(begun) == 2


def test_a_stopwatch_stands_still_while_kernels_are_compiled():
    @numba.njit
    def new(x):
        return x + 1

    with stopwatch() as watch:
        new(1)
    assert watch.compiling > 0
    with stopwatch() as again:
        new(2)
    assert again.compiling == 0
    assert 0 <= watch.seconds < watch.compiling


def test_every_kind_of_hierarchy_can_be_handed_over(tmp_path):
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    kinds = [
        {"ranges": [5]}, {"prefixes": True}, {"dates": ["year"]}, {"flat": True},
        {"tree": {"*": ["a", "b"]}}, {"parents": {"a": "*"}}, {"free_ranges": True},
        {"free_sets": True}, str(tmp_path / "sex.csv"),
    ]  # fmt: skip
    columns = {f"c{i}": {"role": "quasi", "hierarchy": kind} for i, kind in enumerate(kinds)}
    asked = plan(columns=columns)
    assert pickle.loads(pickle.dumps(asked)).to_toml() == asked.to_toml()
    with pytest.raises(Failed, match="apart=False"):
        Apart(lambda: None, table())


def test_a_script_without_a_guard_is_not_run_again(tmp_path):
    """What multiprocessing would do: import the script anew in every process."""
    script = tmp_path / "script.py"
    script.write_text(
        "import pyarrow as pa, shoal\n"
        "print('begun')\n"
        "plan = {'columns': {'a': 'quasi'}, 'models': [{'name': 'k-anonymity', 'k': 2}]}\n"
        "print(shoal.compare(pa.table({'a': ['x', 'x', 'y', 'y']}), plan, algorithms=['gaa']))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.count("begun") == 1
    assert "best gaa" in done.stdout
