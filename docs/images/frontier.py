"""Loss against an attacker's belief, for docs/models.md: `make pictures`.

Adult is anonymized by `peel`, `freeform` and three kinds of `concealment`. An attacker who knows
the quasi-identifiers of everybody believes of a person's most likely record that it is theirs: in a
class of k people with 1/k, otherwise as the attack `matching` finds it. The figures are printed as
a table, and drawn into `frontier-concealment.svg`; with the name of a `.png` file (`python -m
docs.images.frontier FILE`) also into that one, to look at.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tables import QUASI, plan
from shoal import catalog
from shoal.algorithms._shared.recode import recode
from shoal.attacks.matching import Matching
from shoal.base.errors import ShoalError
from shoal.datasets import adult
from shoal.io.frames import open_frame
from shoal.losses.lm import LM
from shoal.measures.information_loss import measure
from shoal.report.plots import Series, lines
from shoal.table.encode import Table, encode
from shoal.table.match_graph import link
from shoal.table.published_table import Published

HERE = Path(__file__).parent
# A line of the figure: its name, the model, the algorithm with its options, and each k.
LINES: tuple[tuple[str, str, Mapping[str, Any], tuple[int, ...]], ...] = (
    ("peel", "k-anonymity", {"name": "peel"}, (5, 6, 7, 10, 20, 50)),
    ("freeform", "k-belief", {"name": "freeform"}, (5, 10, 20, 50)),
    ("concealment", "k-concealment", {"name": "concealment"}, (5, 10, 20, 50)),
    (
        "… not randomized", "k-concealment",
        {"name": "concealment", "randomized": False}, (5, 10, 20, 50, 100),
    ),
    (
        "… by expansion", "k-concealment",
        {"name": "concealment", "randomized": False, "start": "expansion"}, (5, 10, 20, 50, 100),
    ),
)  # fmt: skip


class Point(NamedTuple):
    """One release; losses and beliefs in percent."""

    k: int
    lost: float
    mean: float
    highest: float
    known: int = 0  # people whose most likely record is theirs with more than one half


def main(picture: Path | None) -> None:
    """Measure, print and draw."""
    table = people()
    print(f"Adult, {table.rows:,} records, {len(table.names)} quasi-identifiers, lm, seed 1")
    print("| release | k | lost % | mean belief % | highest belief % | people above 50 % |")
    print("|---|---|---|---|---|---|")
    found = []
    for name, model, algorithm, ks in LINES:
        points = []
        for k in ks:
            one = measured(table, model, algorithm, k)
            figures = f"{one.lost:.2f} | {one.mean:.1f} | {one.highest:.0f} | {one.known}"
            print(f"| {name} | {k} | {figures} |", flush=True)
            points.append((one.mean, one.lost))
        found.append(Series(name, points))
    words = "mean belief in the most likely record, in percent", "loss (lm) in percent"
    svg = lines(found, *words, log_x=True)
    (HERE / "frontier-concealment.svg").write_text(svg)
    if picture is not None:
        import vl_convert

        picture.write_bytes(vl_convert.svg_to_png(svg, scale=1.5))


def people() -> Table:
    """Adult with eight quasi-identifiers: all records if the test part is there."""
    files = Path(__file__).parents[3] / "shared" / "data" / "adult"
    try:
        frame = adult(files if files.is_dir() else None, part="all")
    except ShoalError:
        frame = adult()
    names = [name for name in QUASI if name != "salary-class"]
    columns = {name: column for name, column in plan().columns.items() if name in names}
    return encode(open_frame(frame.select(names)), columns)


def measured(table: Table, model: str, algorithm: Mapping[str, Any], k: int) -> Point:
    """What a release loses, and what an attacker believes."""
    options = {name: value for name, value in algorithm.items() if name != "name"}
    way, rng = catalog.algorithms[algorithm["name"]](**options), np.random.default_rng(1)
    made = recode(way, table, [catalog.models[model](k=k)], LM(), rng)
    labels = tuple(list(tree.labels) for tree in table.trees)
    wide = made.vectors[made.record].astype(np.int32)
    published = Published(table.names, wide, labels, None)
    lost = measure(table, published, LM(), made).losses["lm"]
    if model == "k-anonymity":
        size = published.classes.size
        return Point(k, lost, 100.0 * len(size) / table.rows, 100.0 / int(size.min()))
    belief = Matching().run_on(link(table, published))
    mean, highest = belief["mean_largest_probability"], belief["largest_probability"]
    return Point(k, lost, 100.0 * mean, 100.0 * highest, belief["people"])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
