"""Check that a file can be written as `[write]` asks, and be read by the same plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.base.errors import did_you_mean
from shoal.table.roles import columns_with_role, not_published
from shoal.table.written.ranges import bound_names

if TYPE_CHECKING:
    from shoal.plan.plan import Plan


def check_written(plan: Plan) -> None:
    """Raise an error for ranges and names that could not be read back as what they were."""
    if plan.write.names:
        _check_names(plan)
    if plan.write.ranges == "midpoint":
        _check_midpoints(plan)
    elif plan.write.ranges == "bounds":
        _check_bounds(plan)


def _check_names(plan: Plan) -> None:
    """New names are of published columns, and no other column has them."""
    if not plan.read.header:
        raise ValueError(
            "cannot have names under [write] with header = false under [read]: the file has no "
            "names"
        )
    dropped = not_published(plan.columns)
    for name, new in plan.write.names.items():
        if name not in plan.columns:
            raise ValueError(
                f"has a name for {name!r} under [write], which is no column of the plan"
                f"{did_you_mean(name, list(plan.columns))}"
            )
        if name in dropped:
            raise ValueError(
                f"has a name for {name!r} under [write], which is not published; remove it there"
            )
        known = [one for one in plan.columns if one != name]
        bounds = set(bound_names(new)) if plan.write.ranges == "bounds" else set()
        if new in known or bounds & set(known) or any(new in bound_names(one) for one in known):
            raise ValueError(
                f"names {name!r} {new!r} under [write], which is another column of the plan or its "
                "bound: the same plan could not tell them apart; choose another name"
            )
    _check_apart(plan)


def _check_apart(plan: Plan) -> None:
    """New names are those of one column each, also of its bounds."""
    dropped = not_published(plan.columns)
    columns: dict[str, str] = {}  # by their names in the file
    for name, column in plan.columns.items():
        if name in dropped:
            continue
        new = plan.write.names.get(name, name)
        ends = column.hierarchy.has_ends if column.hierarchy else plan.algorithm.is_auto
        bounds = plan.write.ranges == "bounds" and column.role == "quasi" and ends
        bounds = bounds and column.microaggregate is None
        for one in bound_names(new) if bounds else [new]:
            other = columns.setdefault(one, name)
            if other != name:
                raise ValueError(
                    f"would write {name!r} and {other!r} to columns of the same name {one!r}, by "
                    "names and ranges = 'bounds' under [write]; choose another name"
                )


def _check_midpoints(plan: Plan) -> None:
    spelled = [n for n, one in plan.columns.items() if one.spelling and one.thousands == "."]
    if spelled:
        raise ValueError(
            "cannot have ranges = 'midpoint' under [write] with thousands = '.' (column "
            f"{spelled[0]!r}): the same plan could not tell a midpoint 1.234 from 1234; choose "
            "'label' or 'bounds'"
        )
    if plan.linked:
        model = next(model.name for model in plan.models if model.linkage)
        raise ValueError(
            f"cannot have ranges = 'midpoint' under [write] with {model}, which compares the "
            "ranges with the original; choose 'label' or 'bounds'"
        )


def _check_bounds(plan: Plan) -> None:
    """Columns of bounds are known by their names, which no other column may have."""
    if not plan.read.header:
        raise ValueError(
            "cannot have ranges = 'bounds' under [write] with header = false under [read]: "
            "the columns of bounds are known by their names"
        )
    for name in columns_with_role(plan.columns, "quasi"):
        used = [new for new in bound_names(name) if new in plan.columns]
        hierarchy = plan.columns[name].hierarchy
        if plan.columns[name].microaggregate is not None:
            continue
        if used and (hierarchy.has_ends if hierarchy else plan.algorithm.is_auto):
            raise ValueError(
                f"has a column {used[0]!r}, which is the name of a bound of {name!r} with "
                "ranges = 'bounds' under [write]; rename it, or choose 'label'"
            )
