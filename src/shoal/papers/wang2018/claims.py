"""What Wang 2018 says about its figures (Sec. 5), tested on one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from shoal.papers._compare import Claim
from shoal.papers._printed import printed
from shoal.papers.wang2018.measures import (
    CLASSES,
    ENHANCED,
    FIGURES,
    GENEIR,
    LOSS,
    MEDIANS,
    PEOPLE,
    PLAIN,
    RATIOS,
    SECONDS,
    SHORT,
    VULNERABLE,
    Measure,
    curve,
    error_in,
    least_to_greatest,
    named,
    ratios,
    times,
)
from shoal.papers.wang2018.runs import AB, KL, METHODS, PANELS, Panel, Results

MANY = 10.0  # percent of classes from which on we call them many
STEADY = 10.0  # percentage points within which we say that something almost does not change
CLOSE = 10.0  # percent within which we call two numbers close, or an increase small
FAR = 2.0  # how many times as much we call far more
LEAST = 1e-9  # smaller differences count as equal

# By how much EIR takes longer than IR at most.
MORE_SECONDS: dict[str, float] = printed("wang2018")["more_seconds"]


def of_table(results: Results, subject: str) -> list[Claim]:
    """All statements about the figures, tested on one table."""
    return [
        *_of_vulnerable(results, subject),
        *_of_loss(results, subject),
        *of_error(results, subject),
        *_of_seconds(results, subject),
    ]


def _of_vulnerable(results: Results, subject: str) -> list[Claim]:
    claims = []
    for family in (KL, AB):
        two = (GENEIR[family], PLAIN[family])
        where = f"figure {FIGURES['vulnerable'][family]}"
        every = {name: _every(results, subject, name, VULNERABLE) for name in two}
        claims += [
            Claim(
                f"IR {SHORT[family]}: many classes are vulnerable with both algorithms ({where}).",
                f"{MANY:g}\xa0% or more at every point",
                [share >= MANY for shares in every.values() for share in shares],
                _spans(every, VULNERABLE),
            ),
            _above(
                f"More of danonyir's classes are vulnerable than of geneir's ({where}).",
                results,
                subject,
                PLAIN[family],
                (GENEIR[family],),
                VULNERABLE,
            ),
            _above(
                f"A class of geneir has more people (Sec. 5.1), IR {SHORT[family]}.",
                results,
                subject,
                GENEIR[family],
                (PLAIN[family],),
                PEOPLE,
            ),
        ]
    v = "The share of vulnerable classes"
    over_l, qi_kl = PANELS[KL]
    over_alpha, over_beta, qi_ab = PANELS[AB]
    kl, ab = (GENEIR[KL], PLAIN[KL]), (GENEIR[AB], PLAIN[AB])
    claims += [
        _trend(f"{v} grows with l (figure 2a).", results, subject, kl, over_l, VULNERABLE),
        _trend(f"{v} grows with α (figure 3a).", results, subject, ab, over_alpha, VULNERABLE),
        _trend(f"{v} falls with β (figure 3b).", results, subject, ab, over_beta, VULNERABLE, -1),
    ]
    for family, panel in ((KL, qi_kl), (AB, qi_ab)):
        two = (GENEIR[family], PLAIN[family])
        shares = {name: curve(results, subject, name, panel, VULNERABLE) for name in two}
        counts = {name: curve(results, subject, name, panel, CLASSES) for name in two}
        letter = f"{FIGURES['vulnerable'][family]}{panel.letter}"
        claims += [
            Claim(
                f"{v} hardly changes with |QI| (figure {letter}).",
                f"all within {STEADY:g} points, for each algorithm",
                [_reach(one) <= STEADY for one in shares.values() if one],
                _spans({name: one.values() for name, one in shares.items()}, VULNERABLE),
            ),
            Claim(
                f"The number of classes hardly changes with |QI| (figure {letter}).",
                f"the most are at most {CLOSE:g}\xa0% more than the fewest",
                [
                    max(one.values()) <= (1 + CLOSE / 100) * min(one.values())
                    for one in counts.values()
                    if one
                ],
                _spans({name: one.values() for name, one in counts.items()}, CLASSES),
            ),
        ]
    return claims


def _of_loss(results: Results, subject: str) -> list[Claim]:
    claims = []
    for family in (KL, AB):
        three = (GENEIR[family], PLAIN[family], ENHANCED[family])
        figure = FIGURES["loss"][family]
        claims.append(
            _above(
                f"geneir loses more than danonyir with IR and with EIR (figure {figure}).",
                results,
                subject,
                GENEIR[family],
                (PLAIN[family], ENHANCED[family]),
                LOSS,
            )
        )
        for pair in RATIOS:
            if METHODS[pair.top].family == family:
                found = ratios(results, subject, pair.top, pair.bottom, LOSS)
                claims.append(
                    Claim(
                        f"{named(pair.top)} loses {pair.low:g} to {pair.high:g} times as much as "
                        f"{named(pair.bottom)} (figure {figure}).",
                        "the ratio is between these two at every point",
                        [pair.low <= ratio <= pair.high for ratio in found.values()],
                        _ratio_words(found.values()),
                    )
                )
        larger = ratios(results, subject, ENHANCED[family], PLAIN[family], PEOPLE)
        claims.append(
            Claim(
                f"A class needs more people with EIR than with IR {SHORT[family]}, but very few "
                "(Sec. 5.2.1).",
                f"more, and at most {CLOSE:g}\xa0% more, at every point",
                [1 - LEAST <= ratio <= 1 + CLOSE / 100 for ratio in larger.values()],
                _ratio_words(larger.values()),
            )
        )
        for panel in PANELS[family]:
            falls = panel.varies in ("alpha", "beta")
            word, sign = ("falls", -1) if falls else ("grows", 1)
            says = f"The loss {word} with {panel.shown} (figure {figure}{panel.letter})."
            claims.append(_trend(says, results, subject, three, panel, LOSS, sign))
        if family == KL:
            claims.append(_sharper(results, subject, three))
    over_l = PANELS[KL][0]
    three = (GENEIR[KL], PLAIN[KL], ENHANCED[KL])
    claims.append(
        _trend("A class has more people as l grows.", results, subject, three, over_l, PEOPLE)
    )
    three = (GENEIR[AB], PLAIN[AB], ENHANCED[AB])
    for panel in PANELS[AB][:2]:
        says = f"A class has fewer people as {panel.shown} grows."
        claims.append(_trend(says, results, subject, three, panel, PEOPLE, -1))
    return claims


def _sharper(results: Results, subject: str, methods: Sequence[str]) -> Claim:
    """That the loss grows more with |QI| than with l."""
    rise: dict[str, list[float]] = {}
    for name in methods:
        curves = [curve(results, subject, name, panel, LOSS) for panel in PANELS[KL]]
        if all(len(one) > 1 for one in curves):
            rise[name] = [max(one.values()) - min(one.values()) for one in curves]
    return Claim(
        "The loss grows more sharply with |QI| than with l (figure 4).",
        "it grows by more over all |QI| than over all l, with each method",
        [by_qi > by_l for by_l, by_qi in rise.values()],
        "; ".join(
            f"{named(name)}: by {by_qi:.2f} with |QI|, by {by_l:.2f} with l"
            for name, (by_l, by_qi) in rise.items()
        ),
    )


def of_error(
    results: Results, subject: str, errors: tuple[Measure, Measure] = MEDIANS
) -> list[Claim]:
    """Figures 6 and 7; by medians over queries, or by means."""
    claims = []
    for family in (KL, AB):
        three = (GENEIR[family], PLAIN[family], ENHANCED[family])
        figure = FIGURES["error"][family]
        for panel in PANELS[family]:
            grows = panel.varies == "l"
            what = panel.shown if panel.varies != "qi" else "the dimension of queries, λ = |QI|"
            says = (
                f"The error of queries {'grows' if grows else 'falls'} with {what} "
                f"(figure {figure}{panel.letter})."
            )
            sign = 1 if grows else -1
            claims.append(
                _trend(says, results, subject, three, panel, error_in(panel, errors), sign)
            )
        below = [
            _above("", results, subject, GENEIR[family], three[1:], measure) for measure in errors
        ]
        claims.append(
            Claim(
                f"danonyir's errors are below geneir's, with IR and with EIR (figure {figure}).",
                "at every point, with λ = 1 and λ = |QI|",
                [good for one in below for good in one.held],
                ". With λ = |QI|: ".join(f"geneir {one.found}" for one in below if one.held),
            )
        )
        near = [
            ratio
            for measure in errors
            for ratio in ratios(results, subject, *three[:0:-1], measure).values()
        ]
        claims.append(
            Claim(
                f"The errors with EIR and with IR {SHORT[family]} are close (figure {figure}).",
                f"within {CLOSE:g}\xa0% of each other at every point",
                [abs(ratio - 1) <= CLOSE / 100 for ratio in near],
                _ratio_words(near),
            )
        )
    return claims


def _of_seconds(results: Results, subject: str) -> list[Claim]:
    claims = []
    for family in (KL, AB):
        three = (GENEIR[family], PLAIN[family], ENHANCED[family])
        figure = FIGURES["seconds"][family]
        slower = [
            ratio
            for method in three[1:]
            for ratio in ratios(results, subject, method, GENEIR[family], SECONDS).values()
        ]
        near = ratios(results, subject, ENHANCED[family], PLAIN[family], SECONDS)
        more = [
            results[case].seconds - results[case._replace(method=PLAIN[family])].seconds
            for case in near
        ]
        claims += [
            Claim(
                f"geneir takes far less time than danonyir (figure {figure}).",
                f"danonyir takes {FAR:g} times as long or longer at every point",
                [ratio >= FAR for ratio in slower],
                _ratio_words(slower),
            ),
            Claim(
                f"danonyir takes about as long with EIR as with IR {SHORT[family]} "
                f"(figure {figure}).",
                f"within {CLOSE:g}\xa0% of each other at every point",
                [abs(ratio - 1) <= CLOSE / 100 for ratio in near.values()],
                _ratio_words(near.values()),
            ),
            Claim(
                f"With EIR it takes longer than with IR {SHORT[family]}, by at most "
                f"{MORE_SECONDS[family]:g} s (figure {figure}).",
                "longer at every point, by no more than that; machines and tables differ",
                [0 < gap <= MORE_SECONDS[family] for gap in more],
                f"by {least_to_greatest(more, '{:.2f}'.format)} s" if more else "",
            ),
        ]
        for panel in PANELS[family]:
            falls = panel.varies in ("alpha", "beta")
            word, sign = ("falls", -1) if falls else ("grows", 1)
            says = f"The time {word} with {panel.shown} (figure {figure}{panel.letter})."
            claims.append(_trend(says, results, subject, three, panel, SECONDS, sign))
    return claims


def _every(results: Results, subject: str, method: str, measure: Measure) -> list[float]:
    """All numbers of a method."""
    numbers = [
        measure.of(case, found)
        for case, found in results.items()
        if (case.subject, case.method) == (subject, method)
    ]
    return [number for number in numbers if number is not None]


def _above(
    says: str, results: Results, subject: str, top: str, bottoms: Sequence[str], measure: Measure
) -> Claim:
    """That a method's number is above that of others at every point."""
    found = {bottom: ratios(results, subject, top, bottom, measure) for bottom in bottoms}
    return Claim(
        says,
        "more at every point",
        [ratio > 1 + LEAST for one in found.values() for ratio in one.values()],
        _list(
            [
                f"{_ratio_words(one.values())} that of {named(bottom)}"
                for bottom, one in found.items()
                if one
            ]
        ),
    )


