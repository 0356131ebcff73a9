"""Making the file of a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.io.atomic import atomic, private_folder


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Where to make a file; it gets its name if all goes well.

    It is in a folder of its own, as databases make other files next to it.
    """
    with atomic(path) as temporary, private_folder(path.absolute().parent) as folder:
        yield folder / path.name
        (folder / path.name).replace(temporary)
