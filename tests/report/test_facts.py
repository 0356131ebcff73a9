"""What is counted for a report, against a slow count of the same."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, Plan
from shoal.catalog import models
from shoal.io.frames import open_frame
from shoal.measures.breakdowns.class_sizes import candidate_sizes, sizes
from shoal.measures.breakdowns.value_widths import LINES, widths
from shoal.measures.record_counts import row_count
from shoal.report.page import render
from shoal.report.promises import PROMISES, promise
from shoal.report.release_report import facts, page
from shoal.table.published_table import read_published
from shoal.table.roles import Column


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
    crowd = Counter(signs.values())
    assert found.alone == sum(crowd[sign] == 1 for sign in signs.values())
    assert found.below == sum(crowd[sign] < k for sign in signs.values())
    assert found.most == max(Counter(who for who, _ in rows).values())


def test_without_persons_nothing_is_told_of_their_rows():
    assert row_count(published({"a": ["x", "x"]}), 2) is None


def test_the_page_says_how_many_rows_of_a_person_give_them_away():
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
    assert "does not know how many rows a person has; whoever knows that finds 1 of 13" in html
    assert '<th scope="col">people</th>' in html  # beside the rows of a class


def test_the_page_tells_what_can_be_counted_and_what_is_vulnerable():
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


def told(hierarchy, values):
    columns = {"a": Column(role="quasi", hierarchy=hierarchy)}
    seen = read_published(open_frame(pa.table({"a": values})), columns, [""])
    (fact,) = widths(columns, seen)
    assert sum(count for _, count in fact.rows) == len(values)
    assert len(fact.rows) <= LINES
    return dict(fact.rows)


def test_widths_of_dates():
    labels = ["2024-05-17", "2024-05", "2024", "2024", "2020 to 2029", "*", ""]
    assert told(Hierarchy.dates(["month", "year", "decade"]), labels) == {
        "the exact date": 1, "month": 1, "year": 2, "decade": 1, "suppressed": 1, "empty": 1,
    }  # fmt: skip
    finer = Hierarchy.dates(["hour", "week"])
    labels = ["2024-05-17 13:45", "2024-05-17 13h", "week of 2024-05-13", "2024-Q2", "2020 to 2024"]
    assert told(finer, labels) == {
        "the exact date": 1, "hour": 1, "week": 1, "quarter": 1, "5 years": 1, "suppressed": 0,
    }  # fmt: skip


def test_widths_of_numbers_codes_and_values():
    assert told(Hierarchy.ranges([5, 10]), ["17", "[15, 20)", "[10, 20)", "[10, 20)", "*"]) == {
        "the exact number": 1, "a range of 5": 1, "a range of 10": 2, "suppressed": 1,
    }  # fmt: skip
    assert told(Hierarchy.prefixes(), ["47677", "476**", "4****", "*"]) == {
        "the whole code": 1, "the first 3 characters": 1, "the first 1 character": 1,
        "suppressed": 1,
    }  # fmt: skip
    assert told(None, ["f", "m", "*"]) == {"as it was": 2, "suppressed": 1}
    assert told(Hierarchy.flat(), ["f"]) == {"as it was": 1, "suppressed": 0}
    tree = Hierarchy.from_tree({"Any": {"north": {"far": ["a"], "near": ["b"]}, "south": ["c"]}})
    assert told(tree, ["a", "far", "near", "north", "south", "Any"]) == {
        "as it was": 1, "level 1, such as “far”": 3, "level 2, such as “north”": 1, "suppressed": 1,
    }  # fmt: skip


def test_many_widths_become_few_lines():
    code = "1234567890"
    labels = [code[:i].ljust(10, "*") for i in range(1, 11) for _ in range(i)] + ["*"]
    found = told(Hierarchy.prefixes(), labels)
    assert found["the whole code"] == 10
    assert found["the first 9 characters"] == 9
    assert found["other widths"] == sum(range(1, 7))
    steps = ["month", "quarter", "year", "5 years", "decade", "century"]
    assert "decade" not in told(Hierarchy.dates(["month", "quarter", "year", "10 years"]), ["2024"])
    assert told(Hierarchy.dates(steps[:3]), ["2024"])["month"] == 0


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


def test_people_by_the_rows_that_could_be_theirs():
    found = candidate_sizes(((5, 10), (6, 20), (300, 2)))
    assert sum(one.classes for one in found) == 32
    assert (found[0].fewest, found[0].most, found[0].classes) == (5, 9, 30)
    assert found[-1].most == 300


def test_the_headline_says_what_it_counts():
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


def test_sizes_count_every_class_once():
    rng = np.random.default_rng(0)
    for high in (3, 40, 90, 5_000, 10**9):
        people = rng.integers(2, high, 500)
        rows = people * 2
        found = sizes(people, rows)
        assert sum(one.classes for one in found) == 500
        assert sum(one.rows for one in found) == rows.sum()
        assert len(found) <= 30
        for one, after in pairwise(found):
            assert one.fewest <= one.most < after.fewest
            inside = (people >= one.fewest) & (people <= one.most)
            assert inside.sum() == one.classes


def test_plain_words_fit_the_models():
    options = {"k": 3, "l": 2, "p": 2, "c": 1.5, "alpha": 0.5, "t": 0.2, "beta": 0.6, "delta": 0.7}
    assert set(models) == set(PROMISES)  # a promise in plain words for every model
    for kind in models.values():
        wanted = {key: value for key, value in options.items() if key in kind.model_fields}
        if "column" in kind.model_fields:
            wanted["column"] = "a {brace}"
        for linked in (False, True):
            told = promise(kind(**wanted), linked)
            assert ("a {brace}" in told) == ("column" in wanted)
            if kind.linkage:
                assert "3" in told
                assert "class" not in told
