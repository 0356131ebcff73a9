"""Sources: whether a path can be read, and tables that are stored elsewhere."""

from __future__ import annotations

import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.base.errors import BadFile

if TYPE_CHECKING:
    import pyarrow as pa

ADDRESS = re.compile("[A-Za-z][A-Za-z0-9+.-]+:/")
# Connection strings of other programs: jdbc:postgresql://…, postgresql:ann@host, host=… password=…
FOREIGN = re.compile(
    r"(?:jdbc|odbc|postgres\w*|mysql):[^/].*"
    r"|(?=.*\b(?:host|hostaddr|dbname|user|uid|server|driver)\s*=)"
    r".*\b\w*(?:password|passwd|pwd)\s*=.*",
    re.DOTALL | re.IGNORECASE,
)
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class StoredTable(ABC):
    """A table that is neither in memory nor a file, and can be read."""

    @abstractmethod
    def read(self, progress: Callable[[int, int], None] | None = None) -> pa.Table:
        """Read all rows; `progress` is called with those read so far, and how many there are."""


def is_folder(path: Path) -> bool:
    """Whether it is a folder; False for a name that no file can have, unlike `Path.is_dir`."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: str | Path) -> bool:
    """Whether it is a file; False for a name that no file can have, unlike `Path.is_file`."""
    return os.path.isfile(path)  # noqa: PTH113


def is_address(path: Path) -> bool:
    """Whether a path is the address of a database; `Path` has made one slash of two."""
    return bool(ADDRESS.match(str(path)) or FOREIGN.fullmatch(str(path)))


def check_source(path: Path, what: str, hint: str = "") -> None:
    """Raise an error unless the path is a regular file: a pipe or a device may never end.

    `what` is the purpose of the file, as in "the plan "; `hint` the advice if there is none.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except FileNotFoundError:
        if is_address(path):  # it may contain a password, and is not repeated
            raise BadFile(
                "this is the address of a database, not the path of a file; give "
                "shoal.Database(address, table=…)"
            ) from None
        hint = hint or _similar(path)
        raise BadFile(f"cannot read {what}{path}: no such file{hint}") from None
    except ValueError:  # a lone surrogate or a NUL in the name
        raise BadFile(f"cannot read {what}{str(path)!r}: no file can have this name") from None
    except OSError as error:  # a loop of links, a name too long, no permission
        shown = str(path) if len(str(path)) < 200 else f"{str(path)[:80]}…"
        raise BadFile(f"cannot read {what}{shown}: {os.strerror(error.errno or 0)}") from None
    if kind != stat.S_IFREG:
        advice = "" if kind == stat.S_IFDIR else "; write its content to a file first"
        if kind == stat.S_IFDIR and not what:
            # Every command that reads a table gets here: the advice must be true for each of them.
            advice = (
                "; anonymize reads a folder with engine = 'duckdb' or 'spark', audit with 'spark'"
            )
        found = KINDS.get(kind, "something else")
        raise BadFile(f"cannot read {what}{path}: it is {found}, not a file{advice}")


def _similar(path: Path) -> str:
    """Suggest a file with a similar name in the same folder, if there is one.

    Endings do not count: all tables end alike.
    """
    if not path.parent.is_dir():
        return ""
    near = {_stem(other): other.name for other in sorted(path.parent.iterdir(), reverse=True)}
    close = get_close_matches(_stem(path), near, n=1)
    return f"; did you mean {near[close[0]]!r}?" if close else ""


def _stem(path: Path) -> str:
    """The name without its endings."""
    return path.name.removesuffix("".join(path.suffixes))
