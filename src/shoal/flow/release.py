"""Release: the published table with all that was measured of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.base.errors import BadTable, ShoalError
from shoal.base.progress import Progress, silent
from shoal.databases.database import Database
from shoal.databases.writing import write_to
from shoal.io import frames
from shoal.measures.explanation import Explains, Explanation, Reason
from shoal.measures.outcome import Outcome
from shoal.measures.verify import verify
from shoal.table.match_graph import link
from shoal.table.published_table import read_published
from shoal.table.written.form import check_form, read_form, written_form

if TYPE_CHECKING:
    from shoal.flow.apply.fitted import Fitted


@dataclass(frozen=True, eq=False, repr=False)
class Release(Outcome):
    """A table that may be published, with the checks that it satisfies every requirement."""

    # Builds the recoding, or returns the one that was applied.
    fitted: Callable[[], Fitted] | None = None

    def save(self, path: str | Path | Database, *, replace: bool = False) -> None:
        """Write the table to a file, which is read back and verified before it gets its name.

        The file must contain exactly the cells of the release, row by row, and nothing else. A
        table of a database is written in one transaction, and only with `replace` if there is one
        of its name.
        """
        if isinstance(path, Database):
            frame = frames.open_frame(self.frame)
            self.check_unchanged(frame)
            write_to(path, self._form(frame), replace, partial(self._verify, frame))
            return
        with frames.atomic(path) as target:
            frame = frames.open_frame(self.frame)
            self.check_unchanged(frame)
            form = self._form(frame, target)
            frames.write(form, target, self.plan.read)
            file = frames.read_back(target, self.plan.read)
            if not frames.same_rows(file, form):
                raise ShoalError(
                    "the file that was written does not contain the rows of the release in their "
                    "order; this is a bug in shoal, and nothing is released"
                )
            self._verify(frame, file, target)

    def _form(self, frame: frames.Frame, target: Path | None = None) -> frames.Frame:
        """The frame as it is written to a file, or to a table of a database."""
        plan = self.plan
        return written_form(frame, plan.columns, plan.missing_values, plan.write, target)

    def _verify(self, frame: frames.Frame, file: frames.Frame, target: Path | None = None) -> None:
        """Verify every requirement on what was read back, with ranges for bounds."""
        plan = self.plan
        file = read_form(file, plan.columns, plan.write, target)
        check_form(file, frame, plan.columns, plan.write)
        written = read_published(file, plan.columns, plan.missing_values, self.person_of_record)
        linkage = None if self.original is None else link(self.original, written)
        verify(written, self.plan.models, linkage)

    def report(
        self, path: str | Path, *, explain: bool | None = None, progress: Progress = silent
    ) -> None:
        """Write an HTML report for the approver of the release: one file that needs no network.

        It contains the seed and is for internal use, not for publication. `explain` adds which
        requirement forced each generalization, which takes one more run per requirement; by
        default it is added only for fast runs.
        """
        from shoal.report.release_report import write_report  # drawing is loaded when needed

        write_report(self, path, explain, progress)

    def codebook(self, path: str | Path) -> None:
        """Write a codebook for the readers of the release, as .html, .csv or .json.

        For each column it has the published values and how many records have them, and how to read
        them. It is for publication, and contains nothing that the release does not contain.
        """
        from shoal.report.codebook import write_codebook  # it is seldom needed

        write_codebook(self, path)

    @property
    def recoding(self) -> Fitted:
        """The recoding of this release, to apply to other tables of the same kind."""
        assert self.fitted is not None
        return self.fitted()

    def explain(self, row: int, *, progress: Progress = silent) -> Explanation:
        """Explain why a row of the original (the first is 0) is generalized or suppressed.

        The table is recoded once without each requirement, each time as long as the run itself;
        later calls reuse the results. For the data manager, not for publication.
        """
        return self._explainer.row(row, progress)

    def reasons(self, *, progress: Progress = silent) -> list[Reason]:
        """For each requirement, how many records it generalized and what that cost."""
        return self._explainer.reasons(progress)

    @property
    def _explainer(self) -> Explains:
        if self.explainer is None:
            raise BadTable(
                "this release was made by applying a recoding, so there is no run to repeat "
                "without one of the requirements; ask the release that the recoding comes from"
            )
        return self.explainer
