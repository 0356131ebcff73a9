"""Compare: algorithms and settings on one table, each through the same flow."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from shoal.base.progress import Progress
from shoal.comparing.compare import compare
from shoal.comparing.comparison import Comparison, Unfinished
from shoal.plan import Plan
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import source_of
from shoal.studio.tasks.preview import plain


def run(
    held: Held,  # noqa: ARG001
    progress: Progress,
    plan: str,
    source: dict[str, Any],
    sample: str | None,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """Compare on the whole table, or on the sample in a file; stopped, the runs so far."""
    table, wanted = source_of(source), Plan.load(plan)
    if sample is not None:
        with pa.OSFile(sample, "rb") as file:
            table = pa.ipc.open_file(file).read_all()
        wanted = plain(wanted)
    try:
        found = compare(table, wanted, progress=progress, **asked)
    except Unfinished as stopped:
        found = stopped.comparison
    return found.as_dict() | {"sampled": sample is not None, "plot": drawn(found)}


def drawn(found: Comparison) -> str:
    """The plot as SVG; "" if no run has made a release."""
    if not found.holds:
        return ""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plot.svg"
        found.plot(path)
        return path.read_text(encoding="utf-8")
