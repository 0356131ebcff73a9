"""Special uniques in the report: the numbers of an audit of the original and of the release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shoal import anonymize, audit
from shoal.base.wording import number, percent
from shoal.report.facts import facts
from shoal.report.page import HtmlTable
from shoal.report.sections.samples.population import population

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
    "sex": "quasi",
    "town": "quasi",
    "job": "quasi",
    "weight": {"role": "weight", "publish": False},
}
HIDDEN = {"name": "k-anonymity", "k": 3}
AVERAGE = {"name": "average-risk", "r": 0.5}  # leaves some records unique


def table() -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "age": rng.integers(20, 60, 80),
            "sex": rng.choice(["f", "m"], 80),
            "town": rng.choice(["a", "b", "c", "d"], 80, p=[0.6, 0.2, 0.15, 0.05]),
            "job": rng.choice(["x", "y", None], 80),
            "weight": rng.uniform(5, 15, 80),
        }
    )


def shown(model: dict) -> tuple[dict, str, list[HtmlTable], tuple]:
    """The rows of the table of scores, all words, and audits of the original and the release."""
    plan = {"columns": COLUMNS, "models": [model], "seed": 1}
    release = anonymize(table(), plan)
    blocks = population(facts(release, explain=False))
    tables = [one for one in blocks if isinstance(one, HtmlTable)]
    found = {row[0].text: [cell.text for cell in row[1:]] for row in tables[2].cells}
    words = " ".join(getattr(one, "text", "") for one in blocks)
    without = {**plan, "columns": {k: v for k, v in COLUMNS.items() if k != "weight"}}
    fraction = {"fraction": release.sample.fraction}
    audits = (
        audit(table(), plan, special_uniques=3),
        audit(release.frame, {**without, "population": fraction}, special_uniques=3),
    )
    return found, words, tables, tuple(one.uniques for one in audits)


def column(uniques) -> list[str]:
    return [
        f"{uniques.unique}",
        f"{(uniques.smallest > 0).sum()}",
        *(f"{(uniques.smallest == size).sum()}" for size in (1, 2, 3)),
        number(float(uniques.scores.max())),
        number(float(uniques.dis_scores.max())),
        percent(100 * uniques.correct_match),
    ]


@pytest.mark.parametrize("model", [HIDDEN, AVERAGE], ids=lambda model: model["name"])
def test_both_tables_have_the_numbers_of_their_audits(model):
    found, _, tables, (before, after) = shown(model)
    assert [cells[0] for cells in found.values()] == column(before)
    nothing = ["0"] * len(found)
    assert [cells[1] for cells in found.values()] == (column(after) if after.unique else nothing)
    worst = max(before.sets, key=lambda one: one.minimal)
    assert tables[3].cells[0][0].text == ", ".join(worst.columns)
    assert tables[3].cells[0][1].text == str(worst.minimal)


def test_releases_with_and_without_uniques():
    """Both branches of the test above, and what is said of them."""
    *_, words, tables, (before, after) = shown(HIDDEN)
    assert before.unique > 0 == after.unique
    assert "No record of the release is unique" in words
    assert "(3 − m)!" in tables[2].caption
    *_, words, _, (_, after) = shown(AVERAGE)
    assert after.unique > 0
    assert "No record of the release is unique" not in words


def test_a_table_that_is_no_sample():
    columns = {name: one for name, one in COLUMNS.items() if name != "weight"}
    plan = {"columns": columns, "models": [HIDDEN]}
    release = anonymize(table().drop_columns(["weight"]), plan)
    assert facts(release, explain=False).uniques is None


@pytest.mark.parametrize("model", [HIDDEN, AVERAGE])
def test_the_json_of_the_release_has_what_the_report_shows(model):
    release = anonymize(table(), {"columns": COLUMNS, "models": [model], "seed": 1})
    *_, audits = shown(model)
    numbers = release.as_dict()["special_uniques"]
    by_hand = [one.as_dict() for one in audits]
    assert close(numbers["original"], by_hand[0])
    if model is HIDDEN:
        assert numbers["release"] is None  # no record is unique
    else:
        assert close(numbers["release"], by_hand[1])
    columns = {name: one for name, one in COLUMNS.items() if name != "weight"}
    other = anonymize(table().drop(["weight"]), {"columns": columns, "models": [model], "seed": 1})
    assert "special_uniques" not in other.as_dict()  # no sample


def close(a: dict, b: dict) -> bool:
    """The weights are added up in another order."""
    rounded = {"correct_match", "dis_fraction"}
    same = {key: one for key, one in a.items() if key not in rounded}
    near = all(a[key] == pytest.approx(b[key]) for key in rounded)
    return near and same == {key: one for key, one in b.items() if key not in rounded}
