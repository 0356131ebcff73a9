"""Files that are being made: what is known of them, and how they are stopped."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from shoal.base.errors import BadInput
from shoal.studio.exports.files import FOLDER, Exports, Stopped
from shoal.studio.private_folder import PrivateFolder


def making(folder: Path, stop: bool, release: str) -> tuple[list[str], list[str]]:
    """Make a file; what was shown of it meanwhile, and what is left in the folder of files."""
    shown: list[str] = []

    async def work() -> None:
        exports = Exports(PrivateFolder(folder))

        def ring() -> None:
            shown.append(f"{exports.making.status} {exports.making_name}")
            if stop and exports.making.status == "running":
                asyncio.get_running_loop().call_later(0.2, exports.stop_file)

        given = {"what": "release", "folder": str(folder), "release": release}
        try:
            await exports.file(".csv", "people.csv", ring, **given)
        finally:
            exports.close()
            await asyncio.to_thread(exports.wait)

    with pytest.raises(Stopped if stop else BadInput):
        asyncio.run(work())
    return shown, [one.name for one in (folder / FOLDER).iterdir()]


def test_what_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    """Reading this release never ends, as nobody writes to it."""
    os.mkfifo(tmp_path / "release.csv")
    (tmp_path / "plan.toml").write_text("[columns]\na = { role = 'quasi' }\n", encoding="utf-8")
    shown, left = making(tmp_path, True, "release.csv")
    assert shown == ["running people.csv", "cancelled people.csv"]
    assert left == []


def test_what_fails_says_so(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("[columns]\na = { role = 'quasi' }\n", encoding="utf-8")
    shown, left = making(tmp_path, False, "gone.csv")
    assert shown == ["running people.csv", "failed people.csv"]
    assert left == []
