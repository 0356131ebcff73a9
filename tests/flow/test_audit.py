"""Audits: a table as it is, and a release against its original."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, BadTable, Plan
from shoal.io.frames import open_frame, write
from shoal.models.k_anonymity import KAnonymity

TABLE = pa.table({"sex": ["f", "f", "f", "m"], "zip": ["1", "1", None, None], "d": [1, 2, 3, 4]})
PLAN = Plan(columns={"sex": "quasi", "zip": "quasi", "d": "sensitive"}, models=[KAnonymity(k=2)])


def test_a_table_as_it_is():
    audit = shoal.audit(TABLE, PLAN)
    assert audit.rows == audit.people == 4
    assert audit.classes == 3
    assert audit.smallest_class == 1
    assert audit.levels == {"k-anonymity": 1}
    assert not audit.holds
    assert audit.risks.prosecutor == 1
    assert audit.risks.average == pytest.approx((1 / 2 + 1 / 2 + 1 + 1) / 4)  # over records
    assert audit.risks.unique == pytest.approx(2 / 4)
    assert audit.attacks["linkage"]["singled_out"] == 2


def test_without_models_a_standard_set_is_measured():
    audit = shoal.audit(TABLE, PLAN.changed(models=[]))
    assert audit.levels == {"k-anonymity": 1}
    assert audit.checks == []


def test_people_are_counted_where_there_are_persons():
    table = TABLE.append_column("who", pa.array(["a", "a", "b", None]))
    plan = PLAN.changed(columns={**PLAN.columns, "who": "person"})
    audit = shoal.audit(table, plan)
    assert audit.people == 3  # a row without a person is a person of its own
    assert audit.smallest_class == 1
    assert audit.risks.unique == 1  # the class of two rows is one person's


def test_identifiers_may_be_gone_but_no_column_may_be_unknown():
    plan = PLAN.changed(columns={**PLAN.columns, "name": "identifier"})
    assert shoal.audit(TABLE, plan).rows == 4
    with pytest.raises(BadTable, match="not mention the columns 'x'"):
        shoal.audit(TABLE.append_column("x", pa.array([1, 2, 3, 4])), plan)
    with pytest.raises(BadTable, match="lacks the quasi-identifiers 'zip'"):
        shoal.audit(TABLE.drop_columns(["zip"]), plan)
    with pytest.raises(BadTable, match="no rows"):
        shoal.audit(TABLE.slice(0, 0), plan)


def test_against_its_original():
    release = shoal.anonymize(TABLE, PLAN)
    audit = shoal.audit(release.frame, PLAN, original=TABLE)
    assert audit.holds
    assert audit.quality.losses == pytest.approx(release.losses)
    assert audit.quality.generalized_percent == release.quality.generalized_percent
    with pytest.raises(BadTable, match="do not belong together"):
        shoal.audit(TABLE, PLAN, original=TABLE.slice(0, 2))
    other = pa.table({"sex": ["x", "x"], "zip": ["1", "1"], "d": [1, 1]})
    with pytest.raises(BadTable, match="column 'sex' publishes 'x'"):
        shoal.audit(other, PLAN, original=TABLE)


def test_suppressed_records_count_as_lost():
    left_out = pa.table({"sex": ["f", "f"], "zip": ["1", "1"], "d": [1, 2]})
    audit = shoal.audit(left_out, PLAN, original=TABLE)
    assert audit.quality.losses["ncp"] == pytest.approx(50)
    assert audit.quality.root_percent == pytest.approx(50)


def test_row_order_does_not_matter():
    turned = TABLE.take([3, 1, 0, 2])
    assert shoal.audit(turned, PLAN).as_dict() == shoal.audit(TABLE, PLAN).as_dict()


def test_a_population_lowers_the_journalist_risk():
    plan = Plan(columns={"sex": "quasi", "d": "sensitive"}, models=[KAnonymity(k=2)])
    table = pa.table({"sex": ["f", "f", "m", "m"], "d": [1, 2, 3, 4]})
    people = pa.table({"sex": ["f"] * 10 + ["m"] * 20, "name": ["x"] * 30})
    audit = shoal.audit(table, plan, population=people)
    assert audit.risks.prosecutor == 0.5
    assert audit.risks.journalist == pytest.approx(1 / 10)
    assert shoal.audit(table, plan).risks.journalist is None
    with pytest.raises(BadTable, match="lacks the quasi-identifiers 'sex'"):
        shoal.audit(table, plan, population=people.drop_columns(["sex"]))


def test_the_original_as_the_population_of_a_release_without_person_numbers():
    rows = {"who": ["a", "a", "b", "c", "d", "d"], "age": [31, 31, 31, 52, 52, 52]}
    columns = {"who": {"role": "person", "publish": False}, "age": "quasi"}
    plan = Plan(columns=columns, models=[KAnonymity(k=2)], seed=1)
    released = shoal.anonymize(pa.table(rows), plan).frame
    audit = shoal.audit(released, plan, population=pa.table(rows))
    assert audit.risks.journalist == 1 / 2  # two people, though three records


def test_a_population_of_people_with_several_rows():
    plan = Plan(
        columns={"who": "person", "age": {"role": "quasi", "hierarchy": {"ranges": [10]}}},
        models=[{"name": "k-anonymity", "k": 2}],
    )
    release = pa.table(
        {"who": [0, 1, 2, 3], "age": ["[30, 40)", "[30, 40)", "[40, 50)", "[40, 50)"]}
    )
    everybody = pa.table({"who": ["a", "b", "c", "d"] * 10, "age": ["31", "32", "41", "42"] * 10})
    audit = shoal.audit(release, plan, population=everybody)
    assert audit.risks.journalist == 0.5
    assert audit.record_risks().tolist() == [0.5] * 4


def test_two_models_of_the_same_name_are_distinguished():
    plan = Plan(
        columns={"age": "quasi"},
        models=[{"name": "k-anonymity", "k": 4}, {"name": "k-anonymity", "k": 2}],
    )
    audit = shoal.audit(pa.table({"age": ["31", "31", "31"]}), plan)
    assert audit.levels == {"k-anonymity": 3, "k-anonymity #2": 3}
    assert [check.holds for check in audit.checks] == [False, True]


def test_a_table_that_still_names_people():
    plan = Plan(columns={"name": "identifier", "age": "quasi"}, models=[])
    audit = shoal.audit(pa.table({"name": ["Ann"], "age": ["31"]}), plan)
    assert any("contains the identifiers 'name'" in note for note in audit.notes)


def test_a_table_that_still_has_a_dropped_column():
    plan = Plan(columns={"line": "drop", "age": "quasi"}, models=[])
    notes = shoal.audit(pa.table({"line": ["7"], "age": ["31"]}), plan).notes
    assert "the table contains the columns 'line', which the plan drops" in notes
    assert not any("identifiers" in note for note in notes)
    assert shoal.audit(pa.table({"age": ["31"]}), plan).notes == []


def test_the_risk_of_a_row_that_could_be_several_people_s():
    plan = Plan(
        columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}},
        models=[{"name": "k-concealment", "k": 2}],
    )
    original = pa.table({"age": ["31", "32", "33"]})
    release = pa.table({"age": ["[30, 40)", "[30, 40)", "33"]})
    audit = shoal.audit(release, plan, original=original)
    assert audit.record_risks().tolist() == [0.5, 0.5, 1.0]
    assert not audit.holds


def test_the_risk_of_rows_is_no_less_than_that_of_people():
    """Rows that could be several people's are not equally likely to be each one's."""
    rng = np.random.default_rng(3)
    table = pa.table({"age": rng.integers(20, 40, 30), "sex": rng.choice(["f", "m"], 30)})
    plan = Plan(
        columns={"age": {"role": "quasi", "hierarchy": {"ranges": [2, 4, 8]}}, "sex": "quasi"},
        models=[{"name": "k-concealment", "k": 3}],
        algorithm="concealment",
        seed=1,
    )
    release = shoal.anonymize(table, plan)
    audit = shoal.audit(release.frame, plan, original=table)
    error = audit.attacks["matching"]["error"]
    assert audit.record_risks().max() >= audit.risks.prosecutor - 6 * error - 0.02
    assert audit.record_risks().max() > 1 / 3


def test_sensitive_values_mean_two_things():
    plan = Plan(
        columns={"age": "quasi", "disease": "sensitive"},
        models=[
            {"name": "k-anonymity", "k": 2},
            {"name": "k-concealment", "k": 2},
            {"name": "distinct-l-diversity", "column": "disease", "l": 2},
        ],
    )
    table = pa.table({"age": ["31", "31"], "disease": ["flu", "cold"]})
    with pytest.raises(BadPlan, match="two plans"):
        shoal.audit(table, plan, original=table)


@pytest.mark.parametrize("hierarchy", [None, {"free_sets": True}])
@pytest.mark.parametrize(
    "values",
    [
        pa.array([True, True, False, False, True, True]),
        pa.array([0.1, 0.1, 16777216, 16777216, 3e-5, 3e-5], pa.float32()),
        pa.array([0.1, 0.1, 1e22, 1e22, 3e-5, 3e-5], pa.float64()),
    ],
)
def test_a_release_in_text_reads_as_its_original_in_types(values, hierarchy, tmp_path):
    """A text file says true and 0.1, where Python has True and the float next to 0.1."""
    table = pa.table({"q": values, "s": values})
    columns = {"q": {"role": "quasi", "hierarchy": hierarchy}, "s": "sensitive"}
    for k in (2, 6):
        plan = Plan(columns=columns, models=[KAnonymity(k=k)], algorithm="agglomerative")
        release = shoal.anonymize(table, plan)
        release.save(tmp_path / "release.csv")
        found = shoal.audit(tmp_path / "release.csv", plan, original=table)
        assert found.quality.losses == pytest.approx(release.losses)
        told, read = release.as_dict()["utility"]["queries"], found.utility.answers.as_dict()
        assert read == pytest.approx(told)
        assert not [note for note in found.notes if "other values" in note]
        # and the other way round: an original in text, a release in types
        write(open_frame(table), tmp_path / "original.csv")
        other = shoal.audit(release.frame, plan, original=tmp_path / "original.csv")
        assert other.quality.losses == pytest.approx(release.losses)
