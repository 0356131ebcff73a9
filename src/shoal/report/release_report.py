"""The report of a release: one self-contained page for whoever must sign it."""

from __future__ import annotations

from pathlib import Path

from shoal.frames import atomic
from shoal.outcome import Outcome
from shoal.report.facts import MISSING, AttackFact, Change, ClassFact, Facts, SensitiveFact, facts
from shoal.report.limits import limits
from shoal.report.page import (
    Block,
    Bullets,
    Cell,
    Code,
    Heading,
    Numbers,
    Page,
    Plot,
    Section,
    Table,
    Text,
    render,
)
from shoal.report.plots import Bars, bars
from shoal.report.words import listed, many, number, percent, sentence, short

__all__ = ["Facts", "facts", "page", "write_report"]

SHOWN = 30  # columns whose loss is drawn
DESCRIBED = 12  # quasi-identifiers that describe a class
ROLES = {
    "quasi": "quasi-identifier: an outsider may know it",
    "sensitive": "sensitive: worth protecting",
    "identifier": "identifier: names a person",
    "person": "person: tells which rows belong together",
    "other": "other: taken to be unknown to outsiders",
}


def write_report(release: Outcome, path: str | Path) -> None:
    """Write the report of a release to a file, all of it or nothing."""
    html = render(page(facts(release)))
    with atomic(path) as target:
        target.write_text(html, encoding="utf-8")


def page(facts: Facts) -> Page:
    """Lay the facts out."""
    return Page(
        title=f"A release of {many(facts.published, 'row')}, and what it promises",
        about="Release report",
        source=f"Made by shoal {facts.version} on {facts.made:%Y-%m-%d at %H:%M} ({facts.made:%Z})",
        warning=_warning(facts),
        summary=_summary(facts),
        sections=[
            Section("What was promised", _promised(facts)),
            Section("What is published", _columns(facts)),
            Section("Can people be found?", _exposure(facts)),
            Section("What attackers can do", _attacks(facts)),
            Section("How large the crowds are", _sizes(facts)),
            *([Section("Sensitive values", _sensitive(facts))] if facts.sensitive else []),
            Section("What was lost", _lost(facts)),
            Section("What is not promised", [Bullets(limits(facts))]),
            Section("Check it, and run it again", _again(facts)),
        ],
        foot="No value of the original table stands on this page unless it is published.",
    )


def _warning(facts: Facts) -> str:
    if facts.seed is None:
        return ""
    return (
        f"Keep this page beside the original, not beside the release. It names the seed "
        f"({facts.seed}): whoever knows it can put the rows of the release back into the order of "
        "the original."
    )


def _summary(facts: Facts) -> list[Block]:
    held = sum(promise.holds for promise in facts.promises)
    verdict = f"{held} of {len(facts.promises)} promises hold"
    if facts.holds:
        verdict = "The promise holds" if held == 1 else f"All {held} promises hold"
    find = facts.risks[0]
    chief = facts.losses[facts.guide]
    people = "rows" if facts.people == facts.published else f"rows about {facts.people:,} people"
    blocks: list[Block] = [
        Text(
            f"{verdict}, measured on the very table that is published. It keeps "
            f"{facts.published:,} of {facts.rows:,} rows. The chance to find a given person in it "
            f"is {find.after} at most; in the original it was {find.before}."
        ),
        Numbers(
            [
                (f"{facts.published:,}", f"{people} in {facts.classes:,} classes"),
                (
                    f"{facts.smallest:,}",
                    "people look the same, even around the most exposed of them",
                ),
                (find.after, f"highest chance to find a given person; before: {find.before}"),
                (percent(chief), f"of the information is lost ({facts.guide})"),
            ]
        ),
    ]
    if facts.unprotected:
        blocks.append(
            Text(
                f"Nothing is promised about the sensitive values of {listed(facts.unprotected)}: "
                "see what attackers can do, and decide whether that is enough."
            )
        )
    return blocks


def _promised(facts: Facts) -> list[Block]:
    rows: list[list[Cell | str]] = [
        [
            Cell(_on(promise.model, promise.column), promise.words),
            promise.asked,
            Cell(promise.reached, tone="strong"),
            Cell("held", tone="good") if promise.holds else Cell("broken", tone="bad"),
        ]
        for promise in facts.promises
    ]
    blocks: list[Block] = [
        Text(
            "A class is a group of rows that look the same in all quasi-identifiers, which are the "
            "columns that an outsider may know of somebody. Whoever looks for a person finds "
            "the class and cannot tell which of its rows it is."
        ),
        Table(
            ["promise", "asked", "reached", ""],
            rows,
            "Reached is what the worst class of the published table reaches. It was measured on "
            "that table alone, by code that knows nothing of how the table was made.",
            widths=(60, 14, 14, 12),
        ),
    ]
    if facts.notes:
        blocks += [Text("To be known besides:"), Bullets([sentence(n) for n in facts.notes])]
    return blocks


