"""Safe Harbor: what is recognized in a plan and its release, and what is left to people."""

from __future__ import annotations

from datetime import date

import pandas as pd
import pytest

import shoal
from shoal import Plan
from shoal.measures.verdicts.safe_harbor import WORDS, safe_harbor
from shoal.report.facts import facts
from shoal.report.page import render
from shoal.report.release_report import page
from shoal.report.sections.criteria.safe_harbor import NAMES, WHY


def found(columns, n=40, k=2, **values):
    """The result of a release, by the letter of the rule."""
    table = pd.DataFrame({name: values[name.replace(" ", "_")] for name in columns})
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": k}], seed=1)
    release = shoal.anonymize(table, plan)
    each = safe_harbor(release.plan.columns, release.seen, release.if_known, release.made.year)
    assert all(one.why in WHY or not one.columns for one in each)
    return {one.letter: one for one in each}


def test_the_page_shows_it():
    table = pd.DataFrame({"age": [30] * 36 + [91] * 4, "name": ["a"] * 40})
    columns = {"age": "quasi", "name": "identifier"}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], seed=1)
    html = render(page(facts(shoal.anonymize(table, plan))))
    assert "age: an age over 89 is published more precisely than as 90 or older" in html
    assert "name is not published" in html


def test_all_18_are_listed_and_nothing_is_met_by_silence():
    got = found({"color": "quasi"}, color=["red"] * 40)
    assert list(got) == list(WORDS) == list(NAMES) == list("ABCDEFGHIJKLMNOPQR")
    assert {one.status for one in got.values()} == {"not judged"}
    assert not any(one.columns for one in got.values())


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("last name", "A"),
        ("street", "B"),
        ("phone", "D"),
        ("Fax", "E"),
        ("EmailAddress", "F"),
        ("ssn", "G"),
        ("MRN", "H"),
        ("insurance_no", "I"),
        ("account", "J"),
        ("licence", "K"),
        ("plate", "L"),
        ("device_serial", "M"),
        ("url", "N"),
        ("ip_address", "O"),
        ("fingerprint", "P"),
        ("photo", "Q"),
    ],
)
def test_identifiers_by_name(name, letter):
    values = {"sex": list("mf") * 20, name.replace(" ", "_"): list("abcd") * 10}
    dropped = found({"sex": "quasi", name: "identifier"}, **values)
    assert (dropped[letter].status, dropped[letter].columns) == ("met", (name,))
    assert dropped["R"].status == "met"
    published = found({"sex": "quasi", name: "other"}, **values)
    assert (published[letter].status, published[letter].why) == ("not met", "unchanged")
    general = found({"sex": "quasi", name: "quasi"}, **values)
    assert general[letter].status == "not met"


DAYS = [f"19{60 + i % 30}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(40)]


@pytest.mark.parametrize(
    ("steps", "days", "status", "why"),
    [
        (["month"], DAYS, "met", "suppressed"),  # no two are in one month
        (["month", "year"], DAYS[:20] * 2, "not met", "finer than a year"),
        (["year", "decade"], DAYS, "met", "year or longer"),
    ],
)
def test_dates_by_what_is_published(steps, days, status, why):
    columns = {"visit date": {"role": "quasi", "hierarchy": {"dates": steps}}}
    one = found(columns, visit_date=days)["C"]
    assert (one.status, one.why, one.columns) == (status, why, ("visit date",))


def test_dates_of_other_roles_and_of_the_very_old():
    sex = list("mf") * 20
    one = found({"sex": "quasi", "visit": "sensitive"}, sex=sex, visit=DAYS)["C"]
    assert (one.status, one.columns) == ("not met", ("visit",))
    years = {"role": "quasi", "hierarchy": {"dates": ["year"]}}
    old = [f"{1901 if i < 20 else 1999}-03-{i % 28 + 1:02}" for i in range(40)]
    assert found({"birth day": years}, birth_day=old)["C"].why == "years of birth of people over 89"
    assert found({"visit": years}, visit=old)["C"].why == "year or longer"


@pytest.mark.parametrize(
    ("ages", "status", "why"),
    [
        ([30, 40] * 20, "met", "no ages over 89"),
        ([30] * 36 + [95, 95, 97, 97], "not met", "ages over 89"),
        ([30] * 36 + [93, 95, 97, 99], "met", "no ages over 89"),  # one category, [90, 100)
        ([30] * 36 + [89] * 4, "met", "no ages over 89"),
        ([30] * 36 + [90] * 4, "not judged", "90 alone"),  # may stand for 90 or older
        ([30] * 36 + [91] * 4, "not met", "more precise than 90 or older"),
        ([30] * 34 + [90] * 3 + [91] * 3, "not met", "ages over 89"),
        ([30] * 34 + [90] * 3 + [101] * 3, "not met", "ages over 89"),
    ],
)
def test_ages_over_89(ages, status, why):
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}}
    one = found(columns, age=ages)["C"]
    assert (one.status, one.why) == (status, why)


