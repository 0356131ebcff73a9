"""Standard input and output in place of files: `-`.

A table from standard input is spooled to a private temporary file, as it is read more than once. A
release for standard output is written to such a file and verified there, and only then passed on.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from shoal.base.errors import BadFile

STREAM = "-"
STREAM_NAME = "standard output"  # what messages and reports call it
_folders: list[TemporaryDirectory[str]] = []  # of this command


def spooled(ending: str) -> Path:
    """What comes from standard input, as a temporary file with this ending."""
    if sys.stdin is None or sys.stdin.isatty():
        raise BadFile("cannot read standard input: it is a terminal; pipe a table into it")
    path = _private(f"standard-input{ending}")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def held_back(ending: str) -> Path:
    """The temporary file of what goes to standard output when it is verified."""
    return _private(f"standard-output{ending}")


def pass_on(path: Path) -> None:
    """Write a file to standard output."""
    with path.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def by_name(message: str) -> str:
    """A message about the temporary files of this command, about what they stand for."""
    for folder in _folders:
        for way in ("input", "output"):
            path = str(Path(folder.name) / f"standard-{way}")
            message = re.sub(rf"{re.escape(path)}(\.\w+)*", f"standard {way}", message)
    if "standard input" in message:
        message = message.replace(
            "the format that its name says", "the format that --format names (csv by default)"
        )
    return message


def remove_files() -> None:
    """Remove the temporary files of this command."""
    while _folders:
        _folders.pop().cleanup()


def _private(name: str) -> Path:
    """A path that only this user can read, and that is removed when the command ends."""
    _folders.append(TemporaryDirectory(prefix="shoal-"))
    return Path(_folders[-1].name, name)
