"""The report of a release: one self-contained page for whoever must sign it."""

from __future__ import annotations

from pathlib import Path

from shoal.base.progress import Progress, silent
from shoal.base.wording import listed, many, percent, sentence, short
from shoal.io.frames import atomic
from shoal.measures.applied import ADVICE
from shoal.measures.column_disclosure import describe
from shoal.measures.findings import LIKELY, TOP, Finding
from shoal.measures.outcome import Outcome
from shoal.report.facts import Facts, facts
from shoal.report.page import (
    Block,
    Bullets,
    Cell,
    Heading,
    Numbers,
    Page,
    Section,
    Table,
    Text,
    render,
)
from shoal.report.sections import (
    disclosure as found,
)
from shoal.report.sections import (
    information_loss as lost,
)
from shoal.report.sections import (
    reasons,
)
from shoal.report.sections import (
    sign_off as signed,
)
from shoal.report.sections import (
    utility as useful,
)
from shoal.report.sections.certainty import sureness, surest
from shoal.report.sections.limits import limits
from shoal.report.sections.selection import chosen

__all__ = ["Facts", "facts", "page", "write_report"]

SHOWN = 30  # columns of which it is told what they would give away
WARNED = 5  # those that are told in a sentence of their own

ROLES = {
    "quasi": "quasi-identifier: an outsider may know it",
    "sensitive": "sensitive: worth protecting",
    "identifier": "identifier: names a person",
    "person": "person: tells which rows belong together",
    "other": "other: taken to be unknown to outsiders",
}


def write_report(
    release: Outcome,
    path: str | Path,
    explain: bool | None = None,
    progress: Progress = silent,
) -> None:
    """Write the report of a release to a file, all of it or nothing."""
    html = render(page(facts(release, explain, progress)))
    with atomic(path, private=True) as target:
        target.write_text(html, encoding="utf-8")


def page(facts: Facts) -> Page:
    """Lay the facts out."""
    crowds = "How many rows could be each person's" if facts.linked else "How large the crowds are"
    return Page(
        title=f"A release of {many(facts.published, 'row')}, and what it promises",
        about="Release report",
        source=f"Made by shoal {facts.version} on {facts.made:%Y-%m-%d at %H:%M} ({facts.made:%Z})",
        warning=_warning(facts),
        summary=_summary(facts),
        sections=[
            Section("What was promised", _promised(facts)),
            Section("What is published", _columns(facts)),
            Section("How exact the published values are", lost.widths(facts)),
            Section("Can people be found?", found.exposure(facts)),
            Section("What attackers can do", found.attacks(facts)),
            Section(crowds, found.crowds(facts)),
            *([Section("Sensitive values", found.sensitive(facts))] if facts.sensitive else []),
            *_vulnerable(facts),
            Section("What was lost", lost.lost(facts)),
            Section("Which promise made it so", reasons.reasons(facts)),
            *([Section("How the algorithm was chosen", chosen(facts))] if facts.tried else []),
            Section("What can still be counted", useful.counting(facts)),
            Section("What is not promised", [Bullets(limits(facts))]),
            Section("Check it, and run it again", signed.again(facts)),
            Section("Signature", signed.signature(facts)),
            Section(
                "Annex: the attacks in detail",
                [*found.details(facts.attacks), *([] if facts.linked else [Text(_FALLING)])],
            ),
        ],
        foot="No value of the original table stands on this page unless it is published.",
    )


def _vulnerable(facts: Facts) -> list[Section]:
    """Only where a promise has a stronger one beside it."""
    if not facts.utility.vulnerable:
        return []
    return [Section("Classes that keep less than they seem to", useful.vulnerable(facts))]


def _warning(facts: Facts) -> str:
    if facts.seed is None:
        return ""
    also = (
        " and, with the quasi-identifiers of everybody, redo its random choices"
        if facts.randomized
        else ""
    )
    return (
        f"Keep this page beside the original, not beside the release. It names the seed "
        f"({facts.seed}): whoever knows it can put the rows of the release back into the order of "
        f"the original{also}."
    )


