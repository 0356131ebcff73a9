"""Figures 2 to 9 of Wang 2018 as plots, each with its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from shoal.papers._result import Row
from shoal.papers.wang2018.data import INFORMS
from shoal.papers.wang2018.measures import (
    ENHANCED,
    FIGURES,
    GENEIR,
    LOSS,
    PLAIN,
    RATIOS,
    SECONDS,
    VULNERABLE,
    Measure,
    curve,
    error_in,
)
from shoal.papers.wang2018.plots import Part, panels
from shoal.papers.wang2018.runs import AB, KL, METHODS, PANELS, Panel, Results
from shoal.report.page import Block, Plot, Section, Text

AXES = {
    "vulnerable": "vulnerable classes, percent",
    "loss": "attributes lost per record",
    "error": "relative error, percent",
    "seconds": "seconds",
}
TITLES = {
    "vulnerable": "vulnerable classes",
    "loss": "information loss",
    "error": "errors of counting queries",
    "seconds": "time",
}
TEXTS = {
    "vulnerable": "A class that satisfies IR and violates EIR with the same parameters is "
    "vulnerable. With EIR there are none, so that line is omitted.",
    "loss": "The loss of eq. 14 per record: 1 means the information of one attribute is lost. In "
    "percent of what can be lost (eq. 15) it is this divided by |QI|; ratios are the same. A grey "
    "band in the plots of INFORMS is where the paper's ratios put geneir, seen from danonyir with "
    "IR.",
    "error": "Relative errors of random counting queries (eq. 19), median over queries: a mean is "
    "decided by few queries about rare values (`points.json` has it too). A query asks for a span "
    "of values of one quasi-identifier (λ = 1; in the last panel of all of them, λ = |QI|) and for "
    "a span of diagnoses. The last panel has a height of its own.",
    "seconds": "Seconds of the algorithm alone, on the machine that made this page.",
}


class Drawing:
    """Sections with their plots and tables, as they are drawn."""

    def __init__(self, results: Results, subjects: Sequence[str]) -> None:
        self.results, self.subjects = results, subjects
        self.files: dict[str, Sequence[Row]] = {}
        self.plots: dict[str, str] = {}

    def sections(self) -> list[Section]:
        """One section for each two figures, (k, l) and (α, β), with all tables."""
        found = []
        for what, figures in FIGURES.items():
            blocks: list[Block] = [Text(TEXTS[what])]
            blocks += [
                self._figure(what, family, subject)
                for subject in self.subjects
                for family in figures
            ]
            title = f"Figures {figures[KL]} and {figures[AB]}: {TITLES[what]}"
            found.append(Section(title, blocks))
        self.plots["points.json"] = points(self.results)
        return found

    def _figure(self, what: str, family: str, subject: str) -> Plot:
        number = FIGURES[what][family]
        methods = [GENEIR[family], PLAIN[family]]
        if what != "vulnerable":
            methods.append(ENHANCED[family])
        parts, rows = [], []
        for panel in PANELS[family]:
            measure = _measure(what, panel)
            lines = {name: curve(self.results, subject, name, panel, measure) for name in methods}
            banded = what == "loss" and subject == INFORMS
            band = _band(family, lines[PLAIN[family]]) if banded else {}
            shown = {METHODS[name].shown: line for name, line in lines.items()}
            title = f"{panel.letter}: {_fixed(what, panel)}"
            apart = what == "error" and panel.varies == "qi"  # other queries
            parts.append(Part(title, _axis(panel), shown, band, apart))
            rows += [
                Row(
                    f"figure {number}{panel.letter}",
                    None,
                    name,
                    f"{subject}, {_fixed(what, panel)}, {panel.shown} = {value:g}: {AXES[what]}",
                    number_found,
                )
                for name, line in lines.items()
                for value, number_found in line.items()
            ]
        svg = panels(parts, [METHODS[name].shown for name in methods], AXES[what])
        table, plot = (f"figure-{number}-{subject.lower()}.{kind}" for kind in ("csv", "svg"))
        self.files[table], self.plots[plot] = rows, svg
        return Plot(svg, f"Figure {number}, {subject}: {TITLES[what]}.", (table, plot))


def _measure(what: str, panel: Panel) -> Measure:
    if what == "error":
        return error_in(panel)
    return {"vulnerable": VULNERABLE, "loss": LOSS, "seconds": SECONDS}[what]


def _axis(panel: Panel) -> str:
    return "l, and k = l" if panel.varies == "l" else panel.shown


def _fixed(what: str, panel: Panel) -> str:
    """What stays as it is in a panel; with queries also how many attributes they ask for."""
    if what != "error":
        return panel.fixed
    return f"{panel.fixed}, λ = {'|QI|' if panel.varies == 'qi' else 1}"


def _band(family: str, plain: Mapping[float, float]) -> dict[float, tuple[float, float]]:
    """Where the paper's ratios put geneir."""
    (pair,) = [one for one in RATIOS if (one.top, one.bottom) == (GENEIR[family], PLAIN[family])]
    return {x: (pair.low * lost, pair.high * lost) for x, lost in plain.items()}


def points(results: Results) -> str:
    """All that was measured, as JSON."""
    told = []
    for case, found in results.items():
        method = METHODS[case.method]
        asked = {"l": case.l} if method.family == KL else {"alpha": case.alpha, "beta": case.beta}
        told.append(
            {
                "table": case.subject,
                "algorithm": method.algorithm,
                "model": method.shown.split(", ", 1)[1],
                **asked,
                "quasi_identifiers": case.qi,
                **{
                    name: None if value is None else round(value, 6)
                    for name, value in found._asdict().items()
                },
            }
        )
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
