"""What Tassa 2012 says about its figures, tested on our results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from shoal.base.wording import many
from shoal.papers._compare import Claim
from shoal.papers._printed import printed
from shoal.papers.tassa2012.data import Subject
from shoal.papers.tassa2012.runs import DIVERSE, EVERY, LOSSES, METHODS, ORDER, Case, Results, curve
from shoal.report.page import Cell, HtmlTable, Tone

FIGURES = {"ART": 5, "ADULT": 6, "CMC": 7, "NURSERY": 8}
# The greatest l that is possible.
MOST_DIVERSE: dict[str, float] = printed("tassa2012")["most_diverse"]
ALIKE = 10.0  # percent of each other's loss within which we call two methods very similar
LEAST = 1e-9  # smaller differences count as equal

Gaps = Mapping[int, float]  # by k, in percentage points


def gaps(
    results: Results,
    subject: str,
    loss: str,
    low: str,
    high: str,
    l: float | None = None,  # noqa: E741 (the paper's letter)
) -> Gaps:
    """By how much the loss of one method lies above that of another, at every k."""
    below, above = (
        dict(curve(results, Case(subject, loss, method, 0, l))) for method in (low, high)
    )
    return {k: above[k] - below[k] for k in below if k in above}


def span(apart: Gaps) -> str:
    """The least and the greatest of some gaps, in words.

    >>> span({10: 1.26, 20: -0.5})
    '−0.50 to 1.26'
    """
    ends = [f"{end:.2f}".replace("-", "−") for end in (min(apart.values()), max(apart.values()))]
    return " to ".join(dict.fromkeys(ends))


def at_which(apart: Sequence[Gaps]) -> str:
    """At how many k all gaps are above 0, in words.

    >>> at_which([{10: 1.0, 20: -1.0}])
    'at 1 of 2 k, not at 20'
    """
    held = _held(apart)
    failing = [str(k) for k, good in held.items() if not good]
    if not failing:
        return "at every k"
    if len(failing) == len(held):
        return "at no k"
    return f"at {len(held) - len(failing)} of {len(held)} k, not at {', '.join(failing)}"


def _held(apart: Sequence[Gaps]) -> dict[int, bool]:
    return {k: all(one[k] > LEAST for one in apart) for k in apart[0]}


def below(
    says: str,
    results: Results,
    subject: str,
    loss: str,
    low: str,
    highs: Sequence[str],
    l: float | None = None,  # noqa: E741
) -> Claim:
    """That one method loses less than others, at every k."""
    meant = " and ".join(f"below {METHODS[high].shown}" for high in highs) + " at every k"
    apart = [gaps(results, subject, loss, low, high, l) for high in highs]
    if not all(apart):
        return Claim(says, meant, [])
    found = "; ".join(
        f"{METHODS[high].shown} loses {span(one)} points more"
        for high, one in zip(highs, apart, strict=True)
    )
    return Claim(says, meant, list(_held(apart).values()), f"{at_which(apart)}: {found}")


def of_figures(results: Results) -> list[Claim]:
    """Figures 5 to 8: k-concealment loses less than k-anonymity in all tables by both measures."""
    return [
        below(
            f"k-concealment offers smaller losses than k-anonymity: {subject}, {shown} "
            f"(figure {number}).",
            results,
            subject,
            loss,
            "concealment",
            ("agglomerative", "forest"),
        )
        for subject, number in FIGURES.items()
        for loss, shown in LOSSES.items()
    ]


def of_algorithms(results: Results) -> list[Claim]:
    """What section 6 says of the algorithms for k-anonymity."""
    pairs = [(subject, loss) for subject in FIGURES for loss in LOSSES]
    worse = {pair: gaps(results, *pair, "agglomerative", "forest") for pair in pairs}
    apart = {
        pair: gap for pair in pairs if (gap := relative(results, *pair, "sequential")) is not None
    }
    return [
        Claim(
            "In practice heuristic algorithms give better results than the forest algorithm "
            "(Sec. 6).",
            "agglomerative below forest at every k, in all tables and by both measures",
            [gap > LEAST for one in worse.values() for gap in one.values()],
            "forest loses more by, in points: "
            + "; ".join(
                f"{subject} {LOSSES[loss]} {span(one)}"
                for (subject, loss), one in worse.items()
                if one
            ),
        ),
        Claim(
            "The agglomerative and the sequential algorithm offer very similar results (Sec. 6).",
            f"mean losses over k within {ALIKE:g}\xa0% of each other",
            [abs(gap) <= ALIKE for gap in apart.values()],
            "sequential against agglomerative: "
            + ", ".join(
                f"{subject} {LOSSES[loss]} {gap:+.1f}\xa0%".replace("-", "−")
                for (subject, loss), gap in apart.items()
            ),
        ),
    ]


def relative(
    results: Results, subject: str, loss: str, method: str, to: str = "agglomerative"
) -> float | None:
    """By how many percent the mean loss of a method is above another's, at the k of both."""
    apart = gaps(results, subject, loss, to, method)
    least = dict(curve(results, Case(subject, loss, to, 0)))
    total = sum(least[k] for k in apart)
    return 100.0 * sum(apart.values()) / total if total else None


