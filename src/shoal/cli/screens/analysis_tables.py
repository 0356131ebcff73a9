"""What the screen shows of analyses: columns, pairs of columns, and models that were trained."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from rich.console import Console
from rich.table import Table

from shoal.base.wording import many, number
from shoal.cli.console import new_table, percent, print_tables, show_notes, shown
from shoal.measures.analyses.analyses import Analyses
from shoal.measures.analyses.estimates import Compared
from shoal.measures.analyses.learning import Learning, predicted
from shoal.measures.analyses.weighted import WeightedAnalyses

PAIRS = 6  # pairs of columns: those that differ most
UNPAIRED = (
    "the records of the release are shuffled, so each record that was held back took one published "
    "record that could be its own out of the training data; `shoal anonymize --target` knows which "
    "one it is"
)


def show_analyses(console: Console, analyses: Analyses) -> None:
    """Show what analysts find in the release, compared with the original."""
    print_tables(console, lambda: _columns(analyses))
    if analyses.weighted is not None and analyses.weighted.means + analyses.weighted.shares:
        print_tables(console, lambda: _weighted(analyses.weighted))
    if analyses.correlations or analyses.associations:
        print_tables(console, lambda: _pairs(analyses))
    if any(one.inside is False for one in analyses.compared):
        show_notes(
            console, ["! marks an estimate that is outside the 95 % interval of the original"]
        )


def show_learning(console: Console, one: Learning) -> None:
    """Show how well models predict a column."""
    print_tables(console, lambda: _learning(one))
    if not one.paired:
        show_notes(console, [UNPAIRED])


def _columns(analyses: Analyses) -> Table:
    """Means and standard deviations, and the information that each column keeps."""
    table = new_table(
        "Information kept, means and standard deviations (± 95 % interval)",
        "column",
        "kept",
        "mean",
        "release",
        "std. dev.",
        "release",
    )
    numbers = {one.column: one for one in analyses.numbers}
    kept = {one.column: one for one in analyses.kept}
    for name in dict.fromkeys([*kept, *numbers]):
        information, row = kept.get(name), numbers.get(name)
        share = "–"
        if information is not None and information.percent is not None:
            share = f"{'at least ' if information.at_least else ''}{percent(information.percent)}"
        cells = [""] * 4
        if row is not None:
            mean, deviation = row.mean, row.variance.mapped(sqrt)
            show = "{:.2f}".format if row.in_years else number
            cells = [*_both(mean, show), *_both(deviation, show)]
        table.add_row(shown(name), share if information is not None else percent(100.0), *cells)
    return table


def _weighted(found: WeightedAnalyses | None) -> Table:
    """Weighted means, and how far weighted shares move."""
    assert found is not None
    table = new_table(
        "By the weights of the records: means, and people in another category",
        "column",
        "mean",
        "release",
        "in another category",
    )
    means = {one.column: one for one in found.means}
    moved = {one.columns[0]: one.distance for one in found.shares}
    for name in dict.fromkeys([*means, *moved]):
        cells = ["", ""]
        if name in means:
            show = "{:.2f}".format if means[name].in_years else number
            both = means[name].before, means[name].after
            cells = ["–" if one is None else show(one) for one in both]
        share = moved.get(name)
        table.add_row(shown(name), *cells, "" if share is None else percent(100 * share))
    return table


def _both(one: Compared, show: Callable[[float], str]) -> list[str]:
    """The original with its interval, and the release, marked if it is outside."""
    before = "–"
    if one.before is not None:
        half = (one.before.high - one.before.low) / 2
        before = f"{show(one.before.value)} ± {show(half)}"
    if one.after is None:
        return [before, "–"]
    return [before, f"{show(one.after.value)}{'' if one.inside else ' !'}"]


def _pairs(analyses: Analyses) -> Table:
    """The pairs of columns that differ most."""
    found = [("correlation", one.columns, one.correlation) for one in analyses.correlations]
    found += [("association", one.columns, one.association) for one in analyses.associations]
    known = [one for one in found if one[2].inside is not None]
    inside = sum(bool(one[2].inside) for one in known)
    table = new_table(
        f"Pairs of columns: {inside:,} of {many(len(known), 'estimate')} from the release inside "
        "the 95 % interval of the original; the largest differences",
        "columns",
        "measure",
        "original",
        "interval",
        "release",
        left=2,
    )
    known.sort(key=lambda one: -abs(one[2].difference or 0.0))
    for measure, columns, one in known[:PAIRS]:
        assert one.before is not None
        assert one.after is not None
        table.add_row(
            shown(" and ".join(columns)),
            measure,
            f"{one.before.value:.3f}",
            f"{one.before.low:.3f} to {one.before.high:.3f}",
            f"{one.after.value:.3f}{'' if one.inside else ' !'}",
        )
    return table


def _learning(one: Learning) -> Table:
    """The accuracy of models that predict a column."""
    table = new_table(
        f"Models that predict {shown(predicted(one))}, tested on {many(one.tested, 'record')} of "
        "the original that were held back",
        "trained on",
        "records",
        "accuracy",
        "Brier",
        "calibration",
    )
    guess = one.guessing
    table.add_row(
        "guessing",
        "",
        percent(100 * guess.accuracy),
        number(guess.brier),
        percent(100 * guess.calibration),
    )
    for method in one.methods:
        for where, records, score in (
            ("original", one.trained, method.original),
            ("release", one.trained_release, method.release),
        ):
            table.add_row(
                f"{where}: {method.method}",
                f"{records:,}",
                percent(100 * score.accuracy),
                number(score.brier),
                percent(100 * score.calibration),
            )
    return table
