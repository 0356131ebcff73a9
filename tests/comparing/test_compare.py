"""Algorithms side by side: what is run, and what becomes of what fails."""

from __future__ import annotations

import csv
import io
import json
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal import BadPlan, BadTable, CannotReach, Plan, catalog
from shoal.comparing.compare import from_words, serving, with_ks
from shoal.comparing.comparison import Unfinished
from tests.comparing.tables import compare, plan, table

compare_module = import_module("shoal.comparing.compare")


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
    assert [one.name for one in serving(linked)] == ["concealment", "freeform"]


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


def test_an_interrupt_while_bounds_are_found_keeps_all_runs(monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_module, "lower_bound_for", stop)
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
