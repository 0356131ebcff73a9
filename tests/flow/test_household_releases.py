"""Households whose members are generalized each by itself, and what is derived of them."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import BadPlan, BadTable, CannotReach, Database, Plan, anonymize, audit
from shoal.databases.writing import write_to
from shoal.flow.apply.fitted import Fitted
from shoal.flow.saving.kept_release import keep, load_kept
from shoal.io.frames import Frame
from shoal.table.samples.derived import composition, members_of

APART = {"role": "household", "publish": False, "together": False}
COLUMNS = {
    "home": APART,
    "region": {"role": "quasi", "of_household": True},
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
}
HIDDEN = [{"name": "household-k-anonymity", "k": 3}]
PLAN = {"columns": COLUMNS, "models": HIDDEN, "seed": 1}


def people(seed=0, homes=40):
    """Families: two adults of about the same age, and children."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 5, homes)
    home = np.repeat(np.arange(homes), size)
    member = np.arange(len(home)) - np.repeat(np.cumsum(size) - size, size)
    age = np.where(member < 2, rng.integers(25, 70, len(home)), rng.integers(0, 18, len(home)))
    region = rng.choice(["n", "s"], homes)[home]
    return {"home": home.tolist(), "region": region.tolist(), "age": age.tolist()}


def shares(rows, homes):
    """1 / the largest share of a household in the classes of a release, by plain counting."""
    classes: dict = {}
    for row, home in zip(rows, homes, strict=True):
        classes.setdefault(tuple(sorted(row.items())), []).append(home)
    return min(len(one) / max(Counter(one).values()) for one in classes.values())


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 99), k=st.integers(2, 4))
def test_no_household_dominates_a_class(seed, k):
    table = people(seed)
    models = [{"name": "household-k-anonymity", "k": k}]
    release = anonymize(pa.table(table), {**PLAN, "models": models}, keep_order=True)
    assert release.frame.column_names == ["region", "age"]
    found = shares(release.frame.to_pylist(), table["home"])
    assert release.checks[0].reached == pytest.approx(found)
    assert found >= k


def test_records_without_a_household_are_noted():
    """Two of them may be of one household, which then counts as two."""
    table = people()
    homes = [None, None, *table["home"][2:]]
    notes = anonymize(pa.table({**table, "home": homes}), PLAN).notes
    assert any("2 records have no 'home': each counts as a household" in one for one in notes)
    assert not any("no 'home'" in one for one in anonymize(pa.table(table), PLAN).notes)


def test_members_need_not_look_the_same():
    """Less is lost than where all members get the same values."""
    table = pa.table(people())
    apart = anonymize(table, PLAN, keep_order=True)
    together = {
        **PLAN,
        "columns": {**COLUMNS, "home": {"role": "household", "publish": False}},
        "models": [{"name": "k-anonymity", "k": 3}],
    }
    assert apart.losses["nllm"] < anonymize(table, together).losses["nllm"] / 2
    ages: dict = {}
    for home, row in zip(people()["home"], apart.frame.to_pylist(), strict=True):
        ages.setdefault(home, set()).add(row["age"])
    assert any(len(one) > 1 for one in ages.values())


def test_people_of_one_household_do_not_hide_each_other():
    """k-anonymity over people accepts a class of one family; household-k-anonymity does not."""
    table = pa.table({"home": [1, 1, 1, 2, 3, 4], "region": ["a"] * 3 + ["b"] * 3, "age": [4] * 6})
    models = [{"name": "k-anonymity", "k": 3}, *HIDDEN]
    found = audit(table, {**PLAN, "models": models})
    assert found.levels == {"k-anonymity": 3, "household-k-anonymity": 1}
    assert not next(one for one in found.checks if one.model == "household-k-anonymity").holds


def test_one_of_many_households_must_not_have_most_records():
    """Three households, but half of the records are of one: guessing it is right half the time."""
    table = pa.table({"home": [1, 1, 2, 3], "region": ["a"] * 4, "age": [4] * 4})
    assert audit(table, PLAN).levels == {"household-k-anonymity": 2}


