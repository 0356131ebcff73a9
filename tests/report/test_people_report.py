"""Reports about people with several rows speak of people."""

from __future__ import annotations

import re
from io import StringIO

import pyarrow as pa
import pytest
from rich.console import Console

import shoal
from shoal import Plan
from shoal.base import wording
from shoal.cli.audit_tables import show_audit
from shoal.cli.measure_rows import attacker_table
from shoal.cli.release_tables import show_release
from shoal.report.page import render
from shoal.report.release_report import facts, page
from tests.attacks.test_attacks_on_people import COLUMNS, hospital
from tests.report.test_release_report import Seen

MODELS = [
    {"name": "k-anonymity", "k": 5},
    {"name": "eir-l-diversity", "column": "disease", "l": 2},
]
PLAN = Plan(columns=COLUMNS, models=MODELS, seed=1)
ROWS = Plan(columns={**COLUMNS, "who": "other"})


def test_the_report_speaks_of_people():
    release = shoal.anonymize(hospital(), PLAN)
    html = render(page(facts(release)))
    for told in (
        "but not which of its people it is",
        "Pick one record of each person of a class: however you pick, at least 2 different values "
        "of disease remain.",
        "percent of the people who have the value",
        "average re-identification risk per person",
        "unique people",
        "classes in which it succeeds, counted by people",
    ):
        assert told in html, told
    risks = release.as_dict()["risks"]
    assert risks["average_over_people"] == pytest.approx(0.1)


def test_averages_over_people_and_over_rows():
    """One of three people is alone, with three of five rows; two look the same."""
    table = pa.table(
        {"town": ["a", "a", "a", "b", "b"], "who": [1, 1, 1, 2, 3], "disease": list("xyzxy")}
    )
    audit = shoal.audit(table, Plan(columns=COLUMNS))
    assert audit.risks.average == pytest.approx((3 + 2 / 2) / 5)
    assert audit.risks.unique == pytest.approx(3 / 5)
    assert audit.risks.average_over_people == pytest.approx((1 + 2 / 2) / 3)
    assert audit.risks.unique_people == pytest.approx(1 / 3)
    assert audit.attacks["linkage"]["people_singled_out"] == 1
    assert not any("people" in name for name in shoal.audit(table, ROWS).as_dict()["risks"])
    console = Console(record=True, width=120, file=StringIO())
    show_audit(console, audit)
    out = " ".join(console.export_text().split())
    assert "unique people 33.3 % records of unique people 60 %" in out
    assert "average re-identification risk per person 66.7 %" in out
    assert "average re-identification risk per record 80 %" in out


def test_the_screen_says_of_whom_a_share_is():
    console = Console(record=True, width=120, file=StringIO())
    show_audit(console, shoal.audit(hospital(), PLAN))
    assert "gout: 45 % → 90 % of the people" in console.export_text()
    show_release(console, shoal.anonymize(hospital(), PLAN))


def test_records_and_people_are_told_apart_in_every_place():
    """A share of the records next to a limit on people would look like a contradiction."""
    asked = PLAN.changed(limits={"attacks": {"skewness": 1.0}}, models=MODELS[:1])
    release = shoal.anonymize(hospital(), asked)
    found = release.attacks["skewness"]["disease"]
    both = percent(found["people_percent"]), percent(found["percent"])
    assert both[0] != both[1]
    text = words(release)
    assert f"{both[0]} of the people ({both[1]} of the records) are in classes" in text
    assert f"at most 100 % {both[0]} ✔ green" in text
    assert f"{both[1]}{both[0]} of the people" in text  # in the table of attacks, in two lines
    assert f"attack skewness, on disease {both[0]} of the people" in text  # WP216
    assert "counted by rows" not in text


def test_a_share_that_grows_is_explained():
    """In the original nobody shares a class: there is nothing to have in common."""
    table = pa.table(
        {
            "town": [f"t{i % 4}" for i in range(48)],
            "who": [f"p{i // 2}" for i in range(48)],
            "disease": ["flu" if i % 2 else f"d{i}" for i in range(48)],
        }
    )
    release = shoal.anonymize(table, Plan(columns=COLUMNS, models=MODELS[:1], seed=1))
    before = release.before.attacks["homogeneity"]["disease"]["percent"]
    after = release.attacks["homogeneity"]["disease"]["percent"]
    text = words(release)
    assert after > before, "the test needs an attack that finds more"
    assert re.search(r"Why [a-z ,]*homogeneity[a-z ,]* succeeds? on more records than", text)
    assert "its people have several values each" in text


def words(release):
    return Seen(render(page(facts(release)))).text.replace("\xa0", " ")


def percent(share):
    return wording.percent(share).replace("\xa0", " ")


def test_the_average_risk_of_an_attacker_is_over_people_as_the_limit_is():
    table = pa.table({"town": list("aaabb"), "job": list("xxxxx"), "who": [1, 1, 1, 2, 3]})
    asked = Plan(
        columns={"town": "quasi", "job": "quasi", "who": "person"},
        attackers=[{"who": "clerk", "knows": ["town"]}, {"who": "boss", "knows": ["job"]}],
    )
    clerk = shoal.audit(table, asked).attackers["clerk"]
    console = Console(record=True, width=120, file=StringIO())
    console.print(attacker_table({"clerk": clerk}))
    assert clerk.risks.average == pytest.approx(0.8)
    assert "66.7 %" in console.export_text()
