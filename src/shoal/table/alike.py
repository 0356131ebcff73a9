"""Alike: sensitive values that a reader takes for the same value count as one.

Two values are alike when they differ only in white space around or between words, in the Unicode
form of their characters, in invisible characters, in letter case, or in the spelling of a number or
a date. Leading zeros matter: the code 02139 differs from 2139.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.hierarchies.values import plain, text

# Compatibility characters with a meaning of their own: 10⁵ is not 105.
_MEANT = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
# Invisible characters other than the Unicode category Cf: fillers, variation selectors, and the
# blank Braille pattern.
_UNSEEN = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
_UNSEEN |= {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
# Typographic variants of ASCII signs: minus, hyphens, apostrophes.
_SIGNS = {"\u2212": "-", "\u2010": "-", "\u2011": "-", "\u2018": "'", "\u2019": "'"}
_EXPONENT = re.compile(r"([+-]?[0-9.]+[eE][+-]?)0+([0-9]+)")
_SHORT = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)\.(?P<part>[0-9]*)(?P<power>[eE][+-]?[0-9]+)?"
)
_POWER = re.compile(r"-?[0-9.]+E-[0-9]+")  # small numbers, as Python's decimals write them
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}([ tT][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?)?)"
    r"(?:[zZ]|[+-]00:?00)?"
)

# What arrow can decide without a loop over values in Python. Texts of these characters in the form
# NFC can differ only in letter case, blanks, numbers and dates.
_PLAIN_TEXT = "^[ -~À-ÖØ-Þà-öø-įĴ-ľŁ-ňŊ-žЀ-џ一-鿿가-힣]*$"
_ASCII_TEXT = "^[ -~]*$"
_BLANKS = "^ | $|  "
_NUMBER = r"^[+-]?(\.?[0-9])[0-9.]*([eE][+-]?[0-9]+)?$"
_ZEROS = r"^(-?(?:0|[1-9][0-9]{0,399}))(?:\.0{1,400}|(\.[0-9]{0,399}[1-9])0{1,400})$"
# Numbers with a single spelling, and codes with leading zeros, which are not numbers.
_SETTLED = r"^(0|0[0-9]+|-?[1-9][0-9]{0,399}|-?(0|[1-9][0-9]{0,399})\.[0-9]{0,399}[1-9])$"
_TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ tT]"


def alike(value: object, case: bool = False) -> str:
    """A key that is equal for values that count as one.

    `case`: whether letter case matters, as it does for person numbers.

    >>> alike(" Flu\u00a0A ") == alike("flu a"), alike("1.0") == alike(1), alike("01") == alike("1")
    (True, True, False)
    >>> alike("2024-05-17 00:00") == alike("2024-05-17"), alike("10⁵") == alike("105")
    (True, False)
    """
    label = text(value)
    if not label.isascii():
        label = "".join(map(_character, unicodedata.normalize("NFC", label)))
        label = unicodedata.normalize("NFC", label if case else label.casefold())
    if not case:
        label = label.lower()
    if not label.isprintable():  # white space of all kinds becomes a blank
        label = "".join(c for c in _spaced(label) if c == " " or c.isprintable())
        label = unicodedata.normalize("NFC", label)  # removals may have brought characters together
    label = " ".join(_spaced(label).split())
    if match := _EXPONENT.fullmatch(label):  # 1e03 is 1e3
        label = match[1] + match[2]
    if match := _SHORT.fullmatch(label):  # .5 and 5. are numbers too
        whole, part = match["whole"], match["part"]
        if whole or part:
            label = f"{match['sign']}{whole or 0}.{part or 0}{match['power'] or ''}"
    label = plain(label)
    if _POWER.fullmatch(label):
        label = format(Decimal(label), "f")
    moment = _MOMENT.fullmatch(label) if label[4:5] == "-" else None
    return _day(moment[1]) if moment else label


@lru_cache(maxsize=4096)
def _character(one: str) -> str:
    """The plain form of a character; "" for an invisible one."""
    if unicodedata.category(one) == "Cf" or ord(one) in _UNSEEN:
        return ""
    if one in _SIGNS:
        return _SIGNS[one]
    if unicodedata.category(one) == "Nd":  # digits of any script
        return str(unicodedata.decimal(one))
    if unicodedata.decomposition(one).startswith(_MEANT):
        return one
    return unicodedata.normalize("NFKC", one)


def _spaced(label: str) -> str:
    return label if label.isascii() and label.isprintable() else re.sub(r"\s", " ", label)


def _day(label: str) -> str:
    """A date, with its time unless that is midnight."""
    try:
        moment = datetime.fromisoformat(label.replace(",", ".").upper())
    except ValueError:
        return label
    written = moment.isoformat(sep=" ")
    return written.removesuffix(" 00:00:00")


def alike_texts(values: pa.Array, case: bool = False) -> pa.Array:
    """The same for an array of texts, by arrow wherever possible."""
    if pc.all(pc.string_is_ascii(values)).as_py() is not False:
        odd = pc.invert(pc.match_substring_regex(values, _ASCII_TEXT))
        keys = values if case else pc.ascii_lower(values)
    else:
        keys = pc.utf8_normalize(values, "NFC")
        odd = pc.invert(pc.match_substring_regex(keys, _PLAIN_TEXT))
        keys = keys if case else pc.utf8_lower(keys)
    odd = pc.or_(odd, pc.match_substring_regex(keys, _BLANKS))
    if case:
        odd = pc.or_(odd, pc.is_in(keys, pa.array(["True", "False"], keys.type)))
    number = pc.match_substring_regex(keys, _NUMBER)
    if pc.any(number).as_py():
        keys = pc.replace_substring_regex(keys, _ZEROS, r"\1\2")
        settled = pc.match_substring_regex(keys, _SETTLED)
        odd = pc.or_(odd, pc.and_(number, pc.invert(settled)))
    odd = pc.or_(odd, pc.match_substring_regex(keys, _TIME))
    where = np.flatnonzero(odd.to_numpy(zero_copy_only=False))
    if not len(where):
        return keys
    single = [alike(value, case) for value in values.take(pa.array(where)).to_pylist()]
    return pc.replace_with_mask(keys, odd, pa.array(single, keys.type))


def places_alike(values: Sequence[object], known: Sequence[object]) -> list[int]:
    """The position of each value among the known ones, which are not alike; -1 if it is not there.

    >>> places_alike(["Flu", None, "cold"], ["flu", None])
    [0, 1, -1]
    """
    same = {_written(one): place for place, one in enumerate(known)}
    found = [same.get(_written(one), -1) for one in values]
    if -1 in found:  # perhaps spelled differently
        others = {alike(one): place for place, one in enumerate(known) if one is not None}
        for i, place in enumerate(found):
            if place < 0 and values[i] is not None:
                found[i] = others.get(alike(values[i]), -1)
    return found


def _written(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else text(value)
