"""The parts of a report about people who may be found, and what may be learned of them."""

from __future__ import annotations

from shoal.base.wording import MISSING, Change, many, number, percent, short
from shoal.report.attack_facts import AttackFact
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, Plot, Table, Text
from shoal.report.plots import Bars, bars
from shoal.report.sensitive_facts import ClassFact, SensitiveFact

DESCRIBED = 12  # quasi-identifiers that describe a class


def on(name: str, column: str | None) -> str:
    """The name of something that may be about a column."""
    return name if column is None else f"{name}, on {short(column)}"


def _compare(what: str, changes: list[Change], caption: str = "") -> Table:
    rows: list[list[Cell | str]] = [
        [one.what, one.before, Cell(one.after, tone="strong")] for one in changes
    ]
    return Table([what, "original", "release"], rows, caption, widths=(64, 18, 18))


def exposure(facts: Facts) -> list[Block]:
    """How many people there are to hide among, and the chances to be found."""
    if facts.linked:
        return _linked_exposure(facts)
    blocks: list[Block] = [
        Text(
            "Somebody who knows that a person is in the table, and knows their quasi-identifiers, "
            "has to guess among all who look the same: in a crowd of 5 the chance to point at "
            "the right one is 1 in 5, that is 20 %."
        ),
        _compare("the table", facts.counts),
        _compare("chances to be found", facts.risks),
    ]
    return blocks + _visits(facts)


def _linked_exposure(facts: Facts) -> list[Block]:
    unknown = (
        " These need not be equally likely, and how likely each is was not measured: that at least "
        f"{many(facts.smallest, 'row')} cannot be excluded for anybody is all that is told here."
    )
    return [
        Text(
            "Somebody who knows the quasi-identifiers of everybody looks for one person's row, "
            "tries all ways to give every person a row that fits, and keeps the rows that are "
            "this person's in at least one of them: the rows that could be theirs."
            + (
                unknown
                if facts.find_mean is None
                else " These need not be equally likely: the chance told here is that of the "
                "likeliest one, counted over all complete assignments"
                f"{' or in a sample of them' if facts.sampled else ''}."
            )
        ),
        _compare(
            "the table",
            facts.counts,
            "In the original, rows with the same quasi-identifiers could be each other's.",
        ),
        _compare("chances to be found", facts.risks),
    ]


def _visits(facts: Facts) -> list[Block]:
    """What the number of rows of a person shows."""
    seen = facts.visits
    if seen is None:
        return []
    return [
        Heading("The number of rows of a person is visible"),
        Text(
            "All rows of a person carry the same number drawn at random, so anybody can count how "
            f"many rows each person has (up to {seen.most:,}). Of {facts.people:,} people, "
            f"{seen.alone:,} {'is' if seen.alone == 1 else 'are'} the only one of their class with "
            f"their number of rows, and {seen.below:,} {'is' if seen.below == 1 else 'are'} among "
            f"fewer than {seen.k:,} people with the same class and number. Whoever knows how many "
            "rows somebody must have, such as how often they came, finds them that much more "
            "easily. The promises do not count this. If outsiders may know it, leave the person "
            "numbers out of the release: `publish = false` beside the role person."
        ),
    ]


def attacks(facts: Facts) -> list[Block]:
    """What share of the rows each attack succeeds on."""
    overview: list[list[Cell | str]] = [
        [
            Cell(on(attack.name.replace("-", " "), attack.column), attack.about),
            attack.share.before if attack.share else "–",
            Cell(attack.share.after, tone="strong") if attack.share else Cell("cannot be told"),
        ]
        for attack in facts.attacks
    ]
    whom = "people" if facts.linked else "rows"
    blocks: list[Block] = [
        Text(
            "Each attack is really run, on the original and on the release. The numbers say what "
            f"share of the {whom} it succeeds on; the annex has them in detail."
        ),
        Table(
            ["attack", "original", "release"],
            overview,
            f"Share of the {whom} on whom the attack succeeds. An attack on a sensitive column "
            "learns a person's value without finding the row."
            if facts.linked
            else "Share of the rows on which the attack succeeds. An attack on a sensitive column "
            "learns a person's value without finding the row."
            + (
                " It succeeds in a class if it does so counted by the rows or by the people; the "
                "annex has both, and the share of people."
                if facts.has_persons
                else ""
            ),
            widths=(64, 18, 18),
        ),
    ]
    if any(attack.share is None and attack.column is not None for attack in facts.attacks):
        blocks.append(
            Text(
                "“Cannot be told” means that the attack could not be tried: nothing says which "
                "values of the column are alike. A hierarchy for that column would."
            )
        )
    return blocks


def details(attacks: list[AttackFact]) -> list[Block]:
    """All that the attacks found."""
    rows: list[list[Cell | str]] = []
    for attack in attacks:
        name = on(attack.name.replace("-", " "), attack.column)
        for i, one in enumerate(attack.findings):
            first = Cell(name if i == 0 else "")
            rows.append([first, one.what, one.before, Cell(one.after, tone="strong")])
    return [Table(["attack", "finding", "original", "release"], rows, widths=(34, 38, 14, 14))]


