"""Kinds of values, told from the values."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from shoal.flow.draft.guess_role import guess_role
from shoal.flow.draft.kinds import kind_of
from shoal.flow.draft.propose_hierarchy import LEAST, propose_hierarchy
from shoal.hierarchies.values import text
from tests.flow.draft.test_dependencies import facts

ROWS = 200
rng = np.random.default_rng(1)
FIRST, LAST = ("Ann", "Bob", "Carla", "Dieter", "Eve"), ("Ames", "Brown", "Cole", "Doe", "Éluard")


def dealt(values, rows=ROWS):
    return [values[i] for i in rng.integers(0, len(values), rows)]


KINDS = {
    "mail addresses": [f"p{i}@example.org" for i in range(ROWS)],
    "phone numbers": [f"+49 30 {1000000 + 37 * i}" for i in range(ROWS)],
    "web addresses": [f"https://example.org/{i}" for i in range(ROWS)],
    "names of people": [
        f"{FIRST[i % 5]} {LAST[i // 5 % 5]}{'abcdefgh'[i // 25]}" for i in range(ROWS)
    ],
    "free text": [f"came on day {i} and did not feel well at all" for i in range(ROWS)],
    "dates": [f"2024-01-{1 + i % 28:02}" for i in range(ROWS)],
    "postcodes": dealt([f"{i:05}" for i in range(1000, 99000, 2000)]),
    "ICD codes": dealt("E11.9 I10 J45.0 C50.1 F32.2 K21 M54.5 N39.0 A09 Z00".split()),
    "diseases": dealt(["flu", "gastritis", "lung cancer", "asthma", "healthy"]),
    "test results": dealt(["positive", "negative"]),
    "states": dealt(["CA", "NY", "TX", "WA", "FL"]),
    "countries": dealt(["Germany", "France", "Peru", "Japan", "United-States", "?x"]),
    "bands": dealt(["0-4", "5-9", "10-14", "15+"]),
    "codes": dealt([1, 2, 5, 11, 12, 40]),
    "numbers": dealt(list(range(0, 30))),
    "categories": dealt(["red", "green", "blue"]),
    "constant": ["x"] * ROWS,
}  # fmt: skip


STATES = ("01", "05", "09", "16")
COMMUNITIES = [f"{s}{k:03}{c:03}" for s in STATES for k in (51, 124) for c in range(1, 9)]


@pytest.mark.parametrize(
    ("name", "values", "hierarchy"),
    [
        ("AGS", dealt(COMMUNITIES), {"prefixes": [5, 2]}),
        ("place", dealt(COMMUNITIES), {"prefixes": [5, 2]}),
        ("Gemeindeschlüssel", dealt(["11000000", "12051000", "12052000"]), {"prefixes": [5, 2]}),
        ("place", dealt(["11000000", "12051000", "12052000"]), None),  # amounts may look like this
        ("AGS", dealt([int(code) for code in COMMUNITIES]), {"ranges": [1_000, 1_000_000]}),
        ("amount", dealt([int(code) for code in COMMUNITIES]), None),
        # Dates begin with 19 or 20, and 31 is no state.
        ("AGS", dealt([f"20240{m}{d}" for m in range(1, 9) for d in (11, 12, 13)]), None),
        ("AGS", dealt([f"31{i:06}" for i in range(30)]), None),
    ],
)
def test_codes_of_german_communities(name, values, hierarchy):
    found = facts(name, values)
    assert (kind_of(found) == "community codes") is (hierarchy is not None)
    if hierarchy is not None:
        proposed, _ = propose_hierarchy(found, kind_of(found))
        assert proposed.setting() == hierarchy
        assert guess_role(found).role == "quasi"


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_by_value_alone(kind):
    assert kind_of(facts("column", KINDS[kind])) == kind


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("mail addresses", "identifier"),
        ("phone numbers", "identifier"),
        ("names of people", "identifier"),
        ("free text", "identifier"),
        ("ICD codes", "sensitive"),
        ("diseases", "sensitive"),
        ("test results", "sensitive"),
        ("states", "quasi"),
        ("countries", "quasi"),
        ("constant", "other"),
    ],
)
def test_roles_by_value_alone(kind, role):
    assert guess_role(facts("column", KINDS[kind])).role == role


def test_more_postcodes_and_icd9():
    british = dealt([f"SW{i}A {i}AB" for i in range(1, 9)])
    assert kind_of(facts("column", british)) == "postcodes"
    icd9 = dealt(["250.83", "276", "V27", "E909", "648", "197", "157", "250", "434", "V45", "518"])
    assert kind_of(facts("column", icd9)) == "ICD codes"
    assert kind_of(facts("column", dealt(list(range(100, 999, 7))))) == "numbers"


def test_counts_are_numbers_and_gaps_are_codes():
    assert kind_of(facts("children", dealt([0, 1, 2, 3, 4, 5, 8, 11]))) == "numbers"
    assert kind_of(facts("race", dealt([1, 2, 3]))) == "codes"
    assert kind_of(facts("steps", dealt([0, 10, 20, 30]))) == "numbers"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("income class", ["low", "high"], "sensitive"),
        ("Apgar score", [7, 8, 9, 10], "sensitive"),
        ("readmitted", ["NO", "<30", ">30"], "sensitive"),
        ("metformin", ["No", "Steady", "Up"], "sensitive"),
        ("class", ["a", "b"], "sensitive"),
        ("num_medications", list(range(40)), "other"),
        ("card type", ["gold", "red"], "identifier"),
        ("sex", ["f", "m"], "quasi"),
        ("class of worker", ["private", "state"], "quasi"),
        ("weight", list(range(50, 110)), "quasi"),
        ("weight", [50 + i / 10 for i in range(600)], "quasi"),  # of bodies
        ("weight", [round(1000 + i / 7, 4) for i in range(100)], "weight"),
        ("Gewicht", [3 + 17 * i for i in range(100)], "weight"),
        ("birth weight", [300 + 450 * i for i in range(100)], "quasi"),
        ("weight", [-1, *range(50, 1000, 7)], "quasi"),
        ("fnlwgt", list(range(1000, 90000, 900)), "weight"),
        ("PWGTP", list(range(1, 90)), "weight"),
        ("pond", [i / 7 for i in range(1, 100)], "weight"),
        ("sampling weight", [i / 7 for i in range(1, 100)], "weight"),
        ("sampling weight", [*[0] * 30, *(i / 7 for i in range(1, 70))], "drop"),
        ("hhid", list(range(70)), "household"),
        ("Bruttoverdienst in €", [i / 7 for i in range(100)], "sensitive"),
        ("Kapitalerträge", list(range(100)), "sensitive"),
        ("Krankheitstage", list(range(30)), "sensitive"),
        ("Konfession", ["ev", "rk", "ohne"], "sensitive"),
        ("Hochrechnungsfaktor", [i / 7 for i in range(1, 100)], "weight"),
        ("SERIALNO", [10_000_000 + i // 2 for i in range(140)], "household"),
        ("household_id", [i // 3 for i in range(300)], "household"),
        ("Prénom", [f"x{i}" for i in range(90)], "identifier"),
        ("Straße", [f"Weg {i}" for i in range(90)], "identifier"),
        ("Versicherten-Nr", [f"V{i}" for i in range(90)], "person"),
        ("Patientennummer", [f"V{i}" for i in range(90)], "person"),
        ("Anrede", ["Frau", "Herr"], "quasi"),
        ("Fläche", list(range(30)), "quasi"),
        ("пол", ["м", "ж"], "quasi"),  # a name without a known word is no outcome
        ("1", ["f", "m"], "quasi"),
    ],
)
def test_roles_by_name(name, values, role):
    assert guess_role(facts(name, dealt(values))).role == role


def test_few_values_are_no_direct_identifier_in_a_large_table():
    assert guess_role(facts("card type", dealt(["gold", "red"], 2000))).role == "quasi"


def test_hierarchies_of_places():
    tree = guess_role(facts("column", KINDS["states"])).hierarchy.tree()
    assert {"West", "Northeast", "South", "CA", "TX"} <= set(tree.labels)
    tree = guess_role(facts("column", KINDS["countries"])).hierarchy.tree()
    assert {"Europe", "Asia", "?x"} <= set(tree.labels)


def test_numbers_of_records_are_no_quasi_identifiers():
    """Each record has the next number, in any order."""
    numbers = rng.permutation(np.arange(1, ROWS + 1)).tolist()
    assert guess_role(facts("Lfd. Nr.", numbers)).role == "identifier"
    assert guess_role(facts("v1", numbers)).role == "identifier"
    assert guess_role(facts("v1", [one - 1 for one in numbers])).role == "identifier"
    assert guess_role(facts("row", [one + 5000 for one in numbers])).role == "identifier"
    years = [one + 1900 for one in numbers]  # by chance
    assert guess_role(facts("v1", years)).role == "quasi"
    assert guess_role(facts("v1", numbers[1:] + numbers[1:2])).role == "quasi"
    assert guess_role(facts("v1", list(range(1, 11)))).role == "quasi"  # few may be anything


DAY = dt.datetime(2024, 1, 1)


@pytest.mark.parametrize(
    ("days", "steps"),
    [
        (29, ["week"]),
        (300, ["month", "quarter"]),
        (700, ["month", "quarter", "year"]),
        (1500, ["month", "year", "5 years"]),
        (20000, ["month", "year", "5 years", "decade"]),
    ],
)
def test_calendar_steps_fit_the_span(days, steps):
    dates = [(DAY + dt.timedelta(days=days * i // 199)).date() for i in range(200)]
    for values in (dates, list(map(str, dates))):
        hierarchy = guess_role(facts("seen", values)).hierarchy
        assert hierarchy.setting() == {"dates": steps}
    moments = [DAY + dt.timedelta(days=days * i // 199, hours=9) for i in range(200)]
    assert guess_role(facts("seen", moments)).hierarchy.setting() == {"dates": ["day", *steps]}


def test_dates_of_one_week_have_no_steps():
    dates = [dt.date(2024, 5, 13 + i % 7) for i in range(200)]
    assert guess_role(facts("seen", dates)).hierarchy is None


GROUPED = ["dates", "postcodes", "ICD codes", "states", "countries", "bands", "numbers"]
TO_GROUP = ["codes", "diseases", "categories", "test results"]


@pytest.mark.parametrize("kind", [*GROUPED, *TO_GROUP])
def test_every_kind_has_a_hierarchy_or_is_to_be_grouped(kind):
    """As a quasi-identifier each value has steps on its way to the root, or the draft asks."""
    values = KINDS[kind]
    column = facts("column", values)
    hierarchy, said = propose_hierarchy(column, kind)
    assert (hierarchy is not None) == (kind in GROUPED)
    if hierarchy is None:
        assert ("draft --levels" in said) == (len(set(values)) > LEAST)
        return
    tree = hierarchy.tree(values)
    for value in values:
        at, steps = tree.find(text(value)), 0
        assert at > 0, value
        while at:
            at, steps = int(tree.parent[at]), steps + 1
        assert steps > 1 or value == "?x", value  # no country that anybody knows
