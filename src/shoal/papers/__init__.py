"""Experiments of papers, run again: our results next to theirs. One folder per paper; internal."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from shoal.base.errors import BadPlan, did_you_mean
from shoal.base.progress import Progress, silent
from shoal.papers._result import Result, staging_folder, write


def papers() -> dict[str, str]:
    """The papers that can be reproduced, each with a line on what it is about.

    >>> list(papers())[:2]
    ['li2007', 'mauger2020']
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            contents = importlib.import_module(f"{__name__}.{module.name}")
            found[module.name] = (contents.__doc__ or "").strip().splitlines()[0]
    return dict(sorted(found.items()))


def reproduce(
    paper: str, data: Path | None, out: Path, quick: bool = False, progress: Progress = silent
) -> Path:
    """Run a paper's experiment, and return the path of the page with the results.

    Page, tables and plots are written into the folder `paper` in `out` at the end, all together.
    `data` is a folder that may contain the table and hierarchies; `quick` takes a sample and
    a few settings, to see whether everything works.
    """
    known = papers()
    if paper not in known:
        hint = did_you_mean(paper, known)
        there = f" There are {', '.join(known)}" if hint else f"; there are {', '.join(known)}"
        raise BadPlan(f"no paper {paper!r}{hint}{there}")
    module = importlib.import_module(f"{__name__}.{paper}.experiment")
    target = Path(out) / paper
    with staging_folder(target) as folder:
        result: Result = module.run(data and Path(data), quick, progress)
        write(result, paper, folder)
    return target / "index.html"
