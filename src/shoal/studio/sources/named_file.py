"""Files that a form names by their path: below the folder of the start, or anywhere by a full path.

Whoever may use the studio may read every file that its user can read (docs/studio.md).
"""

from __future__ import annotations

from pathlib import Path

from shoal.base.errors import BadFile
from shoal.databases.kind import is_address
from shoal.io.format import format_of


def is_file(start: Path, data: str) -> bool:
    """Whether there is such a file."""
    try:
        return bool(data) and (start / data).is_file()
    except (OSError, ValueError):
        return False


def named_file(start: Path, data: str) -> Path:
    """The full path of a file; an error if there is none."""
    if not is_file(start, data):
        raise BadFile(f"there is no file {data!r}; name one on this machine, or drop one here")
    return (start / data).resolve()


def named_population(start: Path, data: str) -> Path:
    """The full path of a table of the population; an error unless it is a file that we read."""
    if not is_file(start, data):
        raise BadFile(f"there is no file {data!r}; name a table of the population on this machine")
    path = (start / data).resolve()
    if is_address(path):
        raise BadFile("the population is read from a file with one table, not from a database")
    format_of(path)
    return path
