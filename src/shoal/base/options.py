"""Options of catalog entries, described for a reader."""

from __future__ import annotations

import json
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic.fields import FieldInfo

from shoal.base.settings import Setting, allowed, limits

TYPES = {int: "whole number", float: "number", str: "text", bool: "true or false"}


class Option(NamedTuple):
    """An option: its name, the values that it takes, its default, and what it is for."""

    name: str
    values: str
    default: str
    description: str


def options_of(kind: type[Setting]) -> list[Option]:
    """The options of an entry of the catalog.

    >>> from pydantic import Field
    >>> class Some(Setting):
    ...     name = "some"
    ...     k: int = Field(ge=2, description="smallest class, in people")
    ...     kind: Literal["a", "b"] | None = Field(default="a", description="what it is")
    >>> for option in options_of(Some):
    ...     print(*option, sep=" / ")
    k / whole number of 2 or more / required / smallest class, in people
    kind / a | b / a / what it is
    """
    return [
        Option(name, _values(field), _default(field), field.description or "")
        for name, field in kind.model_fields.items()
    ]


def _values(field: FieldInfo) -> str:
    """The values that an option takes: their type and range."""
    kinds = [_type(part) for part in _parts(field.annotation)]
    return f"{' or '.join(dict.fromkeys(kinds))} {allowed(limits(field))}".strip()


def _parts(annotation: Any) -> list[Any]:
    """The alternatives of a type, without None."""
    if get_origin(annotation) is Annotated:
        return _parts(get_args(annotation)[0])
    if get_origin(annotation) in (None, Literal, list, tuple, dict):
        return [] if annotation in (None, NoneType) else [annotation]
    return [part for one in get_args(annotation) for part in _parts(one)]


def _type(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " | ".join(map(str, get_args(kind)))
    if get_origin(kind) in (list, tuple):
        return f"list of {'s or '.join(_type(part) for part in _inside(kind))}s"
    if get_origin(kind) is dict:
        return "table"
    return TYPES.get(kind, getattr(kind, "__name__", str(kind)))


def _inside(kind: Any) -> list[Any]:
    return [part for one in get_args(kind) if one is not ... for part in _parts(one)]


def _default(field: FieldInfo) -> str:
    """The default of an option in words."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, str):
        return value or "none"
    return json.dumps(value, ensure_ascii=False, default=str)