def test_persons_and_households_together():
    """Records of a person are linked, members of a household are not."""
    table = people()
    twice = {name: [*cells, *cells[:30]] for name, cells in table.items()}
    many = len(table["home"])
    twice["who"] = [*range(many), *range(30)]
    columns = {**COLUMNS, "who": {"role": "person"}}
    models = [{"name": "k-anonymity", "k": 2}, *HIDDEN]
    plan = {**PLAN, "columns": columns, "models": models}
    release = anonymize(pa.table(twice), plan, keep_order=True)
    shown = release.frame.to_pylist()
    assert len({row["who"] for row in shown}) == many
    for i in range(30):  # a person has one published vector
        assert shown[i] == shown[many + i]
    once = [{name: row[name] for name in ("region", "age")} for row in shown[:many]]
    assert shares(once, table["home"]) >= 3
    assert release.after.people == many  # people are counted, not households


def test_the_file_is_verified_with_households_that_it_lacks(tmp_path):
    table = people()
    release = anonymize(pa.table(table), PLAN)
    release.save(tmp_path / "release.csv")
    assert "home" not in (tmp_path / "release.csv").read_text().splitlines()[0]
    both = {**PLAN, "models": [{"name": "k-anonymity", "k": 2}, *PLAN["models"]]}
    found = audit(tmp_path / "release.csv", both, original=pa.table(table))
    assert [check.model for check in found.checks] == ["k-anonymity"]
    assert "household-k-anonymity was not measured" in found.notes[0]
    shown = {"home": "household", "n": {"role": "quasi", "derive": "household-size"}}
    with pytest.raises(BadTable, match=r"counts households, and the table has no column 'home'"):
        audit(pa.table({"n": ["1", "1"]}), {"columns": shown, "models": HIDDEN})
    release.report(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "used to count the households of a class" in report
    assert "The members of a household are hidden one by one" in report
    keep(release, tmp_path)
    kept = load_kept(tmp_path)
    assert kept.household_of_record is not None
    kept.save(tmp_path / "again.csv")
    wrong = type(kept)(kept.frame, kept.plan, None, np.zeros_like(kept.household_of_record))
    with pytest.raises(Exception, match="violates a requirement"):
        wrong.save(tmp_path / "wrong.csv")


def test_a_recoding_is_applied_to_other_households(tmp_path):
    release = anonymize(pa.table(people(1, 60)), PLAN)
    release.recoding.save(tmp_path / "recoding.json")
    other = people(2, 60)
    applied = Fitted.load(tmp_path / "recoding.json").apply(
        pa.table(other), keep_order=True, most_left_out=1
    )
    assert applied.checks[0].reached >= 3


def test_more_households_than_there_are_is_refused_with_the_number_that_is_possible():
    """The advice was the number of people, which was refused, too."""
    table = pa.table(people())
    too_many = {**PLAN, "models": [{"name": "household-k-anonymity", "k": 5_000}]}
    with pytest.raises(CannotReach, match=r"the best k possible is \d+: ask for that") as error:
        anonymize(table, too_many)
    k = int(error.value.best)
    assert k < len(table)
    models = [{"name": "household-k-anonymity", "k": k}]
    assert anonymize(table, {**PLAN, "models": models}).checks[0].reached >= k


def test_a_size_that_is_a_quasi_identifier_is_said_to_be_covered(tmp_path):
    shown = {"home": "household", "n": {"role": "quasi", "derive": "household-size"}}
    columns = {**shown, "region": {"role": "quasi", "of_household": True}, "age": "drop"}
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}]}
    page = tmp_path / "report.html"
    anonymize(pa.table(people()), plan).report(page)
    said = " ".join(page.read_text().split())
    assert "The records of a household have the same number" in said
    assert "one of the quasi-identifiers, which the requirements cover" in said
    assert "the requirements do not cover it" not in said


