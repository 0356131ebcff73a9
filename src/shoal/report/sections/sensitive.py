"""The section about the classes that reveal most about sensitive values."""

from __future__ import annotations

from shoal.base.wording import MISSING, many, percent, short
from shoal.measures.breakdowns.sensitive_classes import ClassFact, SensitiveFact
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, HtmlTable, Plot, Text
from shoal.report.plots import Bars, bars
from shoal.report.sections._labels import DESCRIBED


def sensitive(facts: Facts) -> list[Block]:
    """The classes that reveal most about sensitive values."""
    counted = "records, or of the values of people," if facts.has_persons else "records"
    people = (
        " Classes are judged by their records and by their people, where each person counts once "
        "per value; the worse result counts. “(of records)” means that the attack succeeds by "
        "records, and not by people."
    )
    kinds = "; ".join(f"{name}: {words}" for name, words in facts.class_attacks.items())
    blocks: list[Block] = [
        Text(
            "If the distribution of the values in a class differs from that of the whole table, an "
            "attacker who knows a person's class learns something. The classes in which an attack "
            f"succeeds ({kinds}) come first, then the classes whose values differ most from the "
            f"whole table. A distance of 25 % means that a quarter of the {counted} would need "
            "another value for both distributions to be equal. A class with few records cannot "
            "have many values, so a large distance alone is no breach."
            f"{people if facts.has_persons else ''}"
        )
    ]
    for column in facts.sensitive:
        blocks.append(Heading(short(column.column)))
        if not column.hit and column.worst[0].distance < 1e-9:
            blocks.append(
                Text("Its values have the same distribution in every class as in the whole table.")
            )
            continue
        blocks += _worst(column, facts)
    return blocks


def _worst(column: SensitiveFact, facts: Facts) -> list[Block]:
    letters = [f"class {'ABCDEFGHIJ'[i]}" for i in range(len(column.worst))]
    people = facts.has_persons
    rows: list[list[Cell | str]] = [
        [
            letter,
            _described(one),
            *([f"{one.people:,}"] if people else []),
            f"{one.rows:,}",
            percent(100 * one.distance),
            Cell(" and ".join(one.attacks), tone="bad") if one.attacks else "none",
        ]
        for letter, one in zip(letters, column.worst, strict=True)
    ]
    of = many(facts.classes, "class", "classes")
    caption = (
        f"{' or '.join(facts.class_attacks).capitalize()} succeeds in {column.hit:,} of {of}."
        if column.hit
        else f"Neither {' nor '.join(facts.class_attacks)} succeeds in any of {of}."
    )
    if column.hit > len(column.worst):
        caption += f" These are the {len(column.worst)} classes with the most conspicuous value."
    labels = [short(value) for value in column.values]
    if column.others and not column.by_people:
        labels.append(f"{many(column.others, 'other value')}, together")
    series = [
        Bars("whole table", column.shares),
        *(Bars(letter, one.shares) for letter, one in zip(letters, column.worst, strict=True)),
    ]
    what = "people who have the value" if column.by_people else "records"
    svg = bars(labels, series, f"percent of the {what}", show=percent)
    values = "Values" if not column.others else f"The {len(column.values)} most revealing values"
    return [
        HtmlTable(
            [
                "",
                "published as",
                *(["people"] if people else []),
                "records",
                "distance",
                "attack that succeeds",
            ],
            rows,
            caption,
            widths=(10, 46, 9, 8, 11, 16) if people else (10, 53, 10, 11, 16),
        ),
        Plot(
            svg,
            f"{values} of {short(column.column)} in the whole table and in these classes."
            + (" A person may have several of them." if column.by_people else ""),
        ),
    ]


def _described(one: ClassFact) -> str:
    """A class by its published values; suppressed ones come last."""
    known = {name: value for name, value in one.published.items() if value not in ("*", MISSING)}
    rest = {name: value for name, value in one.published.items() if name not in known}
    words = [f"{short(name, 24)}: {short(value, 32)}" for name, value in (known | rest).items()]
    more = f" · and {len(words) - DESCRIBED} more" if len(words) > DESCRIBED else ""
    return " · ".join(words[:DESCRIBED]) + more
