"""Facts about a column, computed once on its distinct values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.types import is_decimal, is_floating, is_integer

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.threads import cached_property
from shoal.base.wording import short
from shoal.hierarchies.calendar import as_date
from shoal.hierarchies.values import text
from shoal.table.coding import Values

SEEN = 1000  # distinct values that patterns of text are tried on
FREE_TEXT = 30  # mean length from which on a text counts as prose, not as a category
# Numbers that are grouped into bands already: [70-80), 18 to 24, 65+, <5.
BAND = re.compile(
    r"[\[(]?\s*([0-9]{1,6})\s*(?:-|–|to|,)\s*([0-9]{1,6})\s*[\])]?|[<>≤≥]=?\s*[0-9]+|[0-9]+\s*\+"
)
_NUMBER = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class Facts:
    """One column: its name, its distinct values and how often each occurs."""

    name: str
    label: str  # of the variable, from the file or the dictionary; "" if there is none
    codes: Ints  # int32[n], -1 is missing
    coded: Values
    labels: dict[str, str]  # what codes stand for, from the file or the dictionary
    measure: str = ""  # "nominal", "ordinal" or "scale", if the file says it
    missing: tuple[str, ...] = ()  # codes that stand for missing values, and are none of `values`

    @cached_property
    def words(self) -> set[str]:
        """The words of the name and of the label, in lower case."""
        return words_of(self.name) | words_of(self.label)

    @property
    def values(self) -> Sequence[Any]:
        """The distinct values, without those that are missing."""
        return self.coded

    @property
    def rows(self) -> int:
        """The number of records."""
        return len(self.codes)

    @property
    def distinct(self) -> int:
        """The number of distinct values."""
        return len(self.coded)

    @cached_property
    def counts(self) -> Longs:
        """How often each value occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.distinct)

    @cached_property
    def filled(self) -> int:
        """The number of records in which it is not missing."""
        return int(self.counts.sum())

    @cached_property
    def texts(self) -> list[str]:
        """The values as text; of many, those that come first."""
        return [text(value).strip() for value in Values(self.coded.array.slice(0, SEEN))]

    @property
    def is_text(self) -> bool:
        """Whether the values are texts."""
        return self.distinct > 0 and isinstance(self.values[0], str)

    @property
    def unlike(self) -> bool:
        """Whether nearly every record that is not missing has a different value."""
        return self.filled >= 20 and self.distinct >= 0.95 * self.filled

    @property
    def mostly_unlike(self) -> bool:
        """Whether most records that are not missing have a value of their own."""
        return self.distinct > max(self.filled / 2, 20)

    @cached_property
    def as_numbers(self) -> Floats:
        """The values as numbers; NaN for those that are none, such as codes with leading zeros."""
        return numbers_in(self.coded)

    @cached_property
    def words_at_first(self) -> int:
        """How many of the first values are no numbers: mostly enough to know that not all are."""
        return int(np.isnan(numbers_in(Values(self.coded.array.slice(0, SEEN)))).sum())

    @cached_property
    def numbers(self) -> Floats | None:
        """The values as numbers, if all of them are."""
        if self.words_at_first or np.isnan(self.as_numbers).any():
            return None
        return self.as_numbers

    @cached_property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.numbers is not None and bool((self.numbers == np.floor(self.numbers)).all())

    @property
    def are_consecutive(self) -> bool:
        """Whether each record has a number of its own, and these are all from first to last."""
        if not self.whole or not self.rows == self.filled == self.distinct >= 20:
            return False
        return bool(self.as_numbers.max() - self.as_numbers.min() == self.rows - 1)

    @cached_property
    def moments(self) -> list[datetime] | None:
        """The values as dates with times, if all of them are dates."""
        found = []
        for value in self.values:
            is_long = isinstance(value, date) or len(text(value)) >= 8
            moment = as_date(value) if is_long else None
            if moment is None:
                return None
            found.append(moment)
        return found or None

    @property
    def dates(self) -> bool:
        """Whether all values are dates."""
        return self.moments is not None

    @cached_property
    def codes_of_one_length(self) -> bool:
        """Whether the values are codes of one length whose beginnings mean something."""
        return len({len(one) for one in self.texts}) == 1 and self.share(r"[0-9A-Z]{4,10}") == 1

    @cached_property
    def bands(self) -> bool:
        """Whether the values are bands of numbers."""
        found = (BAND.fullmatch(text(value).strip()) for value in self.values)
        return all(
            band is not None and (band[1] is None or int(band[1]) < int(band[2])) for band in found
        )

    @cached_property
    def mean_length(self) -> float:
        """The mean length of the texts."""
        return float(np.mean([len(one) for one in self.texts])) if self.texts else 0.0

    def share(self, pattern: str | re.Pattern[str]) -> float:
        """The share of the texts that have this form."""
        if not self.texts:
            return 0.0
        form = re.compile(pattern)
        return sum(form.fullmatch(one) is not None for one in self.texts) / len(self.texts)

    def among(self, known: frozenset[str]) -> float:
        """The share of the texts that are in a list, whatever their case."""
        if not self.texts:
            return 0.0
        return sum(plain_words(one) in known for one in self.texts) / len(self.texts)


def titled(facts: Facts) -> str:
    """The name of a column, with its label if it has one."""
    return f"{facts.name} ({short(facts.label)})" if facts.label else facts.name


def words_of(name: str) -> set[str]:
    """The words of a name; those that are written together are kept together.

    >>> sorted(words_of("dateOfBirth")), sorted(words_of("A1C_result 2"))
    (['birth', 'date', 'of'], ['a1', 'c', 'result'])
    >>> sorted(words_of("Straße, Prénom"))
    ['prenom', 'strasse']
    """
    apart = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign))  # no accents
    return set(re.findall(r"[^\W\d_]+[0-9]*", bare.casefold()))


def plain_words(label: str) -> str:
    """A label as lists of words have it: lower case, and blanks for signs.

    >>> plain_words("United-States "), plain_words("Côte d'Ivoire")
    ('united states', "côte d'ivoire")
    """
    return " ".join(re.sub(r"[-_.,]", " ", label).lower().split())


def numbers_in(values: Values) -> Floats:
    """Values as numbers; NaN for codes with leading zeros, and for what is not a number.

    >>> numbers_in(Values(pa.array(["1.5", " -7", "02139", "N"]))).tolist()
    [1.5, -7.0, nan, nan]
    """
    array, kind = values.array, values.array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        bare = pc.utf8_trim_whitespace(array)
        plain = pc.replace_substring_regex(bare, r"^\+", "")  # arrow reads no plus sign
        number = pc.match_substring_regex(bare, _NUMBER)
        array = pc.if_else(number, plain, pa.scalar(None, kind))
    elif not any(of(kind) for of in (is_integer, is_floating, is_decimal)):
        return np.full(len(array), np.nan)
    found = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(found), found, np.nan)
