"""The section about class sizes, or about the possible records of each person."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.base.wording import many, number, percent
from shoal.report.facts import Facts
from shoal.report.page import Block, Plot, Text
from shoal.report.plots import Bars, bars


def class_sizes(facts: Facts) -> list[Block]:
    """How many people are in classes of which size; without classes, the possible records."""
    labels = [
        number(size.fewest) if size.fewest == size.most else f"{size.fewest:,} – {size.most:,}"
        for size in facts.sizes
    ]
    if facts.linked:
        return _possible_records(facts, labels)
    if facts.classes == 1:
        return [Text("All records of the release look the same: there is one class.")]
    classes = [float(size.classes) for size in facts.sizes]
    what = [f"{label} {'person' if label == '1' else 'people'}" for label in labels]
    average = number(round(facts.average, 1))
    most = max(range(len(classes)), key=lambda i: classes[i])
    share = percent(100 * classes[most] / facts.classes)
    return [
        Plot(
            bars(what, [Bars("classes", classes)], "number of classes", show=number),
            f"The {many(facts.classes, 'class', 'classes')} have {facts.smallest:,} to "
            f"{facts.sizes[-1].most:,} people, and {average} records on average; {share} of them "
            f"have {what[most]}.",
            alt=_told("Number of classes by people in them", what, map(number, classes)),
        ),
    ]


def _possible_records(facts: Facts, labels: list[str]) -> list[Block]:
    people = [100 * size.classes / facts.people for size in facts.sizes]
    what = [f"{label} {'record' if label == '1' else 'records'}" for label in labels]
    return [
        Text(
            "Records need not look the same here. A person is protected by the number of possible "
            "records."
        ),
        Plot(
            bars(what, [Bars("people", people)], "percent of the people", show=percent),
            f"For every person {facts.smallest:,} to {facts.sizes[-1].most:,} records are "
            "possible: the share of the people by their number of possible records.",
            alt=_told("Share of the people by possible records", what, map(percent, people)),
        ),
    ]


def _told(what: str, labels: list[str], values: Iterable[str]) -> str:
    """A bar chart in words."""
    each = "; ".join(f"{label}: {value}" for label, value in zip(labels, values, strict=True))
    return f"Bar chart. {what}: {each}."
