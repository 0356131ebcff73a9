"""The report's section about analyses: what it says is what was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.base.wording import percent
from shoal.measures.analyses.learning import Learned, Learning, Score
from shoal.report.page import render
from shoal.report.release_report import facts, page
from shoal.report.sections.usefulness.analyses import analyses
from tests.report.test_release_report import Seen

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [10, 40]}},
    "born": {"role": "quasi", "hierarchy": {"dates": ["year", "decade"]}},
    "town": "quasi",
    "sex": "quasi",
    "disease": "sensitive",
    "hours": "other",
}


def made(k=15, n=300):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, n)
    table = pa.table(
        {
            "age": age,
            "born": [f"{2000 - a}-05-17" for a in age],
            "town": rng.choice([f"Hidden{i}" for i in range(40)], n),
            "sex": rng.choice(["f", "m"], n),
            "disease": rng.choice(["flu", "gout"], n),
            "hours": age + rng.integers(0, 9, n),
        }
    )
    plan = Plan(columns=COLUMNS, models=[{"name": "k-anonymity", "k": k}], seed=1)
    return shoal.anonymize(table, plan)


def learned(original, release, guessing=0.5):
    def score(accuracy):
        return Score(accuracy, 0.3, 0.1)

    return Learning(
        "disease", 2, 0, False, 300, 200, 200, 10_000, True, score(guessing),
        (Learned("gradient boosting", score(original), score(release)),),
    )  # fmt: skip


def test_the_section_says_what_was_measured():
    release = made()
    found = release.analyses
    text = Seen(render(page(facts(release)))).text
    known = [one for one in found.compared if one.inside is not None]
    inside = sum(one.inside for one in known)
    assert f"{inside} of {len(known)} estimates from the release are inside the 95 %" in text
    least = min(found.kept, key=lambda one: one.percent)
    share = percent(least.percent).replace("\xa0", " ")
    assert f"{least.column} keeps least: {share} of its information" in text
    moved = max(found.numbers, key=lambda one: abs(one.shift or 0))
    assert f"The mean of {moved.column} moves most" in text
    assert "in years" in text
    worst = max(found.correlations, key=lambda one: abs(one.correlation.difference or 0))
    assert f"difference is that of {worst.columns[0]} and {worst.columns[1]}:" in text
    assert "Cramér's V, corrected for bias; intervals by the bootstrap" in text
    assert "shoal anonymize --target COLUMN" in text


def test_two_classes_as_an_attacker_sees_them():
    release = made()
    text = Seen(render(page(facts(release)))).text
    for name, title in (("smallest", "The smallest class"), ("surprising", "The class whose")):
        view = release.attacker_examples()[name]
        assert title in text
        assert f"{view.who_else}." in text
        most = min(view.key_knowledge, key=lambda one: (one.fewest, -one.alone, one.most))
        assert f"Knowing {most.column}" in text
        for line in view.conclusions:
            assert line[1:] in text


def test_no_value_that_is_not_published_is_shown():
    release = made(k=30)
    assert not any("Hidden" in v for v in release.frame["town"].to_pylist())
    assert "Hidden" not in render(page(facts(release)))


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ((0.9, 0.9), "predict as well as those trained on the original"),
        ((0.9, 0.7), "Of what gradient boosting gains over guessing, the release keeps 50 %"),
        ((0.9, 0.4), "the release keeps 0 %"),
        ((0.505, 0.5), "Even the original predicts disease no better than guessing"),
    ],
)
def test_the_caption_states_the_finding(scores, words):
    given = replace(facts(made()), learned=[learned(*scores)])
    text = Seen(render(page(given))).text
    assert words in text
    assert "Differences below 1 % may be chance" in text
    assert "--target COLUMN" not in text


def test_a_table_without_numbers_or_pairs():
    table = pa.table({"sex": ["f", "m"] * 6})
    plan = Plan(columns={"sex": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    blocks = analyses(facts(shoal.anonymize(table, plan)))
    assert [block.kind for block in blocks] == ["text", "heading", "plot", "text"]
    assert blocks[2].caption.startswith("All quasi-identifiers keep all")
