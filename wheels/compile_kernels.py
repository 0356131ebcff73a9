"""Compile the kernels that most runs need, for any processor: `compile_kernels.py FOLDER`.

The demo and a few plans are run in this process, and what they compiled is written to the folder.
Kernels that other plans need are compiled by their first run, as without the folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

K, L, T = (
    {"name": "k-anonymity", "k": 5},
    {"name": "distinct-l-diversity", "column": "diagnosis", "l": 3},
    {"name": "t-closeness", "column": "diagnosis", "t": 0.4},
)
# Rows, algorithm and models. Many classes are searched by several threads; `gaa` is the default if
# a column has free ranges or sets, and merges what is left over by others.
RUNS = (
    (20_000, "peel", [K]),
    (2_000, "peel", [K, L]),
    (2_000, "peel", [K, L, T]),
    (1_000, "gaa", [K]),
    (1_000, "gaa", [K, L]),
)


def main(folder: Path) -> None:
    """Compile, and write the machine code into a new folder."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as private:
        # Before numba is loaded, and where nothing is compiled yet.
        os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        os.environ["SHOAL_CACHE"] = private
        from shoal import kernels

        run(Path(private))
        kernels.ship(folder)
    if not any(folder.iterdir()):
        sys.exit("no kernel was compiled")


def run(folder: Path) -> None:
    """Run what most people run first."""
    import shoal
    from shoal.base.progress import silent
    from shoal.cli.demo import demo, edited
    from shoal.datasets import hospital

    demo(folder / "demo", 3_000, 7, silent)
    for rows, algorithm, models in RUNS:
        table = hospital(rows, 1).drop_columns(["patient"])
        plan = edited(shoal.draft(table)).changed(
            models=models, algorithm=algorithm, threads=2, seed=1
        )
        release = shoal.anonymize(table, plan)
        shoal.audit(release.frame, plan, original=table)
    shoal.audit(table, plan)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
