"""Page one: what is asked and reached, the most important numbers, what remains possible."""

from __future__ import annotations

from typing import NamedTuple

from shoal.base.wording import listed, many, percent, sentence, short
from shoal.measures.breakdowns.dependencies import ATTACK as DEPENDENCY
from shoal.measures.findings import LIKELY, RECORD_COUNT, TOP
from shoal.measures.verdicts.verdict import Colour
from shoal.measures.verdicts.within_at_most import NAME as AT_MOST
from shoal.report.facts import Facts, Requirement
from shoal.report.front.other_columns import fewest_left, lowers, with_other_columns
from shoal.report.front.paper import PAGE, height
from shoal.report.guarantees import two_attackers
from shoal.report.limit_facts import KEY, SYMBOLS
from shoal.report.page import Block, Bullets, Cell, Heading, HtmlTable, Numbers, Text, Tone
from shoal.report.sections._labels import on
from shoal.report.sections.certainty import surest

LONG = 300  # characters of a text of the plan
LIMITED = 4  # columns with at_most that have a line of their own
JUDGED = ("bad", "unknown", "mixed", "good", "")  # tones of verdicts, the worst first
WORST_FIRST: tuple[Colour, ...] = ("red", "unknown", "amber", "green")
REMAINS = "What remains possible"
TONES: dict[str, Tone] = {"green": "good", "amber": "mixed", "red": "bad", "unknown": "unknown"}


def details(facts: Facts) -> list[tuple[str, str]]:
    """Whose table it is, for what and for whom, as the plan says it."""
    about = facts.about
    said = {
        "Data owner": about.owner,
        "Purpose": about.purpose,
        "Recipient": about.recipient,
        "Contact": about.contact,
        "Date": about.date,
        "To be signed by": listed([short(one, 80) for one in about.signers])
        if about.signers
        else None,
    }
    return [(label, short(text, LONG)) for label, text in said.items() if text]


def summary(facts: Facts, layout: Layout) -> list[Block]:
    """What a reader in a hurry needs to know."""
    return [
        *_opening(facts, layout.lines),
        *([Heading(REMAINS), *remains(facts)] if layout.remains else []),
    ]


def _opening(facts: Facts, lines: int | None = None) -> list[Block]:
    """The verdict, what is asked and reached, and the most important numbers."""
    tiles = _tiles(facts)
    return [
        Text(verdict(facts), leads=True),
        Text(" ".join([size(facts), _risk(facts), with_other_columns(facts)]).strip()),
        asked(facts, lines),
        *([Numbers(tiles)] if tiles else []),
    ]


class Layout(NamedTuple):
    """What page one has room for."""

    lines: int | None  # of what is asked; None: all
    remains: bool  # whether what remains possible is there; otherwise it is the first on page two


def layout(facts: Facts, head: float) -> Layout:
    """All of it, or without what remains possible, or with only the worst of what is asked.

    `head` is the height of what is above.
    """
    if head + height([*_opening(facts), Heading(REMAINS), *remains(facts)]) <= PAGE:
        return Layout(None, True)
    if head + height(_opening(facts)) <= PAGE:
        return Layout(None, False)
    lines = len(asked(facts).rows)
    while lines > 1 and head + height(_opening(facts, lines)) > PAGE:
        lines -= 1
    return Layout(lines, False)


def remains(facts: Facts, most: int = 5) -> list[Block]:
    """What attackers can still find, and what should make the approver hesitate.

    Of what is accepted, `most` points are said; the annex has all.
    """
    return [*_findings(facts), *_doubts(facts, most)]


def size(facts: Facts) -> str:
    """How much of the original is published."""
    records = (
        f"all {many(facts.rows, 'record')}"
        if facts.published == facts.rows
        else f"{facts.published:,} of {many(facts.rows, 'record')}"
    )
    if facts.linked:
        return (
            f"The release has {records} of the original, which need not form classes. It was "
            "measured together with its original."
        )
    people = (
        ""
        if facts.people == facts.published
        else f", which are of {facts.people:,} {facts.linked_as},"
    )
    classes = many(facts.classes, "class", "classes")
    return f"The release has {records} of the original{people} in {classes}."


