"""How files of a release are written: the table `[write]` of a plan."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from shoal.base.errors import preview
from shoal.base.settings import Setting

SPREADSHEETS = (".xlsx", ".xls", ".ods")
TEXTS = (".csv", ".txt", ".tsv", ".tab")


def unreadable(sign: str) -> bool:
    """Whether programs change or refuse names with this character."""
    return sign == "\ufeff" or unicodedata.category(sign) in ("Cc", "Cs")


class Writing(Setting):
    """How the file of a release is written; the release itself does not change."""

    name: ClassVar[str] = "[write]"

    # [30, 40) as it is; as two columns, 30 and 40; or as the number 35
    ranges: Literal["label", "bounds", "midpoint"] = "label"
    # Texts that a spreadsheet would run as a formula; None: escaped in spreadsheets only
    formulas: Literal["escape", "keep"] | None = None
    # Columns of text in files that have types: text, or numbers and dates where all values are
    types: Literal["keep", "infer"] = "keep"
    # The name of a column in the file, by its name in the table, which some programs cannot store
    names: dict[str, str] = Field(default_factory=dict)

    @field_validator("names", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not all(
            isinstance(new, str) and new.strip() for new in given.values()
        ):
            raise ValueError(
                'needs names as a table of texts, as in names = { "Height (cm)" = "height_cm" }'
            )
        twins = [new for new, times in Counter(given.values()).items() if times > 1]
        if twins:
            raise ValueError(f"gives several columns the names {preview(twins)}")
        odd = [new for new in given.values() if any(unreadable(sign) for sign in new)]
        if odd:
            raise ValueError(
                f"has names with control characters or byte order marks, which files cannot have "
                f"in names: {preview(odd)}"
            )
        return given

    def stated(self) -> dict[str, object]:
        """The settings that differ from their defaults.

        >>> Writing(ranges="bounds").stated()
        {'ranges': 'bounds'}
        """
        return self.model_dump(exclude_defaults=True)

    def escapes(self, path: str | Path | None) -> bool:
        """Whether formulas are escaped in a file of this name; None: it is no file.

        >>> Writing().escapes("a.xlsx"), Writing().escapes("a.csv.gz")
        (True, False)
        >>> Writing(formulas="escape").escapes("a.csv.gz")
        True
        """
        endings = [] if path is None else [ending.lower() for ending in Path(path).suffixes[-2:]]
        if any(ending in SPREADSHEETS for ending in endings):
            return self.formulas != "keep"
        return self.formulas == "escape" and any(ending in TEXTS for ending in endings)
