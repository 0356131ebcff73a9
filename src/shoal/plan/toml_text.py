"""TOML: values, lines and comments as a plan file has them."""

from __future__ import annotations

import json
import re
from typing import Any

from shoal.base.errors import BadPlan, is_text


def toml_line(name: str, value: Any) -> str:
    """A line of a TOML file.

    >>> toml_line("birth date", ["quasi", 5])
    '"birth date" = ["quasi", 5]'
    """
    return f"{_key(name)} = {toml_value(value)}"


def toml_lines(setting: dict[str, Any]) -> list[str]:
    """One line per field of a setting."""
    return [toml_line(name, value) for name, value in setting.items()]


def toml_comment(text: str) -> str:
    """A comment on one line: names and labels of columns may have line breaks."""
    return ("# " + "".join(c if c.isprintable() else " " for c in text)).rstrip()


def toml_value(value: Any) -> str:
    """A value in TOML; its strings and numbers are those of JSON."""
    if isinstance(value, dict):
        inside = ", ".join(toml_line(str(k), v) for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str) and not is_text(value):
        raise BadPlan(
            f"the plan contains {value!r}, half a character (a lone surrogate), which cannot be "
            "written to a file; remove it"
        )
    # DEL is the only character that JSON does not escape and TOML does not allow.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)
