"""The numbers of Wang 2018's figures, and how many times as much one method has as another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from shoal.papers._printed import printed
from shoal.papers._result import Row
from shoal.papers.wang2018.runs import AB, KL, METHODS, Case, Measured, Panel, Results
from shoal.report.page import Cell, HtmlTable, Tone

GENEIR = {KL: "geneir-kl", AB: "geneir-ab"}
PLAIN = {KL: "danonyir-kl", AB: "danonyir-ab"}
ENHANCED = {KL: "danonyir-el", AB: "danonyir-eab"}
SHORT = {KL: "(k, l)", AB: "(α, β)"}
FIGURES = {  # of each measure, by family
    "vulnerable": {KL: 2, AB: 3},
    "loss": {KL: 4, AB: 5},
    "error": {KL: 6, AB: 7},
    "seconds": {KL: 8, AB: 9},
}


class Measure(NamedTuple):
    """A number of a case: how it is found, and how it is written."""

    name: str
    of: Callable[[Case, Measured], float | None]
    show: str
    unit: str = ""


LOSS = Measure("loss", lambda case, found: found.lost * case.qi / 100.0, "{:.2f}")
VULNERABLE = Measure("vulnerable", lambda _, found: found.vulnerable, "{:.1f}", "\xa0%")
ERROR = Measure("error", lambda _, found: found.error, "{:.1f}", "\xa0%")
ERROR_ALL = Measure("error", lambda _, found: found.error_all, "{:.1f}", "\xa0%")
MEAN_ERROR = Measure("error", lambda _, found: found.mean_error, "{:.1f}", "\xa0%")
MEAN_ERROR_ALL = Measure("error", lambda _, found: found.mean_error_all, "{:.1f}", "\xa0%")
SECONDS = Measure("seconds", lambda _, found: found.seconds, "{:.3g}", "\xa0s")
PEOPLE = Measure("people", lambda _, found: found.people, "{:.1f}")
CLASSES = Measure("classes", lambda _, found: found.classes, "{:,.0f}")
MEDIANS, MEANS = (ERROR, ERROR_ALL), (MEAN_ERROR, MEAN_ERROR_ALL)


def error_in(panel: Panel, errors: tuple[Measure, Measure] = MEDIANS) -> Measure:
    """The error that figures 6 and 7 show: with |QI| the queries grow too (λ = |QI|)."""
    return errors[panel.varies == "qi"]


def curve(
    results: Results, subject: str, method: str, panel: Panel, measure: Measure
) -> dict[float, float]:
    """The numbers of a method over what a panel varies."""
    base = Case(subject, method)
    found = {}
    for case, measured in results.items():
        value = getattr(case, panel.varies)
        if case == base._replace(**{panel.varies: value}):
            number = measure.of(case, measured)
            if number is not None:
                found[float(value)] = number
    return dict(sorted(found.items()))


class Pair(NamedTuple):
    """Two methods whose ratio the paper states: `top` is `low` to `high` times `bottom`."""

    top: str
    bottom: str
    low: float
    high: float


RATIOS = tuple(Pair(**pair) for pair in printed("wang2018")["ratios"])  # of information losses


def stated(top: Mapping[str, str], bottom: Mapping[str, str]) -> tuple[float, float]:
    """The least and the greatest ratio that the paper states, over both families."""
    pairs = [(top[family], bottom[family]) for family in (KL, AB)]
    found = [pair for pair in RATIOS if (pair.top, pair.bottom) in pairs]
    return min(pair.low for pair in found), max(pair.high for pair in found)


def ratios(
    results: Results, subject: str, top: str, bottom: str, measure: Measure
) -> dict[Case, float]:
    """How many times a method's number is another's, wherever both were run."""
    found = {}
    for case, measured in results.items():
        other = case._replace(method=bottom)
        if (case.subject, case.method) != (subject, top) or other not in results:
            continue
        above, below = measure.of(case, measured), measure.of(other, results[other])
        if above is not None and below:
            found[case] = above / below
    return found


def named(method: str) -> str:
    """A method within a sentence about its family.

    >>> named("danonyir-eab"), named("geneir-kl")
    ('danonyir EIR', 'geneir')
    """
    kind = METHODS[method]
    if kind.algorithm == "geneir":
        return kind.algorithm
    return f"{kind.algorithm} {'EIR' if kind.enhanced else 'IR'}"


def least_to_greatest(numbers: Iterable[float], show: Callable[[float], str]) -> str:
    """The least and the greatest, in words.

    >>> least_to_greatest([3, -1.25], "{:.1f}".format)
    '−1.2 to 3.0'
    """
    listed = list(numbers)
    ends = [show(end).replace("-", "−") for end in (min(listed), max(listed))]
    return " to ".join(dict.fromkeys(ends))


def times(ratio: float) -> str:
    """A ratio with its significant digits.

    >>> [times(ratio) for ratio in (1.0148, 2.683, 55.54, 3408.6)]
    ['1.015', '2.68', '55.5', '3,409']
    """
    digits = 3 if 0.8 <= ratio < 1.2 else 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:,.{digits}f}"


def ratio_table(results: Results, subjects: Sequence[str]) -> HtmlTable:
    """The paper's ratios of losses next to ours."""
    rows: list[list[Cell | str]] = []
    for pair in RATIOS:
        family = METHODS[pair.top].family
        cells: list[Cell | str] = []
        for subject in subjects:
            found = list(ratios(results, subject, pair.top, pair.bottom, LOSS).values())
            if not found:
                cells.append(Cell("–", tone="unknown"))
                continue
            inside = sum(pair.low <= ratio <= pair.high for ratio in found)
            tone: Tone = (
                "good"
                if inside == len(found)
                else "mixed"
                if pair.low <= median(found) <= pair.high
                else "bad"
            )
            note = f"median {times(median(found))}; {inside} of {len(found)} points inside"
            cells.append(Cell(least_to_greatest(found, times), note, tone))
        rows.append(
            [
                f"{named(pair.top)} / {named(pair.bottom)}, {SHORT[family]}",
                f"{pair.low:g} to {pair.high:g}",
                *cells,
            ]
        )
    return HtmlTable(
        head=["information loss of", "paper", *(f"ours, {subject}" for subject in subjects)],
        rows=rows,
        caption="How many times as much one method loses as the other, least to greatest over all "
        "points of figures 4 and 5. Green: every point lies in the paper's span; yellow: the "
        "median does.",
        files=("ratios.csv",),
    )


def ratio_rows(results: Results, subjects: Sequence[str]) -> list[Row]:
    """The least, the median and the greatest ratio, the first and last with the paper's."""
    rows = []
    for subject in subjects:
        for pair in RATIOS:
            found = list(ratios(results, subject, pair.top, pair.bottom, LOSS).values())
            if not found:
                continue
            figure = f"figure {FIGURES['loss'][METHODS[pair.top].family]}"
            metric = f"{subject}: loss of {pair.top} / loss of {pair.bottom}"
            rows += [
                Row(figure, None, pair.top, f"{metric}, least", min(found), pair.low),
                Row(figure, None, pair.top, f"{metric}, median", median(found)),
                Row(figure, None, pair.top, f"{metric}, greatest", max(found), pair.high),
            ]
    return rows
