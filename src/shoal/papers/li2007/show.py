"""What the page on Li 2007 shows of audits and of tables that shoal publishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.base.wording import percent
from shoal.papers._result import Row
from shoal.papers.li2007.audit import ATTACKS, Judged, closeness
from shoal.papers.li2007.own import K, Own, PartitionSearch
from shoal.papers.li2007.slides import DISEASE, LEVELS, SALARY, STATED
from shoal.report.page import Cell, HtmlTable

Tables = Mapping[str, Judged]
ABOUT = (SALARY, DISEASE)


def cases(tables: Tables) -> list[tuple[str, Judged, str]]:
    """Every sensitive column of every table, with a name."""
    return [
        (f"{name}, {column.lower()}", table, column)
        for name, table in tables.items()
        for column in table.sensitive
    ]


def attacks(tables: Tables) -> HtmlTable:
    """What each of the four attacks finds in each table."""
    return HtmlTable(
        head=["table", *(attack.replace("-", " ") for attack in ATTACKS)],
        rows=[
            [name, *(_finding(table, attack, column) for attack in ATTACKS)]
            for name, table, column in cases(tables)
        ],
        caption="Rows in whose class the attack succeeds, and these classes.",
        widths=(24, 19, 19, 19, 19),
        files=("audits.csv",),
    )


def _finding(table: Judged, attack: str, column: str) -> Cell:
    finding = table.audit.attacks[attack][column]
    classes = table.found(attack, column)
    if finding.get("judged_by") == "nothing":
        return Cell("not judged", tone="unknown")
    if not classes:
        return Cell("none")
    short = len(classes) <= 2
    where = "; ".join(classes) if short else f"{len(classes)} of {len(table.names)} classes"
    if attack == "skewness" and short:
        where += f" (up to {finding['belief_before']:.2f} → {finding['belief_after']:.2f})"
    return Cell(f"{finding['records']:,} of {table.audit.rows:,}", where, "strong")


def levels(tables: Tables) -> HtmlTable:
    """The levels of each table."""
    rows: list[list[Cell | str]] = []
    for name, table, column in cases(tables):
        quality = table.audit.quality
        rows.append(
            [
                name,
                f"{table.level('k-anonymity'):g}",
                f"{table.level('distinct-l-diversity', column):g}",
                f"{table.level('entropy-l-diversity', column):.3g}",
                Cell(
                    f"{table.level('t-closeness', column):.3f}",
                    closeness(table.slide, column).distance,
                ),
                "–" if quality is None else percent(quality.losses["nllm"]),
            ]
        )
    return HtmlTable(
        head=["table", "k", "distinct l", "entropy l", "t, and distance", "lost (NLLM)"],
        rows=rows,
        caption="The level of a table is that of its worst class. The distance is by rank for "
        "salaries (ordered), by the tree of figure 1 for the diseases of tables 3 to 5 "
        "(hierarchical), and variational where there is neither (equal).",
        numbers=True,
        files=("audits.csv",),
    )


def audits(tables: Tables) -> list[Row]:
    """Levels and findings, line by line."""
    rows = []
    for name, table in tables.items():
        k = int(table.level("k-anonymity"))
        said = {key: value for (of, key), value in LEVELS.items() if of == name}
        said |= {
            f"t-closeness[{s.column}]": s.theirs for s in STATED if (s.table, s.name) == (name, "t")
        }
        rows += [
            Row(name, k, "", key, float(level), said.get(key))
            for key, level in table.audit.levels.items()
        ]
        for attack in ATTACKS:
            for column, finding in table.audit.attacks[attack].items():
                if finding.get("judged_by") != "nothing":
                    rows.append(Row(name, k, "", f"{attack}[{column}], rows", finding["records"]))
    return rows


def row_by_row(tables: Tables, owns: Sequence[Own]) -> HtmlTable:
    """Row by row: the original, the slides' tables, and what shoal publishes."""
    theirs = {name: tables[name].slide.content for name in ("table 3", "table 4", "table 5")}
    shown = [*theirs.values(), *(own.content for own in owns)]
    rows: list[list[Cell | str]] = []
    for i, values in enumerate(zip(*(_classes(content) for content in shown), strict=True), 1):
        rows.append([str(i), *values])
    return HtmlTable(
        head=[
            "row",
            "original",
            *(f"slides, {name}" for name in list(theirs)[1:]),
            *(f"shoal, {own.request.text}" for own in owns),
        ],
        rows=rows,
        caption="ZIP code and age, row by row in the order of table 3; salary and disease stay as "
        "they are.",
        widths=(5, 14, 14, 14, 13, 20, 20),
    )


def _classes(content: Mapping[str, Sequence[object]]) -> list[str]:
    zips, ages, *_ = content.values()
    return [f"{place}, {age}".replace(" ", "\xa0") for place, age in zip(zips, ages, strict=True)]


def measures(tables: Tables, owns: Sequence[Own], searches: Sequence[PartitionSearch]) -> HtmlTable:
    """What each of these tables reaches and loses."""
    theirs = [(f"slides, {name}", tables[name].audit) for name in ("table 4", "table 5")]
    ours = [(f"shoal, {own.request.text}", own.audit) for own in owns]
    best = [(f"cheapest possible, {s.cheapest.request.text}", s.cheapest.audit) for s in searches]
    rows: list[list[Cell | str]] = []
    for name, audit in [*theirs, *ours, *best]:
        assert audit.quality is not None
        rows.append(
            [
                name,
                str(audit.classes),
                f"{audit.levels['k-anonymity']:g}",
                *(f"{audit.levels[f't-closeness[{column}]']:.3f}" for column in ABOUT),
                percent(audit.quality.losses["nllm"]),
            ]
        )
    return HtmlTable(
        head=["table", "classes", "k", "t, salary", "t, disease", "lost (NLLM)"],
        rows=rows,
        caption="Measured on the tables as they would be published, against table 3.",
        numbers=True,
        files=("published.csv",),
    )


def of_own(owns: Sequence[Own]) -> list[Row]:
    """What shoal's own tables reach and lose; the column optimization says what was asked."""
    rows = []
    for own in owns:
        said = {"classes": float(own.audit.classes), "lost (nllm), percent": own.loss}
        levels = {key: float(level) for key, level in own.audit.levels.items()}
        rows += [
            Row("table 3", K, own.request.text, metric, value)
            for metric, value in {**said, **levels}.items()
        ]
    return rows
