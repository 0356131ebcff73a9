"""Array types, declared once. The shape of an array is in a comment where it is created."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]  # codes of values
Longs = npt.NDArray[np.int64]  # counts, costs, positions and record numbers
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64 | np.float64]  # float where a count may exceed the integers
