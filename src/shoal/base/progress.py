"""Progress: one callback to which everything that may take long reports."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with the name of the stage and the share of it that is done, from 0 to 1."""


def silent(stage: str, share: float) -> None:
    """Report nothing."""
