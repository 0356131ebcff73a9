"""Risks of samples: how fast they are estimated, and how far from the truth.

`python -m benchmarks.samples FILE --columns a,b,c` takes a file as a population, draws random
samples from it and compares what is estimated from each sample with what is true of the population:
the tables of docs/samples.md. It prints the mean over the samples and, after ±, their standard
deviation.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.tables import QUASI, frame, mixed
from benchmarks.tables import plan as adult_plan
from shoal import Plan, audit
from shoal.io.frames import open_frame
from shoal.kernels.group import group_rows
from shoal.measures.samples.individual import (
    counts_in_classes,
    counts_with_any,
    individual_risks,
)
from shoal.measures.samples.sample_risks import sample_risks
from shoal.measures.samples.special_uniques import special_uniques
from shoal.populations.class_sizes import ClassSizes
from shoal.populations.poisson import accepted_sizes
from shoal.populations.uniqueness import population_uniqueness
from shoal.table.coded_columns import coded
from shoal.table.encode import Table, encode
from shoal.table.population.population import Population
from shoal.table.published_table import Published, read_published
from shoal.table.samples.survey import Survey

ROWS, UNIQUE_ROWS, UNIQUE_COLUMNS, UNIQUE_SIZE = 1_000_000, 300_000, 8, 6
PEOPLE, SAMPLED = 10_000_000, 100_000  # of a population and of a table, for k-map
MOST_SCANNED = 10_000  # vectors and records of which all pairs are compared
K = 5  # of k-map in the simulation
FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)
SAMPLES = 20


def run() -> list[dict]:
    """How long it takes; a first call compiles."""
    people = mixed(ROWS)
    plan = Plan(columns=dict.fromkeys(QUASI, "quasi"))
    weights = np.random.default_rng(1).lognormal(3, 1, ROWS) + 1

    def read(rows: int) -> tuple[Survey, Published]:
        survey = Survey(weights[:rows], None, np.arange(rows) // 3)
        return survey, read_published(open_frame(people.iloc[:rows]), plan.columns)

    survey, few = read(1000)
    sample_risks(survey, plan, few)
    survey, published = read(ROWS)  # not grouped yet
    small = published.codes[:UNIQUE_ROWS, :UNIQUE_COLUMNS]
    special_uniques(published.names[:UNIQUE_COLUMNS], small[:1000], 2)
    return [
        {
            "what": f"individual risk and population models, {ROWS:,} records, with grouping them",
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
        _against_population(),
        *_sharing(),
        *_missing_is_any(),
    ]


def _against_population() -> dict:
    """An audit of k-map, with reading, coding and counting the population."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    people = pa.Table.from_pandas(frame(), preserve_index=False)
    base = rng.integers(0, len(people), PEOPLE)
    columns = {}
    for name in QUASI:
        other = rng.random(PEOPLE) < 0.15
        taken = np.where(other, rng.integers(0, len(people), PEOPLE), base)
        columns[name] = people[name].combine_chunks().dictionary_encode().take(pa.array(taken))
    everybody = pa.table(columns)
    sample = everybody.take(pa.array(rng.choice(PEOPLE, SAMPLED, replace=False)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "population.parquet"
        pq.write_table(everybody, file)
        del everybody, columns
        asked = adult_plan(models=[{"name": "k-map", "k": 10}], population={"data": file})
        audit(sample.slice(0, 100), asked)  # compiles, if that is necessary
        seconds = _seconds(lambda: audit(sample, asked))
    what = f"k-map of {SAMPLED:,} records against a population of {PEOPLE:,}, with reading it"
    return {"what": what, "shoal": seconds, "goal": "20 s"}


def _sharing() -> Iterator[dict]:
    """Vectors that share people: by the index, and by comparing all pairs of vectors."""
    table = encode(open_frame(mixed(200_000)), adult_plan().columns)
    people = Population(Table(table.names, table.trees, table.codes, None, table.exact))
    rng = np.random.default_rng(2)
    reader = people.reader(table.names, [tree.labels for tree in table.trees])
    for many in (2_500, 5_000, MOST_SCANNED, 100_000):
        vectors = table.codes[rng.choice(table.rows, many, replace=False)].copy()
        for j, tree in enumerate(table.trees):  # half of the values are one step more general
            up = rng.random(many) < 0.5
            vectors[up, j] = tree.parent[vectors[up, j]]
        vectors = vectors[group_rows(vectors)[1]]
        reader.groups(vectors[:10])
        row = {
            "what": f"groups of {len(vectors):,} vectors that share people",
            "shoal": _seconds(lambda vectors=vectors: reader.groups(vectors)),
            "goal": "",
        }
        yield row | _scanned(many, row, lambda vectors=vectors: _scan_vectors(vectors, table.trees))


def _missing_is_any() -> Iterator[dict]:
    """Records that fit each other if a missing value may be any: by groups, and by all pairs."""
    table = encode(open_frame(mixed(ROWS)), adult_plan().columns)
    rng = np.random.default_rng(3)
    codes = np.where(rng.random((ROWS, 9)) < 0.02, -1, table.codes).astype(np.int32)
    counts_with_any(codes[:100], np.ones(100))
    for many in (2_500, 5_000, MOST_SCANNED, 100_000, ROWS):
        some = codes[:many]
        row = {
            "what": f"missing may be any, {many:,} records × 9, 2 % of the cells missing",
            "shoal": _seconds(lambda some=some: counts_with_any(some, np.ones(len(some)))),
            "goal": "",
        }
        yield row | _scanned(many, row, lambda some=some: _scan_records(some))


def _scanned(many: int, row: dict, scan: Callable[[], None]) -> dict:
    """The time of a plain scan, unless that would take too long."""
    if many > MOST_SCANNED:
        return {}
    seconds = _seconds(scan)
    return {"plain scan": seconds, "ratio": seconds / row["shoal"]}


def _scan_vectors(vectors: np.ndarray, trees) -> None:
    """Compare each vector with all others: each value has to be above or below the other one."""
    for one in vectors:
        both = np.ones(len(vectors), np.bool_)
        for j, tree in enumerate(trees):
            mine, theirs = one[j], vectors[:, j]
            above = (theirs <= mine) & (mine < tree.end[theirs])
            both &= above | ((mine <= theirs) & (theirs < tree.end[mine]))


def _scan_records(codes: np.ndarray) -> None:
    """Compare each record that lacks a value with all others."""
    for one in codes[(codes < 0).any(axis=1)]:
        known = one >= 0
        ((codes[:, known] == one[known]) | (codes[:, known] < 0)).all(axis=1).sum()


def _seconds(work) -> float:
    """Seconds of the processor, over all threads: other work on the machine does not count."""
    begin = process_time()
    work()
    return process_time() - begin


def simulated(codes: np.ndarray, fractions=FRACTIONS, samples=SAMPLES, seed=1) -> Iterator[dict]:
    """For each sampling fraction the truth, and the estimates of random samples."""
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
                **_k_map(counts.sample[mine], size[label[rows]], len(rows) / people),
            } | {one.estimator: 100 * (one.uniqueness or np.nan) for one in seen.estimates}
            for name, value in numbers.items():
                found.setdefault(name, []).append(float(value))
        yield {"fraction": fraction} | found


def _k_map(sample: np.ndarray, people: np.ndarray, fraction: float) -> dict[str, float]:
    """Of each record the people of its class in the sample and in truth: who is taken to be safe.

    Wrong are those who were taken for so many, of all who were.
    """
    found = {
        "true": 100 * (people >= K).mean(),
        "by the sample": 100 * (sample >= K).mean(),
    }
    for name, truncated in (("Poisson", False), ("zero-truncated", True)):
        taken = accepted_sizes(sample, fraction, truncated=truncated) >= K
        found[name] = 100 * taken.mean()
        found[f"{name}, wrong"] = 100 * (people[taken] < K).mean() if taken.any() else np.nan
    taken = sample / fraction >= K
    found["f / π"] = 100 * taken.mean()
    found["f / π, wrong"] = 100 * (people[taken] < K).mean() if taken.any() else np.nan
    return found


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
    sizes = ["true", "by the sample", "f / π", "f / π, wrong", "Poisson", "Poisson, wrong"]
    sizes += ["zero-truncated", "zero-truncated, wrong"]
    for columns in (risks, shares, sizes):
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
