"""What Mauger 2020 prints, and what it says about it, tested on our releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.papers._adult import METRICS, Releases, shown
from shoal.papers._compare import (
    DELETED,
    MEAN,
    MODIFIED,
    PART,
    Claim,
    Measure,
    at_each,
    by_guide,
    highest,
    listed,
    lowest,
    ranks,
)
from shoal.papers._printed import printed

PRINTED = printed("mauger2020")
NAMED: tuple[int, ...] = tuple(PRINTED["k_named"])
TABLES: dict[int, dict[str, Any]] = {table["k"]: table for table in PRINTED["alteration"]}
FIGURES: dict[int, int] = {k: table["figure"] for k, table in TABLES.items()}
AVERAGES: dict[int, list[int]] = {k: table["average"] for k, table in TABLES.items()}
MINIMA: dict[tuple[str, int], int] = {
    (guide, one["k"]): one["records"]
    for one in PRINTED["smallest_class"]
    for guide in (METRICS if one["guide"] == "every" else [one["guide"]])
}

CLOSE, RATHER_CLOSE = 1.1, 1.5  # what we take "very close" and "relatively close" to mean
EVEN = 2.0  # points within which guides are alike


def theirs(k: int) -> dict[tuple[str, str], int]:
    """The paper's percentages at one k, by metric and optimization."""
    return {
        (metric, guide): percent
        for metric in METRICS
        for guide, percent in zip(METRICS, TABLES[k][metric], strict=True)
    }


def pairs(releases: Releases, k: int) -> list[tuple[float, float]]:
    """Ours and theirs in the 49 cells of one table."""
    return [
        (releases[guide, k].losses[metric], other) for (metric, guide), other in theirs(k).items()
    ]


def of_tables(releases: Releases) -> dict[int, list[Claim]]:
    """The statements about figures 6 to 8."""
    return {6: [_llm_behind(releases)], 7: _at_100(releases), 8: [_nllm_first(releases)]}


def of_curves(releases: Releases) -> dict[int, list[Claim]]:
    """The statements about figures 9 to 13."""
    all_k = _ks(releases)
    several = [k for k in all_k if any(releases[guide, k].classes > 1 for guide in METRICS)]
    lower, middle = _ks(releases, 2, 750), _ks(releases, 1000, 7500)
    return {
        9: _smallest_class(releases),
        10: [
            _extreme(releases, lower, MEAN, "lowest", "distortion nllm"),
            _extreme(releases, _ks(releases, 2, 499), MEAN, "highest", "llm wllm"),
            _extreme(releases, _ks(releases, 500, 750), MEAN, "highest", "llm wllm ncp"),
            _extreme(releases, middle, MEAN, "lowest", "nllm"),
        ],
        11: [
            _extreme(releases, lower, MODIFIED, "lowest", "distortion nllm"),
            _extreme(releases, lower, MODIFIED, "highest", "llm wllm"),
            _extreme(releases, middle, MODIFIED, "lowest", "nllm"),
        ],
        12: [
            _extreme(releases, several, DELETED, "highest", "llm wllm"),
            _extreme(releases, several, DELETED, "lowest", "nllm wnllm"),
        ],
        13: [
            _extreme(releases, _ks(releases, 2, 50), PART, "lowest", "ncp nllm total"),
            _extreme(releases, _ks(releases, 100, 750), PART, "lowest", "distortion"),
            _extreme(
                releases, [k for k in several if k >= 1000], PART, "lowest", "llm wllm"
            ),
            _all_deleted(releases),
        ],
    }  # fmt: skip


def conclusion(releases: Releases) -> Claim:
    """The statement with which the paper ends."""
    ks = _ks(releases)
    average = {guide: sum(releases[guide, k].mean for k in ks) / len(ks) for guide in METRICS}
    order = sorted(METRICS, key=lambda guide: average[guide])
    return Claim(
        "NLLM is the best trade-off as a guide.",
        f"its average alteration, averaged over the {len(ks)} values of k, is the lowest",
        [lowest(average, {"nllm"})],
        "from best to worst "
        + ", ".join(f"{shown(guide)} {average[guide]:.1f}" for guide in order),
    )


def _ks(releases: Releases, low: int = 0, high: int = 10**9) -> list[int]:
    """The values of k that were run, from `low` to `high`."""
    return sorted({k for _, k in releases if low <= k <= high})


def _extreme(
    releases: Releases, ks: Sequence[int], measure: Measure, end: str, guides: str
) -> Claim:
    """The statement that some guides are the lowest or the highest over a stretch of k."""
    names = guides.split()
    test = lowest if end == "lowest" else highest
    held, found = at_each(releases, ks, measure, lambda values: test(values, names))
    stretch = f"k from {ks[0]:,} to {ks[-1]:,}" if ks else "these k"
    others = "above" if end == "lowest" else "below"
    one = len(names) == 1
    return Claim(
        f"{listed(names)} {'is' if one else 'are'} {end} for {stretch}.",
        f"every other guide is at or {others} {'it' if one else 'them'}, at each k",
        held,
        found,
    )


