"""Refused: what is said of a release that is refused, which nobody gets."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from shoal.base.progress import Progress, silent
from shoal.io.frames import Frame, atomic
from shoal.measures.outcome import Outcome

JSON = ".json"


class RefusedRelease:
    """Why a release was refused, as a report for the approver; it has no table to save."""

    def __init__(self, release: Outcome, reason: str) -> None:
        kept = {one.name: getattr(release, one.name) for one in fields(Outcome) if one.init}
        self._outcome = _Refused(**kept | {"refused": reason})

    def __reduce__(self) -> tuple[Any, ...]:
        # With an error it may be sent to another process, which must not get the table.
        return type(None), ()

    def report(self, path: str | Path, *, progress: Progress = silent) -> None:
        """Write why it was refused as .html, .pdf or .json: measurements, and no value."""
        if Path(path).suffix.lower() == JSON:
            with atomic(path, private=True) as target:
                written = json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)
                target.write_text(written + "\n", encoding="utf-8")
            return
        from shoal.report.release_report import write_report  # drawing is loaded when needed

        write_report(self._outcome, path, False, progress)

    def as_dict(self) -> dict[str, Any]:
        """The same by the names of the JSON file of a release."""
        one = self._outcome
        return {
            "released": False,
            "reason": one.refused,
            "checks": [check.as_dict() for check in one.checks],
            "at_most": [check.as_dict() for check in one.at_most],
            "limits": [limit.as_dict() for limit in one.limits],
            "dependency": one.dependency.as_dict(),
            "rows": one.rows,
            "suppressed": one.suppressed,
            "classes": one.classes,
            "smallest_class": one.smallest_class,
            "risks": one.after.all_risks(),
            "losses": one.losses,
            "original_sha256": one.original_sha256,
            "version": one.version,
        }


@dataclass(frozen=True, eq=False, repr=False)
class _Refused(Outcome):
    """An outcome that is measured and not published."""

    def check_unchanged(self, frame: Frame | None = None) -> None:
        """Do nothing: nobody has the frame."""

    def csv_sha256(self) -> str | None:
        """There is no file."""
        return None
