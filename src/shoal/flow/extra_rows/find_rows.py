"""Rows of a table that are no records: units below the names, and totals at the end.

Read as records, they would be people who do not exist, and text among numbers. They are refused
unless the plan says what they are, so that somebody has seen it; a draft says it. Only rows that
several cells show are found: a record with the value "All" is one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import date, time
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Floats
from shoal.base.errors import preview
from shoal.flow.draft.missing_codes import means_missing
from shoal.hierarchies.values import MISSING_WORDS
from shoal.io.frames import Frame
from shoal.io.reading import Reading

FEWEST = 3  # records next to such a row
MOST = 3  # rows of totals: a sum, a mean and a number of records
SHARE = 0.5  # of the records that have a value, in a column that an empty cell says something about
# In lower case, without accents. These alone, or followed by more, as in "Total (n = 3,000)".
TOTALS = (
    "total|totals|grand total|sub ?total|total general|sum total|summe|gesamt|gesamtsumme|"
    "insgesamt|gesamtergebnis|endsumme|zusammen|totale|totaal|totalt|i alt|sammanlagt|yhteensa|"
    "suma|suma total|razem|ogolem|celkem|spolu|osszesen|ukupno|skupaj|kokku|kopa|is viso|toplam|"
    "genel toplam|итого|всего|разом|усього|συνολο|合計|総計|合计|总计|總計|합계|총계"
)
# These only if nothing follows: they are words of values too.
WEAK = "all|alle|sum|somme|ensemble|tous|toutes|todos|tutti|alla|anzahl|count|n|nombre|numero"
MEANS = (
    "mean|average|avg|median|mittelwert|durchschnitt|mittel|moyenne|media|promedio|gemiddelde|"
    "srednia|medel|среднее"
)
_TOTAL = re.compile(rf"({TOTALS})([ :=(].*)?|({WEAK}|{MEANS})[ :]*", re.DOTALL)
_WEAK = re.compile(rf"({WEAK})[ :]*")
_MEAN = re.compile(rf"({MEANS})[ :]*")
UNITS = re.compile(
    r"[(\[].{1,30}[)\]]|(in |per |pro |en )?(%|‰|percent|prozent|pct|eur|euro|euros|€|usd|\$|gbp|£|"
    r"chf|sek|nok|dkk|pln|tsd\.?( €| eur)?|mio\.?( €| eur)?|jahre?n?|years?|yrs?|ans|annees|anni|"
    r"anos|monate?n?|months?|mois|wochen?|weeks?|tage?n?|days?|jours|stunden?|std\.?|hours?|hrs?|"
    r"h|min\.?|minuten|minutes|s|sec|sek\.?|ms|kg|g|mg|µg|t|lb|lbs|km|m|cm|mm|ft|in|inch|miles|"
    r"m2|m²|km2|km²|ha|qm|l|ml|dl|mmhg|bpm|mmol/l|mg/dl|g/l|g/dl|kg/m2|kg/m²|°c|c|°f|kwh|kw|n|nr\.?|"
    r"no\.?|anzahl|count|number|nombre|code|schluessel|text|datum|date|jjjj|yyyy|tt\.mm\.jjjj|"
    r"dd\.mm\.yyyy|yyyy-mm-dd)"
)
_NUMERAL = r"^\s*[+-]?[0-9][0-9.,:/'\s-]*%?\s*$"
_NOTHING = frozenset("- – — . x X / ... …".split())  # for a cell that a table leaves open


class Totals(NamedTuple):
    """A row of totals, by the columns that show it."""

    words: list[str]  # with a word for totals
    empty: list[str]
    sums: list[str]  # with the sum, the number or the mean of the values above

    def __str__(self) -> str:
        said = [
            ("a word for totals in", self.words),
            ("nothing in", self.empty),
            ("the sum, the mean or the number of the values above in", self.sums),
        ]
        return "; ".join(f"{what} {preview(names)}" for what, names in said if names)


class ExtraRows(NamedTuple):
    """The rows that are no records."""

    units: list[str]  # columns in which the first row has a unit; []: it is a record
    totals: list[Totals]  # rows at the end, the last one first

    def left_out(self, reading: Reading) -> tuple[int, int]:
        """How many rows are left out at the top and at the end, as stated."""
        top = 1 if self.units and reading.units else 0
        return top, len(self.totals) if reading.totals else 0

    def stated(self, reading: Reading) -> Reading:
        """How the file is read without them; what is stated already stays."""
        update = {
            name: True
            for name, found in (("units", self.units), ("totals", self.totals))
            if found and getattr(reading, name) is None
        }
        return reading.model_copy(update=update) if update else reading


def find_extra_rows(frame: Frame) -> ExtraRows:
    """The rows of a table that are no records, if several cells show it."""
    if frame.counted is not None or frame.height <= FEWEST or len(frame.names) < 2:
        return ExtraRows([], [])
    units = _units(frame)
    totals: list[Totals] = []
    first = 1 if units else 0
    while len(totals) < MOST and frame.height - len(totals) - first > FEWEST:
        found = _totals(frame, first, frame.height - 1 - len(totals))
        if found is None:
            break
        totals.append(found)
    return ExtraRows(units, totals)


# Units


def _units(frame: Frame) -> list[str]:
    """The columns in which the first row has a unit; [] if it is a record."""
    top = [_row(frame, i) for i in range(FEWEST + 1)]
    filled = {name: cell for name, cell in top[0].items() if cell is not None}
    if not filled or not all(isinstance(cell, str) for cell in filled.values()):
        return []
    if any(re.fullmatch(_NUMERAL, cell) for cell in filled.values()):
        return []
    below = {name: [row[name] for row in top[1:]] for name in filled}
    units = [
        name
        for name, cell in filled.items()
        if (not _is_missing(cell) or UNITS.fullmatch(_bare(cell)))  # n is both
        and any(isinstance(one, str) and re.fullmatch(_NUMERAL, one) for one in below[name])
        and _numerals_below(frame, name)
        and not _recurs(frame, name, 0)
    ]
    others = filled.keys() - set(units)
    # A value that occurs again is one of a record.
    if not units or any(_is_missing(filled[name]) or _recurs(frame, name, 0) for name in others):
        return []
    if len(units) == 1 and (others or not UNITS.fullmatch(_bare(filled[units[0]]))):
        return []
    return units


def _numerals_below(frame: Frame, name: str) -> bool:
    """Whether all cells below the first one are numbers or dates, apart from missing ones."""
    values = pc.unique(_column(frame, name).slice(1)).drop_null()
    numerals = pc.match_substring_regex(values, _NUMERAL)
    others = values.filter(pc.invert(numerals)).slice(0, 20).to_pylist()
    if not pc.any(numerals).as_py():
        return False
    return all(not one.strip() or _is_missing(one) for one in others)


def _is_missing(cell: str) -> bool:
    return cell.strip() in MISSING_WORDS or cell.strip() in _NOTHING or means_missing(cell)


# Totals


def is_total(cell: str) -> bool:
    """Whether a cell has a word for totals or means.

    >>> [is_total(one) for one in ("Summe:", "Total général", "TOTAL (n = 3)", "All", "All day")]
    [True, True, True, True, False]
    """
    return _TOTAL.fullmatch(_bare(cell)) is not None


def _is_total(cell: Any) -> bool:
    return isinstance(cell, str) and is_total(cell)


def _is_open(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell in _NOTHING)


def _totals(frame: Frame, first: int, last: int) -> Totals | None:
    """What shows that a row has totals of those above it; None: it is a record."""
    row = _row(frame, last)
    words = [name for name, cell in row.items() if _is_total(cell)]
    empty = [name for name, cell in row.items() if _is_open(cell)]
    others = [name for name in frame.names if name not in words and name not in empty]
    numbers = [
        name for name in others if any(_number(row[name], sign) is not None for sign in ".,")
    ]
    if words:
        if any(_recurs(frame, name, last) for name in words):
            return None
    elif not empty or len(numbers) < 2 or len(numbers) < len(others):
        return None
    told = [row[name] for name in words]
    means = any(_MEAN.fullmatch(_bare(cell)) for cell in told)
    end = last  # of the records, if there are several rows of totals
    while last - end < MOST - 1 and any(_is_total(_row(frame, end - 1)[name]) for name in words):
        end -= 1
    kinds = {name: _aggregate(frame, name, row[name], first, end, means) for name in numbers}
    sums = [name for name, kind in kinds.items() if kind == "sum"]
    ordinary = len(others) - len(sums) - sum(kind == "zero" for kind in kinds.values())
    usual = [name for name in empty if _usually_filled(frame, name, first, last)]
    if not words:
        found = len(sums) >= 2 and not ordinary and bool(usual)
    else:
        strong = not all(_WEAK.fullmatch(_bare(cell)) for cell in told)
        most_empty = len(usual) >= 2 and len(usual) > len(others)
        found = (
            (bool(sums) and ordinary <= len(sums) + len(usual))
            or most_empty
            or (strong and bool(usual) and not ordinary)
        )
    return Totals(words, usual, sums) if found else None


def _aggregate(frame: Frame, name: str, cell: Any, first: int, last: int, means: bool) -> str:
    """Whether a cell is the "sum" or number of those above; "zero" if that says nothing."""
    for decimal in ".,":
        total = _number(cell, decimal)
        numbers = _numbers_of(frame, name, first, last, decimal)
        if total is None or numbers is None:
            continue
        if total == len(numbers) and np.array_equal(numbers, np.arange(len(numbers))):
            return "zero"  # a row number, counted from zero
        slack = 0.5 * 10.0 ** -_digits(cell, decimal) + 1e-9 * abs(float(np.abs(numbers).sum()))
        summed = float(numbers.sum())
        if abs(total - summed) <= slack:
            return "sum" if abs(summed) > float(np.abs(numbers).max()) + slack else "zero"
        if total in (len(numbers), last - first):
            return "sum"
        middles = (float(numbers.mean()), float(np.median(numbers)))
        if means and min(abs(total - middle) for middle in middles) <= slack:
            return "sum"
    return ""


def _numbers_of(frame: Frame, name: str, first: int, last: int, decimal: str) -> Floats | None:
    """The numbers of a column between two rows; None if it has other values."""
    cells = _cells(frame, name).slice(first, last - first).drop_null()
    if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        numbers = cells.cast(pa.float64()).to_numpy()
        return numbers[np.isfinite(numbers)] if len(numbers) else None
    if not _is_text(cells.type):
        return None
    bare = pc.utf8_trim_whitespace(cells)
    number = pc.match_substring_regex(bare, _written(decimal))
    others = pc.unique(bare.filter(pc.invert(number))).to_pylist()
    if not pc.any(number).as_py() or not all(not one or _is_missing(one) for one in others):
        return None
    plain = pc.replace_substring_regex(bare.filter(number), rf"[^0-9+{decimal}-]", "")
    numbers = pc.replace_substring_regex(pc.replace_substring(plain, decimal, "."), r"^\+", "")
    return np.asarray(numbers.cast(pa.float64()).to_numpy(), np.float64)


def _written(decimal: str) -> str:
    """Numbers with this decimal sign, and any thousands separator."""
    apart = "[.'\u00a0\u202f ]" if decimal == "," else "[,'\u00a0\u202f ]"
    grouped = rf"[1-9][0-9]{{0,2}}({apart}[0-9]{{3}})+"
    return rf"^[+-]?({grouped}|0|[1-9][0-9]*)([{decimal}][0-9]+)?\s*%?$"


def _number(cell: Any, decimal: str) -> float | None:
    """A cell as a number, with this decimal sign; None: it is none.

    >>> _number("1.234,50", ","), _number("1,234.5", "."), _number("01051", "."), _number(3, ".")
    (1234.5, 1234.5, None, 3.0)
    """
    if isinstance(cell, bool | date | time):
        return None
    if isinstance(cell, int | float | Decimal):
        return float(cell) if math.isfinite(cell) else None
    if not isinstance(cell, str):
        return None
    if not re.search(_written(decimal), cell.strip()):
        return None
    return float(re.sub(rf"[^0-9+{decimal}-]", "", cell).replace(decimal, "."))


def _digits(cell: Any, decimal: str) -> int:
    """The digits after the decimal sign that a total is written with."""
    if isinstance(cell, str):
        return len(re.sub(r"[^0-9]", "", cell.partition(decimal)[2]))
    return 0 if isinstance(cell, int) else 6


def _usually_filled(frame: Frame, name: str, first: int, last: int) -> bool:
    cells = _cells(frame, name).slice(first, last - first)
    filled = len(cells) - cells.null_count
    if _is_text(cells.type):
        filled -= pc.sum(pc.equal(cells, "")).as_py() or 0
    return bool(filled >= SHARE * len(cells))


# Cells


def _row(frame: Frame, i: int) -> dict[str, Any]:
    """The cells of a row; None for those that are empty."""
    found = {name: _plain(cell) for name, cell in zip(frame.names, frame.row(i), strict=True)}
    return {name: cell or None if isinstance(cell, str) else cell for name, cell in found.items()}


def _plain(cell: Any) -> Any:
    if isinstance(cell, str):
        return cell.strip()
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _cells(frame: Frame, name: str) -> pa.ChunkedArray:
    found = frame.column(name)
    if pa.types.is_dictionary(found.type):
        found = found.cast(found.type.value_type)
    return pa.chunked_array([found]) if isinstance(found, pa.Array) else found


def _column(frame: Frame, name: str) -> pa.ChunkedArray:
    """A column of text."""
    return _cells(frame, name).cast(pa.string())


def _recurs(frame: Frame, name: str, i: int) -> bool:
    """Whether another row has the same cell in this column."""
    cells = _cells(frame, name)
    return bool((pc.sum(pc.equal(cells, cells[i])).as_py() or 0) > 1)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _bare(cell: str) -> str:
    """A word in lower case, without accents."""
    apart = unicodedata.normalize("NFKD", cell.strip().casefold().replace("ł", "l"))
    return "".join(sign for sign in apart if not unicodedata.combining(sign))
