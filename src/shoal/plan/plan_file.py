"""The plan file: a plan as TOML text, and the content of such a file."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.base.errors import BadFile, BadPlan
from shoal.base.wording import short
from shoal.io.sources import check_source
from shoal.plan.toml_text import toml_comment, toml_line, toml_lines
from shoal.table.roles import relative_to

if TYPE_CHECKING:
    from shoal.plan.plan import Plan

# Fields that a plan file has on top, if they differ from their defaults.
FIELDS = (
    "seed",
    "missing",
    "missing_values",
    "accept",
    "keep_order",
    "suppression",
    "engine",
    "memory",
    "temp_directory",
    "threads",
    "parts",
)
# Tables of settings, in the order of the file.
TABLES = ("about", "limits", "population", "read", "write")
_OPEN = [
    "# The default algorithm is peel, or gaa if a column has free ranges or sets.",
    "# auto tries several, and sets of values where a column has no hierarchy; it takes longer",
    "# (`shoal list algorithms` lists all of them):",
    "# [algorithm]",
    '# name = "auto"',
    "# Without classes, freeform with the model k-belief usually loses less than concealment with",
    "# k-concealment for the same certainty of an attacker, and so does peel with k-anonymity.",
    "# What matters to analysts: importance = 3 for a column, or at_most = { level = 1 }, with",
    "# suppression = 0.05 on top for records that cannot comply (docs/choosing.md).",
]


@dataclass(frozen=True, eq=False)
class PlanSource:
    """The file that a plan was read from; it is no part of the plan."""

    name: str | None = None  # without folders; None: it was made by a program
    sha256: str | None = None  # of the bytes that were read
    changed: tuple[str, ...] = ()  # settings that were changed after that

    def __eq__(self, other: object) -> bool:
        # A plan that is saved and read again is the same plan.
        return isinstance(other, PlanSource)

    __hash__ = None  # type: ignore[assignment]

    def with_changed(self, names: Sequence[str]) -> PlanSource:
        """The same file, and what no longer is as it says."""
        return PlanSource(self.name, self.sha256, tuple(dict.fromkeys((*self.changed, *names))))


def read_plan(path: Path) -> tuple[dict[str, Any], PlanSource]:
    """The content of a plan file, and its checksum; paths in it are relative to it."""
    check_source(path, "the plan ", "; `shoal draft` proposes a plan")
    try:
        raw = path.read_bytes()
        written = StringIO(raw.decode("utf-8-sig"), newline=None).read()  # any line breaks
        content = tomllib.loads(written)
    except RecursionError:
        raise BadPlan(
            f"{path}: tables or lists are nested too deeply; write a deep hierarchy as a file "
            "of levels, or give each value its parent (parents)"
        ) from None
    except OSError as error:
        raise BadFile(f"cannot read the plan {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not UTF-8 text; a plan is a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        hint = _named_twice(str(error), written) or _line_of(str(error), written)
        raise BadPlan(f"{path} is not valid TOML: {error}{hint}") from None
    except ValueError:  # Python does not read integers with thousands of digits
        raise BadPlan(f"{path} has a number with too many digits") from None
    if isinstance(content.get("columns"), dict):
        content["columns"] = relative_to(content["columns"], path.parent)
    people = content.get("population")
    if isinstance(people, dict) and isinstance(people.get("data"), str):
        data = path.parent / people["data"]
        # A path that leads up and down again would depend on folders that may be gone later.
        content["population"] = {**people, "data": data.resolve() if ".." in data.parts else data}
    return content, PlanSource(path.name, hashlib.sha256(raw).hexdigest())


def plan_text(plan: Plan, folder: Path | None, drafted: bool) -> str:
    """A plan as TOML; paths of hierarchies are written relative to the folder.

    With `drafted`, the algorithm is left open.
    """
    lines = [toml_comment(remark) for remark in plan.remarks]
    loss = plan.loss.setting()
    if len(loss) == 1:
        lines.append(toml_line("loss", loss["name"]))
    for field in FIELDS:
        value = getattr(plan, field)
        default = type(plan).model_fields[field].get_default(call_default_factory=True)
        if value is not None and value != default:
            lines.append(toml_line(field, value))
    for name in TABLES:
        one = getattr(plan, name)
        if stated := one.stated(folder) if name == "population" else one.stated():
            lines += ["", f"[{name}]", *toml_lines(stated)]
    lines += ["", "[columns]"]
    for name, column in plan.columns.items():
        note = f"  {toml_comment(plan.notes[name])}" if name in plan.notes else ""
        lines.append(f"{toml_line(name, column.setting_in(folder))}{note}")
    for model in plan.models:
        lines += ["", "[[models]]", *toml_lines(model.setting())]
    for attacker in plan.attackers:
        lines += ["", "[[attackers]]", *toml_lines(attacker.setting())]
    if drafted:
        lines += ["", *_OPEN]
    else:
        lines += ["", "[algorithm]", *toml_lines(plan.algorithm.setting())]
    if len(loss) > 1:
        lines += ["", "[loss]", *toml_lines(loss)]
    if plan.comments:
        lines += ["", *map(toml_comment, plan.comments)]
    return "\n".join(lines).lstrip() + "\n"


def _named_twice(error: str, written: str) -> str:
    """Name the key that a plan file has twice; the TOML error has only its line."""
    found = re.match(r"Cannot overwrite a value \(at line (\d+),", error)
    if found is None:
        return ""
    name = written.split("\n")[int(found[1]) - 1].partition("=")[0].strip(" \"'")
    return f"; {name!r} occurs twice: keep one of the lines, as a column has one role"


def _line_of(error: str, written: str) -> str:
    """Show the line of an error, and what is often missing there."""
    found = re.search(r"\(at line (\d+),", error)
    if found is None:
        return ""
    line = written.split("\n")[int(found[1]) - 1]
    quotes = '; texts are in quotes, as in role = "quasi"' if "Invalid value" in error else ""
    return f": {short(line, 100)}{quotes}"
