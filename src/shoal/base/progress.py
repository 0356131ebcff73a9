"""Progress: one callback to which everything that may take long reports, and what it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic

Progress = Callable[[str, float], None]
"""Called with the name of the stage and the share of it that is done, from 0 to 1."""

# Before that, the time left is not shown: it was 806 minutes in the first second of a short run.
EVIDENCE_SECONDS, EVIDENCE_SHARE = 3.0, 0.05
SERIES = re.compile(r"(?:(\w+): .* \(\d+ of (\d+)\)|run \d+ of (\d+): .*)(?<!kernels)")
# What a stage does with the user's data. A stage that is not here is printed as it is.
STAGES = {
    "read": "reading",
    "examine": "examining the columns",
    "rank": "finding columns that single people out",
    "trial": "trying the proposed plan",
    "encode": "encoding",
    "compile": "compiling kernels (first run only)",
    "recode": "finding groups",
    "trying": "trying algorithms on a sample",
    "merging": "finding groups",
    "peeling": "finding groups",
    "choosing cuts": "choosing where to cut the table",
    "recoding blocks": "finding groups, block by block",
    "recoding parts": "finding groups, part by part",
    "exchanging between parts": "improving groups",
    "cutting": "finding groups",
    "clustering": "finding groups",
    "growing trees": "finding groups",
    "filling clusters": "finding groups",
    "joining clusters": "finding groups",
    "joining the rest": "assigning the remaining records",
    "settling": "assigning the remaining people",
    "moving records": "improving groups",
    "repairing classes": "improving groups",
    "merging classes": "improving groups",
    "exchanging": "improving groups",
    "relaxing": "looking for better groups",
    "recreating": "improving groups further",
    "looking at the population": "comparing classes with the population",
    "making diverse": "mixing sensitive values",
    "diversifying": "mixing sensitive values",
    "lifting": "generalizing columns",
    "descending the lattice": "generalizing columns",
    "searching the lattice": "searching for the best levels",
    "looking for levels that comply": "searching for the best levels",
    "expanding": "generalizing each record",
    "tossing": "randomizing each record",
    "covering": "generalizing each record",
    "concealing": "concealing each record",
    "weighing": "limiting what an attacker believes",
    "specializing": "generalizing each record",
    "decode": "building the release",
    "group": "counting equal records",
    "known": "counting values of other columns",
    "write": "writing",
    "verify": "checking the result",
    "matching": "matching the records with the original",
    "attack": "attacking the result",
    "sampling": "attacking the result: sampling matchings",
    "singling out": "counting unique people per column",
    "explain": "finding what forced each generalization",
    "analyzing": "comparing statistics with the original",
    "queries": "answering counting queries",
    "learning": "training models on the release and on the original",
    "bounding": "proving a lower bound on the loss",
    "placing": "matching new records with the recoding",
    "requirements": "suppressing records that violate a requirement",
}


class Stage(str):
    """The name of a stage, with what it has found so far: percentages by name.

    It is equal to the name alone. Screens print the rest after it.

    >>> Stage("bounding", bound=4.2) == "bounding"
    True
    """

    found: dict[str, float]

    def __new__(cls, name: str, **found: float) -> Stage:
        """A stage with these percentages."""
        made = super().__new__(cls, name)
        made.found = found
        return made


def found_by(stage: str) -> dict[str, float]:
    """What a stage has found so far: percentages by name."""
    return stage.found if isinstance(stage, Stage) else {}


def described(stage: str) -> str:
    """What a stage does with the user's data, and what it has found so far.

    >>> described("verify"), described(Stage("bounding", bound=4.2136, gap=0.1))
    ('checking the result', 'proving a lower bound on the loss (bound 4.214 %, gap 0.1 %)')
    """
    name = STAGES.get(stage, str(stage))
    found = ", ".join(f"{key} {value:.4g} %" for key, value in found_by(stage).items())
    return f"{name} ({found})" if found else name


def silent(stage: str, share: float) -> None:
    """Report nothing."""


class Timing:
    """How long each stage has taken, and how much of it is done.

    The time between two reports belongs to the stage of the first: compiling in the middle of a
    stage does not count as its work.
    """

    def __init__(self) -> None:
        self.stage = ""
        self._since = monotonic()
        self._spent: dict[str, float] = {}
        self._share: dict[str, float] = {}

    def report(self, stage: str, share: float) -> bool:
        """Note a report; False if there is nothing to show.

        A step may be reported as complete after the stages inside it: the screen does not go back
        to it. A falling share begins a new round of the same stage, if it begins at 0.
        """
        now = monotonic()
        if self.stage:
            of = _series(self.stage)
            self._spent[of] = self._spent.get(of, 0.0) + now - self._since
        self._since = now
        if share >= 1 and self.stage and stage != self.stage:
            return False
        of = _series(stage)
        if share <= 0:
            self._spent[of] = self._share[of] = 0.0
        self.stage = stage
        self._share[of] = max(share, self._share.get(of, 0.0))
        return True

    @property
    def share(self) -> float:
        """The share of the current stage that is done."""
        return self._share.get(_series(self.stage), 0.0)

    @property
    def left(self) -> str:
        """The time that the current stage still needs, in words; empty if it is not known."""
        return time_left(self._spent.get(_series(self.stage), 0.0), self.share)

    @property
    def seconds_left(self) -> float | None:
        """The same as a number; None if it is not known."""
        return seconds_left(self._spent.get(_series(self.stage), 0.0), self.share)


def _series(stage: str) -> str:
    """What a share is of: of one stage, or of all runs of a series, whatever each is called.

    >>> _series("run 2 of 7: peel"), _series("sample: k = 5 (2 of 7)"), _series("read")
    ('of 7', 'sample of 7', 'read')
    """
    found = SERIES.fullmatch(stage)
    return stage if found is None else f"{found[1] or ''} of {found[2] or found[3]}".strip()


def seconds_left(spent: float, share: float) -> float | None:
    """The time that a stage still needs; None if not known yet.

    The first moments of a stage say little about the rest.
    """
    if not EVIDENCE_SHARE <= share < 1 or spent < EVIDENCE_SECONDS:
        return None
    return spent * (1 - share) / share


def time_left(spent: float, share: float) -> str:
    """The time that a stage still needs, as a line of a log says it; nothing if not known yet.

    >>> time_left(30, 0.25), time_left(600, 0.1), time_left(5, 0.0), time_left(1, 0.001)
    (', about 90 s left', ', about 90 min left', '', '')
    """
    seconds = seconds_left(spent, share)
    if seconds is None:
        return ""
    return (
        f", about {seconds:.0f} s left" if seconds < 120 else f", about {seconds / 60:.0f} min left"
    )
