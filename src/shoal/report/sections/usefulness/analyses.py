"""The section about analyses: statistics and models, from the original and from the release."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from shoal.base.wording import many, number, percent, short
from shoal.measures.analyses.analyses import Analyses
from shoal.measures.analyses.estimates import Compared, NumberFact
from shoal.measures.analyses.learning import Learning, Score, predicted
from shoal.measures.analyses.weighted import WeightedAnalyses
from shoal.report.facts import Facts
from shoal.report.interval_plot import IntervalLine, intervals
from shoal.report.page import Block, Cell, Heading, HtmlTable, Plot, Text
from shoal.report.plots import Bars, bars

SHOWN = 30  # columns that are drawn or listed
PAIRS = 12  # pairs of columns: those that differ most
PAIRED = 60  # characters of each column of a pair
OUTSIDE = "outside the interval"


def analyses(facts: Facts) -> list[Block]:
    """What analysts find in the release, compared with the original."""
    found = facts.analyses
    blocks: list[Block] = [Text(_how(found))]
    blocks += _kept(found)
    if found.numbers:
        blocks += [Heading("Means and standard deviations"), _numbers(found)]
    if found.weighted is not None:
        blocks += _weighted(found.weighted)
    for name, pairs in _pairs(found).items():
        blocks += [Heading(f"{name.capitalize()}s between columns"), _drawn(name, pairs)]
    for one in facts.learned:
        blocks += _learning(one)
    if not facts.learned:
        blocks.append(Text(_NOT_LEARNED))
    return blocks


def _how(found: Analyses) -> str:
    known = [one for one in found.compared if one.inside is not None]
    inside = sum(bool(one.inside) for one in known)
    finding = (
        f"{inside:,} of {many(len(known), 'estimate')} from the release "
        f"{'is' if inside == 1 else 'are'} inside the 95 % interval of the original. "
        if known
        else ""
    )
    left = ""
    if found.left_out:
        left = f" {many(found.left_out, 'pair')} of columns were not compared."
    return (
        "The same statistics were computed from the original and from the release, as an analyst "
        f"would. {finding}An interval shows how far the estimate would vary from sample to sample: "
        "inside it, generalization changes a result less than chance does. The larger the table, "
        "the narrower the intervals, so look at the differences too. A range enters as numbers "
        "spread evenly within it, a category as its values, in proportion to the records of the "
        "release below each of them; suppressed values are missing. The intervals treat records as "
        f"independent.{left}"
    )


def _weighted(found: WeightedAnalyses) -> list[Block]:
    """Means and shares in people of the population."""
    means = {one.column: one for one in found.means}
    moved = {one.columns[0]: one.distance for one in found.shares}
    rows: list[list[Cell | str]] = []
    for name in [*dict.fromkeys([*means, *moved])][:SHOWN]:
        one, share = means.get(name), moved.get(name)
        cells = ["–", "–"]
        if one is not None:
            show: Callable[[float], str] = "{:.2f}".format if one.in_years else number
            cells = ["–" if value is None else show(value) for value in (one.before, one.after)]
        rows.append([short(name), *cells, "–" if share is None else percent(100 * share)])
    if not rows:
        return []
    return [
        Heading("By the weights of the records"),
        HtmlTable(
            ["column", "weighted mean", "from the release", "in another category"],
            rows,
            "Each record counts as many people as its weight says. The last column is the share of "
            "the people who would have to change their category to get from the shares of the "
            "release to those of the original. There are no intervals, as they depend on how the "
            "sample was drawn.",
            numbers=True,
        ),
    ]


def _kept(found: Analyses) -> list[Block]:
    """The information that each column keeps."""
    kept = [(one.column, one.percent) for one in found.kept if one.percent is not None]
    if not kept:
        return []
    kept.sort(key=lambda item: -item[1])
    name, least = kept[-1]
    drawn = kept[-SHOWN:]
    rest = len(kept) - len(drawn)
    more = f" {many(rest, 'column')} that keep more are not drawn." if rest else ""
    finding = f"{short(name)} keeps least: {percent(least)} of its information"
    if least > 100 - 1e-9:
        finding = "All quasi-identifiers keep all of their information"
    svg = bars(
        [one for one, _ in drawn],
        [Bars("information kept", [share for _, share in drawn])],
        "information kept, in percent",
        top=100,
        show=percent,
    )
    return [
        Heading("Information kept per column"),
        Plot(
            svg,
            f"{finding}. It is the mutual information of the published and the original value, in "
            f"percent of the entropy of the original values.{more}",
        ),
    ]


def _numbers(found: Analyses) -> HtmlTable:
    rows: list[list[Cell | str]] = []
    for one in found.numbers[:SHOWN]:
        show: Callable[[float], str] = "{:.2f}".format if one.in_years else number
        rows.append(
            [
                Cell(short(one.column), "in years" if one.in_years else ""),
                *_cells(one.mean, show),
                *_cells(_deviation(one), show),
            ]
        )
    far = [one for one in found.numbers if one.shift is not None]
    far.sort(key=lambda one: -abs(one.shift or 0.0))
    finding = ""
    if far and abs(far[0].shift or 0.0) > 1e-9:
        shift = abs(far[0].shift or 0.0)
        finding = (
            f"The mean of {short(far[0].column)} moves most, by {shift:.2f} standard deviations. "
        )
    rest = len(found.numbers) - SHOWN
    more = f" {many(rest, 'more column')} are in the JSON file." if rest > 0 else ""
    return HtmlTable(
        ["column", "mean", "in the release", "standard deviation", "in the release"],
        rows,
        f"{finding}Intervals at 95 %, by the normal approximation and the delta method.{more}",
        widths=(28, 18, 18, 18, 18),
        stacks=True,
    )


def _deviation(one: NumberFact) -> Compared:
    """Standard deviations instead of variances."""
    return one.variance.mapped(sqrt)


def _cells(one: Compared, show: Callable[[float], str]) -> list[Cell]:
    """The original with its interval, and the release."""
    before = Cell("–")
    if one.before is not None:
        span = f"{show(one.before.low)} to {show(one.before.high)}"
        before = Cell(show(one.before.value), span)
    if one.after is None:
        return [before, Cell("–", "no value is published", "unknown")]
    if one.inside is False:
        return [before, Cell(show(one.after.value), OUTSIDE, "mixed")]
    return [before, Cell(show(one.after.value), "", "good")]


def _pairs(found: Analyses) -> dict[str, list[tuple[tuple[str, str], Compared]]]:
    """Pairs of columns that can be compared, by what is compared; those that differ most first."""
    every = {
        "correlation": [(one.columns, one.correlation) for one in found.correlations],
        "association": [(one.columns, one.association) for one in found.associations],
    }
    known = {
        name: sorted(
            ((columns, one) for columns, one in pairs if one.difference is not None),
            key=lambda pair: -abs(pair[1].difference or 0.0),
        )
        for name, pairs in every.items()
    }
    return {name: pairs for name, pairs in known.items() if pairs}


def _drawn(name: str, pairs: list[tuple[tuple[str, str], Compared]]) -> Plot:
    lines = []
    for columns, one in pairs[:PAIRS]:
        assert one.before is not None
        assert one.after is not None
        label = f"{short(columns[0], PAIRED)} and {short(columns[1], PAIRED)}"
        before = one.before
        lines.append(
            IntervalLine(
                label, before.value, before.low, before.high, one.after.value, bool(one.inside)
            )
        )
    (left, right), most = pairs[0]
    assert most.before is not None
    assert most.after is not None
    inside = sum(bool(one.inside) for _, one in pairs)
    which = (
        "Pearson's r; intervals by the delta method"
        if name == "correlation"
        else "Cramér's V, corrected for bias; intervals by the bootstrap"
    )
    axis = "correlation" if name == "correlation" else "association, 0 to 1"
    more = f" The {PAIRS} pairs with the largest differences." if len(pairs) > PAIRS else ""
    return Plot(
        intervals(lines, axis),
        f"{inside:,} of {many(len(pairs), name)} from the release "
        f"{'is' if inside == 1 else 'are'} inside the interval of the original. The largest "
        f"difference is that of {short(left)} and {short(right)}: "
        f"{most.before.value:.2f} in the original, {most.after.value:.2f} in the release. {which}."
        f"{more}",
    )


def _learning(one: Learning) -> list[Block]:
    """Models that predict a column."""
    labels = [method.method for method in one.methods]
    guess = 100 * one.guessing.accuracy
    svg = bars(
        labels,
        [
            Bars("trained on the original", [100 * m.original.accuracy for m in one.methods]),
            Bars("trained on the release", [100 * m.release.accuracy for m in one.methods]),
            Bars("guessing", [guess for _ in one.methods]),
        ],
        "correct predictions in percent",
        top=100,
        show=percent,
    )
    rows: list[list[Cell | str]] = [
        ["guessing", "", percent(guess), number(one.guessing.brier), _off(one.guessing)]
    ]
    for method in one.methods:
        for where, records, score in (
            ("original", one.trained, method.original),
            ("release", one.trained_release, method.release),
        ):
            found = [f"{records:,}", percent(100 * score.accuracy), number(score.brier)]
            rows.append([f"{method.method}, {where}", *found, _off(score)])
    return [
        Heading(f"Models that predict {short(predicted(one), 120)}"),
        Text(_trained(one)),
        Plot(svg, f"{_finding(one)} Differences below {percent(100 * one.margin)} may be chance."),
        HtmlTable(
            ["trained on", "records", "accuracy", "Brier score", "calibration error"],
            rows,
            "The Brier score is the squared error of the predicted probabilities: 0 is best. The "
            "calibration error is how far predicted probabilities are from how often the "
            "predictions are correct, on average.",
            widths=(38, 13, 15, 15, 19),
        ),
    ]


def _off(score: Score) -> str:
    """The calibration error of a model."""
    return percent(100 * score.calibration)


def _finding(one: Learning) -> str:
    """How much of the gain over guessing is left, for the method that gains most."""
    best = max(one.methods, key=lambda method: method.original.accuracy)
    gain = best.original.accuracy - one.guessing.accuracy
    lost = best.original.accuracy - best.release.accuracy
    if gain <= one.margin:
        return (
            f"Even the original predicts {short(one.target)} no better than guessing, so this says "
            "nothing about the release."
        )
    if lost <= one.margin:
        return "Models trained on the release predict as well as those trained on the original."
    return (
        f"Of what {best.method} gains over guessing, the release keeps "
        f"{percent(100 * max(0.0, 1 - lost / gain))}."
    )


def _trained(one: Learning) -> str:
    pairs = (
        "The published version of each record is known, so no record is on both sides."
        if one.paired
        else "It is not known which published record is that of which person, so each record held "
        "back took one that could be its own out of the training data."
    )
    return (
        f"{one.tested:,} of the {many(one.rows, 'record')} of the original were held back, with "
        f"all records of their people. Models were trained on {one.trained_release:,} other "
        "records as published, and on the same records as they were; both then predict the records "
        f"held back, as these were. {pairs} A generalized value enters as the share of each "
        "category that it covers."
    )


_NOT_LEARNED = (
    "Not computed: how well models trained on the release predict a column. Run "
    "`shoal anonymize --target COLUMN`."
)
