"""Figures 3 and 4 of the slides: efficiency and data quality of five measures on Adult."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from shoal.algorithms.full_domain import FullDomain
from shoal.base.errors import BadFile
from shoal.base.progress import Progress
from shoal.flow.anonymize import anonymize
from shoal.models import Model
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.recursive_cl_diversity import RecursiveCLDiversity
from shoal.models.t_closeness import TCloseness
from shoal.papers import _adult
from shoal.papers._adult import Adult
from shoal.papers._compare import Claim, highest
from shoal.papers._result import Row
from shoal.plan import Plan
from shoal.report.page import Block, Cell, HtmlTable, Plot, Text
from shoal.report.plots import Series, lines
from shoal.table.roles import Column

# The seven quasi-identifiers of the slides, in their order; figure 3a takes the first ones.
QUASI = (
    "age",
    "workclass",
    "education",
    "native-country",
    "marital-status",
    "race",
    "sex",
)
OCCUPATION = "occupation"
C = 3.0  # of recursive (c, l)-diversity: our choice, the slides name none
KS, QUICK_KS = (2, 4, 6, 8, 10), (2, 6)  # and l
SIZES, QUICK_SIZES = (2, 3, 4, 5, 6, 7), (2, 7)
FIXED = 5  # k and l of figure 3a
MEASURES: Mapping[str, Callable[[int], list[Model]]] = {
    "k-anonymity": lambda k: [KAnonymity(k=k)],
    "distinct l-diversity": lambda k: [DistinctLDiversity(column=OCCUPATION, l=k)],
    "entropy l-diversity": lambda k: [EntropyLDiversity(column=OCCUPATION, l=k)],
    "recursive (c, l)-diversity": lambda k: [RecursiveCLDiversity(column=OCCUPATION, c=C, l=k)],
    "k-anonymity, 0.2-closeness": lambda k: [KAnonymity(k=k), _close(0.2)],
    "k-anonymity, 0.15-closeness": lambda k: [KAnonymity(k=k), _close(0.15)],
}
QUALITY = {
    "discernibility": "discernibility: sum of squared class sizes, millions",
    "average-class-size": "records per class",
}
CLOCK = "seconds by the clock, on a machine that may run other programs at the same time"
CAPTIONS = {
    "3a": f"Figure 3a, ours: how long the search takes with more quasi-identifiers; {CLOCK}.",
    "3b": f"Figure 3b, ours: how long it takes with a higher k and l; {CLOCK}.",
    "4a": "Figure 4a, ours: discernibility; lower is better.",
    "4b": "Figure 4b, ours: the mean size of a class; lower is better.",
}
CLOSE = "k-anonymity, 0.15-closeness"
WORST = "entropy l-diversity"
SLIGHTLY = 2.0  # what we take "slightly better" to mean, at most


def _close(t: float) -> TCloseness:
    return TCloseness(column=OCCUPATION, t=t, distance="hierarchical")


class Measured(NamedTuple):
    """What is measured on one verified release."""

    seconds: float  # of the search for levels
    discernibility: float  # millions
    average: float  # records per class


class Found(NamedTuple):
    """All releases: by measure and number of quasi-identifiers, and by measure, k and objective."""

    adult: Adult
    by_size: Mapping[tuple[str, int], Measured]
    by_k: Mapping[tuple[str, int, str], Measured]


def run(
    data: Path | None, quick: bool, progress: Progress, begin: float, end: float
) -> Found | None:
    """Anonymize Adult by every measure; None if Adult is not on this machine."""
    try:
        adult = _adult.load(data, quick)
    except BadFile:
        if data is not None:
            raise
        return None
    ks, sizes = (QUICK_KS, QUICK_SIZES) if quick else (KS, SIZES)
    wanted: list[tuple[str, int, int, str]] = [
        (name, FIXED, size, "discernibility") for size in sizes for name in MEASURES
    ]
    wanted += [
        (name, k, len(QUASI), objective) for objective in QUALITY for k in ks for name in MEASURES
    ]
    make(adult, MEASURES["k-anonymity"](FIXED), 2, "discernibility")  # loads the kernels
    by_size, by_k = {}, {}
    for done, (name, k, size, objective) in enumerate(wanted):
        share = begin + (end - begin) * done / len(wanted)
        progress(f"Adult, {name}, k and l = {k}, {size} quasi-identifiers", share)
        measured = make(adult, MEASURES[name](k), size, objective)
        if done < len(sizes) * len(MEASURES):
            by_size[name, size] = measured
        else:
            by_k[name, k, objective] = measured
    return Found(adult, by_size, by_k)


def make(adult: Adult, models: list[Model], size: int, objective: str) -> Measured:
    """One verified release by full-domain generalization without suppression."""
    columns = {
        name: Column(role="quasi", hierarchy=adult.hierarchies[name]) for name in QUASI[:size]
    }
    columns[OCCUPATION] = Column(role="sensitive", hierarchy=adult.hierarchies[OCCUPATION])
    plan = Plan(
        columns=columns,
        models=models,
        algorithm=FullDomain(objective=objective),  # type: ignore[arg-type]
        seed=0,
    )
    release = anonymize(adult.table.select(list(columns)), plan)
    return Measured(
        release.seconds["recode"], release.discernibility / 1e6, release.average_class_size
    )


def value(found: Found, name: str, k: int, objective: str) -> float:
    """A point of figure 4: each release was the best by the objective by which it is measured."""
    measured = found.by_k[name, k, objective]
    return measured.discernibility if objective == "discernibility" else measured.average


def claims(found: Found) -> list[Claim]:
    """What the slides say of the results."""
    ks = sorted({k for _, k, _ in found.by_k})
    tables = [
        {name: value(found, name, k, objective) for name in MEASURES}
        for objective in QUALITY
        for k in ks
    ]
    times = {
        name: sum(one.seconds for (other, _, _), one in found.by_k.items() if other == name)
        for name in MEASURES
    }
    fastest = sorted(times, key=lambda name: times[name])
    closer = [table[CLOSE] / table["k-anonymity"] for table in tables]
    return [
        Claim(
            "l-diversity runs faster than the other four measures.",
            "an l-diversity takes the least time, over all k and l",
            ["l-diversity" in fastest[0]],
            ", ".join(f"{name} {times[name]:.1f} s" for name in fastest),
        ),
        Claim(
            "Entropy l-diversity has the worst data quality.",
            "no other measure is above it, by both measures of quality at each k and l",
            [highest(table, [WORST]) for table in tables],
            f"so in {sum(highest(t, [WORST]) for t in tables)} of {len(tables)} cases",
        ),
        Claim(
            "k-anonymity has slightly better data quality than t-closeness.",
            f"with 0.15-closeness the measures are 1 to {SLIGHTLY:g} times as high in each case",
            [1 - 1e-9 <= times_as_high <= SLIGHTLY for times_as_high in closer],
            f"0.15-closeness is {min(closer):.1f} to {max(closer):.1f} times as high",
        ),
    ]


def draw(found: Found) -> dict[str, str]:
    """The four panels."""
    sizes = sorted({size for _, size in found.by_size})
    ks = sorted({k for _, k, _ in found.by_k})
    plots = {
        "figure-3a.svg": lines(
            [
                Series(name, [(size, found.by_size[name, size].seconds) for size in sizes])
                for name in MEASURES
            ],
            f"quasi-identifiers, k and l = {FIXED}",
            "seconds",
        ),
        "figure-3b.svg": lines(
            [
                Series(name, [(k, found.by_k[name, k, "discernibility"].seconds) for k in ks])
                for name in MEASURES
            ],
            "k and l",
            "seconds",
        ),
    }
    for panel, objective in zip("ab", QUALITY, strict=True):
        plots[f"figure-4{panel}.svg"] = lines(
            [
                Series(name, [(k, value(found, name, k, objective)) for k in ks])
                for name in MEASURES
            ],
            "k and l",
            QUALITY[objective],
        )
    return plots


def rows(found: Found) -> dict[str, Sequence[Row]]:
    """The points of the four panels."""
    tables: dict[str, Sequence[Row]] = {
        "figure-3a.csv": [
            Row("figure 3a", FIXED, name, f"seconds, {size} quasi-identifiers", one.seconds)
            for (name, size), one in found.by_size.items()
        ],
        "figure-3b.csv": [
            Row("figure 3b", k, name, "seconds", one.seconds)
            for (name, k, objective), one in found.by_k.items()
            if objective == "discernibility"
        ],
    }
    for panel, objective in zip("ab", QUALITY, strict=True):
        tables[f"figure-4{panel}.csv"] = [
            Row(f"figure 4{panel}", k, name, QUALITY[objective], value(found, name, k, objective))
            for name, k, other in found.by_k
            if other == objective
        ]
    return tables


def blocks(found: Found | None, plots: Mapping[str, str]) -> list[Block]:
    """The section on Adult, without its statements."""
    if found is None:
        return [
            Text("Adult is not on this machine, so figures 3 and 4 were not run; see `--data`.")
        ]
    ks = sorted({k for _, k, _ in found.by_k})
    table: list[list[Cell | str]] = [
        [
            name,
            *(
                Cell(
                    f"{value(found, name, k, 'discernibility'):.2f}",
                    f"{value(found, name, k, 'average-class-size'):,.0f} per class",
                )
                for k in ks
            ),
        ]
        for name in MEASURES
    ]
    return [
        Text(
            f"The slides anonymize Adult ({found.adult.table.num_rows:,} rows here) with seven "
            "quasi-identifiers and occupation as the sensitive column, and show five measures: "
            "how long the search takes and how good the tables are. Their curves are pictures, so "
            "only their three sentences can be compared. They list four measures; distinct "
            "l-diversity and 0.2-closeness are ours, and so are the values of k and l and "
            f"c = {C:g}. Salary, sensitive in the slides too, is left out: it has two values, so "
            "that no l above 2 is possible. We generalize whole columns (`full-domain`), which "
            "finds the best levels of all, by discernibility for figure 4a and by class size for "
            "figure 4b."
        ),
        *(
            Plot(svg, CAPTIONS[name[7:9]], (name.replace("svg", "csv"), name))
            for name, svg in plots.items()
        ),
        HtmlTable(
            head=["measure", *(f"k and l = {k}" for k in ks)],
            rows=table,
            caption="Figure 4: discernibility in millions, and below records per class; each the "
            "lowest that is possible without suppression.",
            numbers=True,
            files=("figure-4a.csv", "figure-4b.csv"),
        ),
    ]
