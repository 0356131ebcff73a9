"""Fields: the options of a catalog entry as a form shows them, and back from what was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from shoal.base.errors import BadPlan, brief
from shoal.base.options import Shape, shapes_of
from shoal.base.settings import Setting

COLUMN = "column"  # the option of models and algorithms that names a sensitive column


@dataclass(frozen=True)
class FormField:
    """One option: its present value as text, and what may be entered."""

    name: str
    kind: str  # as in `Shape`, or "column"
    value: str
    description: str
    choices: tuple[str, ...] = ()
    low: float | None = None  # what is allowed; None: no end
    high: float | None = None
    slider: tuple[float, float, float] | None = None  # its ends and its step
    required: bool = True

    @property
    def step(self) -> str:
        """The step of a number field: any number may be typed."""
        return "1" if self.kind == "whole" else "any"


def fields_of(
    setting: Setting,
    columns: Sequence[str] = (),
    most: Mapping[str, float] | None = None,
    typed: Mapping[str, str] | None = None,
) -> list[FormField]:
    """The options of an entry; those that a form cannot show are left out.

    `columns` are the sensitive ones. `most` has ends of sliders that the table sets. `typed` is
    what was entered and refused.
    """
    made = []
    for name, shape in shapes_of(type(setting)).items():
        if shape.kind == "table":
            continue
        field = _field(name, shape, getattr(setting, name), columns, (most or {}).get(name))
        if typed is not None and (name in typed or shape.kind == "switch"):
            field = replace(field, value=typed.get(name, ""))
        made.append(field)
    return made


def _field(
    name: str, shape: Shape, value: Any, columns: Sequence[str], most: float | None
) -> FormField:
    choices, kind = shape.choices, str(shape.kind)
    if name == COLUMN and shape.kind == "text":
        own = [value] if value is not None and value not in columns else []
        kind, choices = "column", (*columns, *own)
    return FormField(
        name,
        kind,
        text_of(value),
        shape.description,
        choices,
        shape.low,
        shape.high,
        _slider(shape, value, most),
        shape.required,
    )


def _slider(shape: Shape, value: Any, most: float | None) -> tuple[float, float, float] | None:
    """The ends of a slider: usual values, and the present one."""
    usual = shape.usual
    if usual is None:
        return None
    high = usual.high if most is None else max(usual.low, min(usual.high, most))
    if isinstance(value, int | float):
        return min(usual.low, value), max(high, value), usual.step
    return usual.low, high, usual.step


def text_of(value: Any) -> str:
    """A value as a form field has it.

    >>> text_of(0.1 + 0.2), text_of(5), text_of(None), text_of(True), text_of(("a", 2))
    ('0.3', '5', '', 'on', 'a\\n2')
    """
    if value is None or value is False:
        return ""
    if value is True:
        return "on"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return str(value)


def options_from(kind: type[Setting], typed: Mapping[str, str]) -> dict[str, Any]:
    """The options that a form of this entry has; an option that is not in it keeps its default."""
    options: dict[str, Any] = {}
    for name, shape in shapes_of(kind).items():
        if shape.kind == "table":
            continue
        if shape.kind == "switch":
            options[name] = name in typed
        elif name in typed:
            given = _parsed(name, shape, typed[name].strip())
            if given is not None or not shape.required:
                options[name] = given
    return {name: one for name, one in options.items() if one is not None}


def _parsed(name: str, shape: Shape, text: str) -> Any:
    if not text:
        return None
    if shape.kind == "whole":
        return whole_from(name, text)
    if shape.kind == "number":
        return number_from(name, text)
    if shape.kind == "list":
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    return text


def whole_from(name: str, text: str) -> int:
    """A whole number from a form."""
    value = number_from(name, text)
    if not value.is_integer():
        raise BadPlan(f"{name} is a whole number, got {brief(text)}")
    return int(value)


def number_from(name: str, text: str) -> float:
    """A number from a form; a comma may stand for the point.

    >>> number_from("t", " 0,25 ")
    0.25
    """
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise BadPlan(f"{name} is a number, got {brief(text)}")
    return value
