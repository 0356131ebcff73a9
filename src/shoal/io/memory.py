"""Memory: amounts in bytes, as people write them, and how much this machine has."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from shoal.base.errors import BadPlan

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
LEAST = 128 * 10**6  # bytes with which DuckDB can group and join
MOST = 1 << 50  # bytes; no machine has as many, and DuckDB cannot read much larger numbers


def bytes_of(memory: str) -> int:
    """An amount of memory in bytes.

    >>> bytes_of("2GB"), bytes_of("512 MiB")
    (2000000000, 536870912)
    """
    found = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([KMGT]i?B)\s*", memory, re.I)
    if found is None:
        raise BadPlan(f"a memory limit is a number and a unit, as in 2GB or 512MB; got {memory!r}")
    amount = int(float(found[1]) * UNITS[found[2].upper()])
    if amount < LEAST:
        raise BadPlan(
            f"the memory limit {memory.strip()} is too low to group and join; set it to "
            f"{shown(LEAST)} or more"
        )
    return min(amount, MOST)


def shown(amount: float) -> str:
    """An amount of memory for messages.

    >>> shown(2_500_000_000), shown(128_000_000)
    ('2.5 GB', '128 MB')
    """
    if amount >= 10**9:
        return f"{amount / 10**9:.1f} GB"
    return f"{max(amount / 10**6, 1):.0f} MB"


def machine_memory() -> int:
    """The memory of this machine, or of the container that this runs in."""
    found = 8 * 10**9  # where the system does not say
    with suppress(ValueError, OSError, AttributeError):
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(ValueError, OSError):  # "max" if there is no limit
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return found