def verdict(facts: Facts) -> str:
    """Requirements first, then limits, in a few words; the worst of them as a symbol."""
    satisfied = sum(one.holds for one in facts.requirements)
    doubts = any(one.doubt for one in facts.requirements)
    if not facts.holds:
        said = f"{satisfied} of {len(facts.requirements)} requirements are satisfied."
    elif satisfied == 1:
        said = "The requirement is satisfied."
    else:
        said = f"{'Both' if satisfied == 2 else f'All {satisfied}'} requirements are satisfied."
    refused = "" if facts.dependency.holds else _REVEALED
    members = facts.linked_members
    linked = "" if members is None or not members.linked else _LINKED
    if not facts.limits:
        bad = refused or not facts.holds or (linked and members is not None and members.most)
        symbol = "✖ " if bad else "▲ " if linked or doubts else ""
        said = f"{said} {_DOUBT}" if doubts else said
        return f"{symbol}{' '.join(one for one in (said, refused, linked) if one)}"
    found = [one.verdict for one in facts.limits]
    doubtful = facts.dependency.effects or facts.dependency.unknown or _with_code_book(facts)
    judged = [*found, *(["amber"] if doubtful else [])]
    judged += ["red"] if refused or not facts.holds else []
    judged += ["amber"] if doubts else []
    said = f"{said} {_DOUBT}" if doubts else said
    if linked and members is not None:
        judged.append("red" if members.most else "amber")
    worst = next(one for one in WORST_FIRST if one in judged)
    words = [SYMBOLS[worst], said, *(one for one in (refused, linked) if one), _within(found)]
    if facts.dependency.effects:
        words.append(f"Accepted by the plan: {listed(list(facts.dependency.accepted))}.")
    return " ".join(words)


def _within(found: list[Colour]) -> str:
    """How many limits there are, and the verdicts on them."""
    counts = [f"{found.count(one)} {one}" for one in WORST_FIRST if one in found]
    beyond, many_limits = found.count("red"), len(found)
    if many_limits == 1:
        return f"The limit is {found[0]}."
    if beyond:
        return f"Beyond {beyond} of {many_limits} limits: {', '.join(counts)}."
    limits = "both limits" if many_limits == 2 else f"all {many_limits} limits"
    if "unknown" in found:
        limits = f"{many_limits - found.count('unknown')} of {many_limits} limits"
    return f"Within {limits}: {', '.join(counts)}."


def asked(facts: Facts, lines: int | None = None) -> HtmlTable:
    """Each requirement and each limit, what is reached, and the verdict in symbol and word.

    With `lines`, the worst of them, and how many more there are.
    """
    rows: list[list[Cell | str]] = [
        [
            on(one.model, one.column),
            one.asked,
            Cell(one.reached, tone="strong"),
            _satisfied(one),
        ]
        for one in _listed(facts)
    ]
    rows += _limited(facts)
    rows += _read_back(facts)
    rows += _put_together(facts)
    rows += [
        [
            one.what,
            one.allowed,
            Cell(one.reached, tone="strong"),
            Cell(one.word, one.reason, TONES[one.verdict]),
        ]
        for one in facts.limits
    ]
    return HtmlTable(
        ["asked", "required", "reached", "verdict"],
        rows if lines is None else _worst(rows, lines),
        f"{KEY} {facts.preset}".strip() if facts.limits else _NO_LIMITS,
        widths=(31, 14, 9, 46),
        stacks=True,
    )


def _satisfied(one: Requirement) -> Cell:
    """Whether a requirement is satisfied, and as far as is known."""
    if not one.holds:
        return Cell("✖ violated", f"Required: {one.brief}", "bad")
    if one.doubt:
        return Cell("▲ in doubt", f"{one.brief} {one.doubt}.", "mixed")
    return Cell("✔ satisfied", one.brief, "good")


def _worst(rows: list[list[Cell | str]], lines: int) -> list[list[Cell | str]]:
    """As many rows, the worst ones, in their order; the last says how many more there are."""

    def tone(row: list[Cell | str]) -> str:
        judged = row[-1]
        return judged.tone if isinstance(judged, Cell) else ""

    order = sorted(range(len(rows)), key=lambda i: JUDGED.index(tone(rows[i])))
    kept, left = sorted(order[: lines - 1]), [rows[i] for i in order[lines - 1 :]]
    if not left:
        return rows
    worst = left[0][-1]
    assert isinstance(worst, Cell)
    said = f"{len(left)} more, at worst as here: see “Requirements”."
    return [*(rows[i] for i in kept), ["all others", "", "", Cell(worst.text, said, worst.tone)]]


def _listed(facts: Facts) -> list[Requirement]:
    """The requirements that have a line of their own: those on many columns share one."""
    limited = [one for one in facts.requirements if one.model == AT_MOST]
    return [one for one in facts.requirements if one not in limited or len(limited) <= LIMITED]


