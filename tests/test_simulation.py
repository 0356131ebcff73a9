"""The simulation behind the tables of docs/samples.md: its columns against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.samples import K, simulated

PEOPLE, SAMPLES, SEED = 700, 3, 4


def test_what_is_called_true_is_true_of_the_population():
    rng = np.random.default_rng(0)
    values = [rng.geometric(0.15, PEOPLE), rng.integers(0, 9, PEOPLE), rng.integers(0, 3, PEOPLE)]
    codes = np.stack(values, axis=1).astype(np.int32)
    people = pd.DataFrame(codes, columns=list("abc"))
    people["size"] = people.groupby(list("abc"))["a"].transform("size")
    alone = 100 * (people["size"] == 1).mean()
    assert 10 < alone < 60  # neither nobody nor everybody
    again = np.random.default_rng(SEED)  # draws the same samples
    rows = list(simulated(codes, (0.1, 0.4), SAMPLES, SEED))
    assert [row["fraction"] for row in rows] == [0.1, 0.4]
    for row in rows:
        drawn = round(row["fraction"] * PEOPLE)
        for i in range(SAMPLES):
            sample = people.iloc[again.choice(PEOPLE, drawn, replace=False)]
            here = sample.groupby(list("abc"))["a"].transform("size")
            taken = sample[here / row["fraction"] >= K]
            expected = {
                "true re-identifications": (1 / sample["size"]).sum(),
                "if the table were the population": (1 / here).sum(),
                "true uniqueness": alone,
                "unique in the sample": 100 * (here == 1).mean(),
                "true": 100 * (sample["size"] >= K).mean(),
                "by the sample": 100 * (here >= K).mean(),
                "f / π": 100 * len(taken) / len(sample),
                "f / π, wrong": 100 * (taken["size"] < K).mean(),
            }
            assert {name: row[name][i] for name in expected} == pytest.approx(expected, nan_ok=True)
        # The estimates are between what is certain and what would be if nobody else existed.
        for low, high in zip(
            row["expected re-identifications"], row["if the table were the population"], strict=True
        ):
            assert 0 < low < high