def _on(name: str, column: str | None) -> str:
    return name if column is None else f"{name}, on {short(column)}"


def _columns(facts: Facts) -> list[Block]:
    order = list(ROLES)
    columns = sorted(facts.columns, key=lambda column: order.index(column.role))
    rows = [[short(column.name), ROLES[column.role], column.how] for column in columns]
    return [
        Table(["column", "its role", "how it is published"], rows, widths=(26, 38, 36)),
        Text(_missing(facts)),
    ]


def _missing(facts: Facts) -> str:
    words = [f"“{short(word)}”" for word in facts.missing_words]
    also = f" So do cells with {listed(words)}." if words else ""
    rule = {
        "value": "An empty cell of a quasi-identifier counts as a value of its own: it is "
        "published as empty, and people with an empty cell hide among each other as others do.",
        "root": "An empty cell of a quasi-identifier is published like a value that is held back.",
        "error": "The plan allows no empty cell in a quasi-identifier.",
    }[facts.missing]
    cells = many(facts.missing_cells, "empty cell") if facts.missing_cells else "no empty cell"
    count = f" The release has {cells} of quasi-identifiers."
    mine = " An empty cell of a sensitive column is a sensitive value of its own."
    tail = mine if facts.having("sensitive") else ""
    return rule + also + (count if facts.missing != "error" else "") + tail


def _compare(what: str, changes: list[Change], caption: str = "") -> Table:
    rows: list[list[Cell | str]] = [
        [one.what, one.before, Cell(one.after, tone="strong")] for one in changes
    ]
    return Table([what, "original", "release"], rows, caption, widths=(64, 18, 18))


def _exposure(facts: Facts) -> list[Block]:
    return [
        Text(
            "Somebody who knows that a person is in the table, and knows their quasi-identifiers, "
            "has to guess among all who look the same: in a crowd of 5 the chance to point at "
            "the right one is 1 in 5, that is 20 %."
        ),
        _compare("the table", facts.counts),
        _compare("chances to be found", facts.risks),
    ]


def _attacks(facts: Facts) -> list[Block]:
    overview: list[list[Cell | str]] = [
        [
            Cell(_on(attack.name.replace("-", " "), attack.column), attack.about),
            attack.share.before if attack.share else "–",
            Cell(attack.share.after, tone="strong") if attack.share else Cell("cannot be told"),
        ]
        for attack in facts.attacks
    ]
    blocks: list[Block] = [
        Text(
            "Each attack is really run, on the original and on the release. The numbers say what "
            "share of the rows it succeeds on."
        ),
        Table(
            ["attack", "original", "release"],
            overview,
            "Rows on which the attack succeeds. An attack on a sensitive column learns a "
            "person's value without finding the row.",
            widths=(64, 18, 18),
        ),
    ]
    if any(attack.share is None for attack in facts.attacks):
        blocks.append(
            Text(
                "“Cannot be told” means that the attack could not be tried: nothing says which "
                "values of the column are alike. A hierarchy for that column would."
            )
        )
    return [*blocks, Heading("In detail"), _details(facts.attacks)]


def _details(attacks: list[AttackFact]) -> Table:
    rows: list[list[Cell | str]] = []
    for attack in attacks:
        name = _on(attack.name.replace("-", " "), attack.column)
        for i, one in enumerate(attack.findings):
            first = Cell(name if i == 0 else "")
            rows.append([first, one.what, one.before, Cell(one.after, tone="strong")])
    return Table(["attack", "finding", "original", "release"], rows, widths=(28, 40, 16, 16))


def _sizes(facts: Facts) -> list[Block]:
    labels = [
        number(size.fewest) if size.fewest == size.most else f"{size.fewest:,} – {size.most:,}"
        for size in facts.sizes
    ]
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
        Plot(svg, "Classes by the number of people in them, and the rows that these classes hold."),
    ]


def _sensitive(facts: Facts) -> list[Block]:
    blocks: list[Block] = [
        Text(
            "If the values of a class are spread otherwise than in the whole table, whoever knows "
            "a person's class learns something. Here are the classes in which that is most so. "
            "A distance of 25 % says: a quarter of the rows would need another value to be spread "
            "as in the whole table. A class of few rows cannot hold many values, so a large "
            "distance alone is no breach: look for a value that stands out."
        )
    ]
    for column in facts.sensitive:
        blocks.append(Heading(short(column.column)))
        if not column.worst or column.worst[0].distance < 1e-9:
            blocks.append(Text("Its values are spread in every class as in the whole table."))
            continue
        blocks += _worst(column)
    return blocks


