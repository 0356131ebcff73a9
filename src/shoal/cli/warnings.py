"""Warnings and notes that the screen shows with a release or an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from shoal.base.errors import preview
from shoal.base.wording import many
from shoal.cli.console import percent, show_notes, warn
from shoal.flow.release import Release
from shoal.measures.breakdowns.linked_members import LinkedMembers
from shoal.measures.column_disclosure import ColumnDisclosure, describe
from shoal.measures.exposure import Exposure
from shoal.measures.findings import TOP, findings
from shoal.models import Check
from shoal.plan.less_lost import less_lost
from shoal.report.facts import LITTLE
from shoal.report.guarantees import two_attackers

MOST_COLUMNS = 3  # columns that get a warning of their own


def warn_uncovered(console: Console, checks: Sequence[Check], sensitive: Sequence[str]) -> None:
    """Warn of sensitive columns that no requirement is about."""
    about = {check.column for check in checks}
    bare = [name for name in sensitive if name not in about]
    if checks and bare:
        warn(console, f"no requirement protects {preview(bare)}; see the attacks")


def warn_of_linked_members(console: Console, found: LinkedMembers | None) -> None:
    """Warn of columns that put the members of households together again."""
    if found is not None and found.linked:
        warn(console, found.words)


def warn_of_exposure(
    console: Console,
    exposure: Exposure,
    attackers: Mapping[str, Exposure],
    known: Mapping[str, ColumnDisclosure],
    worrying: Sequence[str],
) -> None:
    """Warn of what the attacks found, and of what would identify people if it were known."""
    shown_below = "record-count"  # together with the risk that it qualifies
    found = [one for one in findings(exposure, attackers) if one.attack != shown_below]
    for one in found[:TOP]:
        warn(console, one.words.removesuffix("."))
    counted, highest = exposure.row_count, exposure.risks_by_name()["prosecutor"]
    if counted is not None and counted.words:
        risk = "–" if highest is None else percent(100 * highest)
        warn(console, f"highest re-identification risk, {risk}: {counted.words}")
    for name in worrying[:MOST_COLUMNS]:
        warn(console, describe(known[name], name, exposure.people))
    if (more := len(worrying) - MOST_COLUMNS) > 0:
        warn(
            console,
            f"{many(more, 'more column')} would make people unique in the same way; see the report "
            "or the JSON",
        )


def warn_of_little_left(console: Console, release: Release) -> None:
    """Warn if little information is left, or much of the table is suppressed."""
    one = release.after.classes == 1 < release.before.classes
    applied = release.applied
    if one or release.quality.root_percent >= LITTLE:
        why = "all records look the same" if one else "nearly every value is suppressed"
        advice = f"; {less_lost(release.plan)}" if applied is None else ""
        warn(console, f"the release contains almost no information: {why}{advice}")
    if applied is not None and applied.much:
        share = percent(100 * applied.left_out / applied.rows)
        warn(
            console,
            f"{share} of the records are suppressed ({applied.why()}): the rest may not be "
            f"representative of the table and of its sensitive values. {applied.advice}; "
            "--most-left-out refuses such a release",
        )


def note_unweighed(console: Console, exposure: Exposure) -> None:
    """Say why there is no re-identification risk where possible records differ in likelihood."""
    least = exposure.smallest_class
    if not exposure.weighed and least > 1:
        note = (
            f"for every person at least {least:,} records are possible; they need not be equally "
            "likely, so no re-identification risk is reported"
        )
        show_notes(console, [note])


def note_attackers(console: Console, exposure: Exposure, checks: Sequence[Check]) -> None:
    """Say why somebody is at a higher risk than a requirement on a draw allows."""
    if not (exposure.linked and exposure.weighed):
        return
    why = two_attackers(one.model for one in checks if one.holds)
    if why:
        show_notes(console, [why])
