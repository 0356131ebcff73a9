"""Changes of columns: roles with what goes with them, and their settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal import Plan
from shoal.base.errors import BadPlan, ShoalError
from shoal.base.progress import silent
from shoal.studio.columns.changes import number_in, with_roles, with_settings, with_suppression
from shoal.studio.columns.lines import line_of, version_of
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import Overview, run
from shoal.studio.tasks.rank import Ranked, Singled


@pytest.fixture(scope="module")
def overview(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    path = tmp_path_factory.mktemp("table") / "people.csv"
    rows = [
        f"P{i // 2:04},{20 + i % 50},{1 + i % 27:02}.{1 + i % 12:02}.{1960 + i % 30},"
        f"{('cook', 'nurse', 'clerk')[i % 3]},{('flu', 'gout')[i % 7 % 2]}"
        for i in range(300)
    ]
    path.write_text("\n".join(["patient,age,born,job,disease", *rows]), encoding="utf-8")
    return run(Held(), silent, source={"kind": "file", "path": str(path)}, reading={})  # fmt: skip


@pytest.fixture
def plan(overview: Overview, tmp_path: Path) -> Plan:
    path = tmp_path / "plan.toml"
    path.write_text(overview.plan, encoding="utf-8")
    plan = Plan.load(path)
    roles = {name: one.role for name, one in plan.columns.items()}
    assert roles == {"patient": "person", "age": "quasi", "born": "quasi", "job": "quasi",
                     "disease": "sensitive"}  # fmt: skip
    return plan


def place(overview: Overview, name: str) -> int:
    return [one.name for one in overview.columns].index(name)


def changed(plan: Plan, overview: Overview, name: str, role: str):
    return with_roles(plan, overview.columns, [place(overview, name)], role)


def test_a_quasi_identifier_comes_back_with_what_it_needs(plan: Plan, overview: Overview) -> None:
    hidden = changed(plan, overview, "born", "drop").plan
    bare = hidden.changed(columns={**hidden.columns, "born": {"role": "drop"}})
    again = changed(bare, overview, "born", "quasi").plan.columns["born"]
    assert again.date_format == "%d.%m.%Y"
    assert again.hierarchy is not None
    assert again.hierarchy.setting() == {"dates": ["month", "year", "5 years", "decade"]}


def test_limits_go_with_the_role(plan: Plan, overview: Overview) -> None:
    limited = with_settings(plan, "age", {"importance": "3", "at_most": "width", "amount": "10"})
    assert limited.columns["age"].importance == 3
    other = changed(limited, overview, "age", "other").plan.columns["age"]
    assert (other.importance, other.at_most) == (1.0, None)


def test_requirements_about_a_column_go_with_it(plan: Plan, overview: Overview) -> None:
    asked = plan.changed(
        models=[{"name": "k-anonymity", "k": 3},
                {"name": "distinct-l-diversity", "column": "disease", "l": 2}]
    )  # fmt: skip
    made = changed(asked, overview, "disease", "other")
    assert made.models == ("distinct-l-diversity[disease]",)
    assert [one.name for one in made.plan.models] == ["k-anonymity"]


def test_there_is_one_person_column(plan: Plan, overview: Overview) -> None:
    made = changed(plan, overview, "job", "person")
    assert (made.before, made.role) == ("patient", "person")
    assert made.plan.columns["patient"].role == "identifier"
    with pytest.raises(BadPlan, match="one person column"):
        with_roles(plan, overview.columns, [1, 3], "person")


@pytest.mark.parametrize(("role", "becomes"), [("household", "identifier"), ("weight", "drop")])
def test_a_second_household_or_weight_column_takes_the_place_of_the_first(
    plan: Plan, overview: Overview, role: str, becomes: str
) -> None:
    first = changed(plan, overview, "job", role)
    assert not first.before
    apart = {"publish": "apart"} if role == "household" else {"publish": "no"}
    second = changed(with_settings(first.plan, "job", apart), overview, "born", role)
    assert (second.before, second.role) == ("job", role)
    assert (second.plan.columns["job"].role, second.plan.columns["born"].role) == (becomes, role)
    with pytest.raises(BadPlan, match=f"one {role} column"):
        with_roles(plan, overview.columns, [1, 3], role)


def test_attackers_know_new_quasi_identifiers(plan: Plan, overview: Overview) -> None:
    asked = plan.changed(attackers=[{"knows": ["age", "job"]}, {"knows": ["born"], "who": "x"}])
    less = changed(asked, overview, "born", "drop").plan
    assert [one.knows for one in less.attackers] == [["age", "job"]]
    more = changed(less, overview, "born", "quasi").plan
    assert [one.knows for one in more.attackers] == [["age", "born", "job"]]


def test_several_columns_at_once(plan: Plan, overview: Overview) -> None:
    made = with_roles(plan, overview.columns, range(5), "drop").plan
    assert {one.role for one in made.columns.values()} == {"drop"}


@pytest.mark.parametrize("role", ["king", "", "Quasi"])
def test_unknown_roles_are_refused(plan: Plan, overview: Overview, role: str) -> None:
    with pytest.raises(BadPlan, match="there is no role"):
        changed(plan, overview, "age", role)


@pytest.mark.parametrize(
    ("name", "form", "said"),
    [
        ("age", {"importance": "0"}, "importance"),
        ("age", {"importance": "much"}, "is a number such as 2 or 0.5, got 'much'"),
        ("age", {"importance": "1e99"}, "is a number"),
        ("age", {"importance": "nan"}, "is a number"),
        ("age", {"at_most": "level", "amount": "1.5"}, "whole number"),
        ("age", {"at_most": "level", "amount": ""}, "the number of steps is a number"),
        ("age", {"at_most": "width", "amount": "-1"}, "above 0"),
        ("age", {"at_most": "sideways"}, "choose one of the limits"),
        ("job", {"at_most": "width", "amount": "3"}, "use at_most = 'exact'"),
        ("disease", {"importance": "2"}, "only with the role quasi"),
        ("age", {"publish": "no"}, "only with the roles person"),
        ("age", {"accept": "yes"}, "accept is for columns of the role other"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_say_why(plan: Plan, name: str, form: dict, said: str) -> None:
    with pytest.raises(ShoalError, match=said):
        with_settings(plan, name, form)


def test_settings_as_a_form_has_them(plan: Plan, overview: Overview) -> None:
    made = with_settings(plan, "age", {"importance": "2,5", "at_most": "level", "amount": "2"})
    assert made.columns["age"].importance == 2.5
    assert made.columns["age"].at_most.setting() == {"level": 2}
    assert with_settings(made, "age", {"at_most": ""}).columns["age"].at_most is None
    exact = with_settings(made, "age", {"at_most": "exact", "amount": "7"})
    assert exact.columns["age"].at_most.setting() == "exact"
    other = changed(plan, overview, "job", "other").plan
    accepted = with_settings(other, "job", {"accept": "yes"})
    assert accepted.accept == ["job"]
    assert with_settings(accepted, "job", {"accept": "yes"}).accept == ["job"]
    assert with_settings(accepted, "job", {"accept": "no"}).accept == []
    counted = with_settings(plan, "patient", {"publish": "no"})
    assert not counted.columns["patient"].publish


def test_a_share_is_given_in_percent(plan: Plan) -> None:
    assert with_suppression(plan, "2,5").suppression == 0.025
    for bad in ("101", "-1", "x"):
        with pytest.raises(ShoalError):
            with_suppression(plan, bad)
    assert number_in(" 7 ", "it") == 7


def test_a_line_knows_what_follows_from_what(plan: Plan, overview: Overview) -> None:
    other = changed(plan, overview, "job", "other").plan
    ranked = Ranked(150, 150, 7, {"job": Singled(66.0, 0, None, 9)}, {"job": [("age", False)]})
    line = line_of(other, overview.columns, place(overview, "job"), ranked)
    assert (line.follows, line.reveals, line.singled.together) == ((("age", False),), ("age",), 9)
    age = line_of(other, overview.columns, place(overview, "age"), ranked)
    assert (age.gives, age.reveals) == (("job",), ())
    assert line.version != line_of(plan, overview.columns, 3, ranked).version
    assert line.version == version_of("job", other.columns["job"], False)


def test_a_line_offers_the_limits_that_its_hierarchy_has(plan: Plan, overview: Overview) -> None:
    age = line_of(plan, overview.columns, place(overview, "age"), None)
    assert (age.has_levels, bool(age.width_unit), age.at_most) == (True, True, ("", ""))
    job = line_of(plan, overview.columns, place(overview, "job"), None)
    assert (job.has_levels, job.width_unit) == (False, "")
    limited = with_settings(plan, "age", {"at_most": "width", "amount": "10"})
    assert line_of(limited, overview.columns, 1, None).at_most == ("width", 10)


def test_the_members_of_a_household(plan: Plan, overview: Overview) -> None:
    """Together or each by itself; what only households allow goes with them."""
    housed = changed(plan, overview, "patient", "household").plan
    housed = housed.changed(
        columns={**housed.columns, "job": {"role": "quasi", "of_household": True}}
    )
    assert housed.columns["patient"].together
    apart = with_settings(housed, "patient", {"publish": "apart"})
    assert (apart.columns["patient"].publish, apart.columns["patient"].together) == (False, False)
    asked = apart.changed(models=[*apart.models, {"name": "household-k-anonymity", "k": 3}])
    with pytest.raises(BadPlan, match="nothing hides how many members"):
        with_settings(asked, "patient", {"publish": "yes"})
    together = with_settings(apart, "patient", {"publish": "no"}).columns["patient"]
    assert (together.publish, together.together) == (False, True)
    made = changed(asked, overview, "patient", "drop")
    assert made.models == ("household-k-anonymity",)
    assert made.plan.columns["patient"].together
    assert not made.plan.columns["job"].of_household