@pytest.mark.parametrize("together", [True, False])
def test_the_records_of_a_person_are_not_covered_by_the_size_of_the_household(together, tmp_path):
    table = people()
    table["who"] = [f"p{i}" for i in range(len(table["home"]))]
    home = {"role": "household", "together": together, "publish": together}
    columns = {
        "home": home, "who": "person", "age": "drop",
        "n": {"role": "quasi", "derive": "household-size"},
        "region": {"role": "quasi", "of_household": True},
    }  # fmt: skip
    models = [{"name": "k-anonymity" if together else "household-k-anonymity", "k": 2}]
    page = tmp_path / "report.html"
    anonymize(pa.table(table), {"columns": columns, "models": models}).report(page)
    assert "the requirements do not cover it" in " ".join(page.read_text().split())


def test_what_links_members_is_said():
    table = {**people(), "income": [100 * home for home in people()["home"]]}
    plan = {**PLAN, "columns": {**COLUMNS, "income": "sensitive"}, "accept": ["income"]}
    notes = " ".join(anonymize(pa.table(table), plan, keep_order=True).notes)
    assert "the same value of 'income', which is not generalized" in notes
    assert "adjacent there, they still are" in notes
    assert "household-k-anonymity counts households, and all other requirements" in notes


COMPOSED = {
    **COLUMNS,
    "members": {"role": "quasi", "derive": "household-composition", "ages": "age"},
}


def test_exact_values_of_a_derived_column_have_no_limit_that_could_be_wider():
    """Of a household with a size of its own, all that helps is to suppress it."""
    table = {"home": [0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3], "region": ["n"] * 11, "age": [30] * 11}
    columns = {
        "home": "household",
        "region": "quasi",
        "age": "quasi",
        "n": {"role": "quasi", "derive": "household-size"},
    }
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 3}]}
    with pytest.raises(CannotReach, match=r"^exact values of 'n' \(derive\)") as caught:
        anonymize(pa.table(table), plan)
    assert "at_most" not in str(caught.value)
    assert "allow suppression = 0.4546" in str(caught.value)
    release = anonymize(pa.table(table), {**plan, "suppression": 0.4546})
    assert release.published == 6


def test_households_are_called_households(tmp_path):
    table = {**people(), "region": ["n"] * len(people()["home"])}
    table["home"][0] = None
    columns = {"home": "household", "region": "quasi", "age": "drop"}
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}], "seed": 1}
    release = anonymize(pa.table(table), plan)
    assert any("counts as one household, which overstates k" in note for note in release.notes)
    release.report(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert re.search(r"which are of \d+ households, in", report)
    assert "It was measured on the published table alone" in report


def test_the_report_says_with_what_the_requirements_were_measured(tmp_path):
    anonymize(pa.table(people()), PLAN).report(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "published table together with the household numbers of" in report
    assert "measured on the published table alone" not in report


def test_compositions_are_counted():
    """Two adults and a child; a person with several records counts once, by the highest age."""
    table = {
        "home": [1, 1, 1, 2, 2, 3, 3],
        "who": [1, 2, 3, 4, 4, 5, 6],
        "region": ["n"] * 7,
        "age": [40, "18", 17.5, 17, 18, 30, None],
    }
    table["age"] = [None if age is None else str(age) for age in table["age"]]
    columns = {**COMPOSED, "who": {"role": "person", "publish": False}}
    found = audit(pa.table(table), {"columns": columns}).published
    words = [found.values[found.names.index("members")][code] for code in found.codes[:, -1]]
    assert words == [
        *["2 adults, 1 child"] * 3, *["1 adult"] * 2, *["1 adult, 1 of unknown age"] * 2
    ]  # fmt: skip
    columns["members"] = {**columns["members"], "adult": 18.5}
    found = audit(pa.table(table), {"columns": columns}).published
    words = [found.values[found.names.index("members")][code] for code in found.codes[:, -1]]
    assert words[0] == "1 adult, 2 children"


@given(st.tuples(*[st.integers(0, 20)] * 3).filter(any))
def test_the_words_of_a_composition_name_all_members(counts):
    assert members_of(composition(*counts)) == sum(counts)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 99), apart=st.booleans())
