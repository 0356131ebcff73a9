"""What all trials share: a folder, what was counted, and what failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.campaign.worker import Ran, Shoal


@dataclass
class Trial:
    """One case: it may use its folder, its random numbers and the command line."""

    rng: Random
    folder: Path
    shoal: Shoal
    counts: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def run(self, *words, seconds: float = 60) -> Ran:
        """Run a command; a hang, a traceback or a strange exit status is a failure."""
        ran = self.shoal.run(list(words), self.folder, seconds)
        self.commands.append(f"shoal {' '.join(ran.words)}    # exit {ran.code}\n{ran.err.strip()}")
        said = ran.err.strip().splitlines()
        self.failures += [f"{ran.words[0]}: {wrong}: {said[-1:]}" for wrong in ran.wrong()]
        return ran

    def check(self, good: object, what: str) -> bool:
        """Count a check, and remember what failed."""
        self.counts["checks"] += 1
        if not good:
            self.failures.append(what)
        return bool(good)
