"""How a column may write its numbers or dates: advice for errors."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.io.raw_text.detect_spelling import detect_spelling, stated


def how_written(values: Iterable[object], example: str) -> str:
    """What to state in the plan, by all distinct values; both readings if they are in doubt.

    >>> how_written(["17.05.2024", "01.02.2024"], "date_format = '%d.%m.%Y'")
    "state how they are written: date_format = '%d.%m.%Y'"
    >>> how_written(["1,234", "17"], "decimal = ','")
    "state which one it is: '1,234' is 1.234 (decimal = ',') or 1234 (thousands = ',')"
    >>> how_written(["old"], "decimal = ','")
    "state how they are written, as in decimal = ','"
    """
    texts = [value for value in values if isinstance(value, str)]
    found = detect_spelling(texts)
    if found.spelling is not None:
        return f"state how they are written: {stated(found.spelling)}"
    if found.doubt:
        return f"state which one it is: {found.doubt}"
    return f"state how they are written, as in {example}"
