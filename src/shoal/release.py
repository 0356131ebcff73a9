"""Release: what the user holds in the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal import frames
from shoal.linkage import link
from shoal.outcome import Outcome
from shoal.published import look_at
from shoal.verify import verify


@dataclass(frozen=True, eq=False, repr=False)
class Release(Outcome):
    """A table that may be published, with the proof that it keeps its promises."""

    def save(self, path: str | Path) -> None:
        """Write the table to a file: the file is read back and verified before it gets its name."""
        with frames.atomic(path) as target:
            frames.write(frames.open_frame(self.frame), target)
            written = look_at(frames.read(target), self.plan.columns, self.plan.missing_values)
            linkage = None if self.original is None else link(self.original, written)
            verify(written, self.plan.models, linkage)

    def report(self, path: str | Path) -> None:
        """Write a page for whoever signs the release: one HTML file that needs no network.

        It names the seed and is meant for the house, not for publication.
        """
        from shoal.report.release_report import write_report  # drawing is loaded when needed

        write_report(self, path)
