"""Tried: the runs among which an algorithm was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.base.errors import preview


@dataclass(frozen=True)
class Tried:
    """One run that was tried, and its loss."""

    algorithm: str  # its name, and the options that differ from the default
    loss: str  # the guiding loss
    on: str  # "sample" or "table"
    rows: int
    lost: float | None  # percent; None: it failed or was stopped
    seconds: float
    reason: str = ""  # why it failed or was stopped
    chosen: bool = False
    free: tuple[str, ...] = ()  # flat columns that were published as free ranges or sets

    @property
    def words(self) -> str:
        """What was tried, in words."""
        return words_of(self.algorithm, self.loss, self.free)

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file."""
        return asdict(self)


def words_of(algorithm: str, loss: str, free: Sequence[str]) -> str:
    """A candidate in words: algorithm, guiding loss, and columns that are free."""
    more = f" with free ranges or sets of {preview(free)}" if free else ""
    return f"{algorithm} guided by {loss}{more}"
