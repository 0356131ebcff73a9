"""The report of a release: one self-contained HTML page for the approver."""

from __future__ import annotations

from pathlib import Path

from shoal.base.progress import Progress, silent
from shoal.base.wording import many
from shoal.io.frames import atomic
from shoal.measures.outcome import Outcome
from shoal.report.facts import Facts, facts
from shoal.report.page import Bullets, Page, Section, Text, render
from shoal.report.sections import information_loss, sign_off, utility
from shoal.report.sections.attacks import attacks, details
from shoal.report.sections.class_sizes import class_sizes
from shoal.report.sections.columns import columns
from shoal.report.sections.exposure import exposure
from shoal.report.sections.limits import limits
from shoal.report.sections.reasons import reasons
from shoal.report.sections.requirements import requirements
from shoal.report.sections.selection import selection
from shoal.report.sections.sensitive import sensitive
from shoal.report.sections.summary import summary

__all__ = ["Facts", "facts", "page", "write_report"]


def write_report(
    release: Outcome,
    path: str | Path,
    explain: bool | None = None,
    progress: Progress = silent,
) -> None:
    """Write the report of a release to a file, completely or not at all."""
    html = render(page(facts(release, explain, progress)))
    with atomic(path, private=True) as target:
        target.write_text(html, encoding="utf-8")


def page(facts: Facts) -> Page:
    """Lay out the facts."""
    sizes = "Possible records per person" if facts.linked else "Class sizes"
    sections = [
        Section("Requirements", requirements(facts)),
        Section("Published columns", columns(facts)),
        Section("Precision of the published values", information_loss.widths(facts)),
        Section("Re-identification risk", exposure(facts)),
        Section("Attacks", attacks(facts)),
        Section(sizes, class_sizes(facts)),
    ]
    if facts.sensitive:
        sections.append(Section("Sensitive values", sensitive(facts)))
    if facts.utility.vulnerable:
        sections.append(Section("Vulnerable classes", utility.vulnerable(facts)))
    sections.append(Section("Information loss", information_loss.loss(facts)))
    sections.append(Section("What forced the generalization", reasons(facts)))
    if facts.tried:
        sections.append(Section("How the algorithm was chosen", selection(facts)))
    sections += [
        Section("Accuracy of counts", utility.counting(facts)),
        Section("What is not guaranteed", [Bullets(limits(facts))]),
        Section("Verify and reproduce", sign_off.reproduce(facts)),
        Section("Sign-off", sign_off.signature(facts)),
        Section(
            "Annex: the attacks in detail",
            [*details(facts.attacks), *([] if facts.linked else [Text(_FALLING)])],
        ),
    ]
    return Page(
        title=f"Release of {many(facts.published, 'record')}",
        about="Release report",
        source=f"Made by shoal {facts.version} on {facts.made:%Y-%m-%d at %H:%M} ({facts.made:%Z})",
        warning=_warning(facts),
        summary=summary(facts),
        sections=sections,
        foot="This page shows no value of the original table that is not published.",
    )


def _warning(facts: Facts) -> str:
    if facts.seed is None:
        return ""
    also = (
        ", and with the quasi-identifiers of all people can repeat its random choices"
        if facts.randomized
        else ""
    )
    return (
        "Keep this page with the original, not with the release. It shows the random seed "
        f"({facts.seed}): a reader who knows it can put the records of the release back into the "
        f"order of the original{also}."
    )


_FALLING = (
    "The average number of people that a record could belong to can be lower in the release "
    "although everybody is better protected. A few very large classes of the original raise the "
    "average; they become smaller where some of their people are published in more general "
    "classes. The requirements are about the smallest classes."
)
