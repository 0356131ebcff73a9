"""The future work of section 4.4, Mauger 2023: l-diversity or t-closeness, and the highest k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoal.algorithms.gaa import GAA
from shoal.base.errors import NotHeld
from shoal.base.progress import Progress
from shoal.losses import alteration
from shoal.models import Model
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.t_closeness import TCloseness
from shoal.papers._result import Row
from shoal.papers.mauger2023.part import Part
from shoal.papers.mauger2023.strategies import guided_by
from shoal.report.page import Cell, HtmlTable, Section, Text
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import check_covers
from shoal.table.weighted import Weighted

STRATEGIES = ("S1", "cost-then-k", "k-then-cost", "cost-per-k")
GUIDE = "nllm"
DIVERSITIES: Mapping[str, Sequence[float]] = {"Adult_Age": (5, 20), "Adult_Mar": (1.5, 2.5)}
CLOSENESS = (1.0, 0.5)  # norm 1


class Reached(NamedTuple):
    """What is measured on one table."""

    k: int  # people in the smallest class
    classes: int
    alteration: float  # percent


Found = Mapping[tuple[str, str, str], Reached]  # by table, requirement and strategy


def requirements(name: str, column: str) -> dict[str, Model]:
    """What is required of a table, by its words on the page."""
    return {
        **{f"l = {l:g}": EntropyLDiversity(column=column, l=l) for l in DIVERSITIES[name]},  # noqa: E741
        **{f"t = {t / 2:g}": TCloseness(column=column, t=t, distance="l1") for t in CLOSENESS},
    }


def reached(table: Table, model: Model, strategy: str) -> Reached:
    """Merge until the model is satisfied; no k is required."""
    table = Weighted(table).table(together=False)
    loss, rng = guided_by(GUIDE), np.random.default_rng(0)
    recoding = GAA(strategy=strategy).recode(table, [model], loss, rng)  # type: ignore[arg-type]
    check_covers(table, recoding)
    codes = recoding.codes()
    classes = tally(codes, None, table.sensitive)
    if not model.check(classes).holds:
        raise NotHeld(f"{model.name} is violated")
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    after = [
        np.bincount(codes[:, j], minlength=domain.tree.size).astype(np.float64)
        for j, domain in enumerate(table.domains)
    ]
    lost = alteration(loss.costs(table.domains), before, after)
    return Reached(classes.smallest, len(classes), lost)


def run(tables: Mapping[str, Table], progress: Progress, begin: float, end: float) -> Found:
    """Every strategy under every requirement."""
    wanted = [
        (name, words, model, strategy)
        for name, table in tables.items()
        for words, model in requirements(name, table.sensitive[0].name).items()
        for strategy in STRATEGIES
    ]
    found = {}
    for done, (name, words, model, strategy) in enumerate(wanted):
        progress(f"{name}, {words}, {strategy}", begin + (end - begin) * done / len(wanted))
        found[name, words, strategy] = reached(tables[name], model, strategy)
    return found


def _raised(found: Found) -> str:
    """How often each strategy reaches a higher k than the cost alone, in sentences."""
    cases = dict.fromkeys((name, words) for name, words, _ in found)
    counts = {
        strategy: sum(found[*case, strategy].k > found[*case, "S1"].k for case in cases)
        for strategy in STRATEGIES[1:]
    }
    told = ", ".join(f"{strategy} in {count}" for strategy, count in counts.items())
    return (
        f"Of {len(cases)} requirements, a strategy reaches a higher k than S1: {told}. A small "
        "class that satisfies the requirement is not merged any more, unless as a partner, so "
        "that k can remain low."
    )


def part(found: Found) -> Part:
    """The section on the highest k."""
    rows: list[list[Cell | str]] = []
    cases = dict.fromkeys((name, words) for name, words, _ in found)
    for name, words in cases:
        here = {strategy: found[name, words, strategy] for strategy in STRATEGIES}
        rows.append(
            [
                f"{name}, {words}",
                *(
                    Cell(
                        f"k = {one.k:,}",
                        f"{one.alteration:.1f} % · {one.classes:,} classes",
                        "strong" if one.k > here["S1"].k else "",
                    )
                    for one in here.values()
                ),
            ]
        )
    lines = [
        Row("section 4.4", None, strategy, f"{name}, {words}: {what}", value)
        for (name, words, strategy), one in found.items()
        for what, value in (
            ("k", one.k), ("classes", one.classes), ("alteration, %", one.alteration)
        )
    ]  # fmt: skip
    section = Section(
        "Section 4.4: l-diversity or t-closeness, and the highest k",
        [
            Text(
                "The paper ends its section 4 with future work: build a table that satisfies "
                "l-diversity or t-closeness, and optimize k at each merge. GAA has three "
                "strategies for it, which are S2, S3 and S4 with the k of the table in the place "
                "of its l-diversity. No k is required here; S1 looks at the cost alone. The paper "
                "has no results to compare with. " + _raised(found)
            ),
            HtmlTable(
                head=["required", *STRATEGIES],
                rows=rows,
                caption=f"The k that is reached, alteration by {GUIDE} and classes. l is the "
                "entropy l-diversity, t the distance in half of norm 1. Bold: a higher k than "
                "by S1.",
                numbers=True,
                widths=(24, 19, 19, 19, 19),
                files=("highest-k.csv",),
            ),
        ],
    )
    return Part([], [section], {"highest-k.csv": lines}, {})
