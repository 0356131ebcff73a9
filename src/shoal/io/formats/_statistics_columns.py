"""The columns of a table as files of SPSS, Stata and SAS store them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import SHOWN, BadFile, preview
from shoal.io.format import FileNames
from shoal.io.formats._numbers import as_floats, whole
from shoal.io.formats._statistics_reading import FIRST, LAST, ORIGIN, TAGS, TYPES, UNITS
from shoal.io.labels import Labels, labels_of, published
from shoal.io.text_writing import as_text


class Program(NamedTuple):
    """What a program can store."""

    name: str
    names: str  # a regular expression of the names of columns
    allowed: str  # the same in words
    longest_name: int  # in bytes
    reserved: Collection[str]  # names that are words of its language
    longest_text: int  # in bytes
    longest_label: int  # of a column, in bytes
    keeps_spaces: bool  # whether spaces at the end of text are kept
    formats: Mapping[str, str]  # how it shows dates and moments
    holds: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.bool_]]  # which floats


class Variable(NamedTuple):
    """A column to write."""

    name: str
    kind: str  # "number", "date", "moment" or "text"
    numbers: npt.NDArray[np.float64]  # [n], as the program counts dates and moments; NaN: missing
    texts: pa.Array  # [n], if it is text; missing text is empty
    tags: npt.NDArray[np.str_]  # [n], the letters of special missing values; [0]: it has none
    labels: Labels  # only those of values that occur

    @property
    def width(self) -> int:
        """Bytes of a cell of text: those of the longest, at least one."""
        return max(pc.max(pc.binary_length(self.texts)).as_py() or 0, 1)

    @property
    def there(self) -> npt.NDArray[np.float64]:
        """The numbers that are not missing."""
        return self.numbers[~np.isnan(self.numbers)]


def variables(table: pa.Table, program: Program) -> list[Variable]:
    """The columns of a table; what a program would round or misread becomes text."""
    check_names({name: (name, "") for name in table.column_names}, program)
    return [_variable(table[field.name], field, program) for field in table.schema]


def check_names(names: FileNames, program: Program) -> None:
    """Raise an error if a program cannot store columns of these names."""
    wrong = [
        name
        for name in names
        if not re.fullmatch(program.names, name)
        or len(name.encode()) > program.longest_name
        or name.lower() in program.reserved
    ]
    if wrong:
        instead = _other_names(wrong, names, program)
        raise BadFile(
            f"{program.name} cannot store columns of the names {preview(wrong)}: a name has up to "
            f"{program.longest_name} bytes, {program.allowed}; {instead}"
        )
    seen: dict[str, str] = {}
    twins = [name for name in names if seen.setdefault(name.lower(), name) != name]
    if twins:
        raise BadFile(
            f"{program.name} does not distinguish {preview(twins)} from columns whose names differ "
            f"in capital letters only; {_other_names(twins, names, program)}"
        )


def _other_names(wrong: Sequence[str], names: FileNames, program: Program) -> str:
    """How a plan gives columns other names, with a proposal for each of the first ones."""
    taken, proposed = {name.lower() for name in names} | {*program.reserved}, {}
    columns = list(dict.fromkeys(names[name][0] for name in wrong))
    for column in columns[:SHOWN]:
        ends = [end for of, end in names.values() if of == column]
        most = program.longest_name - max(map(len, ends))
        begin = _plain_name(column)
        new, again = begin[:most], 1
        while any(f"{new}{end}".lower() in taken for end in ends):
            again += 1
            new = f"{begin[: most - 1 - len(str(again))]}_{again}"
        proposed[column] = new
        taken |= {f"{new}{end}".lower() for end in ends}
    pairs = ", ".join(f'{json.dumps(n, ensure_ascii=False)} = "{p}"' for n, p in proposed.items())
    more = ", …" if len(columns) > SHOWN else ""
    return f"write another format, or state under [write] names = {{ {pairs}{more} }}"


def _plain_name(name: str) -> str:
    """A name that every program can store.

    >>> _plain_name("Größe (cm)"), _plain_name("2. Person"), _plain_name("%")
    ('Groesse_cm', 'v2_Person', 'v')
    """
    for letter, letters in {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "Ä": "Ae",
        "Ö": "Oe",
        "Ü": "Ue",
    }.items():
        name = name.replace(letter, letters)
    apart = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign))
    plain = re.sub("[^A-Za-z0-9]+", "_", bare).strip("_")
    return plain if plain[:1].isalpha() else f"v{plain}"


def _variable(values: Any, field: pa.Field, program: Program) -> Variable:
    name, labels = field.name, published(labels_of(field), values)
    labels = Labels(
        cut(labels.column, program.longest_label),
        {value: label for value, label in labels.values.items() if value},
        tuple(value for value in labels.missing if value),  # empty text is missing anyhow
        labels.measure,
    )
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    none, no_tags = pa.array([], pa.large_string()), np.zeros(0, "U1")
    untagged, tags = _untagged(values, labels, program)
    for column, letters in ((untagged, tags), (values, no_tags)):
        kind, numbers = _numbers(column, program) if column is not None else ("", None)
        if numbers is not None:
            return Variable(name, kind, numbers, none, letters, labels)
    texts = _texts(as_text(values, name), name, program)
    return Variable(name, "text", np.zeros(0), texts, no_tags, labels)


def _numbers(values: Any, program: Program) -> tuple[str, npt.NDArray[np.float64] | None]:
    """A column as the program counts it, and as what; None if it has to be text."""
    floats = as_floats(values)
    if floats is not None:
        numbers = _plain(floats)
        if program.holds(numbers[~np.isnan(numbers)]).all():
            return "number", numbers
    moments = _moments(values)
    if moments is None:
        return "text", None
    numbers = _plain(moments.cast(pa.float64(), safe=False))
    days = bool((numbers[~np.isnan(numbers)] % 86_400_000 == 0).all())
    is_date = pa.types.is_date(values.type) or (days and len(values) > values.null_count)
    kind = "date" if is_date else "moment"
    return kind, (numbers - ORIGIN[program.name]) / UNITS[program.name][kind]


def _plain(floats: Any) -> npt.NDArray[np.float64]:
    return np.asarray(floats.fill_null(np.nan).to_numpy(), np.float64)


def _moments(values: Any) -> Any:
    """Milliseconds since 1970; None if the column is not of dates, or if they are finer."""
    kind = values.type
    if not pa.types.is_date(kind) and not (pa.types.is_timestamp(kind) and kind.tz is None):
        return None
    try:
        found = values.cast(pa.timestamp("ms")).cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    ends = pc.min_max(found)
    if len(values) > values.null_count and not (
        ends["min"].as_py() >= FIRST and ends["max"].as_py() <= LAST
    ):
        return None
    return found


def _untagged(values: Any, labels: Labels, program: Program) -> tuple[Any, npt.NDArray[np.str_]]:
    """Numbers or dates and the letters of special missing values, if it is text of both.

    A column that was read from a file has such text: 1, 2, .a. Only if it is declared there, .a is
    more than a text.
    """
    letters = TAGS.get(program.name)
    declared = [tag for tag in labels.missing if letters and re.fullmatch(letters, tag)]
    if not declared or not (
        pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    ):
        return None, np.zeros(0, "U1")
    tagged = pc.is_in(values, pa.array(declared, values.type))
    rest = pc.if_else(tagged, pa.scalar(None, values.type), values)
    tags = pc.if_else(tagged, pc.utf8_slice_codeunits(values, 1), "").fill_null("")
    for kind in (pa.float64(), *TYPES.values()):
        try:
            typed = rest.cast(kind)
        except pa.ArrowInvalid:
            continue
        typed = whole(typed) if kind == pa.float64() else typed
        if as_text(typed, "").cast(rest.type).equals(rest):  # 01 is no number
            return typed, np.asarray(tags.to_numpy(zero_copy_only=False), "U1")
    return None, np.zeros(0, "U1")


def _texts(values: Any, name: str, program: Program) -> pa.Array:
    """Text in UTF-8; missing text is empty."""
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    texts = column.cast(pa.large_string()).fill_null("").combine_chunks()
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if longest > program.longest_text:
        raise BadFile(
            f"column {name!r} has text of {longest:,} bytes, and {program.name} stores at most "
            f"{program.longest_text:,}; write another format, or drop the column"
        )
    if pc.any(pc.match_substring(texts, "\0")).as_py():
        raise BadFile(f"column {name!r} has text with a NUL, which {program.name} cannot store")
    if not program.keeps_spaces and pc.any(pc.ends_with(texts, " ")).as_py():
        raise BadFile(
            f"column {name!r} has text that ends with a space, which {program.name} does not keep; "
            "remove the space, or write another format"
        )
    return texts


def cut(text: str, most: int) -> str:
    """A label without what exceeds this many bytes, and without spaces at its end.

    >>> cut("Zoë", 3), cut("Zoë  ", 9)
    ('Zo', 'Zoë')
    """
    return text.replace("\0", "").encode()[:most].decode(errors="ignore").rstrip()


def number_of(value: str) -> float | None:
    """The number that a labelled value is; None if it is none."""
    try:
        return float(value)
    except ValueError:
        return None
