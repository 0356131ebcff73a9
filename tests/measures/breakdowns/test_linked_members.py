"""Members of households that published columns put together again."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadPlan, Plan
from shoal.io.frames import Frame
from shoal.measures.breakdowns.linked_members import linked_members
from shoal.plan.ways_out import resolved

COLUMNS = {
    "home": {"role": "household", "publish": False, "together": False},
    "region": {"role": "quasi", "of_household": True},
    "age": {"role": "quasi", "hierarchy": {"ranges": [20, 80]}},
}
HIDDEN = [{"name": "household-k-anonymity", "k": 2}]


def plan_of(columns=None, **change) -> Plan:
    return Plan(**{"columns": {**COLUMNS, **(columns or {})}, "models": HIDDEN, "seed": 1} | change)


def families(homes=40):
    """Households of one, two or three members, with a weight of their own each."""
    home = [one for one in range(homes) for _ in range(one % 3 + 1)]
    return {
        "home": home,
        "region": ["ns"[one % 2] for one in home],
        "age": [20 + 7 * i % 50 for i in range(len(home))],
        "weight": [1.5 + 0.01 * one for one in home],
    }


def naive(homes, people, shared, column):
    """Households in which two people have a value that occurs in no other household."""
    found = set()
    for keys in (column, list(zip(column, *shared, strict=True))):
        for key in set(keys):
            rows = [i for i, one in enumerate(keys) if one == key]
            if len({homes[i] for i in rows}) == 1 and len({people[i] for i in rows}) > 1:
                found.add(homes[rows[0]])
    return found


small = st.lists(
    st.tuples(*[st.integers(0, most) for most in (3, 6, 1, 3, 2)]), min_size=1, max_size=14
)


@settings(max_examples=60, deadline=None)
@given(rows=small, persons=st.booleans())
def test_it_counts_as_its_naive_twin(rows, persons):
    home, who, region, pay, note = (list(one) for one in zip(*rows, strict=True))
    region = [one % 2 for one in home]
    who = [7 * h + w for h, w in zip(home, who, strict=True)]
    table = {"home": home, "region": region, "age": [1] * len(home), "pay": pay, "note": note}
    columns = {"pay": "sensitive", "note": "other"}
    if persons:
        table["who"], columns["who"] = who, "person"
    people = who if persons else list(range(len(home)))
    found = linked_members(Frame(pa.table(table)), plan_of(columns))
    several = {h for h in home if len({p for g, p in zip(home, people, strict=True) if g == h}) > 1}
    each = {name: naive(home, people, [region], table[name]) for name in ("pay", "note")}
    both = naive(home, people, [region], list(zip(pay, note, strict=True)))
    assert found.households == len(several)
    assert found.columns == {name: len(one) for name, one in each.items() if one}
    alone = each["pay"] | each["note"]
    assert found.linked in (len(alone), len(alone | both))  # in which members seldom agree: alone

    def agrees(column):
        same = [len({v for g, v in zip(home, column, strict=True) if g == h}) == 1 for h in several]
        return 2 * sum(same) >= len(same) > 0

    if agrees(pay) and agrees(note):
        assert found.linked == len(alone | both)


def test_a_weight_of_each_household_is_refused(run, tmp_path):
    """It does the work of the household number, which must not be published."""
    import pyarrow.csv as pc

    pc.write_csv(pa.table(families()), "people.csv")
    plan_of({"weight": "weight"}).save("plan.toml")
    status, _, error = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "out.csv",
                           "--report", "out.html", "--json", "out.json")  # fmt: skip
    assert status == 2
    assert "members could be linked in 26 of 26 households with two or more members" in error
    assert "Set publish = false for 'weight'" in error
    assert 'accept = ["weight"]' in error
    assert not [one for one in Path().iterdir() if one.name.startswith("out")]


def test_each_way_out_publishes_the_table():
    table = pa.table(families())
    for columns in ({"weight": "weight"}, {"weight": "other"}, {"weight": "sensitive"}):
        plan = plan_of(columns)
        with pytest.raises(BadPlan, match="'weight'") as caught:
            shoal.anonymize(table, plan)
        ways = {way.action for way in caught.value.ways}
        assert ways == ({"hide", "accept"} if columns["weight"] == "weight" else {"role", "accept"})
        for way in caught.value.ways:
            release = shoal.anonymize(table, resolved(plan, way))
            found = release.linked_members
            assert found.linked == (26 if way.action == "accept" else 0)
            assert found.holds


def test_the_report_says_so_on_page_one_and_names_the_column(run, tmp_path):
    plan = plan_of({"weight": "weight"}, accept=["weight"])
    release = shoal.anonymize(pa.table(families()), plan)
    release.report(tmp_path / "report.html")
    one, two = unescape((tmp_path / "report.html").read_text()).split('<div class="front">')[:2]
    assert "✖ The requirement is satisfied. Members of households can be linked" in one
    row = re.search(r"of 26 households with two or more members.*?</tr>", one, re.DOTALL)[0]
    assert "✖ red" in row
    assert "By weight. Accepted by the plan: weight." in row
    assert "By column: weight (26)." in two
    assert release.as_dict()["linked_members"] == {
        "households": 26, "linked": 26, "by_column": {"weight": 26}, "combined": [],
        "accepted": ["weight"],
    }  # fmt: skip
    json.dumps(release.as_dict()["linked_members"])


def test_a_part_of_the_households_is_amber():
    table = families()
    table["weight"] = [1.5 if home > 9 else weight for home, weight in
                       zip(table["home"], table["weight"], strict=True)]  # fmt: skip
    release = shoal.anonymize(pa.table(table), plan_of({"weight": "weight"}))
    assert release.linked_members.linked == 6
    assert release.linked_members.holds
    assert not release.linked_members.most


def test_columns_that_link_members_only_together():
    """Neither value is rare; both together are as good as a number."""
    table = families(48)
    table["rooms"] = [home % 7 for home in table["home"]]
    table["rent"] = [home // 7 for home in table["home"]]
    del table["weight"]
    columns = {"rooms": "other", "rent": "other"}
    with pytest.raises(BadPlan, match="by 'rooms', 'rent' together") as caught:
        shoal.anonymize(pa.table(table), plan_of(columns))
    assert 'accept = ["rooms", "rent"]' in str(caught.value)
    release = shoal.anonymize(pa.table(table), plan_of(columns, accept=["rooms", "rent"]))
    assert release.linked_members.combined == ("rooms", "rent")
    # One column that is accepted leaves the other one, which links few by itself.
    shoal.anonymize(pa.table(table), plan_of(columns, accept=["rooms"]))


def test_nothing_is_said_where_nothing_links_members(tmp_path):
    table = families()
    table["weight"] = [2.0] * len(table["home"])
    release = shoal.anonymize(pa.table(table), plan_of({"weight": "weight"}))
    assert release.linked_members.linked == 0
    release.report(tmp_path / "report.html")
    page = unescape((tmp_path / "report.html").read_text())
    assert "no published column does so" in page
    assert "Members of households can be linked" not in page
    together = plan_of({"home": {"role": "household"}, "weight": "weight"},
                       models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    assert shoal.anonymize(pa.table(table), together).linked_members is None


def test_an_audit_of_the_original_says_it_before(run):
    import pyarrow.csv as pc

    pc.write_csv(pa.table(families()), "people.csv")
    plan_of({"weight": "weight"}).save("plan.toml")
    _, out, _ = run("audit", "people.csv", "--plan", "plan.toml")
    said = " ".join(out.split())
    assert "members can be linked in 26 of 26 households with two or more members" in said


def test_sensitive_columns_are_accepted_only_where_members_are_apart():
    with pytest.raises(BadPlan, match="has the role sensitive"):
        plan_of({"home": {"role": "household"}, "pay": "sensitive"}, accept=["pay"],
                models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    apart = plan_of({"pay": "sensitive"}, accept=["pay"])
    other = {**apart.columns, "home": apart.columns["home"].changed(together=True)}
    models = [{"name": "k-anonymity", "k": 2}]
    assert apart.changed(columns=other, models=models).accept == []
