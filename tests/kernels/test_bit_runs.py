"""Integers in the form of Parquet are decoded as they were encoded, and never beyond their end."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.bit_runs import decode_runs


def varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def encoded(runs: list[list[int]], width: int) -> bytes:
    """Runs of equal numbers as such, others packed in groups of eight."""
    content = b""
    for run in runs:
        if len(set(run)) == 1:
            content += varint(len(run) << 1) + run[0].to_bytes((width + 7) // 8, "little")
        else:
            assert len(run) % 8 == 0
            bits = sum(number << (i * width) for i, number in enumerate(run))
            content += varint(len(run) // 8 << 1 | 1) + bits.to_bytes(
                len(run) * width // 8, "little"
            )
    return content


def decoded(content: bytes, width: int, count: int) -> list[int]:
    found = np.full(count, -1, np.int64)
    got = decode_runs(np.frombuffer(content, np.uint8), width, found)
    assert (found[got:] == -1).all()
    return found[:got].tolist()


@pytest.mark.parametrize("width", [1, 3, 7, 8, 9, 16, 17, 31, 32])
def test_runs_of_all_widths(width: int) -> None:
    rng = np.random.default_rng(width)
    top = (1 << width) - 1
    packed = [
        [top, 0, *rng.integers(0, top, 8 * many - 2, endpoint=True).tolist()] for many in (1, 3, 70)
    ]
    runs = [packed[0], [top] * 300, packed[1], packed[2], [0], [1] * 2]
    numbers = [number for run in runs for number in run]
    content = encoded(runs, width)
    assert decoded(content, width, len(numbers)) == numbers
    assert decoded(content, width, len(numbers) - 1) == numbers[:-1]  # the last group is padded
    for end in range(len(content)):  # a damaged file is no reason to read other memory
        found = decoded(content[:end], width, len(numbers))
        assert found == numbers[: len(found)]
        assert len(found) < len(numbers)


def test_a_header_without_an_end() -> None:
    assert decoded(b"\xff" * 40, 5, 3) == []
