"""Settings: in which format a release is taken away, and how its cells are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

from shoal.base.errors import BadFile, BadPlan
from shoal.io.format import format_of, formats
from shoal.io.written.settings import Writing
from shoal.plan import Plan
from shoal.table.written.ranges import range_columns

FIELDS = ("ranges", "formulas", "types")


def writable(large: bool = False) -> dict[str, list[str]]:
    """The endings of files that can be written, by their format; the usual one comes first.

    `large`: for a release that does not fit into memory.

    >>> writable()["xlsx"], writable()["tsv"]
    (['.xlsx'], ['.tsv', '.tab', '.tsv.gz', '.tsv.xz', '.tsv.zst'])
    """
    found = {}
    for name, kind in formats.items():
        if large and not kind.streams:
            continue
        able = [one for one in kind.endings if one not in kind.reads_only]
        found[name] = [*able, *(f"{able[0]}{packing}" for packing in kind.packings)]
    return found


@dataclass(frozen=True)
class Settings:
    """The ending of the file, and the settings of `[write]`."""

    ending: str
    writing: Writing

    @staticmethod
    def read(given: Mapping[str, Any], ending: str, plan: Plan, large: bool = False) -> Settings:
        """The settings that a form or an address states; the rest as the run has it.

        Raises an error for settings that do not fit the plan, or a `large` release.
        """
        asked = str(given.get("ending") or ending)
        if not any(asked in endings for endings in writable(large).values()):
            raise BadFile(f"a release cannot be written to a file that ends in {asked[:20]!r}")
        writing = plan.write
        if any(one in given for one in FIELDS):
            stated = {one: str(given[one]) for one in FIELDS if given.get(one)}
            _check(stated)
            writing = Writing(**{**writing.model_dump(), "formulas": None, **stated})
        if writing != plan.write:
            if large:
                raise BadPlan(
                    "a release that is too large for memory is written as it is; take bounds or "
                    "types from a program that reads it"
                )
            plan.changed(write=writing)  # which checks it
        return Settings(asked, writing)

    def stored(self) -> dict[str, str]:
        """As fields of a form."""
        fields = {one: getattr(self.writing, one) or "" for one in FIELDS}
        return {"ending": self.ending, **fields}

    @property
    def query(self) -> str:
        """The same at the end of an address: a page of an old tab gets what it shows."""
        fields = {key: one for key, one in self.stored().items() if key != "ending"}
        return f"?{urlencode(fields)}"


def _check(stated: dict[str, str]) -> None:
    for name, value in stated.items():
        known = [one for one in choices(name) if one]
        if value not in known:
            raise BadPlan(f"{name} is one of {', '.join(known)}, got {value[:40]!r}")


def choices(field: str) -> list[str]:
    """What a setting of `[write]` can be; "" is the usual way.

    >>> choices("ranges"), choices("formulas")
    (['label', 'bounds', 'midpoint'], ['', 'escape', 'keep'])
    """
    kind = Writing.model_fields[field].annotation
    literal = [one for one in get_args(kind) if get_args(one)]
    values = list(get_args(literal[0] if literal else kind))
    return ["", *values] if literal else values


def matters(plan: Plan, ending: str) -> dict[str, bool]:
    """Which settings of `[write]` change anything for a file of this kind."""
    name = f"release{ending}"
    return {
        "ranges": bool(range_columns(plan.columns)),
        "formulas": any(Writing(formulas=one).escapes(name) for one in (None, "escape")),
        "types": format_of(Path(name)).keeps_types,
    }
