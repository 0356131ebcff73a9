"""The section for verifying and reproducing the release."""

from __future__ import annotations

from shoal.base.wording import listed, sentence, short
from shoal.io.raw_text.standard_streams import STREAM_NAME
from shoal.report.facts import Facts
from shoal.report.page import Block, Bullets, Code, Heading, Text


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
        Heading("Checksum of the release"),
        *([Text(_NO_CHECKSUM)] if facts.sha256 is None else [Code(facts.sha256), _of(facts)]),
        Heading("The plan"),
        Code(facts.plan_sha256),
        Text(_plan(facts)),
    ]
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
            else "Without what is not shown it cannot be run: use the plan file."
            if facts.plan.withheld
            else "Saved as `plan.toml`, it is run with `shoal anonymize DATA --plan plan.toml "
            "--out release.csv`. Paths in the plan are relative to the plan file.",
        ),
    ]


_NO_CHECKSUM = (
    "There is no checksum: no file was written, and a column of the release has a type that a CSV "
    "file cannot represent."
)


def _plan(facts: Facts) -> str:
    """Which file the checksum of the plan belongs to, and how to compare it."""
    if facts.plan_name is None:
        came = "is part of the recoding" if facts.applied else "was not read from a file"
        return (
            f"The plan {came}. This is the SHA-256 of the file that "
            f'`release.plan.save("plan.toml")` writes: compare it with the output of '
            "`sha256sum plan.toml`. The text below is for reading and may differ from it."
        )
    name = short(facts.plan_name, 100)
    changed = (
        f" For this run, {listed(facts.plan_changed)} "
        f"{'was' if len(facts.plan_changed) == 1 else 'were'} set to other values than in the "
        "file, and the text below has them."
        if facts.plan_changed
        else ""
    )
    return (
        f"The SHA-256 of the plan file that was used, “{name}”: compare it with the output of "
        f"`sha256sum` on that file.{changed} The text below is for reading: comments of the file "
        "are left out, so that its own checksum differs."
    )


def _of(facts: Facts) -> Text:
    """Which file the checksum belongs to, and how to compare it."""
    if facts.written is None:
        return Text(
            "The release was not written to a file of its own when this report was made. This is "
            'the SHA-256 of the release as a CSV file, as `release.save("release.csv")` or `--out '
            "release.csv` write it: compare it with the output of `sha256sum release.csv`. A file "
            "in another format has another checksum."
        )
    name = short(facts.written, 100)
    what = f"the file that was written, “{name}”"
    if name == STREAM_NAME:
        what = "what was written to standard output"
    return Text(
        f"The SHA-256 of {what}. To check that a file is the one of "
        "this report, compare it with the output of `sha256sum` on that file (`certutil -hashfile` "
        "on Windows). The same records saved by another program, or in another format, have "
        "another checksum."
    )


def _randomness(facts: Facts) -> str:
    if facts.seed is not None and facts.may_differ:
        return (
            f"Random seed: {facts.seed}. The search was ended by the clock, so that the same table "
            "and plan may give another release. To publish the same values again, use its recoding."
        )
    if facts.seed is not None:
        return (
            f"Random seed: {facts.seed}. The same table and plan give exactly the same release "
            "again."
        )
    other = (
        "other values, in another order"
        if facts.random_choices or facts.may_differ
        else "the same records in another order"
    )
    if facts.persons_published:
        other += ", with other person numbers"
    return f"No random seed was set: a second run gives {other}."
