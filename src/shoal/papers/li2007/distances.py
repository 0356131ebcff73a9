"""The distances of the slides, theirs and ours, with the distributions behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from shoal.hierarchies.values import text
from shoal.papers._compare import mean_difference
from shoal.papers._result import Row
from shoal.papers.li2007.audit import Counted, Judged, distance, shares
from shoal.papers.li2007.slides import (
    DISEASE,
    DISEASES,
    FIRST,
    SALARY,
    SECOND,
    STATED,
    TREE_DISTANCES,
)
from shoal.report.page import Block, Bullets, Cell, HtmlTable, Plot, Text
from shoal.report.plots import Bars, bars

Tables = Mapping[str, Judged]
COUNTED: dict[Counted, str] = {"rows": "Q as the rows are", "once": "each value once in Q"}
ROUNDING = 0.0005  # the slides give three digits


def gap(ours: float, theirs: float) -> Cell:
    """A difference, marked where it is more than rounding."""
    off = abs(ours - theirs) > ROUNDING
    shown = f"{ours - theirs:+.3f}".replace("-", "−") if off else "0.000"
    return Cell(shown, tone="off" if off else "")


def numbers(tables: Tables) -> HtmlTable:
    """The six distances: theirs, and ours in both readings."""
    rows: list[list[Cell | str]] = []
    for one in STATED:
        row: list[Cell | str] = [
            Cell(
                f"{one.table}, {one.column.lower()}: {one.name}",
                f"class {one.of_class}" if one.of_class else "the farthest class",
            ),
            f"{one.theirs:.3f}",
        ]
        for counted in COUNTED:
            ours = distance(tables, one, counted)
            row += [f"{ours:.3f}", gap(ours, one.theirs)]
        rows.append(row)
    last: list[Cell | str] = ["mean absolute difference", ""]
    for counted in COUNTED:
        mean = mean_difference([(distance(tables, one, counted), one.theirs) for one in STATED])
        last += ["", Cell(f"{mean:.4f}", tone="strong")]
    return HtmlTable(
        head=["distance", "slides", COUNTED["rows"], "difference", COUNTED["once"], "difference"],
        rows=[*rows, last],
        caption="Earth Mover's Distances of classes from the whole table. Differences within "
        f"rounding ({ROUNDING}) are shown as 0; others are shaded.",
        numbers=True,
        files=("distances.csv",),
    )


def agreeing(tables: Tables, column: str, counted: Counted) -> str:
    """How many of the distances of a column agree with the slides, as in 3 of 3."""
    about = [one for one in STATED if one.column == column]
    held = [abs(distance(tables, one, counted) - one.theirs) <= ROUNDING for one in about]
    return f"{sum(held)} of {len(held)}"


def distances(tables: Tables) -> list[Row]:
    """The distances, line by line; the column optimization says how Q was counted."""
    rows = []
    for counted, words in COUNTED.items():
        for one in STATED:
            k = int(tables[one.table].level("k-anonymity"))
            metric = f"{one.column}: {one.name}"
            rows.append(
                Row(one.table, k, words, metric, distance(tables, one, counted), one.theirs)
            )
    for a, b, theirs in TREE_DISTANCES:
        rows.append(Row("figure 1", None, "", f"{a} – {b}", in_tree(a, b), float(Fraction(theirs))))
    return rows


def in_tree(a: str, b: str) -> float:
    """How far apart two diseases are: the height of where they meet, in parts of the tree's."""
    tree = DISEASES.tree()
    return float(tree.level[tree.join(tree.node(a), tree.node(b))] / tree.level[0])


def tree_distances() -> HtmlTable:
    """The distances in the tree that the text of the slides states."""
    return HtmlTable(
        head=["in the tree of diseases", "slides", "ours", "difference"],
        rows=[
            [
                f"{a} – {b}",
                theirs,
                f"{in_tree(a, b):.3f}",
                gap(in_tree(a, b), float(Fraction(theirs))),
            ]
            for a, b, theirs in TREE_DISTANCES
        ],
        numbers=True,
        files=("distances.csv",),
    )


