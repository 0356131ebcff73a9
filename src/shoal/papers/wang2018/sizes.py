"""Wang 2018 with 50 draws: how the ratios of losses depend on the size of the table.

The paper's points are means of 50 experiments. The whole tables take too long for that many, so the
fixed setting of its figures is drawn 50 times on samples of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from shoal.base.progress import Progress
from shoal.papers._result import Row
from shoal.papers.wang2018.data import Subject
from shoal.papers.wang2018.measures import ENHANCED, GENEIR, PLAIN, SHORT, stated, times
from shoal.papers.wang2018.runs import AB, ALPHA, BETA, DRAWS, KL, METHODS, QI, Case, L, make
from shoal.report.page import Block, Cell, HtmlTable, Text, Tone

PEOPLE, QUICK = (500, 2_000, 8_000), (120,)
FIFTY, QUICK_DRAWS = 50, 2
ASKED = 10  # counting queries of a release, which are not shown here


class Drawn(NamedTuple):
    """The losses of all releases of one method on one sample, in percent."""

    losses: Sequence[float]

    @property
    def mean(self) -> float:
        """What the paper shows."""
        return fmean(self.losses)

    @property
    def spread(self) -> float:
        """Standard deviation of a single release, in percent of the mean."""
        return 100.0 * stdev(self.losses) / self.mean if self.mean else 0.0


Found = Mapping[tuple[str, int, str], Drawn]  # by table, people and method


def run(
    subjects: Mapping[str, Subject], quick: bool, progress: Progress, begin: float, end: float
) -> Found:
    """Draw every method on every sample that is smaller than its table."""
    sizes, draws = (QUICK, QUICK_DRAWS) if quick else (PEOPLE, FIFTY)
    wanted = [
        (name, people, method)
        for name, subject in subjects.items()
        for people in sizes
        if people <= subject.people
        for method in METHODS
    ]
    total, done = sum(people for _, people, _ in wanted), 0
    found = {}
    for name, people, method in wanted:
        sample = subjects[name].sample(people)
        losses = []
        for seed in range(draws):
            share = begin + (end - begin) * (done + people * seed / draws) / total
            words = f"{name}, {people:,} people, {METHODS[method].shown}, draw {seed + 1}"
            progress(words, share)
            losses.append(make(sample, Case(name, method), seed, ASKED).lost)
        done += people
        found[name, people, method] = Drawn(losses)
    return found


def ratio(found: Found, name: str, people: int, top: str, bottom: str) -> float:
    """How many times as much one method loses as another, of the means."""
    return found[name, people, top].mean / found[name, people, bottom].mean


def blocks(found: Found) -> list[Block]:
    """The section of the page."""
    sizes = sorted({people for _, people, _ in found})
    names = list(dict.fromkeys(name for name, _, _ in found))
    if not sizes:
        return [Text("No table has enough people for a sample.")]
    draws = max(len(one.losses) for one in found.values())
    rows: list[list[Cell | str]] = []
    for name in names:
        for top, bottom in ((GENEIR, PLAIN), (ENHANCED, PLAIN)):
            low, high = stated(top, bottom)
            for family in (KL, AB):
                row: list[Cell | str] = [
                    f"{name}: {METHODS[top[family]].shown.split(',')[0]}, "
                    f"{'EIR' if top is ENHANCED else 'IR'} / danonyir, IR {SHORT[family]}",
                    f"{low:.2f} to {high:.2f}",
                ]
                for people in sizes:
                    if (name, people, top[family]) not in found:
                        row.append(Cell("–", tone="unknown"))
                        continue
                    value = ratio(found, name, people, top[family], bottom[family])
                    tone: Tone = "good" if low <= value <= high else "bad"
                    row.append(Cell(times(value), tone=tone))
                rows.append(row)
    spread: list[list[Cell | str]] = [
        [
            f"{name}: {METHODS[method].shown}",
            *(
                Cell(
                    f"{found[name, people, method].mean:.2f}",
                    f"±\xa0{found[name, people, method].spread:.1f}\xa0%",
                )
                if (name, people, method) in found
                else Cell("–", tone="unknown")
                for people in sizes
            ),
        ]
        for name in names
        for method in METHODS
    ]
    most = max(one.spread for one in found.values())
    return [
        Text(
            f"The paper's points are means of {FIFTY} experiments; the figures above are means of "
            f"{DRAWS} releases of the whole table. Here each method is drawn {draws} times on "
            f"samples of people, with l = {L}, α = {ALPHA:g}, β = {BETA:g} and |QI| = {QI}. A "
            f"single release is off its mean by up to {most:.0f}\xa0% (standard deviation), a mean "
            f"of {DRAWS} by up to {most / sqrt(DRAWS):.0f}\xa0%, a mean of {FIFTY} by up to "
            f"{most / sqrt(FIFTY):.0f}\xa0%. geneir depends most on the draw."
        ),
        HtmlTable(
            head=["loss of", "paper", *(f"{people:,} people" for people in sizes)],
            rows=rows,
            caption=f"How many times as much one method loses as the other, by the means of "
            f"{draws} releases. Green: in the span that the paper states over all its points.",
            files=("sizes.csv",),
        ),
        HtmlTable(
            head=["percent lost", *(f"{people:,} people" for people in sizes)],
            rows=spread,
            caption="Mean normalized loss, and below it the standard deviation of one release in "
            "percent of the mean.",
            numbers=True,
            files=("sizes.csv",),
        ),
    ]


def csv_rows(found: Found) -> list[Row]:
    """Means and standard deviations."""
    return [
        Row("sizes", None, method, f"{name}, {people} people: {what}", value)
        for (name, people, method), one in found.items()
        for what, value in (
            ("mean loss, percent", one.mean),
            ("standard deviation of one release, percent of the mean", one.spread),
            ("releases", float(len(one.losses))),
        )
    ]