def _limited(facts: Facts) -> list[list[Cell | str]]:
    """How general the values of many columns may be, in one line; the annex has each."""
    limited = [one for one in facts.requirements if one.model == AT_MOST]
    if len(limited) <= LIMITED:
        return []
    beyond = [one.column or "" for one in limited if not one.holds]
    satisfied = f"{len(limited) - len(beyond)} of {len(limited)}"
    return [
        [
            f"{AT_MOST}, on {len(limited)} columns",
            "each",
            Cell(satisfied, tone="strong"),
            Cell("✖ violated", f"Beyond it: {listed(beyond)}.", "bad")
            if beyond
            else Cell(
                "✔ satisfied", "Their values are as precise as asked: see “Requirements”.", "good"
            ),
        ]
    ]


def _read_back(facts: Facts) -> list[list[Cell | str]]:
    """That nobody is found by other columns: it holds, was accepted, or is not known."""
    found = facts.dependency
    if not found.k or not found.others:
        return []
    said = []
    if found.effects:
        said.append(f"Accepted by the plan: {listed(list(found.accepted))}.")
    if found.unknown:
        said.append(f"Not measured: {listed(found.unknown)}.")
    if known := _with_code_book(facts):
        said += [*([] if said else [_NOBODY]), known]
    judged = (
        Cell("▲ amber", " ".join(said), "mixed") if said else Cell("✔ satisfied", _NOBODY, "good")
    )
    if not found.holds:
        judged = Cell("✖ red", f"By {listed(list(found.refused))}: not accepted.", "bad")
    nothing = len(found.unknown) == len(found.others)
    return [
        [
            f"people for whom columns with the role other leave fewer than {found.k:,}",
            "0",
            Cell("–" if nothing else f"{found.by_other:,}", tone="strong"),
            judged,
        ]
    ]


def _put_together(facts: Facts) -> list[list[Cell | str]]:
    """That nothing puts the members of a household together, if they are hidden by themselves."""
    found = facts.linked_members
    if found is None or not found.households:
        return []
    judged = Cell("✔ satisfied", "No published column does.", "good")
    if found.linked:
        by = f"By {listed(found.by)}."
        if accepted := [name for name in found.by if name in found.accepted]:
            by = f"{by} Accepted by the plan: {listed(accepted)}."
        judged = Cell("✖ red", by, "bad") if found.most else Cell("▲ amber", by, "mixed")
    return [
        [
            f"of {many(found.households, 'household')} with two or more members, those in which a "
            "published column links members",
            "0",
            Cell(f"{found.linked:,}", tone="strong"),
            judged,
        ]
    ]


def _with_code_book(facts: Facts) -> str:
    """Whom the most telling of these columns would give away if its meaning were known."""
    found = facts.dependency
    known = {name: found.if_known.get(name) or 0 for name in found.others}
    if not known:
        return ""
    worst = max(known, key=lambda name: known[name])
    if not known[worst]:
        return ""
    people = many(known[worst], "person", "people")
    return f"With a code book for {short(worst)} it would be {people}."


_DOUBT = "What a requirement assumes of the population contradicts the table."
_LINKED = "Members of households can be linked by columns that are not generalized."
_REVEALED = "Columns that are not generalized reveal quasi-identifiers."
_NOBODY = "Nobody is found by what the release itself shows about them."
_NO_LIMITS = (
    "The plan sets no limits: whether the numbers on this page are acceptable is for the approver "
    "to decide."
)


def _risk(facts: Facts) -> str:
    """The highest risk; without classes, possible records need not be equally likely."""
    was = f"in the original it was {facts.highest_risk_before}"
    if facts.whole_table and facts.min_people == 1:
        levels = " ".join(one.meaning for one in facts.whole_table)
        return f"{levels} The risk of the most exposed person is {facts.highest_risk}; {was}."
    if not facts.linked:
        knows = "the quasi-identifiers" if not facts.attackers else "what the plan says"
        return (
            f"An attacker who knows {knows} of a person has to guess among the people of the "
            f"class: the re-identification risk is at most {facts.highest_risk}; {was}."
        )
    if facts.smallest == 1:
        return f"For at least one person only one record is possible: the risk is 100 %; {was}."
    possible = (
        f"For every person at least {many(facts.smallest, 'record')} are possible; they need not "
        "be equally likely"
    )
    if facts.highest_risk is None:
        return f"{possible}, and their probabilities are not known."
    return (
        f"{possible}. The re-identification risk of the most exposed person is "
        f"{'about ' if facts.sampled else ''}{facts.highest_risk}, and {facts.mean_risk} on "
        f"average over all people{' (sampled)' if facts.sampled else ''}; {was}."
        + _two_attackers(facts)
    )


