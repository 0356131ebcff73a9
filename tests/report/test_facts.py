"""What is counted for a report, against a slow count of the same."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.catalog import models
from shoal.io.frames import open_frame
from shoal.io.labels import Labels, labelled
from shoal.measures.record_counts import row_count
from shoal.models import Model
from shoal.report.page import render
from shoal.report.release_report import facts, page
from shoal.table.published_table import read_published
from shoal.table.roles import Column
from tests.flow import test_limited_columns as limited
from tests.report.test_release_report import Seen


def published(columns, **roles):
    table = pa.table(columns)
    known = {name: Column(role=roles.get(name, "quasi")) for name in columns}
    return read_published(open_frame(table), known)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=25),
    st.integers(2, 4),
)
def test_the_number_of_rows_of_a_person(rows, k):
    seen = published(
        {"who": [f"p{who}" for who, _ in rows], "a": [f"v{a}" for _, a in rows]}, who="person"
    )
    found = row_count(seen, k)
    signs = {
        who: tuple(sorted(Counter(a for other, a in rows if other == who).items()))
        for who, _ in rows
    }
    if len(signs) == len(rows):
        assert found is None
        return
    alike = Counter(signs.values())
    assert found.alone == sum(alike[sign] == 1 for sign in signs.values())
    assert found.below == sum(alike[sign] < k for sign in signs.values())
    assert found.most == max(Counter(who for who, _ in rows).values())


def test_without_a_person_column_nothing_is_said_of_their_records():
    assert row_count(published({"a": ["x", "x"]}), 2) is None


def test_the_page_shows_how_many_people_their_record_count_identifies():
    n = 24
    table = pa.table(
        {
            "who": [f"p{i // 2}" for i in range(n)] + ["many"] * 5,
            "age": [30] * (n + 5),
            "disease": ["flu", "gout"] * (n // 2) + ["flu"] * 5,
        }
    )
    asked = Plan(
        columns={"who": "person", "age": "quasi", "disease": "sensitive"},
        models=[{"name": "k-anonymity", "k": 3}],
    )
    known = facts(shoal.anonymize(table, asked))
    assert (known.record_count.alone, known.record_count.below, known.record_count.most) == (
        1,
        1,
        5,
    )
    html = render(page(known))
    assert "The number of records per person is visible" in html
    assert "Of 13 people, 1 is the only one of their class with their number of records" in html
    first = html.partition("What remains possible")[2].partition("</ul>")[0]
    assert "<li>1 of 13 people is the only one of their class with their number of" in first
    assert '<th scope="col">people</th>' in html  # beside the rows of a class


def test_the_page_shows_query_errors_and_vulnerable_classes():
    """Everybody in a class has the flu among others: it looks mixed, and gives the flu away."""
    rows = [("x", who, disease) for who in "abc" for disease in ("flu", f"d{who}")]
    rows += [("y", who, f"e{who}") for who in "klm"]
    table = pa.table(
        dict(zip(("town", "who", "disease"), map(list, zip(*rows, strict=True)), strict=True))
    )
    asked = Plan(
        columns={"town": "quasi", "who": "person", "disease": "sensitive"},
        models=[{"name": "ir-kl-anonymity", "column": "disease", "k": 3, "l": 3}],
    )
    known = facts(shoal.anonymize(table, asked))
    html = render(page(known))
    assert "1,000 queries of this kind, each about 1 quasi-identifier and a sensitive" in html
    assert "1 of 2" in html
    assert "3 of 6" in html
    assert "Require eir-l-diversity to avoid them" in html
    safe = facts(shoal.anonymize(table.filter(pa.compute.equal(table["town"], "y")), asked))
    assert "This release has no such class" in render(page(safe))
    without = asked.changed(models=[{"name": "k-anonymity", "k": 3}])
    html = render(page(facts(shoal.anonymize(table, without))))
    assert "Vulnerable classes" not in html
    assert "Accuracy of counts" in html


def test_the_widths_are_those_of_a_release():
    rng = np.random.default_rng(3)
    table = pa.table({"age": rng.integers(0, 60, 50), "sex": rng.choice(["f", "m"], 50)})
    asked = Plan(
        columns={"age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}}, "sex": "quasi"},
        models=[{"name": "k-anonymity", "k": 4}],
    )
    release = shoal.anonymize(table, asked)
    age, sex = facts(release).widths
    ages = release.frame["age"].to_pylist()
    assert dict(age.rows)["suppressed"] == ages.count("*")
    assert dict(sex.rows)["as it was"] == 50 - release.frame["sex"].to_pylist().count("*")
    assert "Precision of the published values" in render(page(facts(release)))


def test_the_headline_names_what_it_counts():
    name = "lm"
    table = pa.table({"age": [20, 21, 40, 41]})
    asked = Plan(
        columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}},
        models=[{"name": "k-anonymity", "k": 2}],
        loss=name,
    )
    known = facts(shoal.anonymize(table, asked))
    html = render(page(known))
    assert f"is measured by {name}" in html
    assert known.loss_words[name] in html
    assert "none of them is wrong" in html


# What models without k say of their loosest limit: max-belief is satisfied with a whole number of
# records for each person, at least two.
LIMITS = {"matching-belief": "99\xa0%", "max-belief": "50\xa0%"}


def test_plain_words_fit_the_models():
    for kind in models.values():
        assert kind.guarantee is not Model.guarantee, f"{kind.name} has no guarantee in plain words"
        wanted = {**kind.loosest, **({"k": 3} if "k" in kind.model_fields else {})}
        if "column" in kind.model_fields:
            wanted["column"] = "a {brace}"
        for linked in (False, True):
            told = kind(**wanted).guarantee(linked)
            assert ("a {brace}" in told) == ("column" in wanted)
            if kind.linkage:
                assert LIMITS.get(kind.name, "3") in told
                assert "class" not in told


def test_the_page_shows_the_labels_of_columns():
    table = pa.table({"sex": [1, 2] * 6, "job": ["a", "b", "c"] * 4})
    labelled_table = labelled(table, {"sex": Labels("Sex of the person", {"1": "m", "7": "x"})})
    plan = Plan(
        columns={"sex": {"role": "quasi"}, "job": {"role": "sensitive"}},
        models=[{"name": "k-anonymity", "k": 2}],
        algorithm={"name": "full-domain"},
        seed=1,
    )
    release = shoal.anonymize(labelled_table, plan)
    shown = {one.name: one.label for one in facts(release).columns}
    assert shown == {"sex": "Sex of the person", "job": ""}
    assert "sex (Sex of the person)" in render(page(facts(release)))


def test_what_at_most_asks_is_listed_with_the_requirements():
    """What was asked of each column and what is reached, on page one and in the annex."""
    release = shoal.anonymize(limited.people(), limited.plan())
    known = facts(release)
    asked = {one.column: one for one in known.requirements if one.model == "at_most"}
    assert list(asked) == [one.column for one in release.at_most] == ["age", "zip", "job", "sex"]
    assert [asked[name].asked for name in ("age", "job", "sex")] == [
        "at most 10", "at most 1", "at most 0"
    ]  # fmt: skip
    widths = [
        int(high) - int(low)
        for label in set(release.frame["age"].to_pylist())
        for low, high in re.findall(r"\[(\d+), (\d+)\)", str(label))
    ]
    assert asked["age"].reached == str(max(widths, default=0))
    html = render(page(known))
    first, _, rest = html.partition('<div class="front">')
    annex = rest.partition("Requirements</h2>")[2].partition("<section")[0]
    for part in (first, annex):
        text = Seen(part).text
        assert re.search(r"at_most, on age.{0,150}at most 10 ?10", text), text
        assert "The published values of age are at most 10 units of the column wide." in text
        assert re.search(r"at_most, on sex.{0,150}at most 0 ?0", text)
        assert "The published values of sex are the original ones." in text
    (lead,) = re.findall(r'<p class="lead">(.*?)</p>', html)
    assert lead == "All 5 requirements are satisfied."
    violated = [replace(one, holds=one.column != "age") for one in known.requirements]
    html = render(page(replace(known, requirements=violated)))
    (lead,) = re.findall(r'<p class="lead">(.*?)</p>', html)
    assert lead == "✖ 4 of 5 requirements are satisfied."
    more = [replace(asked["job"], column=f"job {i}") for i in range(9)]
    html = render(page(replace(known, requirements=[*known.requirements, *more])))
    first, _, rest = html.partition('<div class="front">')
    said = r"at_most, on 13 columns ?each ?13 of 13 ?✔ satisfied"
    assert re.search(said, Seen(first).text)
    assert "at_most, on job 8" in rest.partition("Requirements</h2>")[2]
