"""Folders: the tables below the folder in which the studio was started. Nothing else is shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.base.errors import BadFile
from shoal.databases.kind import is_address
from shoal.io.format import format_of

MOST = 200  # files and folders that are listed
UNREADABLE = (OSError, ValueError, RuntimeError)  # no permission, a NUL, a loop of links


@dataclass(frozen=True)
class File:
    """A file that looks like a table."""

    name: str
    path: str  # below the first folder
    size: int  # bytes


@dataclass(frozen=True)
class Folder:
    """What a folder has to offer."""

    path: str  # below the first folder; "" for that one
    above: tuple[tuple[str, str], ...]  # the names and paths that lead here
    folders: tuple[tuple[str, str], ...]  # names and paths
    files: tuple[File, ...]
    more: int = 0  # that are not listed


def listed(start: Path, path: str) -> Folder:
    """The folders and tables in a folder below the first one."""
    top = start.resolve()
    here = inside(start, path)
    folders: list[tuple[str, str]] = []
    files: list[File] = []
    for one in sorted(_entries(here), key=lambda one: one.name.casefold()):
        try:
            found = one.resolve()
            if one.name.startswith(".") or not found.is_relative_to(top):
                continue  # a link may lead out
            shown = (here / one.name).relative_to(top).as_posix()
            if found.is_dir():
                folders.append((one.name, shown))
            elif found.is_file() and is_table(found):
                files.append(File(one.name, shown, found.stat().st_size))
        except UNREADABLE:
            continue
    above = here.relative_to(top).parts
    return Folder(
        here.relative_to(top).as_posix().removeprefix("."),
        tuple((name, "/".join(above[: i + 1])) for i, name in enumerate(above)),
        tuple(folders[:MOST]),
        tuple(files[:MOST]),
        max(0, len(folders) - MOST) + max(0, len(files) - MOST),
    )


def inside(start: Path, path: str) -> Path:
    """A folder below the first one; an error for any other."""
    top = start.resolve()
    try:
        found = (top / path).resolve()
        known = found.is_relative_to(top) and found.is_dir()
    except UNREADABLE:
        known = False
    if not known:
        raise BadFile("this folder is not there; the list begins again at the first one")
    return found


def is_table(path: Path) -> bool:
    """Whether the name of a file says that we can read it."""
    if is_address(path):
        return True
    try:
        format_of(path)
    except BadFile:
        return False
    return True


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
