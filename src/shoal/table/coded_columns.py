"""The columns of a frame as codes, computed once per frame.

Several steps need the same column: encoding, reading a table as published, measuring, notes. The
codes are kept with the frame (`Frame.memo`). Another frame, such as the one that would be
published or the one read back from a file, starts with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from threading import get_ident
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Ints, Longs
from shoal.base.errors import ShoalError
from shoal.base.threads import in_threads
from shoal.io.frames import Frame
from shoal.kernels.group import interleave
from shoal.table.alike import alike_texts
from shoal.table.coding import Merged, Values, merge_alike, not_missing, value_codes, without
from shoal.table.roles import naming

T = TypeVar("T")
AT_A_TIME = 1 << 17  # rows per task of a thread


def coded(frame: Frame, name: str, missing_values: Sequence[str] = ()) -> tuple[Ints, Values]:
    """The distinct values of a column, and the number of each record's value; -1 is missing."""

    def compute() -> tuple[Ints, Values]:
        if known := frame.memo.get(("codes", name)):  # a few comparisons with its distinct values
            codes, values = known
            return without(codes, values, not_missing(values, missing_values))
        with naming(name):
            return value_codes(frame.stored(name), missing_values)

    return _once(frame, ("codes", name, *missing_values), compute)


def code_all(
    frame: Frame,
    words: Mapping[str, Sequence[str]],
    report: Callable[[float], None] = lambda _: None,
) -> None:
    """Code these columns on threads, so that `coded` has them; it raises their errors in order.

    `words` has the words for missing of each column. `report` is called in this thread, with the
    completed share.
    """
    caller, done = get_ident(), []

    def code(name: str) -> None:
        with suppress(ShoalError):
            coded(frame, name, words[name])
        done.append(name)
        if get_ident() == caller:
            report(len(done) / len(words))

    in_threads(code, list(words))


def forget_codes(frame: Frame, names: Collection[str]) -> None:
    """Free the memory of the codes of columns that are not needed again."""
    for key in list(frame.memo):
        if isinstance(key, tuple) and key[0] == "codes" and key[1] in names:
            del frame.memo[key]


def coded_as_text(
    frame: Frame, name: str, missing_values: Sequence[str] = ()
) -> tuple[Ints, Values]:
    """The same for a column of any type: lists and other nested values are compared as text."""
    array = frame.column(name)
    if not pa.types.is_nested(array.type):
        return coded(frame, name, missing_values)

    def compute() -> tuple[Ints, Values]:
        texts = [None if value is None else str(value) for value in array.to_pylist()]
        return value_codes(pa.array(texts, pa.string()), missing_values)

    return _once(frame, ("texts", name, *missing_values), compute)


def side_by_side(columns: Sequence[Ints]) -> Ints:
    """Columns as rows next to each other in memory, int32[n, q]."""
    n = len(columns[0])
    codes = np.empty((n, len(columns)), np.int32)

    def copy(begin: int) -> None:
        block = slice(begin, begin + AT_A_TIME)
        interleave(np.stack([column[block] for column in columns]), codes[block])

    in_threads(copy, range(0, n, AT_A_TIME))
    return codes


def merged_codes(frame: Frame, name: str, missing_values: Sequence[str] = ()) -> Merged:
    """A sensitive column, in which different spellings of a value have one code."""

    def compute() -> Merged:
        return merge_alike(*coded(frame, name, missing_values), missing_values, frame.weight)

    return _once(frame, ("merged", name, *missing_values), compute)


def person_codes(frame: Frame, name: str, missing_values: Sequence[str] = ()) -> Longs:
    """Number the persons, int64[n]; a record without a person is a person of its own.

    A number is the same person however it is written: 17, "17.0" and " 17" are one. Letter case
    matters: many systems number people with letters of both cases.
    """

    def compute() -> Longs:
        return _persons(*coded(frame, name, missing_values))

    return _once(frame, ("persons", name, *missing_values), compute)


def person_texts(array: Any, missing_values: Sequence[str] = ()) -> pa.Array:
    """A text per record, equal for the records that `person_codes` gives to one person.

    It does not depend on the other records. Null: a record without a person.

    >>> person_texts(pa.array(["17.0", " 17", None, "?"]), ["?"]).to_pylist()
    ['17', '17', None, None]
    """
    indices, values = value_codes(array, missing_values)
    texts = _one_per_person(values)
    if texts is None:
        texts = values.array.cast(pa.string()) if values.texts is None else values.texts
    return texts.take(pa.array(indices, mask=indices < 0)).cast(pa.large_string())


def person_numbers(numbers: Longs, missing_values: Sequence[str] = ()) -> Longs:
    """Different numbers for people, none of which is a word for missing.

    >>> person_numbers(np.array([0, 1, 2]), ["NA", "1", "2"]).tolist()
    [0, 3, 4]
    """
    for word in sorted({int(one) for one in missing_values if _is_number(one)}):
        numbers = numbers + (numbers >= word)
    return numbers


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 18 and str(int(word)) == word


def _one_per_person(values: Values) -> pa.Array | None:
    """A text per value, equal for different spellings of a person; None: there are none."""
    return alike_texts(values.array, case=True) if values.texts is values.array else None


def _persons(indices: Ints, values: Values) -> Longs:
    count = len(values)
    texts = _one_per_person(values) if count else None
    if texts is not None:
        same = texts.dictionary_encode()
        count = len(same.dictionary)
        if count < len(values):
            one = same.indices.to_numpy(zero_copy_only=False).astype(np.int32)
            indices = np.append(one, np.int32(-1))[indices]
    people = indices.astype(np.int64)
    nobody = people < 0
    people[nobody] = count + np.arange(nobody.sum())
    return people


def _once(frame: Frame, key: Hashable, compute: Callable[[], T]) -> T:
    """What is known of a frame already, or else computed now."""
    if key not in frame.memo:
        frame.memo[key] = compute()
    found: Any = frame.memo[key]
    return found  # type: ignore[no-any-return]
