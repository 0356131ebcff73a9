"""Audits of the two tables of an anatomy, and their counting queries, against naive twins."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from shoal import BadTable, NotHeld, anatomize, audit_anatomy
from shoal.cli.main import app
from shoal.measures.queries.draw import Queries
from tests.naive.anatomy import COLUMNS, answers_of, drawn, people, plan


@settings(max_examples=25)
@given(
    diseases=st.lists(st.sampled_from(["flu", "ulcer", "cough", None]), min_size=6, max_size=30),
    seed=st.integers(0, 99),
    dimensions=st.integers(1, 2),
)
def test_counting_queries_agree_with_the_definition(diseases, seed, dimensions):
    many = max(diseases.count(one) for one in diseases)
    if 2 * many > len(diseases):
        return
    table = people(pa.array(diseases, pa.string()), seed)
    asked = Queries(number=30, dimensions=dimensions, seed=seed)
    made = anatomize(table, plan(seed=seed), queries=asked)
    errors = []
    for query in drawn(table, plan(), asked):
        true, found = answers_of(query, table, made.quasi_identifiers, made.sensitive)
        if true > 0:
            errors.append(abs(found - true) / true)
        if len(errors) == 30:
            break
    assert made.answers.number == len(errors)
    assert made.answers.mean == pytest.approx(np.mean(errors))
    assert made.answers.median == pytest.approx(np.median(errors))
    checked = audit_anatomy(
        made.quasi_identifiers, made.sensitive, plan(), original=table, queries=asked
    )
    assert checked.answers == made.answers
    assert checked.attacks == made.attacks
    assert checked.reconstruction_error == made.reconstruction_error
    assert checked.holds


def test_queries_on_quasi_identifiers_alone_are_exact():
    """One value of the sensitive column is always selected if it has only one span: all of it."""
    table = people(list("abcabcabcd") * 4)
    made = anatomize(table, plan(3), queries=Queries(number=50, selectivity=1.0))
    assert made.answers.mean == pytest.approx(0)


def test_comparison_with_a_generalized_release():
    table = people(list("abcdeabcdf") * 10)
    columns = {**COLUMNS, "age": {"role": "quasi", "hierarchy": {"ranges": [2]}}}
    made = anatomize(table, plan(4, columns=columns), compare=True)
    assert made.generalized.answers.number == made.answers.number == 1000
    numbers = made.as_dict()
    assert numbers["generalized"]["queries"]["mean_relative_error"] >= 0
    assert made.answers.mean <= made.generalized.answers.mean


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people(list("abcabcabcd") * 4)
    pa.csv.write_csv(table, "people.csv")
    plan(3).save("plan.toml")
    anatomize(table, plan(3)).save("first.csv", "second.csv")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_the_command_audits_two_files(files):
    words = ["audit", "first.csv", "--sensitive", "second.csv", "--plan", "plan.toml"]
    done = run(*words, "--json", "alone.json")
    assert done.exit_code == 0, done.output
    assert "not hidden" in done.output
    numbers = json.loads((files / "alone.json").read_text())
    assert numbers["queries"] is None
    assert numbers["checks"][0]["holds"]
    done = run(*words, "--original", "people.csv", "--json", "both.json")
    assert done.exit_code == 0, done.output
    both = json.loads((files / "both.json").read_text())
    assert both["queries"]["number"] == 1000
    assert both["attacks"] == numbers["attacks"]
    assert both["attacks"]["membership"] == 1
    assert "does not support --row" in run(*words, "--row", "1").output


def test_a_violated_requirement_is_found(files):
    plan(4).save("plan.toml")  # the groups are of three
    words = ["audit", "first.csv", "--sensitive", "second.csv", "--plan", "plan.toml"]
    done = run(*words)
    assert done.exit_code == 1
    assert "violated" in done.output


def test_one_person_of_another_group_is_found(files):
    first = pd.read_csv("first.csv")
    place = first.index[first["group"] == 1][0]
    first.loc[place, "group"] = 2
    with pytest.raises(NotHeld, match="do not fit together: in group 1"):
        audit_anatomy(first, pd.read_csv("second.csv"), plan(3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one, two: (one.drop(columns="group"), two), r"lacks the columns 'group'"),
        (lambda one, two: (two, one), "quasi-identifiers lacks the columns 'age', 'sex'"),
        (lambda one, two: (one.assign(name="x"), two), "'name', which has the role identifier"),
        (lambda one, two: (one.assign(disease="a"), two), "'disease', which has the role sens"),
        (lambda one, two: (one, two.assign(extra=1)), "'extra', which the plan does not have"),
        (lambda one, two: (one, two.assign(count=0)), "needs whole numbers from 1 on, and has '0'"),
        (lambda one, two: (one, two.assign(count=1.5)), r"from 1 on, and has '1\.5'"),
        (lambda one, two: (one, two.assign(count="many")), "from 1 on, and has 'many'"),
        (lambda one, two: (one.assign(group=None), two), "'group' has missing values"),
        (lambda one, two: (one[:0], two), "no records"),
    ],
)
def test_tables_that_are_no_anatomy(files, change, message):
    one, two = change(pd.read_csv("first.csv"), pd.read_csv("second.csv"))
    with pytest.raises(BadTable, match=message):
        audit_anatomy(one, two, plan(3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(age=99), "'age' of the table of quasi-identifiers has values that"),
        (lambda t: t[:-1], "40 records and the original 39"),
        (lambda t: t.assign(disease="a"), "are not those of the original"),
        (lambda t: t.assign(disease=[*t["disease"][:-1], "a"]), "not as frequent"),
    ],
)
def test_another_original_is_refused(files, change, message):
    original = change(pd.read_csv("people.csv"))
    with pytest.raises(BadTable, match=message):
        audit_anatomy("first.csv", "second.csv", plan(3), original=original)


def test_the_report(files):
    words = ["anatomy", "people.csv", "--plan", "plan.toml", "--out", "one.csv", "--compare"]
    done = run(*words, "--out-sensitive", "two.csv", "--report", "report.html")
    assert done.exit_code == 0, done.output
    assert "generalized" in done.output
    text = (files / "report.html").read_text()
    front = text.index("membership is not protected")
    assert front < text.index("<h2")  # on page one
    assert "No groups that satisfy the requirements have less than 0.6667" in text
    assert "p13" not in text  # no name
    assert "do not publish these two tables" not in text
    audit_anatomy("first.csv", "second.csv", plan(4)).report("bad.html")
    assert "do not publish these two tables" in (files / "bad.html").read_text()
