"""A plan for a table that is read in another way: decisions are kept as far as they fit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from shoal import Hierarchy, Plan
from shoal.flow.draft.draft import Examined, examine, plan_with_roles
from shoal.flow.draft.spellings import Stated
from shoal.flow.setup.kept_plan import kept_plan
from shoal.io.raw_text.spelling import Spelling
from shoal.io.reading import Reading

ROWS = 120


def looked_at(table: pa.Table, **stated) -> Examined:
    return examine(table, stated=Stated(**stated))


def people(**more: list) -> pa.Table:
    return pa.table(
        {
            "age": [20 + i % 50 for i in range(ROWS)],
            "job": [("cook", "nurse", "baker", "clerk")[i % 4] for i in range(ROWS)],
            "disease": [("flu", "gout", "cold")[i % 3] for i in range(ROWS)],
            **more,
        }
    )


def drafted(examined: Examined) -> Plan:
    return plan_with_roles(examined, examined.guesses)


def test_a_plan_that_fits_stays_as_it_is() -> None:
    examined = looked_at(people())
    plan = drafted(examined)
    kept = kept_plan(plan, examined)
    assert kept.is_same
    assert kept.plan.to_toml() == plan.to_toml()


def test_columns_that_are_new_are_proposed_and_lost_ones_go() -> None:
    plan = drafted(looked_at(people())).changed(
        models=[{"name": "k-anonymity", "k": 9},
                {"name": "distinct-l-diversity", "column": "disease", "l": 2}],
    )  # fmt: skip
    now = people(zip=[f"{47600 + i % 9}" for i in range(ROWS)]).drop_columns(["disease"])
    kept = kept_plan(plan, looked_at(now))
    assert (kept.new, kept.lost) == (["zip"], ["disease"])
    assert kept.models == ["distinct-l-diversity[disease]"]
    assert list(kept.plan.columns) == now.column_names
    assert [one.name for one in kept.plan.models] == ["k-anonymity"]
    assert kept.plan.models[0].options()["k"] == 9


def test_what_nobody_decided_follows_the_new_reading() -> None:
    """Dates that were texts get calendar steps; a role that was decided stays."""
    table = people(born=[f"{1 + i % 28:02}/{1 + i % 12:02}/{1950 + i % 40}" for i in range(ROWS)])
    wrong = looked_at(table, spellings={"born": Spelling()})
    before = drafted(wrong)
    assert before.columns["born"].hierarchy is None
    job = before.columns["job"].changed(role="other")
    plan = before.changed(columns={**before.columns, "job": job})
    right = looked_at(table, spellings={"born": Spelling(date_format="%d/%m/%Y")})
    kept = kept_plan(plan, right, before)
    assert kept.is_same
    assert kept.plan.columns["born"].date_format == "%d/%m/%Y"
    assert kept.plan.columns["born"].hierarchy is not None
    assert kept.plan.columns["job"].role == "other"
    without = kept_plan(plan, right)  # then the plan is what was decided
    assert without.plan.columns["born"] == before.columns["born"]


def test_a_hierarchy_that_knows_few_values_is_replaced() -> None:
    plan = drafted(looked_at(people()))
    jobs = Hierarchy.from_tree({"*": {"food": ["cook", "baker"], "other": ["nurse"]}})
    ages = Hierarchy.from_tree({"*": ["old", "young"]})
    columns = {
        **plan.columns,
        "job": plan.columns["job"].changed(hierarchy=jobs),
        "age": plan.columns["age"].changed(hierarchy=ages, at_most={"level": 0}, importance=3),
    }
    kept = kept_plan(plan.changed(columns=columns), looked_at(people()))
    assert (kept.hierarchies, kept.lacking) == (["age"], ["job"])
    assert kept.plan.columns["job"].hierarchy is jobs
    assert kept.plan.columns["age"].hierarchy.setting() == {"ranges": [5, 10, 20]}
    assert kept.plan.columns["age"].importance == 3
    assert kept.plan.columns["age"].at_most is None


def test_attackers_and_models_about_people_are_kept_as_far_as_they_fit() -> None:
    table = people(patient=[i // 2 for i in range(ROWS)])
    plan = drafted(looked_at(table)).changed(
        attackers=[{"knows": ["age"]}, {"knows": ["job"], "who": "employer"}],
        models=[{"name": "eir-l-diversity", "column": "disease", "l": 2}],
    )
    assert plan.columns["patient"].role == "person"
    now = people(sex=["fm"[i % 7 % 2] for i in range(ROWS)]).drop_columns(["age"])
    kept = kept_plan(plan, looked_at(now))
    assert kept.models == ["eir-l-diversity[disease]"]
    assert [(one.who, one.knows) for one in kept.plan.attackers] == [
        (None, ["sex"]), ("employer", ["job", "sex"])
    ]  # fmt: skip
    alike = plan.changed(attackers=[{"knows": ["age", "job"]}, {"knows": ["job"]}])
    (one,) = kept_plan(alike, looked_at(people().drop_columns(["age"]))).plan.attackers
    assert one.knows == ["job"]


def test_a_proposal_can_win() -> None:
    examined = looked_at(people())
    plan = drafted(examined)
    changed = plan.changed(columns={**plan.columns, "job": {"role": "drop"}})
    assert kept_plan(changed, examined).plan.columns["job"].role == "drop"
    assert kept_plan(changed, examined, proposed=["job"]).plan.columns["job"].role == "quasi"


def test_words_for_missing_follow_unless_they_were_decided() -> None:
    table = people(sex=["f", "?", "m"] * (ROWS // 3))
    first = looked_at(table, missing=[""])
    plan, examined = drafted(first), looked_at(table)
    assert kept_plan(plan, examined, plan).plan.missing_values == ["", "?"]
    decided = plan.changed(missing_values=["", "m"])
    assert kept_plan(decided, examined, plan).plan.missing_values == ["", "m"]


def test_how_the_file_is_read_is_stated(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(["größe;job", *["180;cook", "170;nurse"] * 60]).encode("latin-1"))
    plan = Plan(columns={"age": {"role": "quasi"}})
    kept = kept_plan(plan, examine(path, reading=Reading(delimiter=";")))
    assert kept.plan.read.stated() == {"encoding": "latin-1", "delimiter": ";"}


@pytest.mark.parametrize(
    ("stated", "distinct", "missing"),
    [
        ({}, 2, 40),  # 99 is a code
        ({"own_missing": {"age": []}}, 3, 0),
        ({"own_missing": {"age": ["31"]}}, 2, 40),
        ({"missing": ["31"], "own_missing": {"age": ["99"]}}, 2, 40),  # instead, as in a plan
    ],
)
def test_stated_words_for_missing_are_used(stated: dict, distinct: int, missing: int) -> None:
    table = pa.table({"age": ["31", "35", "99"] * 40, "sex": ["f", "m"] * 60})
    facts = looked_at(table, **stated).facts["age"]
    assert (facts.distinct, facts.rows - facts.filled) == (distinct, missing)


def test_what_a_plan_does_not_state_is_not_read_in_another_way() -> None:
    table = pa.table({"rent": [f"{i % 7 + 1}.{i % 9}00,50" for i in range(ROWS)]})
    found = looked_at(table)
    assert found.facts["rent"].numbers is not None
    plan = drafted(found)
    plain = plan.changed(columns={"rent": {"role": "quasi"}})
    as_text = examine(table, stated=Stated.in_plan(plain))
    assert as_text.facts["rent"].numbers is None
    assert as_text.detected["rent"].readings == (Spelling(",", "."),)
    again = examine(table, stated=Stated.in_plan(plan))
    assert again.facts["rent"].numbers is not None
    hidden = plan.changed(columns={"rent": {"role": "drop"}})
    assert examine(table, stated=Stated.in_plan(hidden)).facts["rent"].numbers is not None
