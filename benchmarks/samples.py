"""Risks of samples: how fast they are estimated, and how far from the truth.

`python -m benchmarks.samples FILE --columns a,b,c` takes a file as a population, draws random
samples from it and compares what is estimated from each sample with what is true of the population:
the tables of docs/samples.md. It prints the mean over the samples and, after ±, their standard
deviation.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import perf_counter

import numpy as np

from benchmarks.tables import QUASI, mixed
from shoal import Plan
from shoal.io.frames import open_frame
from shoal.measures.samples.individual import counts_in_classes, individual_risks
from shoal.measures.samples.sample_risks import sample_risks
from shoal.measures.samples.special_uniques import special_uniques
from shoal.populations.class_sizes import ClassSizes
from shoal.populations.uniqueness import population_uniqueness
from shoal.table.coded_columns import coded
from shoal.table.published_table import read_published
from shoal.table.samples.survey import Survey

ROWS, UNIQUE_ROWS, UNIQUE_COLUMNS, UNIQUE_SIZE = 1_000_000, 300_000, 8, 6
FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)
SAMPLES = 20


def run() -> list[dict]:
    """How long it takes; a first call compiles."""
    people = mixed(ROWS)
    plan = Plan(columns=dict.fromkeys(QUASI, "quasi"))
    published = read_published(open_frame(people), plan.columns)
    _ = published.classes
    weights = np.random.default_rng(1).lognormal(3, 1, ROWS) + 1
    survey = Survey(weights, None, np.arange(ROWS) // 3)
    small = published.codes[:UNIQUE_ROWS, :UNIQUE_COLUMNS]
    special_uniques(published.names[:UNIQUE_COLUMNS], small[:1000], 2)
    return [
        {
            "what": f"individual risk and population models, {ROWS:,} records",
            "shoal": _seconds(lambda: sample_risks(survey, plan, published)),
            "goal": "2 s",
        },
        {
            "what": f"special uniques, {UNIQUE_ROWS:,} × {UNIQUE_COLUMNS}, up to {UNIQUE_SIZE}",
            "shoal": _seconds(
                lambda: special_uniques(published.names[:UNIQUE_COLUMNS], small, UNIQUE_SIZE)
            ),
            "goal": "60 s",
        },
    ]


def _seconds(work) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def simulated(codes: np.ndarray, fractions=FRACTIONS, samples=SAMPLES, seed=1) -> Iterator[dict]:
    """For each sampling fraction the truth, and the estimates of random samples."""
    from shoal.kernels.group import group_rows

    rng = np.random.default_rng(seed)
    label, _, size = group_rows(codes)
    people = len(codes)
    unique = float((size == 1).sum()) / people
    for fraction in fractions:
        found: dict[str, list[float]] = {}
        for _ in range(samples):
            rows = rng.choice(people, round(fraction * people), replace=False)
            _, mine = np.unique(label[rows], return_inverse=True)
            counts = counts_in_classes(mine, np.full(len(rows), people / len(rows)), None)
            risk = individual_risks(counts, None, None).of_record
            truth = 1 / size[label[rows]]
            seen = population_uniqueness(ClassSizes.of(counts.sample), len(rows) / people)
            alone = (counts.sample[mine] == 1).mean()
            numbers = {
                "true re-identifications": truth.sum(),
                "expected re-identifications": risk.sum(),
                "if the table were the population": (1 / counts.sample[mine]).sum(),
                "true uniqueness": 100 * unique,
                "unique in the sample": 100 * alone,
                "rule": 100 * seen.uniqueness,
            } | {one.estimator: 100 * (one.uniqueness or np.nan) for one in seen.estimates}
            for name, value in numbers.items():
                found.setdefault(name, []).append(float(value))
        yield {"fraction": fraction} | found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--columns", required=True)
    parser.add_argument("--no-header", action="store_true", help="columns are c1, c2, ...")
    given = parser.parse_args()
    import pyarrow.csv as pc

    options = pc.ReadOptions(autogenerate_column_names=given.no_header)
    table = pc.read_csv(given.file, options)
    names = given.columns.split(",")
    if given.no_header:
        names = [f"f{int(name.removeprefix('c')) - 1}" for name in names]
    frame = open_frame(table.select(names))
    codes = np.stack([coded(frame, name)[0] for name in names], axis=1)
    rows = list(simulated(codes))
    risks = ["true re-identifications", "expected re-identifications"]
    risks += ["if the table were the population"]
    shares = ["true uniqueness", "unique in the sample", "pitman", "zayatz"]
    shares += ["slide-negative-binomial", "rule"]
    for columns in (risks, shares):
        print("| sampling fraction |", " | ".join(columns), "|")
        print("|---" * (len(columns) + 1) + "|")
        for row in rows:
            cells = [_cell(row[name], "true" in name) for name in columns]
            print(f"| {row['fraction']} |", " | ".join(cells), "|")
        print()


def _cell(values: list[float], exact: bool) -> str:
    known = [one for one in values if not np.isnan(one)]
    if not known:
        return "–"
    digits = 0 if abs(np.mean(known)) >= 100 else 2
    mean = f"{np.mean(known):,.{digits}f}"
    lacking = f" ({len(values) - len(known)} without)" if len(known) < len(values) else ""
    return mean if exact else f"{mean} ± {np.std(known, ddof=1):,.{digits}f}{lacking}"


if __name__ == "__main__":
    main()
