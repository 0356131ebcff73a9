"""Figures 5 to 10 of Tassa 2012 as plots, each with its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.papers._result import Row
from shoal.papers.tassa2012.claims import FIGURES, mean
from shoal.papers.tassa2012.runs import (
    DIVERSE,
    DIVERSIFIED,
    EVERY,
    LINES,
    LOSSES,
    METHODS,
    RANDOM,
    Case,
    Results,
    curve,
)
from shoal.report.page import Block, Plot, Section, Text
from shoal.report.plots import Series, lines

FILES = {"lm": "lm", "entropy": "em"}
TIES = (
    "NURSERY contains each combination of its public values exactly once, so many choices are "
    "among equals. shoal decides such ties by a hash of the records' values: the order of the "
    "records in the file does not matter. The paper does not state how it decides them, and "
    "another rule gives other curves."
)


class Drawing:
    """Sections with their plots and tables, as they are drawn."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.files: dict[str, Sequence[Row]] = {}
        self.plots: dict[str, str] = {}

    def sections(self) -> list[Section]:
        """One section per figure whose table was run."""
        subjects = {case.subject for case in self.results}
        found = []
        for subject, number in FIGURES.items():
            if subject in subjects:
                title = f"Figure {number}: losses in {subject}"
                blocks = self._both(number, subject, LINES)
                if subject == "NURSERY":
                    blocks.append(Text(TIES))
                found.append(Section(title, blocks))
        if "ADULT" in subjects:
            blocks = self._both(9, "ADULT", RANDOM)
            found.append(Section("Figure 9: the effect of randomization, ADULT", blocks))
        diverse = [subject for subject in DIVERSE if subject in subjects]
        if diverse:
            plots = [self._diverse(subject) for subject in diverse]
            found.append(Section("Figure 10: with l-diversity", plots))
        self.files["means.csv"] = self._means()
        return found

    def _both(self, number: int, subject: str, methods: Sequence[str]) -> list[Block]:
        return [self._panel(number, FILES[loss], subject, loss, methods, None) for loss in LOSSES]

    def _diverse(self, subject: str) -> Plot:
        return self._panel(10, subject.lower(), subject, "lm", DIVERSIFIED, DIVERSE[subject])

    def _panel(
        self,
        number: int,
        panel: str,
        subject: str,
        loss: str,
        methods: Sequence[str],
        l: float | None,  # noqa: E741 (the paper's letter)
    ) -> Plot:
        curves = {
            method: found
            for method in methods
            if (found := curve(self.results, Case(subject, loss, method, 0, l)))
        }
        shown = LOSSES[loss]
        series = [Series(METHODS[method].shown, found) for method, found in curves.items()]
        svg = lines(series, "k", f"{shown}, percent lost")
        table, plot = f"figure-{number}-{panel}.csv", f"figure-{number}-{panel}.svg"
        diverse = "" if l is None else f", l = {l:g}"
        self.files[table] = [
            Row(f"figure {number}", k, method, f"{subject}{diverse}: {shown}, percent lost", lost)
            for method, found in curves.items()
            for k, lost in found
        ]
        self.plots[plot] = svg
        return Plot(svg, f"{subject}{diverse}, {shown}.{_alike(curves)}", (table, plot))

    def _means(self) -> list[Row]:
        rows = []
        for subject in FIGURES:
            for loss, shown in LOSSES.items():
                for method in EVERY:
                    found = curve(self.results, Case(subject, loss, method, 0))
                    value = mean(self.results, subject, loss, method)
                    if value is not None:
                        metric = f"{subject}: {shown}, mean percent lost over {len(found)} k"
                        rows.append(Row("figures 5 to 9", None, method, metric, value))
        return rows


def _alike(curves: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    """Which lines lie on one another, as a sentence."""
    groups: dict[tuple[float, ...], list[str]] = {}
    for method, points in curves.items():
        groups.setdefault(tuple(round(lost, 6) for _, lost in points), []).append(method)
    same = [" = ".join(names) for names in groups.values() if len(names) > 1]
    return f" Lines that lie on one another: {'; '.join(same)}." if same else ""
