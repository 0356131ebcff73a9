"""The errors that shoal raises.

ShoalError
├── BadInput            the input is wrong; the command line exits with 2
│   ├── BadFile         a file cannot be read or written
│   ├── BadTable        the table itself: no rows, duplicate headers, unusable values
│   ├── BadHierarchy    a hierarchy that is not a tree, or lacks values of the table
│   └── BadPlan         a plan, model, loss or algorithm with invalid settings
└── BrokenPromise       a requirement is not or cannot be satisfied; exits with 1
    ├── CannotReach     no release of this table can satisfy the requirement
    └── NotHeld         the table that would be published violates the requirement
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, Self

SHOWN = 5  # values that a message shows at most


class WayOut(NamedTuple):
    """A change of the plan that resolves an error, for programs that offer it as a button.

    | action | target | value |
    | --- | --- | --- |
    | accept | a column | |
    | hide | a weight | |
    | role | a column | its role |
    | algorithm | the name of an algorithm | |
    | set | a requirement, by its key | the options that change |
    | add | the name of a model | its options |
    | remove | a requirement, by its key | |
    | limit | the name of a limit | another limit; None: without it |
    | suppression | | the share of the records |
    | attackers | | None: without them |
    """

    action: Literal[
        "accept",
        "hide",
        "role",
        "algorithm",
        "set",
        "add",
        "remove",
        "limit",
        "suppression",
        "attackers",
    ]
    target: str = ""
    value: Any = None


class ShoalError(Exception):
    """Base class of all errors that shoal raises on purpose."""

    ways: tuple[WayOut, ...] = ()  # what would resolve it, as far as a program can do that

    def offering(self, *ways: WayOut) -> Self:
        """The same error with ways out."""
        self.ways = ways
        return self


class BadInput(ShoalError):
    """The input is wrong; the message says how to fix it."""


class BadFile(BadInput):
    """A file cannot be read or written."""


class BadTable(BadInput):
    """The table cannot be used as it is."""


class BadHierarchy(BadInput):
    """A hierarchy is not a tree, or does not fit the table."""


class BadPlan(BadInput):
    """A plan, or a setting in it, is invalid."""


class BrokenPromise(ShoalError):
    """A requirement is not or cannot be satisfied, so that nothing is released."""


class CannotReach(BrokenPromise):
    """No release of this table can satisfy the requirement; `best` is the best possible level."""

    def __init__(self, model: str, best: float, message: str) -> None:
        super().__init__(message)
        self.model = model
        self.best = best


class Refused(Protocol):
    """A release that is not published, of which only measurements are shown."""

    def report(self, path: str | Path) -> None:
        """Write why it was refused to a file."""


class NotHeld(BrokenPromise):
    """The table that would be published violates the requirement."""

    # Of a release beyond a limit, or with columns that reveal too much; None: it was not measured.
    refused: Refused | None = None


def preview(values: Iterable[object]) -> str:
    """Up to five of the values as text, and how many more there are.

    >>> preview(["a", "b"])
    "'a', 'b'"
    >>> preview(range(8))
    '0, 1, 2, 3, 4 and 3 more'
    """
    listed = list(values)
    shown = ", ".join(repr(value) for value in listed[:SHOWN])
    rest = len(listed) - SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def brief(value: object) -> str:
    """A setting as an error message shows it: shortened, however large or deep it is.

    >>> brief([3, 1]), len(brief("x" * 10_000)), brief([10**5000])
    ('[3, 1]', 201, 'a list too large to show')
    """
    try:
        written = repr(value)
    except (RecursionError, ValueError):  # ValueError: an integer with thousands of digits
        return f"a {type(value).__name__} too large to show"
    return written if len(written) <= 200 else f"{written[:200]}…"


def is_text(value: str) -> bool:
    """Whether a string can be written to a file; a lone surrogate cannot.

    >>> is_text("é"), is_text(chr(0xD800))
    (True, False)
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the most similar known word, if there is one.

    >>> did_you_mean("zipp", ["age", "zip"])
    "; did you mean 'zip'?"
    >>> did_you_mean("x", ["age"])
    ''
    """
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