@pytest.mark.parametrize(
    ("borders", "why"),
    [
        ([[90]], "no ages over 89"),
        ([[50, 94]], "more precise than 90 or older"),  # who is 94 or older is known to be so
        ([[90, 94]], "ages over 89"),
        ([[50, 98]], "no ages over 89"),  # nobody is that old
    ],
)
def test_a_category_of_90_or_older(borders, why):
    columns = {"age": {"role": "quasi", "hierarchy": {"borders": borders}}}
    assert found(columns, age=[30] * 32 + list(range(90, 98)))["C"].why == why


def test_one_category_of_early_births():
    days = [f"{year}-03-{day:02}" for year in (1901, 1908, 1999) for day in range(1, 14)]
    one = {"role": "quasi", "hierarchy": {"borders": [["1930-01-01"]]}}
    assert found({"birth day": one}, birth_day=days)["C"].why == "year or longer"
    two = {"role": "quasi", "hierarchy": {"borders": [["1905-01-01", "1930-01-01"]]}}
    why = found({"birth day": two}, birth_day=days)["C"].why
    assert why == "years of birth of people over 89"


@pytest.mark.parametrize(
    ("oldest", "status", "why"),
    [
        ("90+", "met", "no ages over 89"),
        (">=90", "met", "no ages over 89"),
        ("≥ 90", "met", "no ages over 89"),
        ("> 89", "met", "no ages over 89"),
        ("95+", "not met", "more precise than 90 or older"),
    ],
)
def test_the_oldest_as_people_write_them(oldest, status, why):
    one = found({"age": "quasi"}, age=["30"] * 30 + [oldest] * 10)["C"]
    assert (one.status, one.why) == (status, why)


@pytest.mark.parametrize("write", ["{y}-{m:02}", "{m:02}/{y}", "{m:02}.{y}", "{m}/{y}", "{n} {y}"])
def test_a_month_with_its_year_is_finer_than_a_year(write):
    names = ("Jan", "March", "März", "Okt.", "December")
    months = (1, 3, 3, 10, 12)
    values = [write.format(y=1970 + i, m=months[i], n=names[i]) for i in range(5) for _ in range(8)]
    for name in ("born in", "when"):  # by its values, whatever it is called
        one = found({name: "quasi"}, **{name.replace(" ", "_"): values})["C"]
        assert (one.status, one.why, one.columns) == ("not met", "finer than a year", (name,))


