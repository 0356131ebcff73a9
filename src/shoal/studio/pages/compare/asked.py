"""What a comparison is asked for, and what one of its lines changes in the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.base.errors import BadPlan
from shoal.comparing.compare import serving, with_ks
from shoal.plan import Plan
from shoal.studio.requirements.fields import number_from, whole_from

LIMIT = 120  # seconds of one run, unless another number is given
USUAL = ("peel", "mondrian", "full-domain", "gaa")  # fast ones that differ in what they do


def own_k(plan: Plan) -> int | None:
    """The k of a plan; None: no requirement has one."""
    return max((one.hidden_among for one in plan.models if one.size_option), default=None)


def ticked(plan: Plan, found: dict[str, Any] | None) -> list[str]:
    """The algorithms that are ticked: those compared the last time; at first usual ones."""
    if found is not None and found["runs"]:
        return list(dict.fromkeys(_name(one) for one in found["runs"]))
    return [plan.algorithm.name, *(name for name in USUAL if name != plan.algorithm.name)]


def asked_of(plan: Plan, fields: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The arguments of `compare` that a form states."""
    typed = dict(fields)
    methods = [value for name, value in fields if name == "algorithm"]
    able = {one.name for one in serving(plan)} | {plan.algorithm.name}
    if not methods:
        raise BadPlan("choose at least one algorithm")
    if wrong := [name for name in methods if name not in able]:
        raise BadPlan(f"the algorithm {wrong[0]} does not support this plan; choose others")
    limit = typed.get("limit", "").strip()
    asked: dict[str, Any] = {
        "algorithms": methods,
        "losses": [value for name, value in fields if name == "loss"] or None,
        "limit": number_from("the longest time of a run", limit) if limit else float(LIMIT),
    }
    words = [one for one in typed.get("k", "").replace(";", ",").split(",") if one.strip()]
    if words:
        asked["k"] = [whole_from("k", one) for one in words]
    with_ks(plan, asked.get("k"))  # raises an error for a k that cannot be
    return asked


def with_line(plan: Plan, found: dict[str, Any] | None, place: str) -> Plan:
    """The plan with the algorithm, the loss and the k of a line of a comparison."""
    runs = [] if found is None else found["runs"]
    if not place.isdecimal() or int(place) >= len(runs):
        raise BadPlan("this line is not there any more; compare again")
    line = runs[int(place)]
    options = {name: value for name, value in line["options"].items() if value is not None}
    changed = with_ks(plan, line["k"])[line["k"]]
    loss = plan.loss if line["loss"] == plan.loss.name else line["loss"]
    return changed.changed(algorithm={"name": _name(line), **options}, loss=loss)


def ks_of(plan: Plan, found: dict[str, Any] | None) -> str:
    """The values of k in the form: those compared the last time with this plan, or its own."""
    ks = [] if found is None else sorted({one["k"] for one in found["runs"]})
    own = own_k(plan)
    return ", ".join(map(str, ks if own in ks else [own]))


def _name(line: dict[str, Any]) -> str:
    """The algorithm of a line: its label has options behind the name."""
    return str(line["algorithm"].partition(" ")[0])
