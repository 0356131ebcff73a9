"""Figures 5, 6, 8, 9, 11 and 12 of Mauger 2023, and what its text says of the strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from shoal.papers._adult import shown
from shoal.papers._compare import Claim, highest, lowest, statements
from shoal.papers._result import Row
from shoal.papers.mauger2023 import paper
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES, Measure
from shoal.papers.mauger2023.strategies import (
    ALONE,
    GUIDES,
    Alone,
    Areas,
    Curve,
    Curves,
    Point,
    Reading,
)
from shoal.report.page import Plot, Section
from shoal.report.plots import Series, lines

ALONE_FIGURES = {"Adult_Age": 5, "Adult_Mar": 6}
FIGURES = {  # by guide and table
    ("nllm", "Adult_Age"): 8,
    ("nllm", "Adult_Mar"): 9,
    ("total", "Adult_Age"): 11,
    ("total", "Adult_Mar"): 12,
}
CHEAP, SAFE = ("S1", "S2", "S4"), ("S3", "S5", "S6")  # as the text groups the strategies
LABELS: dict[Measure, str] = {
    "alteration": "alteration, %",
    "diversity": "l-diversity value",
    "closeness": "t-closeness value, norm 1",
}
AROUND = 5.0  # points that we take "close to" to mean
JUDGED = {"table": "whole table judged", "class": "merged class judged"}

Found = Mapping[tuple[Reading, str, str], Curves]


class Drawn(NamedTuple):
    """Sections with their tables and plots."""

    sections: list[Section]
    files: dict[str, list[Row]]
    plots: dict[str, str]


def draw(
    found: Found,
    most: Mapping[str, float],
    tables: Sequence[str],
    defined: Reading,
    by_class: Reading,
) -> Drawn:
    """All figures, one panel per file."""
    drawn = Drawn([], {}, {})
    guide = GUIDES[0]
    for name in tables:
        number = ALONE_FIGURES[name]
        blocks: list[Plot] = []
        for panel, alone in zip("ab", ALONE, strict=True):
            both: dict[str, Curve] = {
                r.scope: found[r, guide, name][alone] for r in (defined, by_class)
            }
            blocks.append(
                _panel(
                    drawn,
                    f"{number}{panel}",
                    _alone_rows(f"figure {number}{panel}", alone, both),
                    _draw_alone(alone, both, most[name]),
                    f"Only {alone} counts, not the cost: the table judged after the merge, as "
                    "defined, or the merged class alone. The values are in percent of the most "
                    "that is possible: " + f"{most[name]:.2f} for l-diversity, 2 for norm 1.",
                )
            )
        claims = of_alone(found, most, name, (defined, by_class))
        title = f"Figure {number}: {name}, l-diversity alone and t-closeness alone"
        drawn.sections.append(Section(title, [*blocks, statements(claims)]))
    for (metric, name), number in FIGURES.items():
        curves = found[defined, metric, name]
        blocks = [
            _panel(
                drawn,
                f"{number}{panel}",
                _rows(f"figure {number}{panel}", curves, measure),
                _draw(curves, measure),
                f"Ours, {defined.words}.{_alike(curves, measure)}",
            )
            for panel, measure in zip("abc", MEASURES, strict=True)
        ]
        title = f"Figure {number}: {name}, seven strategies guided by {shown(metric)}"
        drawn.sections.append(Section(title, blocks))
    return drawn


def _panel(drawn: Drawn, panel: str, rows: list[Row], svg: str, caption: str) -> Plot:
    table, plot = f"figure-{panel}.csv", f"figure-{panel}.svg"
    drawn.files[table], drawn.plots[plot] = rows, svg
    return Plot(
        svg, f"Figure {panel}. {caption} The paper's curves are not in our text.", (table, plot)
    )


def _rows(figure: str, curves: Curves, measure: Measure) -> list[Row]:
    return [
        Row(figure, point.k, strategy, LABELS[measure], getattr(point, measure))
        for strategy in STRATEGIES
        for point in curves[strategy]
    ]


def _draw(curves: Curves, measure: Measure) -> str:
    return lines(
        [
            Series(strategy, [(point.k, getattr(point, measure)) for point in curves[strategy]])
            for strategy in STRATEGIES
        ],
        "requested k",
        LABELS[measure],
        log_x=True,
        top=100 if measure == "alteration" else None,
    )


def _alike(curves: Curves, measure: Measure) -> str:
    """Which lines lie on one another, as a sentence."""
    groups: dict[tuple[float, ...], list[str]] = {}
    for strategy in STRATEGIES:
        key = tuple(round(getattr(point, measure), 6) for point in curves[strategy])
        groups.setdefault(key, []).append(strategy)
    same = [" = ".join(names) for names in groups.values() if len(names) > 1]
    return f" Lines that lie on one another: {'; '.join(same)}." if same else ""


def _value(alone: Alone) -> Measure:
    return "diversity" if alone == "l-diversity" else "closeness"


def _alone_rows(figure: str, alone: Alone, both: Mapping[str, Curve]) -> list[Row]:
    measures: tuple[Measure, ...] = ("alteration", _value(alone))
    return [
        Row(figure, p.k, f"{alone} alone, {JUDGED[scope]}", LABELS[measure], getattr(p, measure))
        for scope, curve in both.items()
        for measure in measures
        for p in curve
    ]


def _draw_alone(alone: Alone, both: Mapping[str, Curve], most: float) -> str:
    scale = 100 / most if alone == "l-diversity" else 50.0
    series = []
    for scope, curve in both.items():
        words = JUDGED[scope].removesuffix(" judged")
        value = [(p.k, scale * getattr(p, _value(alone))) for p in curve]
        series += [
            Series(f"alteration, {words}", [(p.k, p.alteration) for p in curve]),
            Series(f"{alone}, {words}", value),
        ]
    return lines(series, "requested k", "% of the most possible", log_x=True, top=100)


def of_alone(
    found: Found, most: Mapping[str, float], name: str, readings: Sequence[Reading]
) -> list[Claim]:
    """What the text says of figures 5 and 6, for each way to judge a merge."""
    said = paper.MOST_DIVERSE[name]
    claims = [
        Claim(
            f"The l-diversity value of the whole table is about {said}.",
            "it is, to two decimals",
            [abs(most[name] - said) < 0.0051],
            f"{most[name]:.2f}",
        )
    ]
    # For Adult_Mar the text says 50, which is not among the values of k that it lists.
    k, still, zero = (500, 1e-9, "is 0") if name == "Adult_Age" else (50, 0.1, "is close to 0")
    for reading in readings:
        curves = found[reading, GUIDES[0], name]
        judged = f" ({JUDGED[reading.scope]})"
        by_l, by_t = (curves[alone] for alone in ALONE)
        claims += [
            _from(by_l, k, "By l-diversity alone the most is reached", judged, _over(most[name])),
            _from(by_t, k, f"By t-closeness alone t {zero}", judged, _under(still)),
        ]
        if name == "Adult_Mar":
            claims += [
                _at_three(curves[alone], f"{alone} alone", 60.0, AROUND, judged) for alone in ALONE
            ]
    if name == "Adult_Mar":
        curve = found[readings[0], GUIDES[0], name]["S1"]
        claims.append(_at_three(curve, "S1", 2.77, 0.5, ""))
    return claims


def _over(most: float) -> Callable[[Point], bool]:
    return lambda point: point.diversity >= most * (1 - 1e-9)


def _under(still: float) -> Callable[[Point], bool]:
    return lambda point: point.closeness < still


def _from(curve: Curve, k: int, what: str, judged: str, holds: Callable[[Point], bool]) -> Claim:
    first = next((p.k for p in curve if all(holds(q) for q in curve if q.k >= p.k)), None)
    return Claim(
        f"{what} from k = {k} on{judged}.",
        "so at every k from there on" + (", close meaning below 0.1" if "close to" in what else ""),
        [holds(point) for point in curve if point.k >= k],
        "at no k" if first is None else f"from k = {first:,} on",
    )


def _at_three(curve: Curve, what: str, said: float, slack: float, judged: str) -> Claim:
    here = [point.alteration for point in curve if point.k == 3]
    return Claim(
        f"By {what} the 3-anonymous table has an alteration of about {said:g} %{judged}.",
        f"within {slack:g} points of that",
        [abs(value - said) <= slack for value in here],
        ", ".join(f"{value:.2f}" for value in here),
    )


def of_strategies(found: Mapping[str, Areas]) -> list[Claim]:
    """What the text says of tables 4 and 5, a case for each table."""
    lost, l_value, t_value = (
        [{s: areas[s][measure] for s in STRATEGIES} for areas in found.values()]
        for measure in MEASURES
    )
    between = [max(v[s] for s in CHEAP) < v["S7"] < min(v[s] for s in SAFE) for v in lost]
    return [
        Claim(
            "S1, S2 and S4 have the lowest alteration.",
            "none of the others is below them",
            [lowest(values, CHEAP) for values in lost],
            _order(lost),
        ),
        Claim(
            "S3, S5 and S6 have the highest alteration.",
            "none of the others is above them",
            [highest(values, SAFE) for values in lost],
            _order(lost),
        ),
        Claim(
            "S7 has an intermediate alteration.", "between these two groups", between, _order(lost)
        ),
        Claim(
            "S5 has an alteration above 99 %.",
            "it is",
            [values["S5"] > 99 for values in lost],
            ", ".join(f"{values['S5']:.1f}" for values in lost),
        ),
        Claim(
            "S5 has by far the best l-diversity and t-closeness.",
            "it has the best",
            [
                highest(a, ["S5"]) and lowest(b, ["S5"])
                for a, b in zip(l_value, t_value, strict=True)
            ],
            ", ".join(
                f"{a['S5']:.1f} and {b['S5'] / 2:.1f}"
                for a, b in zip(l_value, t_value, strict=True)
            ),
        ),
        Claim(
            "S1, S2 and S4 have the worst l-diversity and t-closeness.",
            "none of the others is worse",
            [lowest(a, CHEAP) and highest(b, CHEAP) for a, b in zip(l_value, t_value, strict=True)],
            _order(l_value),
        ),
        Claim(
            "Even for these, l-diversity is above 66 % and t-closeness below 25 %.",
            "so for each, in half of norm 1",
            [
                all(a[s] > 66 and b[s] / 2 < 25 for s in CHEAP)
                for a, b in zip(l_value, t_value, strict=True)
            ],
            ", ".join(
                f"{min(a[s] for s in CHEAP):.1f} and {max(b[s] for s in CHEAP) / 2:.1f}"
                for a, b in zip(l_value, t_value, strict=True)
            ),
        ),
    ]


def _order(tables: Sequence[Mapping[str, float]]) -> str:
    """The strategies from the lowest value to the highest, table by table."""
    return "; ".join(
        " ".join(sorted(values, key=lambda s: (round(values[s], 6), s))) for values in tables
    )
