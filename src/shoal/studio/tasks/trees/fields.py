"""Fields: which kinds of hierarchies suit a column, and what their forms contain at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.base.errors import BadInput
from shoal.base.progress import Progress
from shoal.flow.draft.draft import Examined
from shoal.flow.draft.guess_role import as_quasi
from shoal.flow.draft.kinds import kind_of
from shoal.flow.draft.propose_hierarchy import propose_hierarchy
from shoal.hierarchies.base import Hierarchy
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.trees._borders import Histogram, histogram_of, proposed_borders


@dataclass(frozen=True)
class Fields:
    """What the forms of a column offer."""

    suits: tuple[str, ...]  # kinds, the most suitable first
    histogram: Histogram | None
    proposed: Any  # the setting that a draft has for the column; None: none
    proposed_words: str
    start: dict[str, Any]  # settings to begin with, by kind


def run(held: Held, progress: Progress, column: str) -> Fields:
    """What was found out about a column when its table was opened."""
    progress("examine", 0.0)
    examined: Examined = held["examined"]
    facts = examined.facts[column]
    proposed = as_quasi(facts, kind_of(facts)).hierarchy
    start: dict[str, Any] = {"borders": proposed_borders(facts)}
    suits = ["groups", "flat", "free_sets"]
    if facts.dates:
        suits = ["dates", "borders", *suits]
        start["dates"] = _setting(propose_hierarchy(facts, "dates")[0])
    elif facts.numbers is not None and facts.distinct:
        codes = facts.codes_of_one_length and facts.whole
        suits = ["ranges", "borders", "free_ranges", *(["prefixes"] if codes else []), *suits]
        start["ranges"] = _setting(propose_hierarchy(facts, "numbers")[0])
    else:
        suits = ["groups", "prefixes", "flat", "free_sets"]
    if not start["borders"] and "borders" in suits:
        suits.remove("borders")
    return Fields(
        suits=tuple(suits),
        histogram=histogram_of(facts),
        proposed=_setting(proposed),
        proposed_words=(proposed or Hierarchy.flat()).describe(),
        start=start,
    )


def _setting(hierarchy: Hierarchy | None) -> Any:
    try:
        return None if hierarchy is None else hierarchy.setting()
    except BadInput:
        return None
