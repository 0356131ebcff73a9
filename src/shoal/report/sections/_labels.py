"""Labels that several sections share."""

from __future__ import annotations

from shoal.base.wording import listed, short
from shoal.report.facts import Facts

DESCRIBED = 12  # quasi-identifiers that are shown of a class
DETAILED = 8  # unchanged columns of which all is said


def on(name: str, column: str | None) -> str:
    """A model or attack, with the column that it is about."""
    return name if column is None else f"{name}, on {short(column)}"


def detailed_columns(facts: Facts) -> list[str]:
    """The sensitive and other columns of which all is said: those that attackers find most in."""
    names = [*facts.columns_with_role("sensitive"), *facts.columns_with_role("other")]
    if len(names) <= DETAILED:
        return names
    first = dict.fromkeys(one.column for one in facts.findings if one.column in names)
    return [name for name in [*first, *names] if name is not None][:DETAILED]


def left_out(facts: Facts, names: list[str]) -> str:
    """Which of these columns are not among them; empty: all are."""
    shown = detailed_columns(facts)
    rest = [name for name in names if name not in shown]
    if not rest:
        return ""
    return f"Not shown, as attackers find less in them: {listed(rest)}. The JSON file has all."
