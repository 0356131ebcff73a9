"""What differs between plans."""

from __future__ import annotations

from typing import Any

from shoal import Plan
from shoal.plan.differences import Difference, differences


def plan(**changed: Any) -> Plan:
    given: dict[str, Any] = {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}},
            "job": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "models": [{"name": "k-anonymity", "k": 5}],
    }
    return Plan(**{**given, **changed})


def test_equal_plans_do_not_differ() -> None:
    assert differences([plan(), plan()]) == []
    assert differences([plan()]) == []


def test_every_part_of_a_plan_is_compared() -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}, "importance": 2},
               "job": {"role": "drop"}, "ill": {"role": "sensitive"}}  # fmt: skip
    other = plan(
        columns=columns,
        models=[{"name": "k-anonymity", "k": 7},
                {"name": "distinct-l-diversity", "column": "ill", "l": 2}],
        algorithm={"name": "gaa", "strategy": "S2"}, loss="ncp", seed=3, suppression=0.1,
        limits={"highest_risk": 0.2}, about={"owner": "Clinic"}, read={"encoding": "latin-1"},
    )  # fmt: skip
    found = {" ".join(one.what): one.values for one in differences([plan(), other])}
    assert found == {
        "loss name": ('"nllm"', '"ncp"'),
        "algorithm name": ('"peel"', '"gaa"'),
        "algorithm strategy": (None, '"S2"'),
        "seed": (None, "3"),
        "suppression": (None, "0.1"),
        "about owner": (None, '"Clinic"'),
        "limits highest_risk": (None, "0.2"),
        "read encoding": (None, '"latin-1"'),
        "columns age hierarchy": ("{ ranges = [5, 10] }", "{ ranges = [5, 20] }"),
        "columns age importance": (None, "2"),
        "columns job role": ('"quasi"', '"drop"'),
        "models k-anonymity k": ("5", "7"),
        "models distinct-l-diversity[ill]": (None, "true"),
        "models distinct-l-diversity[ill] l": (None, "2"),
    }


def test_two_models_of_one_kind_are_compared_one_by_one() -> None:
    def with_l(*numbers: int) -> Plan:
        return plan(models=[{"name": "distinct-l-diversity", "column": "ill", "l": n}
                            for n in numbers])  # fmt: skip

    assert differences([with_l(2, 3), with_l(2, 4)]) == [
        Difference(("models", "distinct-l-diversity[ill] (2)", "l"), ("3", "4"))
    ]


def test_long_values_that_begin_alike_look_different() -> None:
    def grouped(last: str) -> Plan:
        rows = [[f"job {i}", "some", "*"] for i in range(50)] + [["x", last, "*"]]
        return plan(columns={"job": {"role": "quasi", "hierarchy": {"levels": rows}}}, models=[])

    ((what, (one, other)),) = differences([grouped("a"), grouped("b")])
    assert what == ("columns", "job", "hierarchy")
    assert one is not None
    assert other is not None
    assert one != other
    assert len(one) < 100
