"""The estimates in the report of a weighted table are those that its cells give."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.report.sample_facts import ESTIMATORS
from tests.naive import populations as naive

COLUMNS = {"age": "quasi", "sex": "quasi", "town": "quasi", "w": "weight"}
MODELS = [{"name": "average-risk", "r": 0.6}]


def people(rows=120):
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(["a", "b", "c"], rows, p=[0.7, 0.2, 0.1]),
            "w": rng.integers(1, 8, rows),
        }
    )


def shown(path, cell=-1):
    """The rows of all tables of a report, as they are read: the first cell and the last.

    Or another cell, of tables with an original and a release.
    """
    html = path.read_text(encoding="utf-8")
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        words = [" ".join(unescape(re.sub("<[^>]+>", "", one)).split()) for one in cells]
        if len(words) == 3 or (len(words) == 2 and cell == -1):
            found.setdefault(words[0], words[cell])
    return found


def number(cell):
    """A number or a percentage of the report, and half a unit of its last place."""
    digits, _, unit = cell.replace(",", "").partition(" ")
    places = len(digits.partition(".")[2])
    scale = 100 if unit == "%" else 1
    return float(digits) / scale, 0.5 * 10**-places / scale * (1 + 1e-6)


def assert_shows(found, words, expected):
    reads, within = number(found[words])
    assert reads == pytest.approx(expected, abs=within), words


@pytest.mark.parametrize("size", [None, 5000])
def test_the_report_has_the_estimates(size, tmp_path):
    """From the published cells, by the naive twins; a stated size multiplies the weights."""
    stated = {} if size is None else {"population": {"size": size}}
    plan = {"columns": COLUMNS, "models": MODELS, "seed": 1, **stated}
    release = shoal.anonymize(people(), plan)
    release.report(tmp_path / "report.html")
    found = shown(tmp_path / "report.html")
    cells = release.frame.to_pydict()
    weights = [float(one) for one in cells.pop("w")]
    rows = list(zip(*cells.values(), strict=True))
    f, added = Counter(rows), Counter()
    for row, weight in zip(rows, weights, strict=True):
        added[row] += weight
    total = size or sum(weights)
    in_population = {row: total * one / sum(weights) for row, one in added.items()}
    of_class = {row: naive.risk(f[row], max(in_population[row], f[row]), 20_000) for row in f}
    risks = [of_class[row] for row in rows]
    where = "the sum of the weights" if size is None else "as the plan says"
    assert found[f"people in the population ({where})"] == f"{total:,.0f}"
    assert_shows(found, "sampling fraction", len(rows) / total)
    assert_shows(found, "highest individual risk in the population", max(risks))
    assert_shows(found, "average individual risk in the population", sum(risks) / len(risks))
    assert_shows(found, "expected re-identifications in the population", sum(risks))
    before = people().to_pydict()
    rows = list(zip(*(before[name] for name in before if name != "w"), strict=True))
    whole, original = Counter(rows), shown(tmp_path / "report.html", 1)
    for row in {*rows}:
        added[row] = sum(w for w, one in zip(before["w"], rows, strict=True) if one == row)
    own = [
        naive.risk(n, max(added[row] * total / sum(weights), n), 2_000) for row, n in whole.items()
    ]
    own = dict(zip(whole, own, strict=True))
    assert original[f"people in the population ({where})"] == f"{total:,.0f}"
    assert_shows(original, "highest individual risk in the population", max(own.values()))
    mine = sum(own[row] for row in rows)
    assert_shows(original, "expected re-identifications in the population", mine)
    assert mine > sum(risks)

    sizes = sorted(f.values())
    assert sizes[0] == 1, "otherwise nothing has to be estimated"
    zayatz = naive.zayatz(sizes, round(total)) / total
    assert_shows(found, "Zayatz", zayatz)
    [words] = [one for one in found if one.startswith("unique in the population")]
    estimators = [one for one in ("Pitman", "Zayatz", "slide negative binomial") if one in words]
    assert found[words] == found[ESTIMATORS[release.sample.uniqueness.chosen]]
    assert {
        ESTIMATORS[one.uniqueness.chosen] for one in (release.sample, release.sample_before)
    } == {*estimators}
    if size is None:  # a fraction above 0.1, and the other estimator has no parameters
        assert release.sample.uniqueness.chosen == "zayatz"
        assert_shows(found, words, zayatz)
        assert found["slide negative binomial"].startswith("no parameters")
