"""What Mauger, Le Mahec, Dequen 2023 prints: tables 3, 4 and 5, figures 14 and 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Literal, TypeAlias

from shoal.papers._printed import printed

Measure: TypeAlias = Literal["alteration", "diversity", "closeness"]
MEASURES: tuple[Measure, ...] = ("alteration", "diversity", "closeness")
PRINTED = printed("mauger2023")
STRATEGIES: tuple[str, ...] = tuple(PRINTED["strategies"])
KS: tuple[int, ...] = tuple(PRINTED["k"])  # section 4.3.2
REAL_KS = tuple(sorted({*KS, 50}))  # the text of 4.3.2 speaks of the 50-anonymous table too
SIMULATED_KS: tuple[int, ...] = tuple(PRINTED["k_simulated"])  # section 4.3.3
SIZES: tuple[int, ...] = tuple(PRINTED["sizes"])  # values of a simulated column
SHAPES: tuple[str, ...] = tuple(PRINTED["distributions"])
MOST_DIVERSE: dict[str, float] = PRINTED["most_diverse"]


def criterion(name: str, florida: bool = False) -> dict[str, float]:
    """A column of table 3, by guide: of Adult or of florida_30162.

    >>> criterion("mean alteration")["nllm"], criterion("mean alteration", florida=True)["nllm"]
    (56.07, 55.25)
    """
    found: dict[str, float] = PRINTED["table_3_florida" if florida else "table_3"][name]
    return found


def table(guide: str, name: str, measure: Measure) -> dict[str, float]:
    """A column of table 4 or 5, by strategy.

    >>> table("nllm", "Adult_Mar", "closeness")["S5"]
    1.2
    """
    return dict(zip(STRATEGIES, PRINTED["tables"][guide][name][measure], strict=True))


def means(guide: str, name: str, measure: Measure) -> Mapping[str, float | None]:
    """The means of figure 14 or 15, by strategy; None where our text is not legible."""
    values = PRINTED["means"][guide][name][measure]
    return {
        strategy: None if isnan(value) else value
        for strategy, value in zip(STRATEGIES, values, strict=True)
    }


def ranks(guide: str, measure: Measure) -> dict[str, list[int | None]]:
    """The ranks of figure 14a or 15a, by strategy; a lost one is found where six are left.

    >>> ranks("nllm", "alteration")["S2"][:3]
    [3, 2, 2]
    """
    rows = [line.replace(" ", "") for line in PRINTED["ranks"][guide][measure]]
    columns = [_filled(column) for column in zip(*rows, strict=True)]
    return {name: [column[i] for column in columns] for i, name in enumerate(STRATEGIES)}


def _filled(column: Sequence[str]) -> list[int | None]:
    """The ranks of one column; the only one that is lost is the one that the others lack."""
    lost = set("1234567") - set(column)
    last = int(lost.pop()) if column.count(".") == 1 else None
    return [last if rank == "." else int(rank) for rank in column]
