"""The section about the classes that reveal most about sensitive values."""

from __future__ import annotations

from shoal.base.wording import MISSING, many, percent, short
from shoal.measures.breakdowns.sensitive_classes import ClassFact, SensitiveFact
from shoal.report.facts import Facts
from shoal.report.figures.letters import letters
from shoal.report.page import Block, Cell, Heading, HtmlTable, Plot, Text
from shoal.report.sections._labels import DESCRIBED, detailed_columns, left_out


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
            "If the values of a class differ from those of the whole table, an attacker who knows "
            f"a person's class learns something. Classes in which an attack succeeds ({kinds}) "
            "come first, then those that differ most. A distance of 25 % means that a quarter of "
            f"the {counted} would need another value for both to be equal; it is large in every "
            f"small class, and alone no breach.{people if facts.has_persons else ''}"
        )
    ]
    shown = detailed_columns(facts)
    for column in facts.sensitive:
        if column.column not in shown:
            continue
        blocks.append(Heading(short(column.column)))
        if not column.hit and column.worst[0].distance < 1e-9:
            blocks.append(
                Text("Its values have the same distribution in every class as in the whole table.")
            )
            continue
        blocks += _worst(column, facts)
    rest = left_out(facts, [column.column for column in facts.sensitive])
    return [*blocks, Text(rest)] if rest else blocks


def _worst(column: SensitiveFact, facts: Facts) -> list[Block]:
    names = [f"class {'ABCDEFGHIJ'[i]}" for i in range(len(column.worst))]
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
        for letter, one in zip(names, column.worst, strict=True)
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
    whole = list(column.values)
    if column.others and not column.by_people:
        labels.append(f"{many(column.others, 'other value')}, together")
        whole.append(labels[-1])
    what = "people who have the value" if column.by_people else "records"
    marks = {letter[-1]: one.shares for letter, one in zip(names, column.worst, strict=True)}
    svg = letters(whole, column.shares, marks, f"{short(column.column)}: percent of the {what}")
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
            stacks=True,
        ),
        Plot(
            svg,
            _finding(column, labels)
            + (" A person may have several of them." if column.by_people else ""),
            alt=_told(column, labels),
        ),
    ]


def _finding(column: SensitiveFact, labels: list[str]) -> str:
    """The value that stands out most, and how to read the plot."""
    gains = [
        (here - there, -i, -place)
        for i, one in enumerate(column.worst)
        for place, (here, there) in enumerate(zip(one.shares, column.shares, strict=True))
    ]
    _, i, place = max(gains)
    one, value = column.worst[-i], labels[-place]
    values = "" if not column.others else f" The {len(column.values)} most revealing values."
    return (
        f"{percent(one.shares[-place])} of class {'ABCDEFGHIJ'[-i]} have {value} as "
        f"{short(column.column)}, and {percent(column.shares[-place])} of the whole table. Grey "
        "bars: the whole table; "
        f"letters: the classes.{values}"
    )


def _told(column: SensitiveFact, labels: list[str]) -> str:
    """The plot in words."""
    each = "; ".join(
        f"{label}: whole table {percent(column.shares[place])}, "
        + ", ".join(
            f"class {'ABCDEFGHIJ'[i]} {percent(one.shares[place])}"
            for i, one in enumerate(column.worst)
        )
        for place, label in enumerate(labels)
    )
    return f"Plot of shares per value. {each}."


def _described(one: ClassFact) -> str:
    """A class by its published values; suppressed ones come last."""
    known = {name: value for name, value in one.published.items() if value not in ("*", MISSING)}
    rest = {name: value for name, value in one.published.items() if name not in known}
    words = [f"{short(name, 24)}: {short(value, 32)}" for name, value in (known | rest).items()]
    more = f" · and {len(words) - DESCRIBED} more" if len(words) > DESCRIBED else ""
    return " · ".join(words[:DESCRIBED]) + more
