"""The parts of a report about what is left of the original, and what was lost."""

from __future__ import annotations

from shoal.base.wording import many, percent, sentence, short
from shoal.measures.lower_bound import Bound
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Plot, Table, Text
from shoal.report.plots import Bars, bars

SHOWN = 30  # columns that are drawn or listed
WHY_THEY_DIFFER = (
    "The metrics answer different questions, so their numbers differ and none of them is wrong. "
    "A birth date published as its year covers 365 of some 30,000 days: counted by values, about "
    "1 % is lost; counted by levels (month, year, decade, suppressed), two of four, 50 %. Compare "
    "releases by the same metric only."
)


def widths(facts: Facts) -> list[Block]:
    """How many rows show how much of each quasi-identifier."""
    rows: list[list[Cell | str]] = []
    for fact in facts.widths[:SHOWN]:
        for i, (words, count) in enumerate(fact.rows):
            share = percent(100 * count / facts.published)
            name = short(fact.column) if i == 0 else ""
            rows.append([name, words, f"{count:,}", share if count else "–"])
    rest = len(facts.widths) - SHOWN
    more = f" {many(rest, 'column')} more are not listed." if rest > 0 else ""
    return [
        Text(
            "A value may be published as it was, wider (a year for a date, a range for a number), "
            "or held back altogether."
        ),
        Table(
            ["quasi-identifier", "published as", "rows", "share"],
            rows,
            "Rows of the release by the width at which they show each quasi-identifier, narrow "
            f"ones first.{more}",
            widths=(28, 44, 14, 14),
        ),
    ]


def lost(facts: Facts) -> list[Block]:
    """What it cost, by column and by measure."""
    columns = sorted(facts.column_losses.items(), key=lambda item: -item[1])
    drawn = columns[:SHOWN]
    rest = len(columns) - len(drawn)
    more = f" {many(rest, 'column')} with smaller losses are not drawn." if rest else ""
    metrics = sorted(facts.losses.items(), key=lambda item: (item[0] != facts.guide, -item[1]))
    rows: list[list[Cell | str]] = [
        [
            Cell(name, "guided this release" if name == facts.guide else ""),
            sentence(facts.loss_words.get(name, "")),
        ]
        for name, _ in metrics
    ]
    return [
        Text(
            f"Hiding people costs information: {percent(facts.generalized_percent)} of the values "
            f"of quasi-identifiers are published wider than they were, and "
            f"{percent(facts.root_percent)} are held back altogether. "
            + (
                f"{many(facts.suppressed, 'row')} were left out. "
                if facts.suppressed
                else "No row was left out. "
            )
            + "Sensitive and other columns are published as they are. 0 % means as in the "
            "original, 100 % means that nothing is left."
        ),
        Text(guide(facts)),
        *([Text(at_least(facts, facts.bound))] if facts.bound is not None else []),
        Plot(_bars(drawn), f"What each quasi-identifier lost, measured by {facts.guide}.{more}"),
        Text(WHY_THEY_DIFFER),
        Plot(
            _bars(metrics),
            f"The same release by different measures; {_first(facts)}. "
            f"The mean of the seven measures of Mauger et al. (2023) is "
            f"{percent(facts.mean_loss)}.",
        ),
        Table(["measure", "it counts"], rows, widths=(24, 76)),
    ]


def _first(facts: Facts) -> str:
    if facts.objective:
        return f"{facts.guide} stands first, {facts.objective} guided it"
    return f"{facts.guide} guided it and stands first"


def guide(facts: Facts) -> str:
    """What the guiding loss counts."""
    chief = percent(facts.losses[facts.guide])
    words = facts.loss_words.get(facts.guide, "")
    guided = "which guided the choice of what to generalize"
    if facts.objective:
        guided = f"which did not guide the choice: the plan asks for the least {facts.objective}"
    return f"The number on top, {chief}, is measured by {facts.guide}, {guided}. " + (
        f"It counts {sentence(words)}"
    )


def at_least(facts: Facts, bound: Bound) -> str:
    """How much of it could be helped at all."""
    if bound.percent is None:
        return f"How little a release could lose at best is not known: {bound.reason}."
    chief = percent(facts.losses[facts.guide])
    more = f" ({bound.reason}.)" if bound.reason else ""
    if facts.objective:
        more += f" This release was made for the least {facts.objective}, not for the least loss."
    return (
        f"This release loses {chief}. No release of this table in which every class has at least "
        f"{bound.k:,} people can lose less than {percent(bound.percent)} by the same measure; that "
        "is proven, whether or not so little can be reached. It is a lower bound on the loss "
        f"{short(bound.scope, 400)}.{more}"
    )


def _bars(items: list[tuple[str, float]]) -> str:
    return bars(
        [name for name, _ in items],
        [Bars("lost", [loss for _, loss in items])],
        "percent lost",
        top=100,
        show=percent,
    )
