"""Release: the published table with all that was measured of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.base.errors import BadTable
from shoal.base.progress import Progress, silent
from shoal.databases.database import Database
from shoal.flow.saving.verified import save_verified
from shoal.io.frames import open_frame
from shoal.io.raw_text.standard_streams import by_name
from shoal.measures.explanation import Explains, Explanation, Reason
from shoal.measures.outcome import Outcome, WrittenFile

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
        frame = open_frame(self.frame)
        self.check_unchanged(frame)
        plan, people = self.plan, self.person_of_record
        sha256 = save_verified(
            frame,
            path,
            plan,
            plan.models,
            people,
            self.original,
            replace,
            self.seen.population,
            self.household_of_record,
        )
        self._remember(path, sha256)

    def _remember(self, path: str | Path | Database, sha256: str | None) -> None:
        """Note to which file the release was written; None: to something without a checksum."""
        self._written.clear()
        if sha256 is not None:
            self._written.append(WrittenFile(Path(by_name(str(path))).name, sha256))

    def report(
        self, path: str | Path, *, explain: bool | None = None, progress: Progress = silent
    ) -> None:
        """Write a report for the approver of the release: one file that needs no network.

        It is HTML, or a PDF if the name ends in .pdf, which needs a browser or WeasyPrint.

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
        later calls reuse the results. `attacker` has what an attacker sees of it, see
        `attacker_view`. For the data manager, not for publication.
        """
        found = self._explainer.row(row, progress)
        if found.left_out or self.after.linked:
            return found
        return dataclasses.replace(found, attacker=self.attacker_view(row=found.row))

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
