"""What is known about a column, in a few lines for the one who decides on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.base.wording import many, percent, short
from shoal.flow.draft.draft import Examined
from shoal.flow.draft.facts import Facts
from shoal.flow.draft.ranking import Rank, Ranking
from shoal.flow.draft.spellings import note_on
from shoal.hierarchies.values import text
from shoal.io.raw_text.detect_spelling import Detected

OFTEN = 5  # records that a value must have to be shown: a rare one may be a person
SHOWN = 5  # values


def evidence(examined: Examined, name: str, ranking: Ranking | None) -> list[str]:
    """Lines about a column: its values, what it follows from, and whom it singles out."""
    facts = examined.facts[name]
    lines = [_values(facts)]
    if facts.label:
        lines.insert(0, short(facts.label, 200))
    lines += [
        f"It {one.text}."
        if one.column == name
        else f"{short(one.column)} follows from it, and would give it back."
        for one in examined.dependencies
        if name in (one.column, one.of)
    ]
    if rank := _ranks(ranking).get(name):
        assert ranking is not None
        lines.append(
            f"Of {ranking.basis} {ranking.unique:,} are unique by all columns that outsiders may "
            f"know, and {rank.unique_without:,} without this one."
        )
    if doubt := note_on(examined.detected.get(name, Detected())).removeprefix("; "):
        lines.append(f"{doubt[0].upper()}{doubt[1:]}.")
    lines.append(f"Proposal: {examined.guesses[name].role} ({examined.guesses[name].note}).")
    return lines


def _ranks(ranking: Ranking | None) -> Mapping[str, Rank]:
    return {} if ranking is None else {rank.column: rank for rank in ranking.ranks}


def _values(facts: Facts) -> str:
    """How many values there are, and the most frequent ones."""
    gaps = facts.rows - facts.filled
    missing = f", {percent(100 * gaps / facts.rows)} missing".replace("\xa0", " ") if gaps else ""
    if facts.missing and missing:
        missing += f" ({', '.join(map(str.strip, facts.missing))} taken as missing)"
    begin = f"{many(facts.distinct, 'different value')}{missing}"
    order = np.argsort(-facts.counts, kind="stable")[:SHOWN]
    often = [i for i in order if facts.counts[i] >= OFTEN]
    if not often:
        rare = f"; none of them in {OFTEN} records or more, so that none is shown"
        return begin + (rare if facts.distinct else "")
    shown = ", ".join(f"{_named(facts, i)} ({facts.counts[i]:,})" for i in often)
    return f"{begin}; most frequent: {shown}"


def _named(facts: Facts, value: int) -> str:
    code = text(facts.values[value])
    label = facts.labels.get(code, "")
    return f"{short(code, 30)} = {short(label, 30)}" if label else short(code, 30)
