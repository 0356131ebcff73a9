"""What a paper prints: the file printed.toml in its folder, copied by hand from the paper."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def printed(paper: str) -> dict[str, Any]:
    """The figures that a paper prints.

    >>> printed("tassa2012")["most_diverse"]["NURSERY"]
    3.0
    """
    path = Path(__file__).parent / paper / "printed.toml"
    with path.open("rb") as file:
        return tomllib.load(file)