def _worst(column: SensitiveFact) -> list[Block]:
    letters = [f"class {'ABCDEFGHIJ'[i]}" for i in range(len(column.worst))]
    table = Table(
        ["", "published as", "rows", "distance"],
        [
            [letter, _described(one), f"{one.rows:,}", Cell(percent(100 * one.distance))]
            for letter, one in zip(letters, column.worst, strict=True)
        ],
        widths=(12, 60, 12, 16),
    )
    labels = [short(value) for value in column.values]
    if column.others:
        labels.append(f"{many(column.others, 'other value')}, together")
    series = [
        Bars("whole table", column.shares),
        *(Bars(letter, one.shares) for letter, one in zip(letters, column.worst, strict=True)),
    ]
    svg = bars(labels, series, "percent of the rows", show=percent)
    told = "The values" if not column.others else f"The {len(column.values)} most telling values"
    return [
        table,
        Plot(svg, f"{told} of {short(column.column)} in the whole table and in these classes."),
    ]


def _described(one: ClassFact) -> str:
    """A class by what is published of it; what is held back says nothing and comes last."""
    told = {name: value for name, value in one.published.items() if value not in ("*", MISSING)}
    rest = {name: value for name, value in one.published.items() if name not in told}
    words = [f"{short(name, 24)}: {short(value, 32)}" for name, value in (told | rest).items()]
    more = f" · and {len(words) - DESCRIBED} more" if len(words) > DESCRIBED else ""
    return " · ".join(words[:DESCRIBED]) + more


def _lost(facts: Facts) -> list[Block]:
    columns = sorted(facts.column_losses.items(), key=lambda item: -item[1])
    drawn = columns[:SHOWN]
    per_column = bars(
        [name for name, _ in drawn],
        [Bars("lost", [loss for _, loss in drawn])],
        "percent lost",
        top=100,
        show=percent,
    )
    rest = len(columns) - len(drawn)
    more = f" {many(rest, 'column')} with smaller losses are not drawn." if rest else ""
    metrics = sorted(facts.losses.items(), key=lambda item: (item[0] != facts.guide, -item[1]))
    per_metric = bars(
        [name for name, _ in metrics],
        [Bars("lost", [loss for _, loss in metrics])],
        "percent lost",
        top=100,
        show=percent,
    )
    rows: list[list[Cell | str]] = [
        [
            Cell(name, "guided this release" if name == facts.guide else ""),
            sentence(facts.loss_words.get(name, "")),
        ]
        for name, _ in metrics
    ]
    return [
        Text(
            f"Hiding people costs information: {percent(facts.generalized_percent)} of the values "
            f"of quasi-identifiers are published wider than they were, and "
            f"{percent(facts.root_percent)} are held back altogether. "
            + (
                f"{many(facts.suppressed, 'row')} were left out. "
                if facts.suppressed
                else "No row was left out. "
            )
            + "Sensitive and other columns are published as they are. 0 % means as in the "
            "original, 100 % means that nothing is left."
        ),
        Plot(per_column, f"Lost per quasi-identifier, measured by {facts.guide}.{more}"),
        Plot(
            per_metric,
            "Lost in all, by different ways of measuring. They weigh the same loss differently; "
            f"the mean of the seven of Mauger et al. is {percent(facts.mean_loss)}.",
        ),
        Table(
            ["measure", "what it counts"],
            rows,
            "In the words of the papers: leaves are original values, levels are the steps by which "
            "a hierarchy makes them wider.",
            widths=(24, 76),
        ),
    ]


def _again(facts: Facts) -> list[Block]:
    chance = (
        "Chance came from the operating system: a second run gives the rows in another order."
        if facts.seed is None
        else f"Chance came from the seed {facts.seed}: the same table and plan give the same bytes "
        "again."
    )
    blocks: list[Block] = [
        Bullets(
            [
                f"Made by shoal {facts.version} with the algorithm {facts.algorithm}: "
                + sentence(facts.algorithm_words),
                chance,
                f"Made on {facts.made:%Y-%m-%d at %H:%M:%S} ({facts.made:%Z}).",
            ]
        ),
        Heading("Is this the table that the report is about?"),
    ]
    if facts.sha256 is None:
        blocks.append(
            Text(
                "There is no checksum: a column of the release is of a type that a text file "
                "cannot hold."
            )
        )
    else:
        blocks += [
            Code(facts.sha256),
            Text(
                "This is the SHA-256 of the release as a CSV file: of all bytes that "
                '`release.save("release.csv")` or `--out release.csv` writes. '
                "`sha256sum release.csv` must print the same. A file that is opened and saved by "
                "another program, or written as Parquet or TSV, has other bytes; a .csv.gz has "
                "them once it is unpacked."
            ),
        ]
    blocks.append(Heading("The plan"))
    if facts.plan.withheld:
        left = listed([short(item, 80) for item in facts.plan.withheld])
        blocks.append(
            Text(
                f"Left out here, as they list original values that may not be published: {left}. "
                "The plan file has them, and is needed to run this again."
            )
        )
    return [
        *blocks,
        Code(
            facts.plan.toml,
            "Save as `plan.toml`, then: `shoal anonymize DATA --plan plan.toml --out release.csv`. "
            "Files that it names are looked for relative to it.",
        ),
    ]
