"""Standard input and output in place of files: `-`.

A table from standard input is spooled to a private temporary file, as it is read more than once. A
release for standard output is written to such a file and verified there, and only then passed on.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from shoal.base.errors import BadFile, BadPlan, did_you_mean
from shoal.io.format import formats

STREAM = "-"
_folders: list[TemporaryDirectory[str]] = []  # of this command


def spooled(form: str | None) -> Path:
    """The table on standard input, as a temporary file of this format."""
    if sys.stdin is None or sys.stdin.isatty():
        raise BadFile("cannot read standard input: it is a terminal; pipe a table into it")
    path = _private(f"standard-input{_ending(form)}")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def held_back(form: str | None) -> Path:
    """The temporary file of a release that goes to standard output when it is verified."""
    return _private(f"standard-output{_ending(form)}")


def pass_on(path: Path) -> None:
    """Write a file to standard output."""
    with path.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def check_one(*given: str | None) -> None:
    """Raise an error if standard input or output is named twice."""
    if given.count(STREAM) > 1:
        raise BadPlan(f"{STREAM} can be given once only: there is one standard input and output")


def _private(name: str) -> Path:
    """A path that only this user can read, and that is removed when the command ends."""
    _folders.append(TemporaryDirectory(prefix="shoal-"))
    return Path(_folders[-1].name, name)


def remove_files() -> None:
    """Remove the temporary files of this command."""
    while _folders:
        _folders.pop().cleanup()


def _ending(form: str | None) -> str:
    """The ending of the files of a format."""
    name = form or "csv"
    if name not in formats:
        raise BadPlan(
            f"no format {name!r}{did_you_mean(name, formats)}; --format is one of "
            f"{', '.join(formats)}"
        )
    return formats[name].endings[0]
