"""How files are read: the table `[read]` of a plan."""

from __future__ import annotations

from typing import ClassVar

from shoal.base.settings import Setting


class Reading(Setting):
    """How the files of a plan are read; what is not stated is found in the file."""

    name: ClassVar[str] = "[read]"

    encoding: str | None = None  # of text files; None: by the bytes of the file
    delimiter: str | None = None  # between the fields of a text file; None: by its first lines
    quote: str | None = None  # around fields of a text file; None: "
    header: bool = True  # whether the first row of a text file has the names of the columns
    comment: str | None = None  # lines of a text file that begin with it are left out
    sheet: str | None = None  # of a spreadsheet; None: it has only one

    def stated(self) -> dict[str, object]:
        """The settings that differ from their defaults.

        >>> Reading(encoding="latin-1").stated()
        {'encoding': 'latin-1'}
        """
        return self.model_dump(exclude_defaults=True)
