"""What attacks found, as tables on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rich.table import Table

from shoal.cli.console import new_table, percent, shown
from shoal.measures.exposure import Exposure


def attack_changes(before: Exposure, after: Exposure) -> Table:
    """The records on which each attack succeeds, before and after."""
    table = new_table(
        "Attacks: records on which they succeed", "attack", "on", "original", "release", left=2
    )
    for name, finding in after.attacks.items():
        old = {line.on: line.share for line in findings(name, before.attacks.get(name, {}))}
        for line in findings(name, finding):
            table.add_row(line.attack, line.on, old.get(line.on, ""), line.share)
    return table


def attack_findings(attacks: dict[str, dict[str, Any]]) -> Table:
    """What each attack found; the detail has a line of its own, so that no name is cut."""
    table = new_table("Attacks", "attack", "on", "records found", "", left=2)
    table.columns[0].min_width = 22
    for name, finding in attacks.items():
        for line in findings(name, finding):
            detail = f"\n  [dim]{line.detail}[/]" if line.detail else ""
            table.add_row(line.attack + detail, line.on, line.found, line.share)
    return table


class Finding(NamedTuple):
    """What an attack found, as one line of a table."""

    attack: str
    on: str  # the sensitive column, or nothing
    found: str  # records or people
    share: str
    detail: str


# What an attack counts, where it says so by another name.
COUNTS = ("records", "singled_out", "people_below", "people", "rows")


def findings(name: str, finding: dict[str, Any]) -> Iterator[Finding]:
    """One line for what an attack found, and one for each sensitive column.

    >>> [line.share for line in findings("an attack of tomorrow", {"percent": 5.0, "x": 1})]
    ['5 %']
    """
    flat = {key: value for key, value in finding.items() if not isinstance(value, dict)}
    if flat:
        yield _finding(name, "", flat)
    for column, found in finding.items():
        if isinstance(found, dict):
            yield _finding(name, column, found)


def _finding(name: str, column: str, found: dict[str, Any]) -> Finding:
    count = next((found[key] for key in COUNTS if isinstance(found.get(key), int)), None)
    shares = [value for key, value in found.items() if key.endswith("_percent")]
    share = found.get("percent", shares[0] if shares else None)
    cells = (
        "–" if count is None else f"{count:,}",
        "–" if share is None else percent(share),
        shown(_detail(name, found)),
    )
    if found.get("judged_by") == "nothing":
        cells = "–", "–", "not judged: no hierarchy, no numbers"
    return Finding(name, shown(column), *cells)


def _detail(name: str, found: dict[str, Any]) -> str:
    """What is most worth knowing besides; nothing where the attack does not tell it."""
    match name, found:
        case "linkage", {"fewest_candidates": int(fewest)}:
            return f"at least {fewest:,} candidates"
        case "skewness", {"value": value, "belief_before": before, "belief_after": after}:
            value = "missing" if value is None else value
            of = " of the people" if found.get("counted_by") == "people" else ""
            return f"{value}: {percent(100 * before)} → {percent(100 * after)}{of}"
        case "background-knowledge", {"fewest_to_rule_out": int(fewest)}:
            return f"at least {fewest:,} to rule out"
        case "similarity", {"judged_by": judged}:
            return f"by {judged}"
        case "graph", {"fewest_that_fit": int(fit), "fewest_left": int(left)}:
            return f"at least {fit:,} rows fit, at least {left:,} are left"
        case "matching", {"largest_probability": float(largest)}:
            mean = found.get("mean_largest_probability")
            average = "" if mean is None else f", mean {percent(100 * mean)}"
            return f"likeliest row: {percent(100 * largest)} or more{average}"
    return ""