def _trend(
    says: str,
    results: Results,
    subject: str,
    methods: Sequence[str],
    panel: Panel,
    measure: Measure,
    sign: int = 1,
) -> Claim:
    """That a number grows (or falls, with -1) from each value to the next, with each method."""
    held, words = [], []
    for name in methods:
        numbers = list(curve(results, subject, name, panel, measure).values())
        steps = [sign * (after - before) > -LEAST for before, after in pairwise(numbers)]
        if steps:
            ends = " → ".join(measure.show.format(numbers[end]) for end in (0, -1))
            count = f" ({sum(steps)} of {len(steps)} steps)" if not all(steps) else ""
            words.append(f"{named(name)} {ends}{measure.unit}{count}")
        held += steps
    word = "grows" if sign > 0 else "falls"
    return Claim(says, f"it {word}, or stays, at every step, with each method", held, _list(words))


def _reach(numbers: Mapping[float, float]) -> float:
    return max(numbers.values()) - min(numbers.values())


def _list(words: Sequence[str]) -> str:
    return "; ".join(words)


def _spans(numbers: Mapping[str, Iterable[float]], measure: Measure) -> str:
    """The least and greatest number of each method, in words."""
    lists = {name: list(some) for name, some in numbers.items()}
    return _list(
        [
            f"{named(name)} {least_to_greatest(some, measure.show.format)}{measure.unit}"
            for name, some in lists.items()
            if some
        ]
    )


def _ratio_words(found: Iterable[float]) -> str:
    """Ratios in words.

    >>> _ratio_words([1.5, 2.25])
    '1.50 to 2.25 times'
    """
    listed = list(found)
    return f"{least_to_greatest(listed, times)} times" if listed else ""
