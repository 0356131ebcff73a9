"""The same on the command line: what to type to get what the studio gives."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence

from shoal.studio.sources.source import Source

OPTIONS = ("report", "codebook", "recoding")


def command_of(
    source: Source,
    title: str,
    plan: str,
    out: Sequence[str],
    also: Sequence[tuple[str, str]] = (),
) -> str:
    """The command that makes a release, for the shell of this system.

    `plan` is the name of the file of the plan, `out` what the release is written to, with the
    options of databases, and `also` are further options with their files.
    """
    words = ["shoal", "anonymize", *data_of(source, title), "--plan", plan, "--out", *out]
    for option, file in also:
        words += [f"--{option}", file]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def data_of(source: Source, title: str) -> list[str]:
    """What names the table, with its options; a copy of ours has the name of the user's file.

    >>> data_of({"kind": "file", "path": "/tmp/x.csv", "uploaded": True}, "-my people.csv")
    ['./-my people.csv']
    """
    path = str(source.get("address") or source.get("path"))
    if source.get("uploaded"):
        path = f"./{title}" if title.startswith("-") else title
    words = [path]
    for option in ("table", "query"):
        if source.get(option):
            words += [f"--{option}", str(source[option])]
    return words
