"""Findings and beliefs: what the summary says of attackers follows from what was measured."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan, catalog
from shoal.cli.audit_tables import show_audit
from shoal.cli.release_tables import show_release
from shoal.io.frames import open_frame
from shoal.measures.beliefs import beliefs, certainties
from shoal.measures.exposure import Exposure
from shoal.measures.findings import LIKELY, TOP, findings
from shoal.measures.record_counts import RowCount
from shoal.measures.risks import Risks
from shoal.models.t_closeness import TCloseness
from shoal.table.published_table import read_published
from shoal.table.roles import Column
from tests.cli.test_console import printed


def random_table(seed, persons=False):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 40))
    values = [None, "x", "y", "z", "1", "1.5"][: int(rng.integers(2, 7))]
    columns = {
        "q": rng.choice(list("abcd"), rows).tolist(),
        "s": [values[i] for i in rng.integers(0, len(values), rows)],
    }
    if persons:
        columns["who"] = rng.integers(0, max(1, rows // 2), rows).tolist()
    return pa.table(columns)


def seen(table):
    roles = {"q": "quasi", "s": "sensitive", "who": "person"}
    columns = {name: Column(role=roles[name]) for name in table.column_names}
    return read_published(open_frame(table), columns)


def naive_shares(table):
    """For each value its share of the whole table, and of every class."""
    rows = table.to_pylist()
    classes = defaultdict(list)
    for row in rows:
        classes[row["q"]].append(row)

    def share(part, value):
        if "who" not in part[0]:
            return sum(row["s"] == value for row in part) / len(part)
        people = {row["who"] for row in part}
        return len({row["who"] for row in part if row["s"] == value}) / len(people)

    values = {row["s"] for row in rows}
    return {v: (share(rows, v), [share(part, v) for part in classes.values()]) for v in values}


@pytest.mark.parametrize("persons", [False, True])
def test_issue_12_5_beliefs_are_the_shares_of_the_definition(persons):
    for seed in range(150):
        table = random_table(seed, persons)
        found = beliefs(seen(table))["s"]
        shares = naive_shares(table)
        assert found.counted_by == ("people" if persons else "records")
        assert found.distinct == len(shares)
        for one in (found.surest, found.commonest, found.rarest):
            overall, parts = shares[one.value]
            assert (one.overall, one.lowest, one.highest) == pytest.approx(
                (overall, min(parts), max(parts))
            ), seed
        assert found.surest.highest == pytest.approx(max(max(p) for _, p in shares.values()))
        assert found.commonest.overall == pytest.approx(max(o for o, _ in shares.values()))
        assert found.rarest.overall == pytest.approx(min(o for o, _ in shares.values()))


# ── What t allows ──


def test_issue_12_5_no_share_moves_further_than_t_allows():
    reached = 0
    for seed in range(200):
        table = random_table(seed)
        shares = naive_shares(table)
        moved = max(abs(p - overall) for overall, parts in shares.values() for p in parts)
        for distance in ("equal", "l1"):
            model = TCloseness(column="s", t=1, distance=distance)
            level = model.reached(seen(table).classes)
            allowed = TCloseness(column="s", t=level, distance=distance).max_share_gain
            assert moved <= allowed + 1e-9, (seed, distance)
            reached += moved > allowed - 1e-9
    assert reached > 20  # nothing smaller could be said


def test_issue_12_5_ordered_distances_bound_no_single_share():
    """Twenty ages: all of a class have one, and the distance is small. So no bound is named."""
    ages = list(range(20))
    rows = pa.table({"q": ["a"] * 3 + ["b"] * 20, "s": [9, 9, 9, *ages]})
    model = TCloseness(column="s", t=0.3, distance="ordered")
    assert model.reached(seen(rows).classes) < 0.3
    (belief,) = beliefs(seen(rows)).values()
    assert belief.surest.highest == 1
    assert belief.surest.overall < 0.2
    assert model.max_share_gain is None
    assert "does not limit" in model.guarantee()
    assert "percentage points" not in model.guarantee()


def test_issue_12_5_sentences_follow_from_the_numbers():
    """No word that holds for a small level only, as no sentence knows the level."""
    for name, kind in catalog.models.items():
        column = {"column": "s"} if "column" in kind.model_fields else {}
        words = kind(**column, **kind.loosest).guarantee()
        vague = re.findall(r"\b(little|nearly|much|about as|hardly|crowds out)\b", words)
        assert not vague, name
    t = TCloseness(column="s", t=0.5).guarantee()
    assert "at most 0.5 away" in t
    assert "by up to 50 percentage points" in t
    l1 = TCloseness(column="s", t=1, distance="l1")
    assert "by up to 50 percentage points" in l1.guarantee()
    beta = catalog.models.make({"name": "beta-likeness", "column": "s", "beta": 4})
    assert "more than 5 times its share" in beta.guarantee()


# ── The most important findings ──


def half_open():
    """100 records: of 17 the class tells the disease, and the rest is a mixture."""
    rows = [("a", "flu")] * 17
    rows += [("b", disease) for disease in ["flu", "cold", "gout", "mumps"] * 10]
    rows += [("c", disease) for disease in ["flu", "cold", "gout"] * 14 + ["mumps"]]
    return pa.table({"q": [q for q, _ in rows], "disease": [d for _, d in rows]})


def asked(t=0.7, **more):
    return Plan(
        columns={"q": "quasi", "disease": "sensitive"},
        models=[
            {"name": "k-anonymity", "k": 5},
            {"name": "t-closeness", "column": "disease", "t": t},
        ],
        seed=1,
        **more,
    )


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(half_open(), asked())


def summary(release, folder):
    release.report(folder / "r.html")
    page = (folder / "r.html").read_text(encoding="utf-8").replace("\xa0", " ")
    start = page.index('<div class="summary">')
    return page[start : page.index("<nav", start)], page


def test_issue_12_5_the_summary_names_classes_with_a_single_value(release, tmp_path):
    first = release.findings[0]
    assert (first.attack, first.column, first.severity) == ("homogeneity", "disease", "certain")
    assert first.percent == pytest.approx(17)
    box, page = summary(release, tmp_path)
    assert "17 % of the records are in classes in which everybody has the same value" in box
    assert "little new" not in page
    assert "How sure an attacker can become" in page
    assert "17 % of the records are in classes" in printed(show_release, release)
    numbers = json.loads(json.dumps(release.as_dict(), allow_nan=False))
    assert numbers["findings"][0]["percent"] == pytest.approx(17)
    assert numbers["beliefs"]["disease"]["surest"]["highest"] == 1
    audited = shoal.audit(release.frame, release.plan)
    assert audited.as_dict()["findings"][0] == numbers["findings"][0]
    assert "17 % of the records are in classes" in printed(show_audit, audited)


def test_issue_12_5_what_t_allows_and_what_was_measured_stand_side_by_side(release):
    by_value = {
        one.belief.value: one for one in certainties(release.after.beliefs, release.plan.models)
    }
    assert by_value["flu"].belief.highest == 1
    assert by_value["flu"].kinds == ("most frequent", "most certain")
    assert by_value["flu"].allowed == pytest.approx(min(1, 0.41 + 0.7))
    rarest = by_value["mumps"]
    assert (rarest.belief.overall, rarest.belief.lowest) == pytest.approx((0.11, 0))
    assert rarest.allowed == pytest.approx(0.81)


def test_issue_12_5_where_no_attack_succeeds_the_summary_shows_the_certainty(tmp_path):
    rows = pa.table({"q": ["a"] * 20 + ["b"] * 20, "disease": list("wxyz") * 10})
    even = shoal.anonymize(rows, asked(0.2))
    assert even.findings == []
    box, _ = summary(even, tmp_path)
    assert "no attack finds a record or a sensitive value for certain" in box
    assert "can be up to 25 % sure of a value of disease" in box


def exposed(row_count=None, beliefs=None, linked=False, **attacks):
    attacks = {name.replace("_", "-"): found for name, found in attacks.items()}
    risks = Risks(0.2, 0.2, 0.0, 0.2)
    candidates = ((5, 100),) if linked else ()
    return Exposure(
        100, 100, 10, 5, 10.0, risks, attacks, candidates, row_count, beliefs or {}
    )  # fmt: skip


def test_issue_12_5_the_rule():
    skewed = {"percent": 60.0, "value": "x", "belief_before": 0.1, "belief_after": 0.7}
    found = findings(
        exposed(
            row_count=RowCount(5, alone=30, below=40, most=9, people=100),
            linkage={"singled_out_percent": 0.1},
            homogeneity={"s": {"percent": 0.5}, "u": {"percent": 0.0}},
            skewness={"s": skewed, "u": {"percent": 0.9}},
            similarity={"s": {"percent": 60.0}},
            background_knowledge={"s": {"percent": 90.0}, "u": {"percent": 2.0}},
        )
    )
    assert [(one.attack, one.column) for one in found] == [
        ("homogeneity", "s"),  # certain, from the first record on, the larger share first
        ("linkage", None),
        ("skewness", "s"),  # likely; similarity is about the same column and no more records
        ("background-knowledge", "s"),
        ("record-count", None),
        ("background-knowledge", "u"),  # skewness of u is below 1 %
    ]
    assert "“x”, from 10 % to 70 %" in found[2].words
    assert "30 of 100 people" in found[4].words
    assert LIKELY == 1.0
    assert TOP == 3
    assert findings(exposed(homogeneity={"s": {"percent": 0.0}})) == []


def test_issue_12_5_without_classes_people_are_counted():
    found = findings(
        exposed(linked=True, homogeneity={"s": {"percent": 4.0}}, matching={"percent": 3.0})
    )
    assert found[0].words.startswith("For 4 % of the people all possible records have")
    assert "one record is theirs with a probability of more than 50 %" in found[1].words


def test_issue_12_5_of_two_values_the_other_one_is_no_finding():
    rows = pa.table({"q": ["a"] * 20 + ["b"] * 20, "disease": ["flu", "cold"] * 20})
    two = shoal.anonymize(rows, asked(0.2))
    assert two.attacks["background-knowledge"]["disease"]["percent"] == 100
    assert two.findings == []


def test_issue_12_5_values_that_are_not_published_are_in_no_belief_about_the_original(release):
    assert release.before.beliefs == {}
    assert "beliefs" not in release.as_dict()["before"]


def test_issue_12_5_people_with_several_values_have_no_bound_by_t():
    rng = np.random.default_rng(3)
    rows = 200
    table = pa.table(
        {
            "who": rng.integers(0, 60, rows),
            "q": ["a"] * rows,
            "disease": rng.choice(["flu", "cold", "gout"], rows),
        }
    )
    columns = {"who": "person", "q": "quasi", "disease": "sensitive"}
    made = shoal.anonymize(table, Plan(columns=columns, models=asked().models, seed=1))
    found = certainties(made.after.beliefs, made.plan.models)
    assert {one.allowed for one in found} == {None}
    assert {one.by_people for one in found} == {True}


def test_of_several_attackers_the_one_who_finds_most_counts():
    """The employer has the highest risk; the neighbour learns the value of everybody."""
    table = pa.table(
        {
            "job": ["a", "b", "c"] * 4,
            "street": ["x"] * 6 + ["y"] * 6,
            "s": ["flu"] * 6 + ["gout"] * 6,
        }
    )
    knows = {"employer": ["job"], "neighbour": ["street"]}
    plan = Plan(
        columns={"job": "quasi", "street": "quasi", "s": "sensitive"},
        attackers=[{"who": who, "knows": columns} for who, columns in knows.items()],
    )
    audit = shoal.audit(table, plan)
    assert audit.attacks["homogeneity"]["s"]["percent"] == 0  # of the employer
    first = audit.as_dict()["findings"][0]
    assert (first["attack"], first["percent"]) == ("homogeneity", 100.0)
    assert first["words"].startswith("Attacker “neighbour”: 100 % of the records")
    assert "Attacker “neighbour”: 100 %" in " ".join(printed(show_audit, audit).split())