def _summary(facts: Facts) -> list[Block]:
    blocks: list[Block] = [
        Text(
            f"{_verdict(facts)}, measured on the very table that is published"
            f"{' beside its original' if facts.linked else ''}. It keeps "
            f"{facts.published:,} of {facts.rows:,} rows. {_chance(facts)}"
        ),
        *_counted(facts),
        Numbers(_tiles(facts)),
        *_findings(facts),
    ]
    if facts.says_little:
        blocks.append(
            Text(
                "The release says next to nothing: nearly all quasi-identifiers are held back, or "
                "all rows look the same."
                + (
                    ""
                    if facts.applied
                    else " Smaller promises, fewer quasi-identifiers or finer hierarchies would "
                    "leave more."
                )
            )
        )
    if facts.applied and facts.applied.much:
        share = percent(100 * facts.applied.left_out / facts.applied.rows)
        blocks.append(
            Text(
                f"{share} of the rows are suppressed ({facts.applied.why()}): what is left may not "
                f"stand for the table, nor its sensitive values. {ADVICE}."
            )
        )
    if facts.unprotected:
        blocks.append(
            Text(
                f"Nothing is promised about the sensitive values of {listed(facts.unprotected)}: "
                "see what attackers can do, and decide whether that is enough."
            )
        )
    return blocks


def _findings(facts: Facts) -> list[Block]:
    """The most important findings of the attacks; that of the record count stands above."""
    found = [one for one in facts.findings if one.attack != "record-count"]
    sure = "" if any(one.attack == "homogeneity" for one in found) else surest(facts.sure)
    if not found:
        return [Text(f"{_nothing_found(facts)} {sure}".strip())] if facts.attacks else []
    more = len(found) - TOP
    head = "What attackers find in this release, the most severe first"
    also = f" ({many(more, 'more finding')} under “What attackers can do”)" if more > 0 else ""
    told = [*_unbroken(found[:TOP]), *([sure] if sure else [])]
    return [Text(f"{head}{also}:"), Bullets(told, tone="alert")]


def _unbroken(found: list[Finding]) -> list[str]:
    """The sentences, with no line break before a percent sign."""
    return [one.words.replace(" %", "\xa0%") for one in found]


def _nothing_found(facts: Facts) -> str:
    what = "a record or a sensitive value" if facts.columns_with_role("sensitive") else "a record"
    return (
        f"No attack that was run finds {what} for certain by the quasi-identifiers alone, and none "
        f"of the others succeeds on {LIKELY:g}\xa0% of the records or more (see “What attackers "
        "can do” for when an attack succeeds)."
    )


def _counted(facts: Facts) -> list[Block]:
    """What the chance above does not hold for."""
    said = facts.visits.words if facts.visits else ""
    return [Text(sentence(said[:1].upper() + said[1:]))] if said else []


def _verdict(facts: Facts) -> str:
    held = sum(promise.holds for promise in facts.promises)
    if not facts.holds:
        return f"{held} of {len(facts.promises)} promises hold"
    return {1: "The promise holds", 2: "Both promises hold"}.get(held, f"All {held} promises hold")


def _chance(facts: Facts) -> str:
    """The chance to find somebody; where rows are not equally likely there is no sure bound."""
    was = f"in the original it was {facts.find_before}"
    if not facts.linked:
        return f"The chance to find a given person in it is {facts.find} at most; {was}."
    rows = f"For everybody at least {many(facts.smallest, 'row')} cannot be excluded"
    if facts.smallest == 1:
        return f"Of somebody one row only could be theirs: that person can be found; {was}."
    if facts.find is None:
        return f"{rows}; they need not be equally likely, and how likely they are is not known."
    return (
        f"{rows}; they need not be equally likely. The chance to find the most exposed person is "
        f"{'about ' if facts.sampled else ''}{facts.find}, and {facts.find_mean} on average over "
        f"all people{' (sampled)' if facts.sampled else ''}; {was}."
    )


def _tiles(facts: Facts) -> list[tuple[str, str]]:
    """The numbers that matter most."""
    lost = (
        percent(facts.losses[facts.guide]),
        f"of the information is lost, by the measure {facts.guide}; see “What was lost”",
    )
    before = f"before: {facts.find_before}"
    if facts.linked:
        tiles = [
            (f"{facts.published:,}", "rows, each widened by itself: there are no classes"),
            (
                f"{facts.smallest:,}",
                f"{'row' if facts.smallest == 1 else 'rows'} could be theirs, even for the most "
                "exposed person",
            ),
        ]
        if facts.find is not None:
            sampled = ", sampled" if facts.sampled else ""
            tiles.append((facts.find, f"highest chance to find a given person{sampled}; {before}"))
        return [*tiles, lost]
    people = "rows" if facts.people == facts.published else f"rows about {facts.people:,} people"
    return [
        (f"{facts.published:,}", f"{people} in {many(facts.classes, 'class', 'classes')}"),
        (f"{facts.smallest:,}", "people look the same, even around the most exposed of them"),
        (facts.find or "–", f"highest chance to find a given person; {before}"),
        lost,
    ]


