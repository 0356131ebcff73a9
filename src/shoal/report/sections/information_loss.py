"""The sections about the precision of the published values, and the information loss."""

from __future__ import annotations

from shoal.base.wording import listed, many, number, percent, sentence, short
from shoal.measures.bounds.lower_bound import Bound
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, HtmlTable, Plot, Text
from shoal.report.plots import Bars, bars

SHOWN = 30  # columns that are drawn or listed
WHY_THEY_DIFFER = (
    "The metrics answer different questions, so their numbers differ and none of them is wrong. "
    "A birth date published as its year covers 365 of some 30,000 days: counted by values, about "
    "1\xa0% is lost; counted by levels (month, year, decade, suppressed), two of four, 50\xa0%. "
    "Compare releases by the same metric only."
)


def widths(facts: Facts) -> list[Block]:
    """How many records have each quasi-identifier at which precision."""
    rows: list[list[Cell | str]] = []
    for fact in facts.widths[:SHOWN]:
        for i, (words, count) in enumerate(fact.rows):
            share = percent(100 * count / facts.published)
            name = short(fact.column) if i == 0 else ""
            rows.append([name, words, f"{count:,}", share if count else "–"])
    rest = len(facts.widths) - SHOWN
    more = f" {many(rest, 'more column')} are not listed." if rest > 0 else ""
    return [
        Text(
            "A value is published unchanged, generalized (a year for a date, a range for a "
            "number), or suppressed. Codes and words that the plan lists under missing_values are "
            "counted as missing, together with empty cells."
        ),
        HtmlTable(
            ["quasi-identifier", "published as", "records", "share"],
            rows,
            "Records of the release by the precision of each quasi-identifier, the most precise "
            f"first.{more}",
            widths=(28, 44, 14, 14),
        ),
    ]


def loss(facts: Facts) -> list[Block]:
    """The information loss by column and by metric."""
    columns = sorted(facts.column_losses.items(), key=lambda item: -item[1])
    drawn = columns[:SHOWN]
    rest = len(columns) - len(drawn)
    more = f" {many(rest, 'column')} with smaller losses are not drawn." if rest else ""
    metrics = sorted(facts.losses.items(), key=lambda item: (item[0] != facts.guide, -item[1]))
    guiding = None if facts.objective else facts.guide
    rows: list[list[Cell | str]] = [
        [
            Cell(name, "guided this release" if name == guiding else ""),
            Cell(percent(lost), tone="strong"),
            sentence(facts.loss_words.get(name, "")),
        ]
        for name, lost in metrics
    ]
    return [
        Text(
            f"{percent(facts.generalized_percent)} of the values of quasi-identifiers are "
            f"generalized, {_suppressed_values(facts)}. "
            + (
                f"{many(facts.suppressed, 'record')} were suppressed. "
                if facts.suppressed
                else "No record was suppressed. "
            )
            + "Sensitive and other columns are not generalized. A loss of 0 % means that all "
            "information of the original is kept, 100 % that none is."
        ),
        Text(guide(facts)),
        *([Text(at_least(facts, facts.bound))] if facts.bound is not None else []),
        *([Text(_variances(facts))] if facts.utility.microaggregated else []),
        Plot(_bars(drawn), _most_and_least(drawn, facts) + more, alt=_told(drawn)),
        Text(WHY_THEY_DIFFER),
        HtmlTable(
            ["metric", "loss", "it counts"],
            rows,
            f"The same release by different metrics; {_first(facts)}. The mean of the seven "
            f"metrics of Mauger et al. (2023) is {percent(facts.mean_loss)}.",
            widths=(20, 12, 68),
        ),
    ]


def _variances(facts: Facts) -> str:
    """What microaggregation takes away of the variance of each column."""
    each = [
        f"{short(one.column)} loses "
        + ("none" if one.share is None else percent(100 * one.share))
        + f" of its variance (the {one.published} of each class)"
        for one in facts.utility.microaggregated
    ]
    return (
        f"Columns that are published as one number per class: {'; '.join(each)}. The losses below "
        "are those of the ranges of the classes, which are not published."
    )


def _most_and_least(columns: list[tuple[str, float]], facts: Facts) -> str:
    """Which column loses most and which least."""
    (name, most), (last, least) = columns[0], columns[-1]
    whole = f"the whole release {percent(facts.losses[facts.guide])}, by {facts.guide}"
    if most == least:
        each = "every quasi-identifier" if len(columns) > 1 else short(name)
        return f"{each[:1].upper()}{each[1:]} loses {percent(most)}, and {whole}."
    return (
        f"{short(name)} loses most ({percent(most)}) and {short(last)} least "
        f"({percent(least)}); {whole}."
    )


def _told(columns: list[tuple[str, float]]) -> str:
    """The plot in words."""
    each = "; ".join(f"{short(name)}: {percent(loss)}" for name, loss in columns)
    return f"Bar chart. Information loss per quasi-identifier: {each}."


def _suppressed_values(facts: Facts) -> str:
    if facts.root_percent == 0:
        return "none of them suppressed"
    return f"which includes {percent(facts.root_percent)} that are suppressed"


def _first(facts: Facts) -> str:
    if facts.objective:
        return f"{facts.guide} comes first, but {facts.objective} guided the release"
    return f"{facts.guide}, which guided the release, comes first"


def guide(facts: Facts) -> str:
    """What the guiding metric counts."""
    share = percent(facts.losses[facts.guide])
    words = facts.loss_words.get(facts.guide, "")
    guided = "which guided the generalization"
    if facts.objective:
        guided = f"which did not guide the generalization: the plan minimizes {facts.objective}"
    return (
        f"The information loss in the summary, {share}, is measured by {facts.guide}, {guided}. "
        f"It counts {sentence(words)}{_weighted(facts)}{_by_weights(facts)}"
    )


def _by_weights(facts: Facts) -> str:
    """The loss by the weights of the records, if they have some."""
    if facts.weighted_loss is None:
        return ""
    return (
        f" By the weights of the records it is {percent(facts.weighted_loss)}: there each record "
        "counts as many people as it stands for."
    )


def _weighted(facts: Facts) -> str:
    """That columns count more than others, if they do."""
    given = {one.name: one.importance for one in facts.columns if one.role == "quasi"}
    if len(set(given.values())) < 2:
        return ""
    most = max(given.values())
    names = listed([short(name) for name, times in given.items() if times == most][:SHOWN])
    return (
        " All losses are weighted by the importance that the plan gives the columns: what "
        f"{names} loses counts {number(most / min(given.values()))} times as much as what the "
        "least important column loses."
    )


def at_least(facts: Facts, bound: Bound) -> str:
    """The proven lower bound on the loss."""
    if bound.percent is None:
        return f"The lower bound on the loss is not known: {bound.reason}."
    share = percent(facts.losses[facts.guide])
    more = f" ({bound.reason}.)" if bound.reason else ""
    if facts.objective:
        more += f" This release minimizes {facts.objective}, not the loss."
    return (
        f"This release loses {share}. It is proven that no release of this table "
        f"{short(bound.releases, 400)} can lose less than {percent(bound.percent)} by the "
        "same metric, whether or not that can be reached. It is a lower bound on the loss "
        f"{short(bound.scope, 400)}.{more}"
    )


def _bars(items: list[tuple[str, float]]) -> str:
    return bars(
        [name for name, _ in items],
        [Bars("loss", [loss for _, loss in items])],
        "loss in percent",
        top=100,
        show=percent,
    )
