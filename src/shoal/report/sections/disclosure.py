"""The sections about re-identification, attacks, class sizes and sensitive values."""

from __future__ import annotations

from shoal.base.wording import MISSING, Change, many, number, percent, short
from shoal.measures.breakdowns.sensitive_classes import ClassFact, SensitiveFact
from shoal.report.attack_facts import AttackFact
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, Plot, Table, Text
from shoal.report.plots import Bars, bars

DESCRIBED = 12  # quasi-identifiers that are shown of a class


def on(name: str, column: str | None) -> str:
    """A model or attack, with the column that it is about."""
    return name if column is None else f"{name}, on {short(column)}"


def _compare(what: str, changes: list[Change], caption: str = "") -> Table:
    rows: list[list[Cell | str]] = [
        [one.what, one.before, Cell(one.after, tone="strong")] for one in changes
    ]
    return Table([what, "original", "release"], rows, caption, widths=(64, 18, 18))


def exposure(facts: Facts) -> list[Block]:
    """Counts and risks, before and after."""
    if facts.linked:
        return _linked_exposure(facts)
    blocks: list[Block] = [
        Text(
            "An attacker who knows that a person is in the table, and knows the person's "
            "quasi-identifiers, has to guess among all people of the class: in a class of 5 people "
            "the risk to be re-identified is 1 in 5, or 20 %."
        ),
        _compare("table", facts.counts),
        _compare("re-identification risk", facts.risks),
    ]
    return blocks + _record_count(facts)


def _linked_exposure(facts: Facts) -> list[Block]:
    unknown = (
        " They need not be equally likely, and their probabilities were not measured: all that is "
        f"known is that at least {many(facts.smallest, 'record')} are possible for every person."
    )
    return [
        Text(
            "An attacker who knows the quasi-identifiers of all people looks for the record of one "
            "of them. The possible records of a person are those that the person has in at least "
            "one complete assignment of people to records."
            + (
                unknown
                if facts.mean_risk is None
                else " They need not be equally likely. The risk shown here is the probability of "
                "the most likely record, counted over all complete assignments"
                f"{' or in a sample of them' if facts.sampled else ''}."
            )
        ),
        _compare(
            "table",
            facts.counts,
            "In the original, the possible records of a person are those with the same "
            "quasi-identifiers.",
        ),
        _compare("re-identification risk", facts.risks),
    ]


def _record_count(facts: Facts) -> list[Block]:
    """What the number of records of a person discloses."""
    found = facts.record_count
    if found is None:
        return []
    return [
        Heading("The number of records per person is visible"),
        Text(
            "All records of a person have the same random number, so anybody can count the records "
            f"of each person (up to {found.most:,}). Of {facts.people:,} people, {found.alone:,} "
            f"{'is the only one' if found.alone == 1 else 'are the only ones'} of their class with "
            f"their number of records, and {found.below:,} "
            f"{'is' if found.below == 1 else 'are'} among fewer than {found.k:,} people with the "
            "same class and number. An attacker who knows how many records a person must have, "
            "such as the number of visits, finds them more easily. The requirements do not cover "
            "this. If attackers may know it, do not publish "
            "the person numbers: set `publish = false` for the person column."
        ),
    ]


def attacks(facts: Facts) -> list[Block]:
    """The share of the records on which each attack succeeds."""
    overview: list[list[Cell | str]] = [
        [
            Cell(on(attack.name.replace("-", " "), attack.column), attack.about),
            attack.share.before if attack.share else "–",
            Cell(attack.share.after, tone="strong") if attack.share else Cell("not judged"),
        ]
        for attack in facts.attacks
    ]
    whom = "people on whom" if facts.linked else "records on which"
    both = (
        " It succeeds in a class if it succeeds counted by records or by people; the annex shows "
        "both, and the share of people."
        if facts.has_persons and not facts.linked
        else ""
    )
    blocks: list[Block] = [
        Text(
            "Each attack was run on the original and on the release. The table shows the share of "
            f"the {whom} it succeeds; the annex has the details."
        ),
        Table(
            ["attack", "original", "release"],
            overview,
            "An attack on a sensitive column learns a person's value without finding the record."
            + both,
            widths=(64, 18, 18),
        ),
    ]
    if any(attack.share is None and attack.column is not None for attack in facts.attacks):
        blocks.append(
            Text(
                "“Not judged” means that the attack could not be tried: nothing says which values "
                "of the column are similar. A hierarchy for that column would."
            )
        )
    return blocks


def details(attacks: list[AttackFact]) -> list[Block]:
    """All findings of the attacks."""
    rows: list[list[Cell | str]] = []
    for attack in attacks:
        name = on(attack.name.replace("-", " "), attack.column)
        for i, one in enumerate(attack.findings):
            first = Cell(name if i == 0 else "")
            rows.append([first, one.what, one.before, Cell(one.after, tone="strong")])
    return [Table(["attack", "finding", "original", "release"], rows, widths=(34, 38, 14, 14))]


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
        Table(
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