def mean(results: Results, subject: str, loss: str, method: str) -> float | None:
    """The mean loss of a method over all its k."""
    losses = [lost for _, lost in curve(results, Case(subject, loss, method, 0))]
    return fmean(losses) if losses else None


def of_randomized(results: Results) -> list[Claim]:
    """Figure 9: the cost of randomization, in ADULT."""
    claims = []
    for loss, shown in LOSSES.items():
        claims += [
            below(
                f"The randomized algorithm loses more than the basic one: ADULT, {shown}.",
                results,
                "ADULT",
                loss,
                "concealment",
                ("randomized",),
            ),
            below(
                f"It still loses less than the agglomerative algorithm: ADULT, {shown}.",
                results,
                "ADULT",
                loss,
                "randomized",
                ("agglomerative",),
            ),
        ]
    return claims


def of_diversity(results: Results, subjects: Mapping[str, Subject], quick: bool) -> list[Claim]:
    """Figure 10: the advantage remains with l-diversity."""
    claims = []
    for name, said in MOST_DIVERSE.items():
        known = [] if quick or name not in subjects else [subjects[name].most_diverse]
        claims.append(
            Claim(
                f"The maximal possible diversity of {name} is {said:g}.",
                "it is, to two decimals",
                [abs(most - said) < 0.005 for most in known],
                ", ".join(f"{most:.4f}" for most in known),
            )
        )
    for name, l in DIVERSE.items():  # noqa: E741
        claims.append(
            below(
                f"The advantage of k-concealment is preserved with l-diversity: {name}, "
                f"l = {l:g}, LM.",
                results,
                name,
                "lm",
                "concealment",
                ("agglomerative",),
                l,
            )
        )
    return claims


def order(results: Results) -> HtmlTable:
    """The expected order, pair by pair: at how many k it holds, and how far apart they are."""
    rows: list[list[Cell | str]] = []
    for subject in FIGURES:
        for loss, shown in LOSSES.items():
            cells = [
                _pair(gaps(results, subject, loss, low, high)) for low, high in pairwise(ORDER)
            ]
            if any(cell.text != "–" for cell in cells):
                rows.append([f"{subject}, {shown}", *cells])
    short = {name: METHODS[name].shown.removeprefix("k-concealment, ") for name in ORDER}
    return HtmlTable(
        head=["table", *(f"{short[low]} below {short[high]}" for low, high in pairwise(ORDER))],
        rows=rows,
        caption="At how many of the k each method loses less than the next one; below, how much "
        "less it loses, from the least to the most over all k (negative: it loses more).",
        widths=(19, 27, 27, 27),
        files=("means.csv",),
    )


def lower(results: Results, method: str, than: str = "concealment") -> str:
    """In how many cases a method loses less than another, and the most that it saves, in words."""
    saved = {
        (subject, loss, k): -gap
        for subject in FIGURES
        for loss in LOSSES
        for k, gap in gaps(results, subject, loss, than, method).items()
    }
    better = {case: gap for case, gap in saved.items() if gap > LEAST}
    words = f"{METHODS[method].shown.split(' (')[0]} in {len(better)} of {len(saved)} cases"
    if not better:
        return words
    subject, loss, k = max(better, key=lambda case: better[case])
    most = f"{better[subject, loss, k]:.2f} points ({subject}, {LOSSES[loss]}, k = {k})"
    return f"{words}, by at most {most}"


def _pair(apart: Gaps) -> Cell:
    if not apart:
        return Cell("–", tone="unknown")
    held = _held([apart])
    good = sum(held.values())
    tone: Tone = "good" if good == len(held) else "mixed" if 2 * good >= len(held) else "bad"
    return Cell(f"{good} of {len(held)} k", f"{span(apart)} points", tone)


def means(results: Results) -> HtmlTable:
    """The mean losses over k of all methods."""
    rows: list[list[Cell | str]] = []
    for subject in FIGURES:
        for loss, shown in LOSSES.items():
            least = mean(results, subject, loss, "concealment")
            cells = [_mean(results, subject, loss, method) for method in EVERY]
            if least is not None:
                rows.append([f"{subject}, {shown}", *cells])
    return HtmlTable(
        head=["percent lost", *(METHODS[method].shown.split(" (")[0] for method in EVERY)],
        rows=rows,
        caption=f"Mean loss over {_ks(results)}, in percent of what can be lost; below, the "
        "mean difference from k-concealment in points. Where a method was run at fewer k, both "
        "are over these. Each method was guided by the loss by which it is measured.",
        numbers=True,
        files=("means.csv",),
    )


def _mean(results: Results, subject: str, loss: str, method: str) -> Cell:
    value = mean(results, subject, loss, method)
    apart = gaps(results, subject, loss, "concealment", method)
    if value is None or not apart:
        return Cell("–", tone="unknown")
    if method == "concealment":
        return Cell(f"{value:.2f}", "", "strong")
    every = len(curve(results, Case(subject, loss, "concealment", 0)))
    fewer = f" at {len(apart)} k" if len(apart) < every else ""
    return Cell(f"{value:.2f}", f"{fmean(apart.values()):+.2f}{fewer}".replace("-", "−"))


def _ks(results: Results) -> str:
    ks = sorted({case.k for case in results if case.method == "concealment"})
    return f"{many(len(ks), 'k', 'k')} from {ks[0]} to {ks[-1]}"
