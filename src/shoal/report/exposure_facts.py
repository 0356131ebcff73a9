"""Counts and risks of tables side by side, in the words of both the report and the screen."""

from __future__ import annotations

from shoal.base.wording import number, percent
from shoal.measures.exposure import Exposure

Row = tuple[str, ...]  # a label, and one value per table

# By the names of `measures/risks.py`, in the order in which they are shown.
RISKS = {
    "prosecutor": "highest re-identification risk",
    "average_over_people": "average re-identification risk per person",
    "average": "average re-identification risk per record",
    "unique_people": "unique people",
    "unique": "unique records",
    "journalist": "highest re-identification risk in the population",
    "marketer_over_people": "average risk per person in the population",
    "marketer": "average risk per record in the population",
}
# Where a record is linked to several people instead of being in a class.
LINKED = {
    "prosecutor": "highest re-identification risk, by the most likely record",
    "average": "average re-identification risk, by the most likely record",
    "unique": "people with one possible record",
}


def count_rows(*tables: Exposure) -> list[Row]:
    """Records, people and classes, per table."""
    rows = [("records", *(number(table.rows) for table in tables))]
    if any(table.people != table.rows for table in tables):
        rows.append(("people", *(number(table.people) for table in tables)))
    smallest = [number(table.smallest_class) for table in tables]
    if any(table.linked for table in tables):
        mean = [table.attacks["linkage"]["mean_candidates"] for table in tables]
        return [
            *rows,
            ("possible records of the most exposed person", *smallest),
            ("possible records per person, on average", *(number(round(m, 1)) for m in mean)),
        ]
    sizes = [number(round(table.average_class_size, 1)) for table in tables]
    return [
        *rows,
        ("classes", *(number(table.classes) for table in tables)),
        ("average class size, in records", *sizes),
        ("smallest class, in people", *smallest),
    ]


def risk_rows(*tables: Exposure) -> list[Row]:
    """The risks that are known of all tables, as percentages; in the population, of any of them."""
    risks = [table.risks_by_name() for table in tables]
    words = RISKS | (LINKED if any(table.linked for table in tables) else {})
    if all("unique_people" in known for known in risks):
        words["unique"] = "records of unique people"
    rows = []
    for name, label in words.items():
        of_population = name.partition("_")[0] in ("journalist", "marketer")
        # Without a population the marketer's risks are the averages (measures/risks.py).
        values = [
            None if of_population and table.risks.journalist is None else known.get(name)
            for table, known in zip(tables, risks, strict=True)
        ]
        if any(value is None for value in values) and not of_population:
            continue
        if any(value is not None for value in values):
            found = ["–" if value is None else percent(100 * value) for value in values]
            rows.append((label, *found))
    return rows
