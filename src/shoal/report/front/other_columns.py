"""What the other published columns do to the highest risk: said next to it, on page one."""

from __future__ import annotations

from shoal.base.wording import many, percent
from shoal.measures.breakdowns.dependencies import Dependencies
from shoal.report.facts import Facts


def with_other_columns(facts: Facts) -> str:
    """The fewest people left if the other columns are used too, or that they are the same.

    Columns are read together with the quasi-identifiers: what is learned from the release itself,
    and what is known from elsewhere. Empty: no other column is published.
    """
    found = facts.dependency
    unchanged = [*facts.columns_with_role("sensitive"), *facts.unchanged]
    if not unchanged:
        return ""
    if found.fewest is None:
        return "Whether the other published columns leave fewer people was not measured."
    said = [_left(found, found.fewest, facts.smallest)]
    if found.unknown:
        said.append(f"That does not account for {many(len(found.unknown), 'unmeasured column')}.")
    return " ".join(said)


def lowers(facts: Facts) -> bool:
    """Whether the other columns leave somebody among fewer people than the class has."""
    fewest = fewest_left(facts)
    return fewest is not None and fewest < (facts.dependency.k or facts.smallest)


def fewest_left(facts: Facts) -> int | None:
    """The fewest people left to either attacker, up to what is required; None: not measured."""
    found = facts.dependency
    known = [n for n in (found.fewest, found.fewest_if_known) if n is not None]
    return min(known, default=None)


def _left(found: Dependencies, fewest: int, smallest: int) -> str:
    """For the attacker who has the release alone, and for the one who knows more."""
    most = found.k or smallest  # people are counted up to here
    known = found.fewest_if_known
    first = f"{_ALSO}, {_people(fewest, most, smallest)}"
    if known is None:
        return f"{first}."
    if fewest >= most and known >= most:
        return f"{first}, also with a code book for them."
    return f"{first}; with a code book for them, {_people(known, most, smallest)}."


def _people(left: int, most: int, smallest: int) -> str:
    """How many are left at the least, and the risk that this is if it is higher."""
    if left >= most:
        return f"{'no fewer people' if most >= smallest else f'{most:,} people or more'} are left"
    risk = f"a risk of {percent(100 / max(left, 1))}"
    if left <= 1:
        return f"somebody is the only one left ({risk})"
    return f"as few as {left:,} people are left ({risk})"


_ALSO = "If the attacker also uses the other published columns"