@pytest.mark.parametrize(
    ("name", "values", "status", "why"),
    [
        ("birth month", [3, 11] * 20, "not met", "finer than a year"),
        ("DOB_MM", [3, 11] * 20, "not met", "finer than a year"),
        ("Geburtsmonat", ["Mai", "Juni"] * 20, "not met", "finer than a year"),
        ("month of admission", [3, 11] * 20, "not met", "finer than a year"),
        ("birth year", [1960, 1985] * 20, "met", "year or longer"),
        ("birth year", [1902, 1985] * 20, "not met", "years of birth of people over 89"),
        ("year of death", [1902, 1985] * 20, "met", "year or longer"),
    ],
)
def test_parts_of_a_date_in_columns_of_their_own(name, values, status, why):
    one = found({name: "quasi"}, **{name.replace(" ", "_"): values})["C"]
    assert (one.status, one.why, one.columns) == (status, why, (name,))


@pytest.mark.parametrize(("ago", "status"), [(89, "met"), (90, "not judged"), (91, "not met")])
def test_the_year_of_birth_from_which_on_people_are_over_89(ago, status):
    """Who was born 90 years ago may be 89 or 90; who was born 91 years ago is over 89."""
    year = date.today().year - ago
    born = [year] * 20 + [1999] * 20
    assert found({"birth year": "quasi"}, birth_year=born)["C"].status == status
    days = [f"{one}-03-{day:02}" for one in (year, 1999) for day in range(1, 21)]
    years = {"role": "quasi", "hierarchy": {"dates": ["year"]}}
    assert found({"birth day": years}, birth_day=days)["C"].status == status


def test_one_category_may_begin_with_those_born_90_years_ago():
    edge = date.today().year - 89
    columns = {"birth year": {"role": "quasi", "hierarchy": {"borders": [[edge]]}}}
    born = [*range(edge - 20, edge), *[1999] * 20]
    assert found(columns, birth_year=born)["C"].status == "met"


def test_what_only_sounds_like_a_date():
    for name in ("place of birth", "birth weight", "months on the job", "may"):
        one = found({name: "quasi"}, **{name.replace(" ", "_"): [3, 11] * 20})["C"]
        assert one.columns == ()
    hidden = {"sex": "quasi", "birth month": "other", "birth year": "drop"}
    sex, month, year = list("mf") * 20, [3, 11] * 20, [1960] * 40
    one = found(hidden, sex=sex, birth_month=month, birth_year=year)["C"]
    assert (one.status, one.columns) == ("not met", ("birth month",))
    one = found({"sex": "quasi", "birth year": "other"}, sex=sex, birth_year=year)["C"]
    assert (one.status, one.why) == ("not judged", "unchanged years")


def test_ages_that_are_unchanged_are_left_to_people():
    one = found({"sex": "quasi", "age": "other"}, sex=list("mf") * 20, age=[30, 95] * 20)["C"]
    assert (one.status, one.why) == ("not judged", "unchanged ages")


@pytest.mark.parametrize(
    ("zips", "status", "why"),
    [
        (["02139"] * 40, "not met", "smaller than a state"),
        ([f"021{i:02}" for i in range(40)], "not judged", "three digits"),
    ],
)
def test_three_digits_of_a_zip_code(zips, status, why):
    columns = {"zip": {"role": "quasi", "hierarchy": {"prefixes": [3, 1]}}}
    one = found(columns, zip=zips)["B"]
    assert (one.status, one.why) == (status, why)


def test_numbers_of_people_and_codes():
    sex = list("mf") * 20
    who = found({"sex": "quasi", "who": "person"}, sex=sex, who=range(40))["R"]
    assert (who.status, who.why) == ("not judged", "random number")
    hidden = {"role": "person", "publish": False}
    assert found({"sex": "quasi", "who": hidden}, sex=sex, who=range(40))["R"].status == "met"
    code = found({"sex": "quasi", "code": "other"}, sex=sex, code=[f"x{i}" for i in range(40)])["R"]
    assert (code.status, code.why) == ("not met", "different in every record")


def test_every_reason_has_words():
    import inspect

    from shoal.measures.verdicts import safe_harbor

    source = inspect.getsource(safe_harbor)
    assert all(f'"{why}"' in source for why in WHY)
