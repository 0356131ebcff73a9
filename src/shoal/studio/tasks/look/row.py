"""Row: why a record is as it is, and what attackers see of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shoal.base.progress import Progress
from shoal.measures.breakdowns.attacker_view import AttackerView
from shoal.measures.explanation import Explanation
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.look._files import PERSON
from shoal.studio.tasks.look._reasons import Reasons
from shoal.studio.tasks.look._view import Row
from shoal.studio.tasks.look.rows import view_of


@dataclass(frozen=True)
class RowDetails:
    """A record, with everything that explains it."""

    row: Row
    explanation: Explanation | None  # None: it takes long, and was not asked for, or is not known
    seconds: float | None  # that an explanation takes, by estimate; None: it is not known
    views: tuple[AttackerView, ...]  # one per attacker; none of a suppressed record
    of_person: int  # records that the person has


def run(
    held: Held, progress: Progress, folder: str, number: int, attacker: int,
    known: bool = True, full: bool = False,
) -> RowDetails:  # fmt: skip
    """The details of a row, counted from 1; what takes long only if it must be `full`.

    Unless `known`, the record alone: another process is explaining it.
    """
    view = view_of(held, folder)
    row = view.row(number, attacker)
    person = view.cells(PERSON)
    of_person = 1 if person is None else int(np.count_nonzero(person == person[number - 1]))
    reasons = reasons_of(held, folder) if known else None
    if reasons is None:
        return RowDetails(row, None, None, (), of_person)
    explained = None
    if full or reasons.explainer.cheap:
        explained = reasons.explainer.row(number - 1, progress)
    views = [one.asked(number, None, False, first=1) for one in reasons.sources if row.after]
    seconds = reasons.explainer.seconds * reasons.models
    return RowDetails(row, explained, seconds, tuple(views), of_person)


def reasons_of(held: Held, folder: str) -> Reasons | None:
    """What explains the rows: the release that this process has made, or the files."""
    if held.get("explains") != folder:
        release = held.get("release")
        of_files = Reasons.of_files
        held["reasons"] = of_files(Path(folder)) if release is None else Reasons.of_release(release)
        held["explains"] = folder
    found: Reasons | None = held["reasons"]
    return found
