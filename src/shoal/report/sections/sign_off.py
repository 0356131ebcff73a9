"""The sections for verifying, reproducing and approving the release."""

from __future__ import annotations

from shoal.base.wording import listed, many, sentence, short
from shoal.report.facts import Facts
from shoal.report.page import Block, Bullets, Code, Form, Heading, HtmlTable, Text


def reproduce(facts: Facts) -> list[Block]:
    """How the release was made, its checksum and the plan."""
    blocks: list[Block] = [
        Bullets(
            [
                (
                    f"Made by shoal {facts.version} with the recoding of another table. The "
                    f"algorithm of that recoding is {facts.algorithm}: "
                    if facts.applied
                    else f"Made by shoal {facts.version} with the algorithm {facts.algorithm}: "
                )
                + sentence(facts.algorithm_words),
                _randomness(facts),
                f"Made on {facts.made:%Y-%m-%d at %H:%M:%S} ({facts.made:%Z}).",
            ]
        ),
        Heading("Checksum"),
    ]
    if facts.sha256 is None:
        blocks.append(Text(_NO_CHECKSUM))
    else:
        blocks += [
            Code(facts.sha256),
            Text(
                "The SHA-256 of the release as a CSV file, as written by "
                '`release.save("release.csv")` or `--out release.csv`. To check that a file is the '
                "table of this report, compare it with the output of `sha256sum release.csv`. A "
                "file that another program has saved, or a Parquet or TSV file, has another "
                "checksum; decompress a .csv.gz first."
            ),
        ]
    blocks.append(Heading("The plan"))
    if facts.plan.withheld:
        withheld = listed([short(item, 80) for item in facts.plan.withheld])
        blocks.append(
            Text(
                f"Not shown, because it may contain original values: {withheld}. The plan file, "
                "which is needed to reproduce the release, has it."
            )
        )
    return [
        *blocks,
        Code(
            facts.plan.toml,
            "The plan of the table that the recoding is from. To reproduce the release: `shoal "
            "apply DATA --recoding FILE --out release.csv`."
            if facts.applied
            else "Save it as `plan.toml`, then run `shoal anonymize DATA --plan plan.toml --out "
            "release.csv`. Paths in the plan are relative to the plan file.",
        ),
    ]


_NO_CHECKSUM = (
    "There is no checksum: a column of the release has a type that a CSV file cannot represent."
)


def _randomness(facts: Facts) -> str:
    if facts.seed is not None:
        return (
            f"Random seed: {facts.seed}. The same table and plan give exactly the same release "
            "again."
        )
    other = (
        "other values, in another order"
        if facts.random_choices
        else "the same records in another order"
    )
    if facts.persons_published:
        other += ", with other person numbers"
    return f"No random seed was set: a second run gives {other}."


def signature(facts: Facts) -> list[Block]:
    """What is approved, and lines to sign on."""
    rows = [
        [
            "release",
            f"{many(facts.published, 'record')}; SHA-256 of the CSV file",
            facts.sha256 or "–",
        ],
        [
            "plan",
            "SHA-256 of the TOML text above, with a line break after each line"
            + ("; the plan file itself has more" if facts.plan.withheld else ""),
            facts.plan_sha256,
        ],
        [
            "original",
            f"{many(facts.rows, 'record')}, {many(facts.people_before, 'person', 'people')}"
            + ("; SHA-256 of the file" if facts.original_sha256 else "; not read from a file"),
            facts.original_sha256 or "–",
        ],
    ]
    return [
        Text(
            "The approver has read what is guaranteed and what is not, and assumes that the roles "
            "in the plan are correct."
        ),
        HtmlTable(["file", "content", "checksum"], rows, widths=(12, 36, 52)),
        Form(["Recipient and purpose", "Name", "Place and date", "Signature"]),
    ]
