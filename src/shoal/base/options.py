"""Options of catalog entries, described for a reader."""

from __future__ import annotations

import json
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic.fields import FieldInfo

from shoal.base.settings import Setting, Usual, allowed, bounds, limits

Kind = Literal["whole", "number", "switch", "choice", "text", "list", "table"]
KINDS: dict[Any, Kind] = {int: "whole", float: "number", bool: "switch", str: "text"}
TYPES = {int: "whole number", float: "number", str: "text", bool: "true or false"}


class Option(NamedTuple):
    """An option: its name, the values that it takes, its default, and what it is for."""

    name: str
    values: str
    default: str
    description: str


class Shape(NamedTuple):
    """The values of an option, for a program that draws a field for it."""

    kind: Kind
    description: str
    required: bool
    default: Any  # None: it is required, or nothing by default
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    above: bool = False  # whether `low` itself is not allowed
    below: bool = False  # whether `high` itself is not allowed
    usual: Usual | None = None

    @property
    def start(self) -> Any:
        """A value to begin with: the default, a usual one, or one within the range.

        >>> Shape("number", "", True, None, low=0, high=1, above=True, below=True).start
        0.5
        """
        if self.default is not None or self.kind not in ("whole", "number"):
            return self.default
        low = 0 if self.low is None else self.low
        value = low + (1 if self.above else 0) if self.high is None else (low + self.high) / 2
        value = value if self.usual is None else self.usual.start
        return round(value) if self.kind == "whole" else float(value)

    def fits(self, value: float) -> bool:
        """Whether a number is within the range.

        >>> share = Shape("number", "", True, None, low=0, high=1, above=True)
        >>> [share.fits(value) for value in (0, 0.5, 1, 2)]
        [False, True, True, False]
        """
        if self.low is not None and (value < self.low or (self.above and value == self.low)):
            return False
        return self.high is None or value < self.high or (value == self.high and not self.below)


def shapes_of(kind: type[Setting]) -> dict[str, Shape]:
    """The options of an entry of the catalog by name, for a program.

    >>> from pydantic import Field
    >>> class Some(Setting):
    ...     name = "some"
    ...     r: float = Field(gt=0, le=1, description="largest risk")
    ...     kind: Literal["a", "b"] = Field(default="a", description="what it is")
    >>> found = shapes_of(Some)
    >>> found["r"].kind, found["r"].low, found["r"].above, found["r"].high, found["r"].required
    ('number', 0, True, 1, True)
    >>> found["kind"].choices, found["kind"].default
    (('a', 'b'), 'a')
    """
    return {name: _shape(field) for name, field in kind.model_fields.items()}


def _shape(field: FieldInfo) -> Shape:
    (part, *_) = _parts(field.annotation)
    found = limits(field)
    range_ = bounds(found)
    required = field.is_required()
    is_choice = get_origin(part) is Literal
    return Shape(
        kind="choice" if is_choice else _kind(part),
        description=field.description or "",
        required=required,
        default=None if required else field.get_default(call_default_factory=True),
        choices=tuple(map(str, get_args(part))) if is_choice else (),
        low=range_.get("ge", range_.get("gt")),
        high=range_.get("le", range_.get("lt")),
        above="gt" in range_,
        below="lt" in range_,
        usual=next((one for one in found if isinstance(one, Usual)), None),
    )


def _kind(part: Any) -> Kind:
    if get_origin(part) in (list, tuple):
        return "list"
    return "table" if get_origin(part) is dict else KINDS.get(part, "text")


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