def _llm_behind(releases: Releases) -> Claim:
    values = by_guide(releases, 2, MEAN)
    others = [value for guide, value in values.items() if guide != "llm"]
    spread = max(others) - min(others)
    return Claim(
        "At k = 2 LLM is a little worse than the others, which are alike.",
        f"LLM has the highest average, and the other six lie within {EVEN:g} points",
        [highest(values, {"llm"}) and spread <= EVEN],
        f"LLM {values['llm']:.1f}, the others {min(others):.1f} to {max(others):.1f}",
    )


def _at_100(releases: Releases) -> list[Claim]:
    judged = by_guide(releases, 100, lambda release: release.losses["ncp"])
    rank = dict(zip(METRICS, ranks([judged[guide] for guide in METRICS]), strict=True))
    own = Claim(
        "At k = 100 NCP is not the best guide for its own metric: NLLM is.",
        "judged by ncp, NLLM is first and NCP is not",
        [rank["nllm"] == 1 and rank["ncp"] > 1],
        f"NLLM is at rank {rank['nllm']}, NCP at rank {rank['ncp']}",
    )
    return [
        own,
        _extreme_average(releases, 100, "highest", "llm wllm"),
        _extreme_average(releases, 100, "lowest", "distortion nllm"),
    ]


def _extreme_average(releases: Releases, k: int, end: str, guides: str) -> Claim:
    values = by_guide(releases, k, MEAN)
    names = guides.split()
    test = lowest if end == "lowest" else highest
    order = sorted(METRICS, key=lambda guide: values[guide], reverse=end == "highest")
    return Claim(
        f"At k = {k} {listed(names)} have the {end} average alteration.",
        f"no other guide's average is {'below' if end == 'lowest' else 'above'} theirs",
        [test(values, names)],
        ", ".join(f"{shown(guide)} {values[guide]:.1f}" for guide in order[: len(names) + 1]),
    )


def _nllm_first(releases: Releases) -> Claim:
    first = [
        metric
        for metric in METRICS
        if lowest({guide: releases[guide, 1500].losses[metric] for guide in METRICS}, {"nllm"})
    ]
    return Claim(
        "At k = 1,500 NLLM is first for five of the seven metrics.",
        "it is first for five or more",
        [len(first) >= 5],
        f"first for {len(first)}" + (f": {', '.join(first)}" if first else ""),
    )


def _smallest_class(releases: Releases) -> list[Claim]:
    """The statements about figure 9."""

    def excess(k: int) -> float:
        return sum(releases[guide, k].minimum for guide in METRICS) / len(METRICS) / k

    def close(low: int, high: int, factor: float, says: str) -> Claim:
        ks = _ks(releases, low, high)
        largest = [max(releases[guide, k].minimum / k for guide in METRICS) for k in ks]
        found = f"at most {max(largest):.2f} times the requested k" if ks else ""
        meant = f"no smallest class is above {factor:g} times the requested k"
        return Claim(says, meant, [ratio <= factor for ratio in largest], found)

    upper, below = _ks(releases, 5000), [excess(k) for k in _ks(releases, 0, 4999)]
    grows = Claim(
        "From k = 5,000 on the smallest class grows far beyond the requested k.",
        "averaged over the guides, it exceeds k by a larger factor than at any smaller k",
        [excess(k) > max(below) for k in upper],
        ", ".join(f"{excess(k):.2f} times at {k:,}" for k in upper)
        + f"; at most {max(below):.2f} times before"
        if upper
        else "",
    )
    return [
        close(0, 1000, CLOSE, "Up to k = 1,000 the smallest class is at or very near k."),
        close(1500, 4000, RATHER_CLOSE, "For k from 1,500 to 4,000 it stays relatively close."),
        grows,
        _llm_at_7500(releases),
        *_one_class(releases),
    ]


def _llm_at_7500(releases: Releases) -> Claim:
    said = MINIMA["llm", 7500]
    ours = releases.get(("llm", 7500))
    return Claim(
        f"At k = 7,500 LLM's smallest class has {said:,} rows.",
        "ours is within a tenth of that",
        [] if ours is None else [abs(ours.minimum - said) <= 0.1 * said],
        "" if ours is None else f"{ours.minimum:,} rows",
    )


def _one_class(releases: Releases) -> list[Claim]:
    claims = []
    for k, guides, who in (
        (10000, ("distortion", "total"), "Distortion and Total leave"),
        (15000, METRICS, "all guides leave"),
    ):
        ran = [guide for guide in guides if (guide, k) in releases]
        single = [
            guide for guide in METRICS if (guide, k) in releases and releases[guide, k].classes == 1
        ]
        claims.append(
            Claim(
                f"At k = {k:,} {who} a single class.",
                "each of them leaves one class",
                [releases[guide, k].classes == 1 for guide in ran],
                (f"one class: {', '.join(map(shown, single)) or 'none'}" if ran else ""),
            )
        )
    return claims


def _all_deleted(releases: Releases) -> Claim:
    others = [guide for guide in METRICS if guide not in ("llm", "wllm")]
    ran = [guide for guide in others if (guide, 7500) in releases]
    return Claim(
        "Above k = 1,000 nearly all that the other five modify is soon deleted.",
        "for each of them at least 95 % of the modified values are deleted at k = 7,500",
        [PART(releases[guide, 7500]) >= 95 for guide in ran],
        ", ".join(f"{shown(guide)} {PART(releases[guide, 7500]):.0f} %" for guide in ran),
    )
