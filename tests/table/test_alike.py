"""Item 12: sensitive values that a reader takes for the same count as one value."""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadHierarchy, BadPlan, BadTable, CannotReach, Plan
from shoal.attacks.homogeneity import Homogeneity
from shoal.io.frames import open_frame
from shoal.table.alike import alike, alike_texts
from shoal.table.coded_columns import person_codes
from shoal.table.coding import merge_alike, value_codes
from shoal.table.published_table import read_published
from tests.strategies import ALL, examples

SAME = [
    *(("flu", f"flu{c}") for c in "\ufe0f\U000e0100\u034f\u3164\u115f\u1160\uffa0\u17b4\u2800"),
    ("-1", "\u22121"),
    ("1000", "1000e0000"),
    ("1000", "1e0003"),
    ("1", "\u0661"),
    ("2024-05-17", "2024-05-17T00:00:00Z"),
    ("2024-05-17", "2024-05-17T00:00:00+00:00"),
    ("can't have", "can\u2019t have"),
    ("\ufb01\x00\u0301", "\ufb01\u0301"),
    ("flu", "flu "),
    ("flu", " flu"),
    ("flu", "Flu"),
    ("flu a", "flu  a"),
    ("flu a", "flu\u00a0a"),
    ("flu", "fl\u00adu"),
    ("flu", "flu\u200b"),
    ("flu", "ｆｌｕ"),
    ("fièvre", unicodedata.normalize("NFD", "fièvre")),
    ("Straße", "STRASSE"),
    ("1", "1.0"),
    ("1000", "1e3"),
    ("0.5", ".50"),
    ("true", "True"),
    ("2024-05-17", "2024-05-17 00:00:00"),
    ("2024-05-17 13:45", "2024-05-17T13:45:00"),
]
DIFFERENT = [
    ("flu", "flue"),
    ("007", "7"),
    ("10⁵", "105"),
    ("a b", "ab"),
    ("1", "-1"),
    ("½", "1/2"),
]


def plan(*models, missing=None, **secret):
    more = {} if missing is None else {"missing_values": missing}
    return Plan(
        columns={"sex": "quasi", "s": {"role": "sensitive", **secret}},
        models=list(models) or [{"name": "distinct-l-diversity", "column": "s", "l": 2}],
        **more,
    )


def four(one, other):
    return pa.table({"sex": ["f"] * 4, "s": [one, other] * 2})


@pytest.mark.parametrize(("one", "other"), SAME)
def test_item_12_a_class_of_two_spellings_is_not_diverse(one, other):
    table = four(one, other)
    with pytest.raises(CannotReach):
        shoal.anonymize(table, plan())
    found = shoal.audit(table, plan())
    assert found.levels["distinct-l-diversity[s]"] == 1
    assert not found.holds
    assert found.attacks["homogeneity"]["s"]["percent"] == 100
    (note,) = [note for note in found.notes if "count as one value" in note]
    assert repr(one) in note
    assert repr(other) in note


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_values_that_differ_stay_two(one, other):
    found = shoal.audit(four(one, other), plan())
    assert found.levels["distinct-l-diversity[s]"] == 2
    assert not any("count as one" in note for note in found.notes)


COMPARE_SHARES = {
    "t-closeness": {"t": 0.9}, "beta-likeness": {"beta": 9}, "delta-disclosure": {"delta": 9},
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "entropy-l-diversity", "frequency-l-diversity", "p-sensitivity", "t-closeness",
        "beta-likeness", "delta-disclosure",
    ],
)  # fmt: skip
def test_every_model_counts_as_on_a_table_that_is_written_one_way(name):
    """The naive twin: the same table with its values replaced by what they are taken for."""
    values = ["flu", "Flu", "cold", "1", "1.0", "FLU ", "cold", "gout", "cold ", "1"]
    if name in COMPARE_SHARES:
        values = [value.lower() for value in values]
    sex = ["f", "m"] * 5
    option = {
        "t-closeness": {"t": 1}, "p-sensitivity": {"p": 2}, "beta-likeness": {"beta": 9},
        "delta-disclosure": {"delta": 9}, 
    }.get(name, {"l": 2})  # fmt: skip
    asked = plan({"name": name, "column": "s", **option})
    as_is = shoal.audit(pa.table({"sex": sex, "s": values}), asked)
    one_way = shoal.audit(pa.table({"sex": sex, "s": [alike(v) for v in values]}), asked)
    assert as_is.levels == one_way.levels
    shares = [
        {key: value for key, value in found.attacks[attack]["s"].items() if key != "value"}
        for found in (as_is, one_way)
        for attack in ("homogeneity", "skewness", "background-knowledge")
    ]
    assert shares[:3] == shares[3:]


@pytest.mark.parametrize("name", COMPARE_SHARES)
def test_item_12_models_that_compare_shares_refuse_values_that_differ_in_letter_case(name):
    """Counted as one, A and a would be spread alike over the classes, and nothing would be seen."""
    table = pa.table({"sex": ["f"] * 10 + ["m"] * 10, "s": [*"AAAAAxxxxx", *"aaaaaxxxxx"]})
    asked = plan({"name": name, "column": "s", **COMPARE_SHARES[name]})
    for run in (shoal.audit, shoal.anonymize):
        with pytest.raises(BadTable, match="'s' has values that differ only in letter case"):
            run(table, asked)


