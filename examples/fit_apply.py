"""Publish a second table like the first: fit on Adult's train part, apply to its test part.

With `--data FOLDER` both parts are read from there (adult.data and adult.test). Without it, a third
of the train part, which comes with the test packages, serves as the test part.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import shoal
from shoal import Fitted, Hierarchy, Plan
from shoal.datasets import adult
from shoal.datasets.adult import hierarchies

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--data", help="a folder with adult.data and adult.test")
data = parser.parse_known_args()[0].data

if data:
    train, test = (adult(data, part).select(list(hierarchies())) for part in ("train", "test"))
else:
    table = adult().select(list(hierarchies()))
    order = np.random.default_rng(0).permutation(table.num_rows)
    train, test = table.take(order[:20_000]), table.take(order[20_000:])

columns = {
    name: {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)}
    for name, tree in hierarchies().items()
}
columns["salary-class"] = {"role": "sensitive"}

print("                      classes   records   published  no class  violated   moved    lost")
for k in (2, 5, 10, 50):
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": k}])
    release = shoal.anonymize(train, plan)
    with TemporaryDirectory() as folder:
        release.recoding.save(Path(folder, "recoding.json"))  # saved for later tables
        fitted = Fitted.load(Path(folder, "recoding.json"))
    applied = fitted.apply(test)
    assert applied.checks[0].holds
    alone = shoal.anonymize(test, plan)
    left = applied.applied
    for name, one in (("fitted", release), ("applied", applied), ("by itself", alone)):
        classes = f"{one.classes:>9,}"
        counts = f"{left.no_class:>10,}{sum(left.broken.values()):>10,}{left.moved:>8,}"
        print(
            f"k = {k:<3} {name:<12} {classes} {one.rows:>9,} {one.published:>11,}"
            f"{counts if one is applied else ' ' * 28} {one.losses['nllm']:>5.1f} %"
        )
