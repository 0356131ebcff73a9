"""The report of a release: one self-contained HTML page for the approver."""

from __future__ import annotations

from pathlib import Path

from shoal.base.progress import Progress, silent
from shoal.base.wording import many, short
from shoal.io.frames import atomic
from shoal.measures.outcome import Outcome
from shoal.report.facts import Facts, facts
from shoal.report.front.not_guaranteed import not_guaranteed
from shoal.report.front.paper import PAGE, front_height, head_height
from shoal.report.front.published import published
from shoal.report.front.refused import refused_page
from shoal.report.front.sign_off import sign_off
from shoal.report.front.summary import REMAINS, asked, details, layout, remains, summary
from shoal.report.page import Bullets, Page, Section, Text, render
from shoal.report.pdf import PAPER, check_report, is_pdf, write_pdf
from shoal.report.sections import information_loss
from shoal.report.sections.attacker_views import attacker_views
from shoal.report.sections.attackers import attackers
from shoal.report.sections.attacks import attacks, in_detail
from shoal.report.sections.class_sizes import class_sizes
from shoal.report.sections.columns import columns
from shoal.report.sections.criteria.safe_harbor import safe_harbor
from shoal.report.sections.criteria.wp216 import wp216
from shoal.report.sections.exposure import exposure
from shoal.report.sections.reasons import reasons
from shoal.report.sections.reproduce import reproduce
from shoal.report.sections.requirements import requirements
from shoal.report.sections.samples.population import population
from shoal.report.sections.selection import selection
from shoal.report.sections.sensitive import sensitive
from shoal.report.sections.singling_out import singling_out
from shoal.report.sections.usefulness import counts
from shoal.report.sections.usefulness.analyses import analyses

OPEN, REST = "What is not guaranteed", "What else is not guaranteed"

__all__ = ["Facts", "facts", "page", "report_pages", "write_report"]


def write_report(
    release: Outcome,
    path: str | Path,
    explain: bool | None = None,
    progress: Progress = silent,
) -> None:
    """Write the report of a release to a file, completely or not at all; .pdf: as a PDF."""
    pdf = is_pdf(path)
    check_report(Path(path))  # before the work
    html = render(page(facts(release, explain, progress)), PAPER if pdf else "")
    with atomic(path, private=True) as target:
        if pdf:
            write_pdf(html, target, release.made)
        else:
            target.write_text(html, encoding="utf-8")


def report_pages(
    release: Outcome, explain: bool | None = None, progress: Progress = silent
) -> tuple[str, str]:
    """The report of a release as HTML: for a screen, and to be printed."""
    found = page(facts(release, explain, progress))
    return render(found), render(found, PAPER)


def page(facts: Facts) -> Page:
    """Lay out the facts: two pages to read and to sign, and an annex."""
    if facts.refused:
        return refused_page(facts)
    records = f"Release of {many(facts.published, 'record')}"
    made = f"made by shoal {facts.version} on {facts.made:%Y-%m-%d at %H:%M} ({facts.made:%Z})"
    title = records if facts.about.title is None else short(facts.about.title, 200)
    source, said, warning = f"{records}, {made}", details(facts), _warning(facts)
    room = layout(facts, head_height(title, source, said, warning))
    front, moved = _front(facts, room.remains)
    cut = [] if room.lines is None else [Section("Requirements and limits", [asked(facts)])]
    return Page(
        title=title,
        about="Release report",
        source=source,
        details=said,
        warning=warning,
        summary=summary(facts, room),
        in_front=front,
        sections=[*cut, *moved, *_annex(facts)],
        foot="This page shows no value of the original table that is not published.",
    )


def _front(facts: Facts, remained: bool) -> tuple[list[Section], list[Section]]:
    """The sections of page two, and those that it has no room for: they begin the annex.

    What gives way first is what the annex has as well.
    """
    columns = Section("What is published", published(facts))
    points, sign = not_guaranteed(facts), Section("Sign-off", sign_off(facts))
    ways = [(5, True, len(points)), (5, False, len(points))]
    ways += [(most, False, few) for most in (5, 3, 1) for few in range(len(points) - 1, 0, -1)]
    for most, named, few in ways:
        rest = len(points) - few
        more = [f"{many(rest, 'more point')}: see “{REST}” in the annex."] if rest else []
        front = [
            *([] if remained else [Section(REMAINS, remains(facts, most))]),
            *([columns] if named else []),
            Section(OPEN, [Bullets([*points[:few], *more])]),
            sign,
        ]
        moved = [
            *([] if named else [columns]),
            *([Section(REST, [Bullets(points[few:])])] * bool(rest)),
        ]
        if front_height(front) <= PAGE:
            break
    return front, moved


def _annex(facts: Facts) -> list[Section]:
    """The sections of the annex, in their order; one without content is left out."""
    sizes = "Possible records per person" if facts.linked else "Class sizes"
    falling = [] if facts.linked else [Text(_FALLING)]
    weak = counts.vulnerable(facts) if facts.utility.vulnerable else []
    sections = [
        Section("Requirements", requirements(facts)),
        Section("Attackers", attackers(facts)),
        Section("Published columns", columns(facts)),
        Section("Precision of the published values", information_loss.widths(facts)),
        Section("Re-identification risk", exposure(facts)),
        Section("Risk in the population", population(facts)),
        Section("Columns that single people out", singling_out(facts)),
        Section("Attacks", attacks(facts)),
        Section(sizes, class_sizes(facts)),
        Section("Sensitive values", sensitive(facts) if facts.sensitive else []),
        Section("What an attacker sees", attacker_views(facts)),
        Section("Vulnerable classes", weak),
        Section("Information loss", information_loss.loss(facts)),
        Section("What forced the generalization", reasons(facts)),
        Section("How the algorithm was chosen", selection(facts) if facts.tried else []),
        Section("Accuracy of counts", counts.counting(facts)),
        Section("What analysts find", analyses(facts)),
        Section("Criteria of regulators", [*wp216(facts), *safe_harbor(facts)]),
        Section("Verify and reproduce", reproduce(facts)),
        Section("The attacks in detail", [*in_detail(facts), *falling]),
    ]
    return [section for section in sections if section.blocks]


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
