"""Numbers, counts and lists as people read them, for screen and report alike."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

LONG = 40  # characters of a label
MISSING = "(missing)"


@dataclass(frozen=True)
class Change:
    """A measure before and after."""

    what: str
    before: str
    after: str


def short(text: object, longest: int = LONG) -> str:
    """A text from the data as a label: one line, printable, shortened.

    >>> short("a\\tb"), short("x" * 9, 5)
    ('a b', 'xxxx…')
    """
    printable = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * longest])
    label = " ".join(printable.split())
    return label if len(label) <= longest else label[: longest - 1] + "…"


def percent(share: float) -> str:
    """A percentage with as many digits as matter, without line breaks inside.

    >>> [percent(share).replace("\\xa0", " ") for share in (0, 6.66, 0.004, 99.97)]
    ['0 %', '6.7 %', '< 0.01 %', '99.97 %']
    """
    if not isfinite(share):
        return "–"
    if share in (0, 100):
        return f"{share:.0f}\xa0%"
    if 0 < share < 0.01:
        return "<\xa00.01\xa0%"
    if 99.99 < share < 100:
        return ">\xa099.99\xa0%"
    digits = 1 if 0.1 <= share <= 99.9 or share > 100 else 2
    return f"{share:.{digits}f}".removesuffix(".0") + "\xa0%"


def precise_percent(share: float) -> str:
    """A percentage with three digits, however small, as for a sampling fraction.

    >>> [precise_percent(share).replace("\\xa0", " ") for share in (0.0568, 12.345, 100)]
    ['0.0568 %', '12.3 %', '100 %']
    """
    return f"{share:.3g}\xa0%"


def number(value: float) -> str:
    """A number as a person would write it.

    >>> number(30162), number(5.0), number(0.16666), number(float("inf")), number(1e300)
    ('30,162', '5', '0.1667', 'without bound', '1e+300')
    """
    if not isfinite(value):
        return "without bound"
    if isinstance(value, float) and abs(value) >= 1e16:  # its digits are not known
        return f"{value:.6g}"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def digits(value: float) -> str:
    """A number as it is typed into a plan: a whole one with all of its digits.

    >>> digits(299285.0), digits(1234567), digits(0.04994)
    ('299285', '1234567', '0.04994')
    """
    whole = isfinite(value) and float(value).is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else f"{value:g}"


def many(count: int, one: str, several: str = "") -> str:
    """A count with its noun.

    >>> many(1, "row"), many(2000, "class", "classes")
    ('1 row', '2,000 classes')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def listed(names: list[str], most: int = 12) -> str:
    """Names in a sentence, shortened to what can be read.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    labels = [short(name) for name in names[:most]]
    if len(names) > most:
        labels.append(f"{len(names) - most:,} more")
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def sentence(text: str) -> str:
    """A text with a full stop at its end.

    >>> sentence("It is so"), sentence("Is it so?")
    ('It is so.', 'Is it so?')
    """
    return text if text[-1:] in (".", "?", "!", "") else text + "."
