"""Algorithms side by side: what is run, what is told of it, and what becomes of what fails."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from time import sleep

import numba
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadPlan, BadTable, CannotReach, Plan, catalog
from shoal.base.stopwatch import stopwatch
from shoal.cli.comparison_table import show_comparison
from shoal.comparing.compare import from_words, serving, with_ks
from shoal.comparing.comparison import Comparison, Unfinished
from shoal.comparing.isolated_run import Apart, Failed, Here, loosened
from shoal.io.frames import open_frame
from shoal.measures.lower_bound import Bound
from shoal.models._people import PeopleModel
from shoal.report.comparison_plot import COLOURS, MARKS, MORE, Curve, draw
from shoal.table.encode import encode
from tests.cli.test_console import printed
from tests.command_line import left

compare_module = import_module("shoal.comparing.compare")
trial_module = import_module("shoal.comparing.isolated_run")


def table(rows=60):
    return pa.table(
        {
            "age": [20 + 7 * i % 40 for i in range(rows)],
            "sex": ["fm"[i % 2] for i in range(rows)],
            "disease": [f"d{i % 5}" for i in range(rows)],
        }
    )


def plan(**change):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "sex": "quasi",
        "disease": "sensitive",
    }
    asked = {"columns": columns, "models": [{"name": "k-anonymity", "k": 3}], "seed": 5}
    return Plan(**asked | change)


def compare(*args, **options):
    return shoal.compare(*args, **{"apart": False} | options)


@pytest.fixture(scope="module")
def several():
    return compare(table(), plan(), k=[2, 6], algorithms=["gaa", "agglomerative", "concealment"])


def test_every_line_is_the_release_that_the_same_plan_gives(several):
    for line in several.lines:
        if line.found is None:
            continue
        asked = plan(models=[{"name": "k-anonymity", "k": line.k}], algorithm=line.algorithm)
        release = shoal.anonymize(table(), asked)
        assert line.found.losses == release.losses
        assert line.found.mean_loss == release.quality.mean_loss
        assert line.found.classes == release.classes
        assert line.found.smallest_class == release.smallest_class >= line.k


def test_the_best_of_each_k_comes_first(several):
    assert several.ks == [2, 6]
    assert several.yardstick == "nllm"
    for k in several.ks:
        lost = [line.found.losses["nllm"] for line in several.at(k)]
        assert lost == sorted(lost)
        assert several.best(k).found.losses["nllm"] == min(lost)
    assert [line.k for line in several.lines] == [2, 2, 2, 6, 6, 6]
    assert "best" in repr(several)


def test_what_is_not_supported_is_a_line_with_its_reason(several):
    assert {line.algorithm for line in several.failed()} == {"concealment"}
    assert "does not support k-anonymity" in several.failed()[0].reason
    assert "these do" in several.failed(6)[0].reason
    runs = several.as_dict()["runs"]
    assert [one["holds"] for one in runs] == [True, True, False] * 2
    assert "these do" in runs[2]["reason"]


def test_what_cannot_be_reached_is_a_line_with_its_reason():
    found = compare(table(), plan(), k=[5, 61], algorithms=["gaa"])
    assert found.best(5).algorithm == "gaa"
    assert "the best k possible is 60" in found.failed(61)[0].reason
    with pytest.raises(CannotReach, match="no run produced a release at k=61"):
        found.best(61)
    assert not compare(table(), plan(), k=[61], algorithms=["gaa"]).holds


def test_a_table_that_does_not_fit_is_an_error_at_once():
    with pytest.raises(BadTable, match="'sexx'"):
        compare(table().rename_columns(["age", "sexx", "disease"]), plan())


def test_default_is_everything_that_supports_the_plan_with_its_k():
    found = compare(table(), plan())
    able = [n for n, kind in catalog.algorithms.decided.items() if kind().serves(plan().models[0])]
    assert sorted(line.algorithm for line in found.lines) == able
    assert found.ks == [3]
    assert not found.failed()
    linked = plan(models=[{"name": "k-concealment", "k": 3}], algorithm="concealment")
    assert [one.name for one in serving(linked)] == ["concealment"]


def test_free_ranges_exclude_algorithms_that_need_trees():
    columns = {"age": {"role": "quasi", "hierarchy": {"free_ranges": True}}, "sex": "quasi"}
    asked = plan(columns={**columns, "disease": "sensitive"})
    names = [one.name for one in serving(asked)]
    assert "gaa" in names
    assert "forest" not in names


def test_every_k_of_the_plan_is_replaced():
    asked = plan(
        models=[
            {"name": "k-anonymity", "k": 3},
            {"name": "alpha-k-anonymity", "k": 2, "alpha": 0.9, "column": "disease"},
            {"name": "distinct-l-diversity", "l": 2, "column": "disease"},
        ]
    )
    models = with_ks(asked, [7])[7].models
    assert [getattr(model, "k", None) for model in models] == [7, 7, None]
    assert models[1].alpha == 0.9
    assert list(with_ks(asked, None)) == [3]
    assert with_ks(asked, None)[3] is asked
    assert list(with_ks(asked, 4)) == [4]
    with pytest.raises(BadPlan, match="needs k of 2 or more, got k=1"):
        with_ks(asked, [1, 2])
    with pytest.raises(BadPlan, match="at least one k"):
        with_ks(asked, [])


def test_a_plan_without_a_k_says_what_to_do():
    asked = plan(models=[{"name": "t-closeness", "column": "disease", "t": 0.5}])
    with pytest.raises(BadPlan, match=r"t-closeness\[disease\], which has no k .* add k-anonymity"):
        compare(table(), asked, k=[2])


def test_several_guides_are_judged_by_the_mean():
    found = compare(table(), plan(), algorithms="gaa", losses=["ncp", "total"])
    assert found.yardstick == "mean"
    assert found.guides == ["ncp", "total"] or found.guides == ["total", "ncp"]
    means = [line.found.mean_loss for line in found.lines]
    assert means == sorted(means)
    assert found.name(found.lines[0]) == f"gaa · {found.lines[0].loss}"


def test_the_plans_own_algorithm_keeps_its_options():
    asked = plan(algorithm={"name": "gaa", "weight": "unit"})
    found = compare(table(), asked, algorithms=["gaa", {"name": "gaa", "weight": "size"}, "gaa"])
    assert sorted(line.algorithm for line in found.lines) == ["gaa", "gaa weight=unit"]
    assert {line.options["weight"] for line in found.lines} == {"unit", "size"}


def test_all_runs_share_one_random_seed():
    once, again = (compare(table(), plan(), algorithms=["danonyir"]) for _ in range(2))
    assert once.lines[0].found.losses == again.lines[0].found.losses
    assert once.seed == 5
    drawn = compare(table(), plan(seed=None), algorithms=["danonyir"])
    repeated = compare(table(), plan(seed=drawn.seed), algorithms=["danonyir"])
    assert drawn.lines[0].found.losses == repeated.lines[0].found.losses


def test_words_of_the_command_line():
    asked = from_words(" 2, 5,", "gaa,sequential:passes=3:w=0.5", "nllm")
    assert asked["k"] == [2, 5]
    assert asked["algorithms"][1] == {"name": "sequential", "passes": 3, "w": 0.5}
    assert from_words(None, None, None) == {}
    with pytest.raises(BadPlan, match="--k 2,5,10; got '2,x'"):
        from_words("2,x", None, None)
    with pytest.raises(BadPlan, match="an option needs a value"):
        from_words(None, "gaa:weight", None)
    with pytest.raises(BadPlan, match="did you mean 'gaa'"):
        compare(table(), plan(), algorithms=["gab"])
    with pytest.raises(BadPlan, match="at least one algorithm"):
        compare(table(), plan(), algorithms=[])


def test_a_data_frame_and_a_csv_file(several):
    frame = pd.DataFrame(several.table())
    assert frame["best"].sum() == 2
    assert set(frame) >= {"k", "algorithm", "loss", "lost_nllm", "mean_loss", "recode_seconds"}
    rows = list(csv.DictReader(io.StringIO(several.csv())))
    assert [row["k"] for row in rows] == ["2", "2", "2", "6", "6", "6"]
    assert rows[2]["lost_nllm"] == ""
    assert float(rows[0]["lost_nllm"]) == pytest.approx(several.best(2).found.losses["nllm"], 1e-5)


def test_json_can_be_written(several):
    numbers = json.loads(json.dumps(several.as_dict(), allow_nan=False))
    assert numbers["k"] == [2, 6]
    assert numbers["judged_by"] == "nllm"
    first = numbers["runs"][0]
    assert first["best"] is True
    assert first["whole_seconds"] >= first["recode_seconds"] > 0
    steps = [spent for step, spent in first["seconds"].items() if step != "read"]
    assert first["whole_seconds"] == pytest.approx(sum(steps))


# ── On the screen and drawn ──


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_screen(several, width):
    out = printed(show_comparison, several, width=width)
    assert max(map(len, out.splitlines())) <= width
    assert out.count("►") == 3  # one for each k, and what it means
    assert "…" not in out
    assert "Not done: concealment, k = 2, 6" in out
    assert ("distortion" in out) == (width > 100)
    assert "algorithm" in out


def test_a_lower_bound_has_its_line(several, tmp_path):
    assert all(several.lower_bounds[k] > 0 for k in (2, 6))
    out = printed(show_comparison, several)
    assert out.count("proven lower bound") == 2
    assert f"{several.lower_bounds[6]:.2f}" in out
    numbers = several.as_dict()
    assert numbers["lower_bounds"] == {str(k): several.lower_bounds[k] for k in (2, 6)}
    assert numbers["bound"]["6"] == several.bounds[6].as_dict()
    assert numbers["bound"]["6"]["value"] == numbers["bound"]["6"]["percent"]
    assert numbers["bound"]["6"]["covers"] == ["k-anonymity"]
    assert numbers["bound"]["6"]["k"] == 6
    for row in csv.DictReader(io.StringIO(several.csv())):
        assert float(row["bound"]) == pytest.approx(several.lower_bounds[int(row["k"])], 1e-5)
    several.plot(tmp_path / "c.svg")
    assert "proven lower bound" in (tmp_path / "c.svg").read_text()


def weights(by_sex, by_age):
    """Own weights for a table of age and sex."""
    tree = encode(open_frame(table()), plan().columns, "value", [""]).trees[0]
    ages = {str(label): by_age for label in tree.labels[1:]}
    return {"name": "weights", "edge_weights": {"sex": {"f": by_sex, "m": by_sex}, "age": ages}}


LOSSES = [
    (["nllm"], "nllm"),
    (["entropy"], "entropy"),
    ([weights(1.0, 0.001)], "weights"),
    ([weights(0.001, 1.0)], "weights"),
    ([weights(1.0, 0.001), weights(0.001, 1.0)], "mean"),
    (["ncp", weights(1.0, 0.001)], "mean"),
    (["auto"], "mean"),
]


@pytest.mark.parametrize(("losses", "judge"), LOSSES)
@pytest.mark.parametrize("own", ["nllm", weights(0.001, 1.0)])
def test_no_run_loses_less_than_the_bound(losses, judge, own):
    """The bound is by the loss that judges, whatever loss the plan names."""
    found = compare(table(), plan(loss=own), k=[2, 4], algorithms=["peel", "gaa"], losses=losses)
    assert found.yardstick == judge
    assert not found.failed()
    for k in found.ks:
        assert 0 <= found.lower_bounds[k] <= found.best(k).lost(judge) + 1e-9
    assert found.lower_bounds[4] > 0


def test_guides_of_one_name_are_distinguished():
    both = [weights(1.0, 0.001), weights(0.001, 1.0)]
    found = compare(table(), plan(), algorithms=["gaa"], losses=both)
    assert sorted(found.guides) == ["weights 1", "weights 2"]
    assert len({found.name(line) for line in found.lines}) == 2


def test_why_there_is_no_bound_is_reported():
    linked = plan(models=[{"name": "k-concealment", "k": 3}], algorithm="concealment")
    free = {"age": {"role": "quasi", "hierarchy": {"free_ranges": True}}, "sex": "quasi"}
    skewed = {"role": "quasi", "hierarchy": {"tree": {"*": {"told": ["f", "m"], "not": ["?"]}}}}
    cases = {
        "k-concealment does not form classes": compare(table(), linked),
        "may be published as free": compare(
            table(), plan(columns={**free, "disease": "sensitive"}), algorithms=["gaa"]
        ),
        "can cost less, so no bound is known": compare(
            table().set_column(1, "sex", pa.array(["f", "m"] + ["?"] * 58)),
            plan(columns={**dict(plan().columns), "sex": skewed}),
            algorithms=["gaa"],
            losses=["entropy"],
        ),
    }
    for reason, found in cases.items():
        assert not found.lower_bounds
        assert found.as_dict()["lower_bounds"] == {}
        assert reason in found.as_dict()["bound"]["3"]["reason"]
        assert any("no lower bound for k = 3" in n and reason in n for n in found.notes)
        told = " ".join(printed(show_comparison, found).split())
        assert "proven lower bound" not in told
        assert "no lower bound for k = 3" in told
        assert found.table()[0]["bound"] is None


def test_a_search_that_was_stopped_is_reported(monkeypatch):
    short = partial(compare_module.lower_bound, most=200)
    monkeypatch.setattr(compare_module, "lower_bound", short)
    found = compare(table(), plan(), algorithms=["gaa"])
    assert found.bounds[3].reason
    assert found.bounds[3].reason in found.notes[-1]


def test_each_bound_is_computed_once_and_reports_progress(monkeypatch):
    asked, told = [], []

    def counted(table, k, loss, progress):
        asked.append((k, loss.name))
        progress("bounding", 0.5)
        return Bound(1.0, k=k)

    monkeypatch.setattr(compare_module, "lower_bound", counted)
    compare(table(), plan(), k=[2, 6], algorithms=["gaa", "peel"], losses=["ncp", "total"],
            progress=lambda *words: told.append(words))  # fmt: skip
    assert asked == [(2, "mean"), (6, "mean")]
    assert ("proving a lower bound, k = 6", 0.5) in told
    stages = {stage for stage, _ in told}
    assert "run 2 of 8: peel, k = 2, guided by ncp" in stages
    assert "run 2 of 8: peel, k = 2, guided by ncp: compiling or loading kernels" in stages
    assert "run 6 of 8: peel, k = 6, guided by ncp: compiling or loading kernels" not in stages


def test_plots(several, tmp_path):
    several.plot(tmp_path / "c.svg")
    svg = (tmp_path / "c.svg").read_text()
    for word in ("agglomerative", "gaa", "percent lost (nllm)", "seconds", "prefers-color-scheme"):
        assert word in svg
    one = Comparison(**{**vars(several), "lines": several.at(2)})
    one.plot(tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BadFile, match=r"\.svg or a \.png"):
        several.plot(tmp_path / "c.pdf")
    with pytest.raises(BadFile, match="no run produced a release"):
        Comparison(**{**vars(several), "lines": several.failed()}).plot(tmp_path / "c.svg")
    with pytest.raises(ValueError, match="at least one run"):
        draw([], {}, "lost", ".svg")


def test_a_plot_of_losses_and_times_of_nothing():
    curve = Curve("gaa", "nllm", {2: 0.0, 3: 0.0}, {2: 0.0, 3: 0.0})
    assert b"<svg" in draw([curve], {}, "lost", ".svg")


def test_twelve_lines_can_be_distinguished():
    """A colour and a mark for each algorithm, dashes for each guide, and ticks as people write."""
    names = [f"method{i}" for i in range(12)]
    curves = [
        Curve(name, guide, {2: i + 1.0, 10: i + 2.0, 1000: i + 4.0}, {2: 0.1, 10: 0.2, 1000: 1})
        for i, name in enumerate(names)
        for guide in ("nllm", "ncp")
    ]
    svg = draw(curves, {2: 0.5, 10: 0.7}, "lost", ".svg", ["why & what"]).decode()
    plain = svg[svg.rindex("</style>") :]
    lines = re.findall(r'<path aria-label="k: [^"]*"[^>]*>', plain)
    strokes = {
        (c, d) for c, d in re.findall(r'stroke="(#[0-9a-f]{6})"[^>]*dasharray="([^"]*)"', plain)
    }
    assert len({colour for colour, _ in strokes} & set(COLOURS)) == 12, lines
    assert len(set(MARKS)) >= 12 <= len(COLOURS)
    assert ">10<" in svg
    assert ">1,000<" in svg
    assert "1e+" not in svg
    assert "why &amp; what" in svg
    for dark in MORE.values():
        assert dark in svg[: svg.rindex("</style>")]
    order = [svg.index(f">{name}<") for name in names]
    assert order == sorted(order, reverse=True)  # as the lines end


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
    "alpha-k-anonymity": {"k": 400, "alpha": 0.2},
    "average-risk": {"r": 0.001},
    "beta-likeness": {"beta": 0.01},
    "delta-disclosure": {"delta": 0.01},
    "distinct-l-diversity": {"l": 30},
    "eir-alpha-beta-anonymity": {"alpha": 0.01, "beta": 0.01},
    "eir-l-diversity": {"l": 30},
    "entropy-l-diversity": {"l": 30.0},
    "frequency-l-diversity": {"l": 30.0},
    "ir-alpha-beta-anonymity": {"alpha": 0.01, "beta": 0.01},
    "ir-k-anonymity": {"k": 400},
    "ir-kl-anonymity": {"k": 400, "l": 30},
    "k-anonymity": {"k": 400},
    "p-sensitivity": {"p": 30},
    "recursive-cl-diversity": {"c": 0.1, "l": 30},
    "share-at-risk": {"share": 0.0, "threshold": 0.001},
    "t-closeness": {"t": 0.001},
}
LINKED = ("k-1-anonymity", "1-k-anonymity", "k-k-anonymity", "k-concealment")


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
    columns = dict(plan().columns) | persons
    models = [{"name": name, **MODELS.get(name, {"k": 400}), **column}]
    asked = plan(models=models, columns=columns, algorithm=algorithm)
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
    monkeypatch.setattr(compare_module, "_sample", lambda frame: table(1))
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


# ── The command ──


@pytest.fixture
def here(monkeypatch):
    """Runs in this process: quick."""
    monkeypatch.setattr(compare_module, "Apart", Here)


WORDS = ("compare", "people.csv", "--plan", "plan.toml")


def test_the_command(run, people, here):
    targets = ("--json", "c.json", "--csv", "c.csv", "--plot", "c.svg")
    status, out, err = run(*WORDS, "--k", "2,5", "--algorithms", "gaa,forest", *targets)
    assert status == 0, err
    assert "►" in out
    assert "written: c.svg" in out
    numbers = json.loads((people / "c.json").read_text())
    assert [one["k"] for one in numbers["runs"]] == [2, 2, 5, 5]
    assert numbers["seed"] == 3
    assert left(people) == ["c.csv", "c.json", "c.svg", "people.csv", "plan.toml"]
    assert "Person" not in (people / "c.csv").read_text() + out + json.dumps(numbers)


def test_the_command_prints_json_alone(run, people, here):
    status, out, err = run(*WORDS, "--algorithms", "gaa", "--json", "-", "--seed", "9")
    assert status == 0
    assert json.loads(out)["seed"] == 9
    assert "algorithm" in err


def test_the_command_writes_nothing_where_nothing_was_reached(run, people, here):
    status, out, err = run(*WORDS, "--k", "61", "--csv", "c.csv", "--json", "c.json")
    assert status == 1
    assert "the best k possible is 60" in " ".join(out.split())
    assert "nothing was written" in err
    assert left(people) == ["people.csv", "plan.toml"]


@pytest.mark.parametrize(
    "words",
    [
        ("--csv", "people.csv"),
        ("--json", "plan.toml"),
        ("--csv", "c.svg", "--plot", "c.svg"),
        ("--plot", "c.pdf"),
        ("--csv", "nowhere/c.csv"),
        ("--k", "x"),
        ("--k", "1"),
        ("--algorithms", "gab"),
        ("--losses", "nlm"),
        ("--limit", "-1"),
    ],
)
def test_bad_words(run, people, here, words):
    status, out, err = run(*WORDS, *words)
    assert status == 2, out
    assert err.startswith("shoal: ")
    assert left(people) == ["people.csv", "plan.toml"]


def gone(group, seconds=10.0):
    """Whether no process of a group is left; the last of them may still be about to end."""
    for _ in range(round(10 * seconds)):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("after", "send", "status"),
    [
        (1, lambda process: os.killpg(process.pid, signal.SIGINT), 130),
        (3, lambda process: os.killpg(process.pid, signal.SIGINT), 130),
        (3, lambda process: process.terminate(), 143),
    ],
)
def test_an_interrupt_leaves_what_has_finished(people, after, send, status):
    """Ctrl-C while a run is under way: what had finished, and no process that goes on."""
    rows = "".join(f"Person {i},{20 + i % 40},{'fm'[i % 2]},d{i % 5}\n" for i in range(20_000))
    (people / "people.csv").write_text("name,age,sex,disease\n" + rows, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-u", "-c",
         "import shoal.cli.progress; shoal.cli.progress.INTERVAL = 0.0\n"
         "import shoal.cli.main; shoal.cli.main.main()",
         *WORDS, "--k", "50,60,70,80", "--algorithms", "gaa,forest,sequential",
         "--csv", "c.csv", "--plot", "c.svg", "--json", "c.json"],
        cwd=people, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    for line in process.stderr:
        if line.startswith(f"run {after} of 12"):
            break
    send(process)
    out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    assert gone(process.pid)
    if after == 1:
        assert "nothing was written" in err
        assert left(people) == ["people.csv", "plan.toml"]
        return
    assert "the results of the finished runs" in err
    assert "Not done: sequential, k = 50, 60, 70, 80: interrupted" in " ".join(out.split())
    assert left(people) == ["c.csv", "c.json", "c.svg", "people.csv", "plan.toml"]
    numbers = json.loads((people / "c.json").read_text())
    assert numbers["finished"] is False
    assert 2 <= sum(one["holds"] for one in numbers["runs"]) < 12 == len(numbers["runs"])
    lines = list(csv.DictReader(io.StringIO((people / "c.csv").read_text())))
    assert {line["finished"] for line in lines} == {"False"}
    assert any("interrupted" in line["reason"] for line in lines)


def test_an_interrupt_while_bounds_are_found_keeps_all_runs(monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_module, "lower_bound", stop)
    with pytest.raises(Unfinished) as stopped:
        compare(table(), plan(), algorithms=["gaa"])
    found = stopped.value.comparison
    assert not found.failed()
    assert not found.finished
    assert "no lower bound for k = 3: interrupted" in found.notes[-1]


@pytest.mark.parametrize("k", [2.5, "5", [2, "5"], [None], True, []])
def test_k_that_is_no_whole_number(k):
    plan = Plan(columns={"a": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    with pytest.raises(BadPlan, match=r"whole numbers|at least one k"):
        with_ks(plan, k)


def test_k_may_be_a_number_of_numpy():
    plan = Plan(columns={"a": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    assert list(with_ks(plan, np.int64(3))) == [3]
    assert list(with_ks(plan, np.array([5, 4, 5]))) == [4, 5]