def why(tables: Tables) -> list[Block]:
    """Why the diseases come out differently, counted from the table."""
    table = tables["table 4"]
    rows = Counter(table.slide.content[DISEASE])
    own = set(table.values(DISEASE, FIRST))
    away = {value: count for value, count in rows.items() if value not in own}
    again = [f"{value} ({count})" for value, count in rows.items() if count > 1]
    far = {in_tree(value, other) for value in own for other in away}
    steps = rows.total() * int(DISEASES.tree().level[0])
    (second,) = [s for s in STATED if (s.column, s.of_class) == (DISEASE, SECOND)]
    return [
        Text(
            "Why two readings: Q is the distribution in the whole table, and the slides list it "
            "with its repeated values. Every salary occurs once, so nothing depends on the "
            f"reading there. Of the diseases some occur more often: {', '.join(again)}."
        ),
        Bullets(
            [
                f"The first class has {', '.join(sorted(own))}. Of the {rows.total()} rows of the "
                f"table, {sum(away.values())} have another disease, at a distance of "
                f"{' or '.join(f'{one:g}' for one in sorted(far))} in the tree: "
                f"{sum(away.values())}/{rows.total()} = "
                f"{sum(away.values()) / rows.total():.3f}. Of the {len(rows)} different diseases, "
                f"{len(away)} are others: {len(away)}/{len(rows)} = {len(away) / len(rows):.3f}, "
                "the number of the slides.",
                f"With classes of three rows in a table of {rows.total()} and a tree of height "
                f"{DISEASES.tree().level[0]}, every distance is a multiple of 1/{steps}. The "
                f"slides' {second.theirs} is {second.theirs * steps:.1f}/{steps}: no class of "
                "three of these rows can be that far from the table.",
                "shoal counts rows, as the definition does: every reader of the table sees how "
                "often a disease occurs.",
            ]
        ),
    ]


def _distributions(table: Judged, column: str) -> tuple[list[str], dict[str, list[float]]]:
    """The values of a column in order, and their shares in the table and in two classes."""
    everything = Counter(text(value) for value in table.slide.content[column])
    if column == SALARY:
        values = sorted(everything, key=float)
    else:
        values = [str(label) for label in DISEASES.tree().labels if label in everything]
    found = {"Q: all rows": shares(values, everything)}
    if max(everything.values()) > 1:
        found["Q with each value once"] = shares(values, dict.fromkeys(everything, 1))
    for name, of_class in (("P₁", FIRST), ("P₂", SECOND)):
        found[f"{name}: class {of_class}"] = shares(values, table.values(column, of_class))
    return values, found


def distribution(table: Judged, column: str) -> list[Row]:
    """What the plot shows, line by line; the column optimization names the distribution."""
    values, found = _distributions(table, column)
    k = int(table.level("k-anonymity"))
    return [
        Row(table.slide.name, k, name, f"share of {value}", share)
        for name, of in found.items()
        for value, share in zip(values, of, strict=True)
    ]


def draw(table: Judged, column: str) -> str:
    """Draw the distribution in the table and in two of its classes."""
    values, found = _distributions(table, column)
    labels = [f"{value}K" for value in values] if column == SALARY else values
    series = [Bars(name, of) for name, of in found.items()]
    return bars(labels, series, f"share ({column.lower()})", show="{:.2f}".format)


def plots(drawn: Mapping[str, str]) -> list[Plot]:
    """The plots with what they show."""
    captions = {
        SALARY: "Salaries of table 4. P₁ lies at one end of the order, P₂ is spread over it.",
        DISEASE: "Diseases of table 4. P₁ lies in one branch of the tree, P₂ in two.",
    }
    return [
        Plot(drawn[f"{column.lower()}.svg"], captions[column], _files(column))
        for column in (SALARY, DISEASE)
    ]


def _files(column: str) -> tuple[str, str]:
    return f"{column.lower()}.csv", f"{column.lower()}.svg"