def test_people_models_count_so_too():
    """eir-l-diversity: one row of each person, however picked, shows one value here."""
    table = pa.table({"sex": ["f"] * 4, "who": [1, 2, 3, 4], "s": ["flu", "flu ", "Flu", "flu"]})
    asked = Plan(
        columns={"sex": "quasi", "who": "person", "s": "sensitive"},
        models=[{"name": "eir-l-diversity", "column": "s", "l": 2}],
    )
    assert list(shoal.audit(table, asked).levels.values()) == [1]


def test_ordered_distance_has_one_rank_for_them():
    values = ["low", "low ", "high", " high"]
    model = {"name": "t-closeness", "column": "s", "t": 1, "distance": "ordered"}
    model["order"] = ["LOW", "high"]
    table = pa.table({"sex": ["f", "f", "m", "m"], "s": values})
    assert list(shoal.audit(table, plan(model)).levels.values()) == [0.5]
    with pytest.raises(BadPlan, match="'low', 'Low ' count as one value"):
        plan({**model, "order": ["low", "Low ", "high"]})


def test_a_hierarchy_that_separates_them_is_refused():
    table = four("flu", "Flu")
    apart = {"tree": {"*": {"lung": ["flu"], "other": ["Flu", "gout"]}}}
    with pytest.raises(BadHierarchy, match="'Flu', 'flu' count as one value"):
        shoal.audit(table, plan(hierarchy=apart))
    table = four("flu", "flu ")
    together = {"tree": {"*": {"lung": ["flu", "flu "], "other": ["gout"]}}}
    model = {"name": "t-closeness", "column": "s", "t": 1, "distance": "hierarchical"}
    assert shoal.audit(table, plan(model, hierarchy=together)).holds
    one = {"tree": {"*": {"lung": ["flu"], "other": ["gout"]}}}
    assert shoal.audit(table, plan(model, hierarchy=one)).holds


def test_blanks_and_what_is_alike_missing_are_missing():
    table = pa.table({"sex": ["f"] * 5, "s": [None, " ", "\u00a0", "n/a ", "N/A"]})
    found = shoal.audit(table, plan(missing=["", "n/a"]))
    assert found.levels["distinct-l-diversity[s]"] == 1


def test_what_is_published_stays_as_it_was_written():
    """And the value that an attack finds before is named as it is published."""
    table = pa.table({"sex": ["f"] * 4, "s": ["flu", "Flu ", "cold", "gout"]})
    release = shoal.anonymize(table, plan({"name": "k-anonymity", "k": 2}))
    assert sorted(release.frame["s"].to_pylist()) == sorted(table["s"].to_pylist())
    assert [note for note in release.notes if "'Flu ' = 'flu'" in note]
    value = release.before.attacks["skewness"]["s"]["value"]
    assert value in table["s"].to_pylist()


def test_persons_are_alike_in_white_space_and_form_but_not_in_case():
    names = ["p1", "p1 ", "\u00a0p1", "P1", "17", "17.0", "é", "e\u0301", None, None]
    people = person_codes(open_frame(pa.table({"who": names})), "who").tolist()
    assert people[0] == people[1] == people[2] != people[3]
    assert people[4] == people[5]
    assert people[6] == people[7]
    assert len(set(people)) == 6


def test_arrow_sees_every_character_as_python_does():
    last = 0x20000 if ALL else 0x3000  # the others take seconds
    every = [chr(code) for code in range(last) if not 0xD800 <= code < 0xE000]
    for case in (False, True):
        assert alike_texts(pa.array(every), case).to_pylist() == [alike(c, case) for c in every]


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.text(st.sampled_from("aAbéÉ\u0301 \t\u00a0\u200bßſΣςİﬁ²0123456789.+-eE:tT"), max_size=8)
        | st.sampled_from([way for pair in SAME + DIFFERENT for way in pair])
        | st.floats(allow_nan=False).map(str)
        | st.datetimes().map(str),
        max_size=8,
    ),
    st.booleans(),
)
def test_arrow_sees_texts_as_python_does(values, case):
    keys = alike_texts(pa.array(values, pa.string()), case).to_pylist()
    assert keys == [alike(value, case) for value in values]
    assert [alike(key, case) for key in keys] == keys


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from(["flu", "Flu", "flu ", "cold", "1", "1.0", " ", "", "na", None])))
def test_merged_codes_are_those_of_the_plain_definition(cells):
    """The oracle: a dictionary from what each cell is taken for to the rows that have it."""
    codes, values = value_codes(pa.array(cells, pa.string()), ["", "NA"])
    merged = merge_alike(codes, values, ["", "NA"])
    taken = ["" if c is None or alike(c) in ("", "na") else alike(c) for c in cells]
    for i, one in enumerate(taken):
        assert (merged.codes[i] == -1) == (one == "")
        for j, other in enumerate(taken):
            assert (merged.codes[i] == merged.codes[j]) == (one == other)
        if one:
            written = merged.values[merged.codes[i]]
            same = [c for c, t in zip(cells, taken, strict=True) if t == one]
            assert same.count(written) == max(map(same.count, same))


def test_the_homogeneity_attack_sees_one_value():
    asked = plan()
    published = read_published(pa_frame(four("1", "1.0")), asked.columns)
    assert Homogeneity().run(published)["s"]["records"] == 4


def pa_frame(table):
    from shoal.io.frames import Frame

    return Frame(table)
