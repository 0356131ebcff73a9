"""The section about class sizes, or about the possible records of each person."""

from __future__ import annotations

from shoal.base.wording import many, number, percent
from shoal.report.facts import Facts
from shoal.report.page import Block, Plot, Text
from shoal.report.plots import Bars, bars


def class_sizes(facts: Facts) -> list[Block]:
    """How many classes have which size; without classes, the possible records per person."""
    labels = [
        number(size.fewest) if size.fewest == size.most else f"{size.fewest:,} – {size.most:,}"
        for size in facts.sizes
    ]
    if facts.linked:
        return _possible_records(facts, labels)
    classes = [100 * size.classes / facts.classes for size in facts.sizes]
    records = [100 * size.rows / facts.published for size in facts.sizes]
    svg = bars(
        [f"{label} {'person' if label == '1' else 'people'}" for label in labels],
        [Bars("classes", classes), Bars("records", records)],
        "percent",
        show=percent,
    )
    return [
        Text(
            f"The release has {many(facts.classes, 'class', 'classes')} with "
            f"{number(round(facts.average, 1))} records on average. Large classes have more "
            "records than small ones, so the plot counts both classes and records."
            if facts.classes > 1
            else "All records of the release look the same: there is one class."
        ),
        Plot(
            svg,
            "Share of the classes by number of people (upper bars), and share of all records in "
            "these classes (lower bars).",
        ),
    ]


def _possible_records(facts: Facts, labels: list[str]) -> list[Block]:
    people = [100 * size.classes / facts.people for size in facts.sizes]
    svg = bars(
        [f"{label} {'record' if label == '1' else 'records'}" for label in labels],
        [Bars("people", people)],
        "percent of the people",
        show=percent,
    )
    return [
        Text(
            "Each record was generalized by itself, so few records look the same and there are no "
            "classes. A person is protected by the number of possible records."
        ),
        Plot(svg, "Share of the people by their number of possible records."),
    ]