def _two_attackers(facts: Facts) -> str:
    """Why somebody is at a higher risk than a satisfied requirement on a draw allows."""
    why = two_attackers(one.model for one in facts.requirements if one.holds)
    return f" {why}." if why else ""


def _tiles(facts: Facts) -> list[tuple[str, str]]:
    """The most important numbers, as far as the table above does not have them."""
    limited = {one.name for one in facts.limits}
    before = f"original: {facts.highest_risk_before}"
    tiles = [] if facts.linked else [(one.share, one.words) for one in facts.whole_table]
    if facts.linked:
        tiles.append((f"{facts.smallest:,}", "possible records of the most exposed person"))
    elif not any(one.model == "k-anonymity" for one in facts.requirements) or not limited:
        people = "person" if facts.smallest == 1 else "people"
        tiles.append((f"{facts.smallest:,}", f"{people} in the smallest class"))
    if facts.highest_risk is not None and "highest_risk" not in limited:
        sampled = ", sampled" if facts.linked and facts.sampled else ""
        alone = " by the quasi-identifiers alone" if lowers(facts) else ""
        words = f"highest re-identification risk{alone}{sampled}; {before}"
        tiles.append((facts.highest_risk, words))
    if "loss" not in limited:
        loss = percent(facts.losses[facts.guide])
        tiles.append((loss, f"information loss, by the metric {facts.guide}"))
    # Alone it would only repeat the sentence above the table.
    if tiles and lowers(facts) and (fewest := fewest_left(facts)):
        tiles.append((percent(100 / fewest), "highest risk with the other published columns"))
    return tiles


def _findings(facts: Facts) -> list[Block]:
    """The most important findings, and those that the risk above does not account for."""
    found = [one for one in facts.findings if one.attack != RECORD_COUNT]
    first = [one.words for one in facts.findings if one.attack == RECORD_COUNT]
    known = any(one.severity == "certain" and one.column is not None for one in found)
    sure = "" if known else surest(facts.sure)
    last = []
    narrowed = facts.dependency.beyond_accepted
    if narrowed and not any(one.attack == DEPENDENCY for one in found[:TOP]):
        last = [f"{narrowed[:1].upper()}{narrowed[1:]}."]
    if not [*first, *found, *last]:
        return [Text(f"{_nothing_found(facts)} {sure}".strip())] if facts.attacks else []
    more = len(found) - TOP
    also = f" ({many(more, 'more finding')} under “Attacks”)" if more > 0 else ""
    shown = [*first, *(one.words for one in found[:TOP]), *last] + ([sure] if sure else [])
    return [
        Text(f"What attackers can find in this release, the most severe first{also}:"),
        Bullets(shown, tone="alert"),
    ]


def _nothing_found(facts: Facts) -> str:
    what = "a record or a sensitive value" if facts.columns_with_role("sensitive") else "a record"
    return (
        f"With the quasi-identifiers alone, no attack finds {what} for certain, and no other "
        f"attack succeeds on {LIKELY:g}\xa0% of the records or more (“Attacks” says when an attack "
        "succeeds)."
    )


def _doubts(facts: Facts, most: int) -> list[Block]:
    """What should make the approver hesitate."""
    dependency = facts.dependency
    effects = dependency.effects
    said = [f"Accepted by the plan: {one}." for one in effects[:most]]
    if len(effects) > most:
        more = many(len(effects) - most, "more point")
        said.append(f"Accepted by the plan: {more} under “Published columns”.")
    if facts.linked_members is not None and facts.linked_members.linked:
        said.insert(0, facts.linked_members.sentence)
    if unknown := dependency.unknown:
        said.append(
            f"It was not measured whether quasi-identifiers can be read back from {listed(unknown)}"
            f"{f' ({dependency.reason})' if dependency.reason else ''}."
        )
    if facts.unprotected:
        said.append(
            f"No requirement protects the sensitive values of {listed(facts.unprotected)}: see "
            "“Attacks”, and decide whether the result is acceptable."
        )
    if facts.says_little:
        advice = facts.less_lost
        advice = "" if facts.applied else f" {advice[:1].upper()}{sentence(advice[1:])}"
        said.append(
            "The release contains almost no information: nearly all quasi-identifiers are "
            f"suppressed, or all records look the same.{advice}"
        )
    if facts.applied and facts.applied.much:
        share = percent(100 * facts.applied.left_out / facts.applied.rows)
        said.append(
            f"{share} of the records are suppressed ({facts.applied.why()}): the rest may not "
            "be representative of the table and of its sensitive values. "
            f"{facts.applied.advice}."
        )
    return [Text(words) for words in said]
