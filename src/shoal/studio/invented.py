"""An invented table to try things on: stays in a hospital that does not exist."""

from __future__ import annotations

from pathlib import Path

from shoal.datasets.hospital import hospital
from shoal.io.frames import open_frame, write
from shoal.studio.private_folder import PrivateFolder

ROWS, SEED = 2_000, 7


def invented_table(uploads: PrivateFolder) -> Path:
    """Write it to a file among the uploads."""
    path = uploads.inside(f"{uploads.new_name()}.csv")
    write_invented(path)
    return path


def write_invented(path: Path) -> None:
    """Write it to this file: the same records each time."""
    write(open_frame(hospital(ROWS, SEED)), path)
    path.chmod(0o600)