def _promised(facts: Facts) -> list[Block]:
    rows: list[list[Cell | str]] = [
        [
            Cell(found.on(promise.model, promise.column), promise.words),
            promise.asked,
            Cell(promise.reached, tone="strong"),
            Cell("held", tone="good") if promise.holds else Cell("broken", tone="bad"),
        ]
        for promise in facts.promises
    ]
    blocks: list[Block] = [
        Text(_LINKED if facts.linked else _CLASSES + _which(facts)),
        Table(
            ["promise", "asked", "reached", ""],
            rows,
            "Reached is what the most exposed person or row reaches. It was measured on the "
            "published table and its original together, by code that knows nothing of how the "
            "table was made; whoever has the release alone cannot measure it."
            if facts.linked
            else "Reached is what the worst class of the published table reaches. It was measured "
            "on that table alone, by code that knows nothing of how the table was made.",
            widths=(60, 14, 14, 12),
        ),
    ]
    blocks += sureness(facts.sure)
    if facts.notes:
        blocks += [Text("To be known besides:"), Bullets([sentence(n) for n in facts.notes])]
    return blocks


_CLASSES = (
    "A class is a group of rows that look the same in all quasi-identifiers, which are the "
    "columns that an outsider may know of somebody. Whoever looks for a person finds "
    "the class and cannot tell which of its "
)
_LINKED = (
    "Here rows are not gathered into groups that look the same: each row was widened by itself, "
    "until several rows could be each person's. A published row could be a person's if everything "
    "in it fits that person, and if everybody else can then still be given a row that fits them: "
    "a complete assignment of people to rows. Whoever looks for a person is left with these rows."
)


def _which(facts: Facts) -> str:
    return "people it is." if facts.has_persons else "rows it is."


_FALLING = (
    "The number of people whom a record could belong to, on average, may be lower in the release "
    "and everybody better hidden all the same: it is made by a few very large crowds of the "
    "original, which get smaller where some of their people are published in wider classes, while "
    "what is promised is about the smallest crowds."
)


def _columns(facts: Facts) -> list[Block]:
    order = list(ROLES)
    columns = sorted(facts.columns, key=lambda column: order.index(column.role))
    rows = [[short(column.name), ROLES[column.role], column.how] for column in columns]
    return [
        Table(["column", "its role", "how it is published"], rows, widths=(26, 38, 36)),
        Text(_missing(facts)),
        *_if_known(facts),
    ]


def _if_known(facts: Facts) -> list[Block]:
    """What columns that are published as they are would give away."""
    known = sorted(facts.if_known.items(), key=lambda one: (-one[1].alone, -one[1].values))
    if not known:
        return []
    rows: list[list[Cell | str]] = [
        [
            short(name),
            f"{one.values:,}",
            Cell(f"{one.alone:,}", tone="bad" if name in facts.worrying else "strong"),
        ]
        for name, one in known[:SHOWN]
    ]
    more = len(known) - len(rows)
    blocks: list[Block] = [
        Heading("If an outsider knew what is published as it is"),
        Text(
            "Columns that are no quasi-identifiers are taken to be unknown to outsiders, and no "
            "promise is about somebody who knows one. This is what would follow if they did: how "
            f"many of {many(facts.people, 'person', 'people')} nobody else looks like any more, in "
            "the quasi-identifiers and this column together."
        ),
        Table(
            ["column", "different values", "people who would be alone"],
            rows,
            f"{many(more, 'column')} more would leave fewer people alone." if more else "",
            numbers=True,
        ),
    ]
    if facts.worrying:
        worst = facts.worrying[:WARNED]
        said = [describe(facts.if_known[name], short(name), facts.people) for name in worst]
        blocks.append(Bullets([sentence(words) for words in said]))
        blocks.append(
            Text(
                "If an outsider may know such a column, make it a quasi-identifier; if nobody "
                "needs it, an identifier, which is not published."
            )
        )
    return blocks


def _missing(facts: Facts) -> str:
    words = [f"“{short(word)}”" for word in facts.missing_words]
    also = f" So do cells with {listed(words)}." if words else ""
    rule = {
        "value": "An empty cell of a quasi-identifier counts as a value of its own: it is "
        "published as empty, and people with an empty cell hide among each other as others do.",
        "root": "An empty cell of a quasi-identifier is published like a value that is held back.",
        "error": "The plan allows no empty cell in a quasi-identifier.",
    }[facts.missing]
    cells = many(facts.missing_cells, "empty cell") if facts.missing_cells else "no empty cell"
    count = f" The release has {cells} of quasi-identifiers."
    mine = " An empty cell of a sensitive column is a sensitive value of its own."
    tail = mine if facts.columns_with_role("sensitive") else ""
    return rule + also + (count if facts.missing != "error" else "") + tail
