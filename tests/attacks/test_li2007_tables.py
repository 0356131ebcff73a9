"""The attacks find the people of the slides, and nobody in table 5."""

from __future__ import annotations

import pytest

from shoal import BadPlan, catalog
from shoal.attacks.background_knowledge import BackgroundKnowledge
from shoal.attacks.homogeneity import Homogeneity
from shoal.attacks.similarity import Similarity
from shoal.attacks.skewness import Skewness
from tests.attacks.tables import COLUMNS, FIRST, ROWS_4, TABLE_2, TABLE_4, TABLE_5, VIRUS, published

SENSITIVE = ["homogeneity", "background-knowledge", "skewness", "similarity"]


def caught(attack, table, column):
    """The rows whose class the attack finds."""
    victims = attack.victims(table.classes.histograms[column])
    return [row for row, label in enumerate(table.classes.label) if victims[label]]


def test_homogeneity_finds_bob():
    assert caught(Homogeneity(), TABLE_2, "disease") == [0, 1, 2]
    found = Homogeneity().run(TABLE_2)
    assert found == {"disease": {"classes": 1, "records": 3, "percent": pytest.approx(100 / 3)}}


def test_background_knowledge_finds_carl():
    assert caught(BackgroundKnowledge(), TABLE_2, "disease") == [0, 1, 2, 6, 7, 8]
    assert caught(BackgroundKnowledge(knows=0), TABLE_2, "disease") == [0, 1, 2]
    assert BackgroundKnowledge().run(TABLE_2)["disease"] == {
        "classes": 2,
        "records": 6,
        "percent": pytest.approx(200 / 3),
        "fewest_to_rule_out": 0,
        "records_with_none_to_rule_out": 3,
        "records_with_one_to_rule_out": 3,
    }


def test_similarity_finds_bobs_class():
    assert caught(Similarity(), TABLE_4, "disease") == [0, 1, 2]  # stomach
    assert caught(Similarity(), TABLE_4, "salary") == [0, 1, 2]  # 3 to 5 among 3 to 11
    found = Similarity().run(TABLE_4)
    assert found["disease"]["judged_by"] == "hierarchy"
    assert found["disease"]["records_in_one_branch"] == 3
    assert found["salary"]["judged_by"] == "numbers"
    assert found["salary"]["records_in_a_narrow_range"] == 3


def test_skewness_finds_the_classes_of_the_virus_table():
    assert caught(Skewness(), VIRUS, "disease") == [4, 5, 6, 7, 8, 9, 10, 11]
    found = Skewness().run(VIRUS)["disease"]
    assert found["classes"] == 2
    assert found["records"] == 8
    assert found["value"] == "positive"
    assert found["belief_before"] == 0.01
    assert found["belief_after"] == 0.75
    assert found["gain"] == pytest.approx(0.74)
    assert found["ratio"] == pytest.approx(75)
    assert found["class_records"] == 4


def test_a_class_without_the_virus_is_a_finding_of_homogeneity():
    assert caught(Homogeneity(), VIRUS, "disease") == [0, 1, 2, 3]
    assert caught(Skewness(gain=0.005), VIRUS, "disease")[:4] == [0, 1, 2, 3]  # 0.99 to 1


@pytest.mark.parametrize("name", SENSITIVE)
def test_nobody_is_found_in_table_5(name):
    found = catalog.attacks[name]().run(TABLE_5)
    assert set(found) == {"salary", "disease"}
    for column in found.values():
        assert column["classes"] == column["records"] == column["percent"] == 0


def test_the_gain_in_table_5_is_reported_as_well():
    found = Skewness().run(TABLE_5)["disease"]
    assert found["belief_before"] == pytest.approx(1 / 9)
    assert found["belief_after"] == pytest.approx(1 / 3)
    assert found["value"] == "flu"  # of equal ones the first by its text
    assert caught(Skewness(belief=0), TABLE_5, "disease") == [0, 1, 2, 3, 4, 5]  # 1/9 to 1/3


def test_without_a_sensitive_column_there_is_nothing_to_find():
    columns = {name: column for name, column in COLUMNS.items() if column.role == "quasi"}
    table = published([(row[0],) for row in ROWS_4], columns)
    for name in SENSITIVE:
        assert catalog.attacks[name]().run(table) == {}


def test_texts_without_a_hierarchy_cannot_be_judged_for_similarity():
    table = published([(place, f"{salary}K", disease) for place, salary, disease in ROWS_4])
    assert Similarity().run(table)["salary"] == {
        "classes": None,
        "records": None,
        "percent": None,
        "judged_by": "nothing",
    }


def test_one_branch_below_a_root_with_a_single_child_reveals_nothing():
    columns = COLUMNS | {
        "disease": COLUMNS["disease"].model_copy(
            update={
                "hierarchy": type(COLUMNS["disease"].hierarchy)(
                    {"*": {"ill": {"a": ["x", "y"], "b": ["z"]}}}
                )
            }
        )
    }
    rows = [(FIRST, 1, "x"), (FIRST, 2, "z"), (("4", "4"), 3, "y"), (("4", "4"), 4, "x")]
    assert caught(Similarity(), published(rows, columns), "disease") == [2, 3]
    missing = [*rows, (("5", "5"), 5, None)]  # under the root, where it makes nobody alike
    assert caught(Similarity(), published(missing, columns), "disease") == [2, 3]


def test_one_outlier_does_not_make_the_others_alike():
    rows = [(FIRST, s, "flu") for s in (10, 20, 90)] + [(("4", "4"), s, "flu") for s in (50, 10**6)]
    assert caught(Similarity(), published(rows), "salary") == []


def test_ranks_alone_do_not_make_numbers_alike():
    far = [(FIRST, 3, "flu"), (FIRST, 10**6, "flu")]
    rows = far + [(("4", "4"), s, "flu") for s in (1, 2, 10**6 + 1, 10**6 + 2, 10**6 + 3)]
    assert caught(Similarity(), published(rows), "salary") == []


@pytest.mark.parametrize("values", [[True, False], ["1", "x"], ["nan", "1"], ["inf", "1"]])
def test_what_is_no_number_is_not_judged_as_one(values):
    rows = [(FIRST, value, "flu") for value in values]
    assert Similarity().run(published(rows))["salary"]["judged_by"] == "nothing"


def test_numbers_may_be_texts_huge_or_equal():
    rows = [(FIRST, "1", "flu"), (FIRST, "1.0", "flu")]
    assert Similarity().run(published(rows))["salary"]["records"] == 0
    rows = [(FIRST, -1e308, "flu"), (FIRST, 1e308, "flu"), (("4", "4"), None, "flu")]
    assert Similarity().run(published(rows))["salary"]["judged_by"] == "numbers"


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("skewness", {"gain": 1.5}, "skewness needs gain from 0 to 1, got gain=1.5"),
        ("skewness", {"belief": float("nan")}, "from 0 to 1, got belief=nan"),
        ("similarity", {"narrow": -1}, "similarity needs narrow from 0 to 1"),
        ("background-knowledge", {"knows": -1}, "needs knows of 0 or more, got knows=-1"),
    ],
)
def test_options_that_make_no_sense(name, options, said):
    with pytest.raises(BadPlan, match=said):
        catalog.attacks[name](**options)
