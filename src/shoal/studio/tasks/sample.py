"""Draw the sample that previews are computed on; people stay whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.base.progress import Progress
from shoal.io.frames import Frame
from shoal.plan import Plan
from shoal.studio.private_folder import private
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import SAMPLE
from shoal.table.coded_columns import person_codes
from shoal.table.roles import columns_with_role, linking_columns

SEED = 1  # the same records each time: only the plan changes what a preview shows


def run(held: Held, progress: Progress, plan: str, target: str) -> int:
    """Write some records to a file that only its owner can read; returns their number."""
    asked = Plan.load(plan)
    progress("sample", 0.0)
    frame: Frame = held["frame"]  # its cells are canonical, as the plan reads them
    rows = sampled_rows(frame, asked)
    cells = {name: frame.column(name).take(pa.array(rows)) for name in frame.names}
    table = pa.table({name: _whole(one) for name, one in cells.items()})
    with private(Path(target)) as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return len(rows)


def _whole(cells: pa.Array | pa.ChunkedArray) -> pa.Array:
    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells


def sampled_rows(frame: Frame, plan: Plan, most: int = SAMPLE) -> np.ndarray:
    """The rows of the sample, in their order; all records of a household or person, or none."""
    rng = np.random.default_rng(SEED)
    links = [*columns_with_role(plan.columns, "household"), *linking_columns(plan.columns)]
    names = [n for n in links if n in frame.names]
    if not names:
        return np.sort(rng.permutation(frame.height)[:most])
    who = person_codes(frame, names[0], plan.missing_of(names[0]))
    drawn = rng.permutation(int(who.max()) + 1)
    size = np.bincount(who, minlength=len(drawn))[drawn]
    some = drawn[: max(1, int(np.searchsorted(np.cumsum(size), most, "right")))]
    return np.flatnonzero(np.isin(who, some))
