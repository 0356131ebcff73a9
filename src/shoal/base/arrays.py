"""Array types, declared once; the shape of an array stands in a comment where it is made."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]  # codes of values
Longs = npt.NDArray[np.int64]  # counts, costs, places and numbers of records
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64 | np.float64]  # real where a count is too large for an integer
