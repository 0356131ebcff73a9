"""Releases with exact values: two tables by anatomy, and numbers that stay numbers."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.campaign.texts import plan_text
from benchmarks.campaign.trial import Trial

FREE = ("gaa", "agglomerative", "mondrian", "k-member", "kaca", "mdav")


def anatomy(trial: Trial) -> None:
    """Two tables: groups in which no sensitive value is frequent, with all records of the table."""
    rng, folder = trial.rng, trial.folder
    many, wanted = rng.choice([6, 25, 120]), rng.choice([2, 2, 3, 4])
    rows = [
        [rng.randint(20, 60), rng.choice("fm"), rng.choice("abcdefg"[: rng.choice([3, 5, 7])])]
        for _ in range(many)
    ]
    write(folder / "data.csv", [["age", "sex", "disease"], *rows], [0, 1, 2])
    plan = {
        "seed": 1,
        "models": [{"name": "frequency-l-diversity", "column": "disease", "l": wanted}],
        "columns": {n: {"role": "sensitive" if n == "disease" else "quasi"}
                    for n in ("age", "sex", "disease")},
    }  # fmt: skip
    (folder / "plan.toml").write_text(plan_text(plan), encoding="utf-8")
    files = ["--out", "groups.csv", "--out-sensitive", "values.csv"]
    ran = trial.run("anatomy", "data.csv", "--plan", "plan.toml", *files)
    trial.counts[f"anatomy, exit {ran.code}"] += 1
    often = Counter(row[2] for row in rows)
    if ran.code:
        trial.check(ran.code == 1, f"anatomy: exit {ran.code}: {ran.err[-300:]}")
        trial.check(max(often.values()) > many / wanted, "refused, and no value is too frequent")
        trial.check(not (folder / "groups.csv").exists(), "written all the same")
        return
    trial.counts["requirements recomputed"] += 1
    records, values = read(folder / "groups.csv"), read(folder / "values.csv")
    group, count = next(iter(records[0])), list(values[0])[-1]
    own = Counter((row["age"], row["sex"]) for row in records)
    trial.check(own == Counter((str(a), s) for a, s, _ in rows), "other quasi-identifiers")
    inside: dict[str, Counter] = {}
    for row in values:
        inside.setdefault(row[group], Counter())[row["disease"]] += int(row[count])
    trial.check(sum(inside.values(), Counter()) == often, "other sensitive values")
    sizes = Counter(row[group] for row in records)
    same = sizes == Counter({name: found.total() for name, found in inside.items()})
    trial.check(same, "the two tables have groups of other sizes")
    for found in inside.values():
        good = max(found.values()) * wanted <= found.total()
        trial.check(good, f"VIOLATED: a group has {found} with l = {wanted}")
    ran = trial.run("audit", "groups.csv", "--sensitive", "values.csv", "--plan", "plan.toml")
    trial.check(ran.code == 0, f"audit of two tables: exit {ran.code}")


def means(trial: Trial) -> None:
    """Numbers that stay numbers: the means or medians of classes of k records or more."""
    rng, folder = trial.rng, trial.folder
    many, k, how = rng.choice([6, 30, 150]), rng.randint(2, 5), rng.choice(["mean", "median"])
    most = rng.choice([5, 90, 10_000])
    rows = [[rng.randint(0, most), rng.randint(0, most)] for _ in range(many)]
    names = ["x", "y"][: rng.choice([1, 2])]
    write(folder / "data.csv", [["x", "y"], *rows], list(range(len(names))))
    method = rng.choice(["shortest-path", "mdav", ""])
    free = {"hierarchy": {"free_ranges": True}}
    numbers = {"role": "quasi", "microaggregate": how, **({} if method else free)}
    plan = {
        "seed": 1, "keep_order": True, "models": [{"name": "k-anonymity", "k": k}],
        "columns": dict.fromkeys(names, numbers),
        "algorithm": {"name": "microaggregation", "method": method} if method
        else {"name": rng.choice(FREE)},
    }  # fmt: skip
    (folder / "plan.toml").write_text(plan_text(plan), encoding="utf-8")
    ran = trial.run("anonymize", "data.csv", "--plan", "plan.toml", "--out", "release.csv")
    trial.counts[f"microaggregation, exit {ran.code}"] += 1
    if not trial.check(ran.code == 0, f"microaggregation: exit {ran.code}: {ran.err[-300:]}"):
        return
    trial.counts["requirements recomputed"] += 1
    released = read(folder / "release.csv")
    if not trial.check(len(released) == many, "records are missing"):
        return
    classes: dict[tuple, list] = {}
    for row, own in zip(released, rows, strict=True):
        classes.setdefault(tuple(row[name] for name in names), []).append(own)
    for shown, found in classes.items():
        trial.check(len(found) >= k, f"VIOLATED: {len(found)} records have {shown}, k = {k}")
        for j, told in enumerate(shown):
            own = [one[j] for one in found]
            # Whole numbers stay whole. Several classes with the same mean have it together.
            if how == "mean" or len(found) < 2 * k:
                ours = float(np.mean(own) if how == "mean" else np.median(own))
                good = abs(int(told) - ours) <= 0.5 + 1e-9
                trial.check(good, f"{told} is not the {how} of {own}")


def write(path: Path, rows: list, columns: list[int]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[row[j] for j in columns] for row in rows])


def read(path: Path) -> list[dict]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