def test_households_are_hidden_with_their_composition(seed, apart):
    table = people(seed, 60)
    columns = dict(COMPOSED)
    if not apart:
        columns["home"] = "household"
    plan = {**PLAN, "columns": columns, "suppression": 1}
    release = anonymize(pa.table(table), plan, keep_order=True)
    rows = release.frame.to_pylist()
    homes: dict = {}
    for home, age in zip(table["home"], table["age"], strict=True):
        homes.setdefault(home, []).append(age)
    known = {composition(0, sum(a < 18 for a in one), sum(a >= 18 for a in one)) for one in
             homes.values()}  # fmt: skip
    assert {row["members"] for row in rows} <= known
    if not apart:  # members are linked: as many households are alike in all that is published
        seen: dict = {}
        for row in rows:
            own = tuple(value for name, value in row.items() if name != "home")
            seen.setdefault(row["home"], []).append(own)
        alike = Counter(tuple(sorted(one)) for one in seen.values())
        assert min(alike.values()) >= 3
        assert audit(release.frame, plan).levels["household-k-anonymity"] >= 3


def test_a_composition_that_is_stated_names_as_many_members():
    table = {"home": [1, 1], "region": ["n", "n"], "age": ["[0, 5)", "[20, 40)"]}
    columns = {**COMPOSED, "home": "household"}
    right = pa.table({**table, "members": ["1 adult, 1 child"] * 2})
    assert audit(right, {"columns": columns}).rows == 2  # ages of a release may be ranges
    wrong = pa.table({**table, "members": ["2 adults, 1 child"] * 2})
    message = r"column 'members' is '2 adults, 1 child' where a household has 2 in the table"
    with pytest.raises(BadTable, match=message):
        audit(wrong, {"columns": columns})
    with pytest.raises(BadTable, match=r"ages that are no numbers: '\[0, 5\)', '\[20, 40\)'"):
        audit(pa.table(table), {"columns": columns})


@pytest.mark.parametrize(
    ("columns", "models", "message"),
    [
        ({"home": {**APART, "publish": True}}, HIDDEN, "together = false only with"),
        ({"home": {"role": "person", "publish": False, "together": False}}, [], "role household"),
        ({"home": {"role": "household"}}, HIDDEN, "nothing hides how many members"),
        ({"home": "drop", "region": "quasi"}, HIDDEN, "needs a household column for household-k"),
        ({"n": {"role": "quasi", "derive": "household-composition"}}, HIDDEN, "needs ages"),
        (
            {"n": {"role": "quasi", "derive": "household-composition", "ages": "agee"}},
            HIDDEN,
            "no column 'agee', which 'n' names for the ages; did you mean 'age'",
        ),
        ({"n": {"role": "quasi", "derive": "household-size", "adult": 16}}, HIDDEN, "has adult"),
        (
            {
                "n": {"role": "quasi", "derive": "household-size"},
                "m": {"role": "quasi", "derive": "household-size"},
            },
            HIDDEN,
            r"several columns with derive \(n, m\)",
        ),
    ],
)
def test_plans_that_cannot_hide_households(columns, models, message):
    with pytest.raises(BadPlan, match=message):
        Plan(columns={**COLUMNS, **columns}, models=models)


def test_something_must_count_households():
    plan = Plan(columns=COLUMNS, models=[{"name": "k-anonymity", "k": 2}])
    with pytest.raises(BadPlan, match="no requirement counts households"):
        anonymize(pa.table(people()), plan)


def test_the_plan_is_saved_and_read(tmp_path):
    columns = {**COMPOSED, "members": {**COMPOSED["members"], "adult": 16}}
    plan = Plan(columns=columns, models=HIDDEN)
    plan.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").to_toml() == plan.to_toml()
    assert "together = false" in plan.to_toml()
    assert "adult = 16" in plan.to_toml()


def test_a_database_is_read_record_by_record(tmp_path):
    """Households of a class cannot be counted from groups of equal records."""
    table = pa.table(people())
    base = Database(f"sqlite:///{tmp_path / 'people.db'}", table="people")
    write_to(base, Frame(table), False, lambda _: None)
    models = [{"name": "k-anonymity", "k": 2}, *HIDDEN]
    found = audit(base, {**PLAN, "models": models})
    assert found.levels == audit(table, {**PLAN, "models": models}).levels
    assert anonymize(base, PLAN).checks[0].reached >= 3
