"""The box on top of a report: the result, the most important numbers and findings."""

from __future__ import annotations

from shoal.base.wording import listed, many, percent, sentence
from shoal.measures.findings import LIKELY, RECORD_COUNT, TOP
from shoal.report.facts import Facts
from shoal.report.page import Block, Bullets, Numbers, Text
from shoal.report.sections.certainty import surest


def summary(facts: Facts) -> list[Block]:
    """What a reader in a hurry needs to know."""
    together = " together with its original" if facts.linked else ""
    blocks: list[Block] = [
        Text(
            f"{_verdict(facts)}, as measured on the published table{together}. The release has "
            f"{facts.published:,} of {facts.rows:,} records. {_risk(facts)}"
        ),
        *_record_count(facts),
        Numbers(_tiles(facts)),
        *_findings(facts),
    ]
    if facts.says_little:
        advice = (
            ""
            if facts.applied
            else " Weaker requirements, fewer quasi-identifiers or finer hierarchies would keep "
            "more."
        )
        blocks.append(
            Text(
                "The release contains almost no information: nearly all quasi-identifiers are "
                f"suppressed, or all records look the same.{advice}"
            )
        )
    if facts.applied and facts.applied.much:
        share = percent(100 * facts.applied.left_out / facts.applied.rows)
        blocks.append(
            Text(
                f"{share} of the records are suppressed ({facts.applied.why()}): the rest may not "
                "be representative of the table and of its sensitive values. "
                f"{facts.applied.advice}."
            )
        )
    if facts.unprotected:
        blocks.append(
            Text(
                f"No requirement protects the sensitive values of {listed(facts.unprotected)}: see "
                "“Attacks”, and decide whether the result is acceptable."
            )
        )
    return blocks


def _verdict(facts: Facts) -> str:
    satisfied = sum(one.holds for one in facts.requirements)
    if not facts.holds:
        return f"{satisfied} of {len(facts.requirements)} requirements are satisfied"
    if satisfied == 1:
        return "The requirement is satisfied"
    return f"{'Both' if satisfied == 2 else f'All {satisfied}'} requirements are satisfied"


def _risk(facts: Facts) -> str:
    """The highest risk; without classes, possible records need not be equally likely."""
    was = f"in the original it was {facts.highest_risk_before}"
    if facts.whole_table and facts.min_people == 1:
        levels = " ".join(one.meaning for one in facts.whole_table)
        return f"{levels} The risk of the most exposed person is {facts.highest_risk}; {was}."
    if not facts.linked:
        return f"The re-identification risk is at most {facts.highest_risk}; {was}."
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
    )


def _record_count(facts: Facts) -> list[Block]:
    """For whom the risk above is higher."""
    said = facts.record_count.words if facts.record_count else ""
    return [Text(sentence(said[:1].upper() + said[1:]))] if said else []


def _tiles(facts: Facts) -> list[tuple[str, str]]:
    """The most important numbers."""
    lost = (percent(facts.losses[facts.guide]), f"information loss, by the metric {facts.guide}")
    before = f"original: {facts.highest_risk_before}"
    if facts.linked:
        tiles = [
            (f"{facts.published:,}", "records, each generalized by itself: there are no classes"),
            (f"{facts.smallest:,}", "possible records of the most exposed person"),
        ]
        if facts.highest_risk is not None:
            sampled = ", sampled" if facts.sampled else ""
            tiles.append((facts.highest_risk, f"highest re-identification risk{sampled}; {before}"))
        return [*tiles, lost]
    of = "" if facts.people == facts.published else f" of {facts.people:,} people"
    return [
        (f"{facts.published:,}", f"records{of} in {many(facts.classes, 'class', 'classes')}"),
        *((one.share, one.words) for one in facts.whole_table),
        (f"{facts.smallest:,}", f"{'person' if facts.smallest == 1 else 'people'} in the smallest "
         "class"),
        (facts.highest_risk or "–", f"highest re-identification risk; {before}"),
        lost,
    ]  # fmt: skip


def _findings(facts: Facts) -> list[Block]:
    """The most important findings of the attacks; that of the record count is above."""
    found = [one for one in facts.findings if one.attack != RECORD_COUNT]
    known = any(one.severity == "certain" and one.column is not None for one in found)
    sure = "" if known else surest(facts.sure)
    if not found:
        return [Text(f"{_nothing_found(facts)} {sure}".strip())] if facts.attacks else []
    more = len(found) - TOP
    also = f" ({many(more, 'more finding')} under “Attacks”)" if more > 0 else ""
    shown = [one.words for one in found[:TOP]] + ([sure] if sure else [])
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
