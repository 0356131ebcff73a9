"""Uploads: files that are dropped go to the disk as they come, and are private."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from pathlib import Path

from shoal.base.errors import BadFile
from shoal.databases.kind import is_address
from shoal.io.format import format_of, packing_of
from shoal.studio.private_folder import PrivateFolder, private

MEGABYTE = 1_000_000


class TooLarge(BadFile):
    """A file has more bytes than are allowed."""


class NoSpace(BadFile):
    """The disk is full."""


async def received(
    folder: PrivateFolder,
    title: str,
    stated: int | None,
    parts: AsyncIterator[bytes],
    most: int,
) -> Path:
    """Store a file part by part; if it does not arrive whole, nothing of it is kept.

    `title` is its name at the user's, `stated` how many bytes are announced, and `most` how many
    there may be.
    """
    path = folder.inside(f"{folder.new_name()}{ending_of(title)}")
    name = Path(title).name
    too_large = TooLarge(
        f"{name} has more than {most // MEGABYTE:,} MB; open it as a file on this machine instead, "
        "which needs no copy"
    )
    if stated is not None and stated > most:
        raise too_large
    written = 0
    try:
        with private(path) as file:
            async for part in parts:
                written += len(part)
                if written > most:
                    raise too_large
                await asyncio.to_thread(file.write, part)
        if stated is not None and written != stated:
            raise BadFile(f"{name} did not arrive whole; drop it again")
        if not written:
            raise BadFile(f"{name} is empty")
    except OSError as error:
        path.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(
                f"there is no space for {name} on the disk of the studio; free some, or open it "
                "as a file on this machine"
            ) from None
        raise
    except BaseException:  # the connection was lost
        path.unlink(missing_ok=True)
        raise
    return path


def ending_of(title: str) -> str:
    """The ending of a file name that says its format; an error if we cannot read such files.

    >>> ending_of("people.2024.CSV.gz"), ending_of("Ärzte v1.2.sav")
    ('.csv.gz', '.sav')
    """
    name = Path(Path(title.replace("\\", "/")).name)
    ends = [one.lower() for one in name.suffixes]
    if is_address(name):
        return ends[-1]
    format_of(name)
    return "".join(ends[-2:] if packing_of(name) else ends[-1:])
