"""The shuffle on disk: every order is equally likely, and a seed decides it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal import BadFile
from shoal.engines import shuffle
from shoal.engines.shuffle import Shuffle

SCHEMA = pa.schema([("id", pa.int64()), ("r", pa.int64()), ("note", pa.string())])


def batches(numbers: list[int], size: int) -> list[pa.RecordBatch]:
    table = pa.table([numbers, numbers, [f"n{i}" for i in numbers]], SCHEMA)
    return table.to_batches(max_chunksize=size)


def order(folder: Path, numbers: list[int], entropy: list[int], size: int = 3) -> list[int]:
    found = Shuffle(folder, SCHEMA, len(numbers), entropy)
    found.add(iter(batches(numbers, size)))
    tables = list(found)
    assert all(table["note"].to_pylist() == [f"n{i}" for i in table["id"].to_pylist()]
               for table in tables)  # fmt: skip
    assert [table.to_pydict() for table in found] == [table.to_pydict() for table in tables]
    return [i for table in tables for i in table["id"].to_pylist()]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several files and several rounds, even for a few records."""
    monkeypatch.setattr(shuffle, "ROWS", 2)
    monkeypatch.setattr(shuffle, "AT_ONCE", 4)
    monkeypatch.setattr(shuffle, "BLOCK", 4)


@pytest.mark.usefixtures("small")
def test_every_order_is_equally_likely(tmp_path: Path) -> None:
    runs = 2_400
    often = Counter(tuple(order(tmp_path, [0, 1, 2, 3], [7, i])) for i in range(runs))
    expected = runs / 24
    assert set(often) == set(permutations(range(4)))
    # The 99.99 % quantile of chi-squared with 23 degrees of freedom.
    assert sum((n - expected) ** 2 / expected for n in often.values()) < 58.6


@pytest.mark.usefixtures("small")
def test_the_order_of_arrival_does_not_matter(tmp_path: Path) -> None:
    numbers = list(range(50))
    first = order(tmp_path, numbers, [1, 2])
    assert sorted(first) == numbers
    assert first != numbers
    mixed = np.random.default_rng(1).permutation(numbers).tolist()
    assert order(tmp_path, mixed, [1, 2], size=7) == first
    assert order(tmp_path, numbers, [1, 3]) != first


def open_in(folder: Path) -> list[str]:
    """Files of a folder that this process has open."""
    found = []
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that of the listing itself is closed again
            found.append(str(one.readlink()))
    return [path for path in found if path.startswith(str(folder))]


@pytest.mark.usefixtures("small")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed on Linux")
def test_no_file_stays_open(tmp_path: Path) -> None:
    """Neither at the end nor after an error: hundreds would be too many for the rest of a run."""

    def failing() -> Iterator[pa.RecordBatch]:
        yield from batches(list(range(20)), 5)
        assert open_in(tmp_path)
        raise BadFile("the original cannot be read")

    done = Shuffle(tmp_path, SCHEMA, 20, [1])
    done.add(iter(batches(list(range(20)), 5)))
    assert open_in(tmp_path) == []
    failed = Shuffle(tmp_path, SCHEMA, 20, [1])
    with pytest.raises(BadFile, match="the original"):
        failed.add(failing())
    assert open_in(tmp_path) == []


@pytest.mark.usefixtures("small")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed on Linux")
def test_too_many_open_files(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(map(int, os.listdir("/proc/self/fd"))) + 10  # noqa: PTH208
    many = Shuffle(tmp_path, SCHEMA, 600, [1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        with pytest.raises(BadFile, match=r"Too many open files; let .* open 300 more files"):
            many.add(iter(batches(list(range(600)), 50)))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
