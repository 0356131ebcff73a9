"""Release: what the user holds in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.base.errors import BadTable, ShoalError
from shoal.base.progress import Progress, silent
from shoal.io import frames
from shoal.measures.explanation import Explains, Explanation, Reason
from shoal.measures.outcome import Outcome
from shoal.measures.verify import verify
from shoal.table.match_graph import link
from shoal.table.published_table import read_published

if TYPE_CHECKING:
    from shoal.flow.apply.fitted import Fitted


@dataclass(frozen=True, eq=False, repr=False)
class Release(Outcome):
    """A table that may be published, with the proof that it keeps its promises."""

    # Makes the recoding, or hands over the one of another table that was applied.
    fitted: Callable[[], Fitted] | None = None

    def save(self, path: str | Path) -> None:
        """Write the table to a file: the file is read back and verified before it gets its name.

        It must hold the cells of the release, row by row, and not a byte that is none of them.
        """
        with frames.atomic(path) as target:
            frame = frames.open_frame(self.frame)
            frames.write(frame, target)
            file = frames.read_back(target)
            if not frames.same_rows(file, frame):
                raise ShoalError(
                    "the file that was written does not hold the rows of the release in their "
                    "order; this is a defect, and nothing is released"
                )
            plan = self.plan
            written = read_published(file, plan.columns, plan.missing_values, self.person_of_record)
            linkage = None if self.original is None else link(self.original, written)
            verify(written, self.plan.models, linkage)

    def report(
        self, path: str | Path, *, explain: bool | None = None, progress: Progress = silent
    ) -> None:
        """Write a page for whoever signs the release: one HTML file that needs no network.

        It names the seed and is meant for the house, not for publication. Which promise made it
        so takes one more run for each of them: by default that is told where the run was short.
        """
        from shoal.report.release_report import write_report  # drawing is loaded when needed

        write_report(self, path, explain, progress)

    @property
    def recoding(self) -> Fitted:
        """What is published of whom, to be applied to other tables of the same kind."""
        assert self.fitted is not None
        return self.fitted()

    def explain(self, row: int, *, progress: Progress = silent) -> Explanation:
        """Say why a row of the original (the first is 0) is published as it is, or left out.

        Each promise is left out once and the table recoded, which takes as long as the run did;
        the second question costs nothing. For the data manager, not for publication.
        """
        return self._explainer.row(row, progress)

    def reasons(self, *, progress: Progress = silent) -> list[Reason]:
        """Say of each promise how many rows it made more general, and what it cost."""
        return self._explainer.reasons(progress)

    @property
    def _explainer(self) -> Explains:
        if self.explainer is None:
            raise BadTable(
                "a recoding was applied here, and no algorithm ran that could be run without one "
                "of the promises; ask the release that the recoding was made with"
            )
        return self.explainer
