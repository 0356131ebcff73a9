"""The error for a population that lacks people of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.base.arrays import Longs
from shoal.base.errors import BadTable
from shoal.base.wording import many

SHOWN = 3  # groups


def check_holds(own: Longs, there: Longs, shown: Callable[[int], str], several: bool) -> None:
    """Raise an error if the population has fewer people of a group than the table.

    Both are int64[groups], and `shown` says which values a group has. `several`: people of the
    population have several records.
    """
    short = np.flatnonzero(there < own)
    if not len(short):
        return
    first = [
        f"{shown(one)}: {own[one]:,} in the table, {there[one]:,} there"
        for one in short[:SHOWN].tolist()
    ]
    more = f" and {len(short) - SHOWN:,} more" if len(short) > SHOWN else ""
    all_records = ", and for each of them the same records as the table" if several else ""
    raise BadTable(
        f"the population lacks people of the table, in {many(len(short), 'group')} of people with "
        f"equal values ({'; '.join(first)}{more}); give a population that includes all people of "
        f"the table, with original values{all_records}, or set incomplete = true under "
        "[population] to count the people of the table as people of the population where it has "
        "fewer"
    )


def values_shown(names: Sequence[str], labels: Sequence[str | None]) -> str:
    """The values of a group, for the message."""
    return ", ".join(
        f"{name}={'missing' if label is None else repr(label)}"
        for name, label in zip(names, labels, strict=True)
    )
