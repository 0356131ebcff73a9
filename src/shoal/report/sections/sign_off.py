"""The parts of a report for whoever checks the release, runs it again, and signs it."""

from __future__ import annotations

from shoal.base.wording import listed, many, sentence, short
from shoal.report.facts import Facts
from shoal.report.page import Block, Bullets, Code, Form, Heading, Table, Text


def again(facts: Facts) -> list[Block]:
    """How it was made, checksums and the plan."""
    blocks: list[Block] = [
        Bullets(
            [
                (
                    f"Made by shoal {facts.version} with a recoding that came from another table. "
                    f"That one was recoded with the algorithm {facts.algorithm}: "
                    if facts.applied
                    else f"Made by shoal {facts.version} with the algorithm {facts.algorithm}: "
                )
                + sentence(facts.algorithm_words),
                _chance(facts),
                f"Made on {facts.made:%Y-%m-%d at %H:%M:%S} ({facts.made:%Z}).",
            ]
        ),
        Heading("Is this the table that the report is about?"),
    ]
    if facts.sha256 is None:
        blocks.append(Text(_NO_CHECKSUM))
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
            "The plan of the table that the recoding came from. To run this again: `shoal apply "
            "DATA --recoding FILE --out release.csv`."
            if facts.applied
            else "Save as `plan.toml`, then: `shoal anonymize DATA --plan plan.toml --out "
            "release.csv`. Files that it names are looked for relative to it.",
        ),
    ]


_NO_CHECKSUM = (
    "There is no checksum: a column of the release is of a type that a text file cannot hold."
)


def _chance(facts: Facts) -> str:
    if facts.seed is not None:
        return (
            f"Chance came from the seed {facts.seed}: the same table and plan give the same bytes "
            "again."
        )
    other = (
        "other values too, in another order" if facts.randomized else "the rows in another order"
    )
    return f"Chance came from the operating system: a second run gives {other}."


def signature(facts: Facts) -> list[Block]:
    """What is signed, and lines to sign on."""
    rows = [
        [
            "release",
            f"{many(facts.published, 'row')}; SHA-256 of the CSV file",
            facts.sha256 or "–",
        ],
        [
            "plan",
            "SHA-256 of the TOML text above, each line with a line break at its end"
            + ("; the plan file has more, see there" if facts.plan.withheld else ""),
            facts.plan_sha256,
        ],
        [
            "original",
            f"{many(facts.rows, 'row')}, {many(facts.people_before, 'person', 'people')}"
            + ("; SHA-256 of the file" if facts.original_sha256 else "; no file was read"),
            facts.original_sha256 or "–",
        ],
    ]
    return [
        Text(
            "Whoever signs has read what is promised and what is not, and takes the roles in the "
            "plan for right."
        ),
        Table(["of", "what", "checksum"], rows, widths=(12, 36, 52)),
        Form(["Released to, and for what", "Name", "Place and date", "Signature"]),
    ]
