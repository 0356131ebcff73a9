"""Mauger, Le Mahec, Dequen 2023: metrics as guides (section 3) and strategies (section 4)."""

from __future__ import annotations

from pathlib import Path

from shoal.base.progress import Progress
from shoal.base.version import __version__
from shoal.papers import _adult
from shoal.papers._adult import Adult
from shoal.papers._result import Result
from shoal.papers.mauger2023 import (
    alternative,
    figures_14_15,
    highest_k,
    metrics,
    paper,
    real,
    simulated,
    wake,
)
from shoal.papers.mauger2023.metrics import KS, QUICK
from shoal.papers.mauger2023.part import Part
from shoal.papers.mauger2023.strategies import (
    DEFINED,
    LIKE,
    encoded,
    real_tables,
    run_real,
    voter_table,
)
from shoal.report.page import Page, Section

QUICK_SIMULATED = (3, 10, 100, 500)
QUICK_SIZES = (5, 50)


def run(data: Path | None, quick: bool, progress: Progress) -> Result:
    """Run the experiments of both sections and compare our results with the paper's."""
    adult = _adult.load(data, quick)
    rows = adult.table.num_rows
    guided = metrics.run(adult, QUICK if quick else KS, progress, 0.0, 0.1)
    path = wake.find(data)
    voters = None if path is None else wake.load(path)
    listed = None if voters is None else wake.run(voters, quick, progress, 0.1, 0.12)
    by_strategy = run_real(
        real_tables(adult),
        voter_table(rows, "affiliation"),
        QUICK if quick else paper.REAL_KS,
        progress,
        0.12,
        0.6,
    )
    safest = highest_k.run(real_tables(adult), progress, 0.6, 0.62)
    drawn = simulated.run(
        {"Adult": encoded(adult.table, adult.hierarchies), LIKE: voter_table(rows)},
        DEFINED,
        QUICK_SIMULATED if quick else paper.SIMULATED_KS,
        QUICK_SIZES if quick else paper.SIZES,
        progress,
        0.62,
        0.9,
    )
    sample = adult.sample(alternative.QUICK_SAMPLE if quick else alternative.SAMPLE)
    sampled = alternative.run(
        encoded(sample, adult.hierarchies),
        QUICK_SIMULATED if quick else paper.SIMULATED_KS,
        QUICK_SIZES if quick else paper.SIZES,
        progress,
        0.9,
        0.96,
    )
    progress("drawing", 0.96)
    parts = [
        metrics.part(adult, guided, quick),
        wake.skipped() if voters is None or listed is None else wake.part(voters, listed),
        real.part(by_strategy),
        highest_k.part(safest),
        figures_14_15.part(
            drawn,
            QUICK_SIMULATED if quick else paper.SIMULATED_KS,
            QUICK_SIZES if quick else paper.SIZES,
        ),
        alternative.part(sampled, by_strategy),
    ]
    result = compare(adult, parts, quick)
    progress("drawing", 1.0)
    return result


def compare(adult: Adult, parts: list[Part], quick: bool) -> Result:
    """Put the parts together."""
    page = Page(
        title="Metrics and strategies of GAA: our results and the paper's",
        about="`shoal reproduce mauger2023`",
        source="C. Mauger, G. Le Mahec, G. Dequen: Optimizing Privacy and Data Utility: Metrics "
        "and Strategies. Transactions on Data Privacy 16, 2023. Sections 3 and 4.",
        warning=_adult.sample_warning(adult) if quick else "",
        summary=[block for part in parts for block in part.summary],
        sections=[
            *(section for part in parts for section in part.sections),
            Section("Why we may differ", metrics.reasons(adult)),
        ],
        foot=f"Made by shoal {__version__}. {_adult.again('mauger2023', adult, quick)}",
    )
    return Result(
        page,
        {name: rows for part in parts for name, rows in part.files.items()},
        {name: svg for part in parts for name, svg in part.plots.items()},
    )
