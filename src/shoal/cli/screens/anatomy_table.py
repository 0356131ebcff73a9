"""The measures of an anatomy on the screen."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from shoal.base.wording import many, number, percent
from shoal.cli.console import new_table, print_tables, show_notes
from shoal.measures.anatomy.anatomy_measures import AnatomyMeasures
from shoal.measures.queries.answers import Answers


def show_anatomy(console: Console, found: AnatomyMeasures) -> None:
    """Show what was measured of two tables, with notes."""
    print_tables(console, lambda: anatomy_table(found))
    show_notes(console, found.notes)


def anatomy_table(found: AnatomyMeasures) -> Table:
    """What two tables guarantee, disclose and lose."""
    shown = new_table("Anatomy", "measured", "")
    groups = f"{many(found.records, 'record')}, {many(found.groups, 'group')}"
    shown.add_row("records and groups", groups)
    for check in found.checks:
        verdict = "" if check.holds else ": violated"
        shown.add_row(check.key, f"{number(check.reached)} ({check.asked}){verdict}")
    attacks = found.attacks
    shown.add_row("who is in the table", "not hidden: quasi-identifiers are exact")
    shown.add_row("people with unique quasi-identifiers", percent(100 * attacks.unique))
    shown.add_row("average risk that the record is found", percent(100 * attacks.linkage))
    shown.add_row("surest guess of a sensitive value", percent(100 * attacks.surest))
    shown.add_row("the same on average over people", percent(100 * attacks.average))
    for known, sure in enumerate(attacks.ruled_out[1:4], 1):
        ruled = f"surest guess with {many(known, 'value')} ruled out"
        shown.add_row(ruled, percent(100 * sure))
    shown.add_row("people in groups of one value", percent(100 * attacks.homogeneous))
    error = f"{found.reconstruction_error:.4f}"
    if found.lowest_error is not None:
        error += f" (at least {found.lowest_error:.4f})"
    shown.add_row("reconstruction error", error)
    _add_answers(shown, "mean error of counts", found.answers)
    if found.generalized is not None:
        words = f"the same, generalized ({found.generalized.algorithm})"
        _add_answers(shown, words, found.generalized.answers)
    return shown


def _add_answers(shown: Table, words: str, answers: Answers | None) -> None:
    if answers is not None and answers.mean is not None and answers.median is not None:
        median = f" (median {percent(100 * answers.median)})"
        shown.add_row(words, percent(100 * answers.mean) + median)