def crowds(facts: Facts) -> list[Block]:
    """How many classes are how large; without classes, how many rows could be each person's."""
    labels = [
        number(size.fewest) if size.fewest == size.most else f"{size.fewest:,} – {size.most:,}"
        for size in facts.sizes
    ]
    if facts.linked:
        return _candidates(facts, labels)
    classes = [100 * size.classes / facts.classes for size in facts.sizes]
    rows = [100 * size.rows / facts.published for size in facts.sizes]
    svg = bars(
        [f"{label} {'person' if label == '1' else 'people'}" for label in labels],
        [Bars("classes", classes), Bars("rows", rows)],
        "percent",
        show=percent,
    )
    return [
        Text(
            f"The release has {many(facts.classes, 'class', 'classes')}, with "
            f"{number(round(facts.average, 1))} rows on average. Large classes hold more rows than "
            "small ones, so classes and rows are counted both."
            if facts.classes > 1
            else "All rows of the release look the same: there is one class."
        ),
        Plot(
            svg,
            "How many of all classes have how many people in them (upper bars), and how many of "
            "all rows these classes hold (lower bars).",
        ),
    ]


def _candidates(facts: Facts, labels: list[str]) -> list[Block]:
    people = [100 * size.classes / facts.people for size in facts.sizes]
    svg = bars(
        [f"{label} {'row' if label == '1' else 'rows'}" for label in labels],
        [Bars("people", people)],
        "percent of the people",
        show=percent,
    )
    return [
        Text(
            "Each row was widened by itself, so that rows seldom look the same: there are no "
            "classes. What hides a person are the published rows that could be theirs, in some "
            "complete assignment of people to rows."
        ),
        Plot(svg, "How many of all people have how many rows that could be theirs."),
    ]


def sensitive(facts: Facts) -> list[Block]:
    """The classes that tell most of a person's sensitive values."""
    rows = "rows, or of the values that people have," if facts.has_persons else "rows"
    people = (
        " Classes are judged by their rows and by their people, each of whom counts once for each "
        "value that he or she has; the worse one counts. “(of rows)”: the attack succeeds there by "
        "the rows, and not by the people."
    )
    blocks: list[Block] = [
        Text(
            "If the values of a class are spread otherwise than in the whole table, whoever knows "
            "a person's class learns something. Shown first are classes in which an attack "
            "succeeds (homogeneity: everybody there has the value; skewness: one value has become "
            "much likelier), then those whose values are farthest from the whole table. A distance "
            f"of 25 % says: a quarter of the {rows} would need another value to be spread as in "
            "the whole table. A class of few rows cannot hold many values, so a large distance "
            f"alone is no breach.{people if facts.has_persons else ''}"
        )
    ]
    for column in facts.sensitive:
        blocks.append(Heading(short(column.column)))
        if not column.hit and column.worst[0].distance < 1e-9:
            blocks.append(Text("Its values are spread in every class as in the whole table."))
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
    shown = len(column.worst)
    told = (
        f"Homogeneity or skewness succeeds in {many(column.hit, 'class', 'classes')} of "
        f"{facts.classes:,}."
        if column.hit
        else "Neither homogeneity nor skewness succeeds in any of "
        f"{many(facts.classes, 'class', 'classes')}."
    )
    if column.hit > shown:
        told += f" These are the {shown} in which one value stands out most."
    labels = [short(value) for value in column.values]
    if column.others and not column.by_people:
        labels.append(f"{many(column.others, 'other value')}, together")
    series = [
        Bars("whole table", column.shares),
        *(Bars(letter, one.shares) for letter, one in zip(letters, column.worst, strict=True)),
    ]
    what = "percent of the rows"
    if column.by_people:
        what = "percent of the people of the class who have it"
    svg = bars(labels, series, what, show=percent)
    values = "The values" if not column.others else f"The {len(column.values)} most telling values"
    return [
        Table(
            [
                "",
                "published as",
                *(["people"] if people else []),
                "rows",
                "distance",
                "attack that succeeds",
            ],
            rows,
            told,
            widths=(10, 46, 9, 8, 11, 16) if people else (10, 53, 10, 11, 16),
        ),
        Plot(
            svg,
            f"{values} of {short(column.column)} in the whole table and in these classes."
            + (" Somebody may have several of them." if column.by_people else ""),
        ),
    ]


def _described(one: ClassFact) -> str:
    """A class by what is published of it; what is held back says nothing and comes last."""
    told = {name: value for name, value in one.published.items() if value not in ("*", MISSING)}
    rest = {name: value for name, value in one.published.items() if name not in told}
    words = [f"{short(name, 24)}: {short(value, 32)}" for name, value in (told | rest).items()]
    more = f" · and {len(words) - DESCRIBED} more" if len(words) > DESCRIBED else ""
    return " · ".join(words[:DESCRIBED]) + more
