"""Settings that validate themselves: the base of models, losses, algorithms and attacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from shoal.base.errors import BadPlan, brief, did_you_mean

DIGITS = 300  # of a whole number at most: results computed from it still fit into a float

# Ranges that options share; an option that needs another range declares it in the same way.
AtLeastOne = Annotated[int, Field(ge=1)]
AtLeastTwo = Annotated[int, Field(ge=2)]
NotNegative = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
AboveOne = Annotated[float, Field(gt=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]  # from 0 to 1
PositiveShare = Annotated[float, Field(gt=0, le=1)]
ProperShare = Annotated[float, Field(gt=0, lt=1)]  # neither 0 nor 1


@dataclass(frozen=True)
class Usual:
    """Values of an option that people choose: one to start with, and the ends of a slider.

    It limits nothing. An option has it in its type: `Annotated[AtLeastTwo, Usual(5, 2, 100)]`.
    """

    start: float
    low: float
    high: float
    step: float = 1


OUT_OF_RANGE = {
    "greater_than_equal",
    "greater_than",
    "less_than_equal",
    "less_than",
    "finite_number",
}

OF_ANOTHER_TYPE = {  # what pydantic calls a value of the wrong type, and what is needed
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
}


class Setting(BaseModel):
    """An entry of the catalog: its name, and its options as fields with descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    name: ClassVar[str]
    is_auto: ClassVar[bool] = False  # whether the flow chooses an entry in its place
    own_command: ClassVar[str] = ""  # what runs it, if that is not `anonymize`

    def __init__(self, **options: Any) -> None:
        large = [k for k, v in options.items() if isinstance(v, int) and abs(v) >= 10**DIGITS]
        if large:
            raise BadPlan(
                f"{self.name}: {large[0]} has more than {DIGITS} digits; use a smaller number"
            )
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise BadPlan(explain(self.name, error, type(self).model_fields)) from None

    def setting(self) -> dict[str, Any]:
        """The entry as in a plan file: the name, and the options that differ from the default."""
        return {"name": self.name, **self.model_dump(exclude_defaults=True)}

    def options(self) -> dict[str, Any]:
        """All options with their values."""
        return self.model_dump()

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]


def explain(name: str, error: ValidationError, known: Any) -> str:
    """One plain sentence per error in a setting."""
    sentences = []
    for fault in error.errors():
        field = ".".join(str(part) for part in fault["loc"]) or "it"
        if fault["type"] == "extra_forbidden":
            sentences.append(f"{name} has no option {field!r}{did_you_mean(field, known)}")
        elif fault["type"] == "missing":
            sentences.append(f"{name} needs {field}{_meaning(known, field)}, which is not given")
        elif fault["type"] == "value_error":
            sentences.append(f"{name} {fault['msg'].removeprefix('Value error, ')}")
        elif fault["type"] in OUT_OF_RANGE and field in known:
            given = f"{field}={brief(fault['input'])}"
            sentences.append(f"{name} needs {field} {allowed(limits(known[field]))}, got {given}")
        elif fault["type"] in OF_ANOTHER_TYPE:
            given, wish = fault["input"], OF_ANOTHER_TYPE[fault["type"]]
            form = f", as in [{brief(given)}]" if wish == "a list" and type(given) is str else ""
            sentences.append(f"{name} needs {field} as {wish}{form}, got {field}={brief(given)}")
        else:
            wish = fault["msg"][0].lower() + fault["msg"][1:]
            choices = re.findall(r"'([^']+)'", fault["msg"])
            hint = did_you_mean(brief(fault["input"]).strip("'"), choices) if choices else ""
            sentences.append(f"{name}: {field}={brief(fault['input'])}: {wish}{hint}")
    return "; ".join(sentences)


def _meaning(known: Any, field: str) -> str:
    """What an option is, if its setting says it."""
    told = known[field].description if field in known else None
    return f" ({told})" if told else ""


def limits(field: FieldInfo) -> list[Any]:
    """The limits that pydantic keeps of an option, also of one that may be None."""
    found = list(field.metadata)
    for part in get_args(field.annotation):
        if get_origin(part) is Annotated:
            for info in get_args(part)[1:]:
                found += info.metadata if isinstance(info, FieldInfo) else [info]
    return found


def bounds(limits: Sequence[Any]) -> dict[str, float]:
    """The limits that are numbers, by what they mean: at least (ge), above (gt), le, lt."""
    return {
        key: getattr(limit, key)
        for limit in limits
        for key in ("ge", "gt", "le", "lt")
        if getattr(limit, key, None) is not None
    }


def allowed(limits: Sequence[Any]) -> str:
    """The range of an option in words.

    >>> class Some(Setting):
    ...     name = "some"
    ...     k: AtLeastTwo = 2
    ...     alpha: PositiveShare | None = None
    >>> [allowed(limits(field)) for field in Some.model_fields.values()]
    ['of 2 or more', 'above 0 and at most 1']
    """
    given = bounds(limits)
    if set(given) == {"ge"}:
        return f"of {given['ge']:g} or more"
    if set(given) == {"ge", "le"}:
        return f"from {given['ge']:g} to {given['le']:g}"
    words = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    ranges = [f"{words[key]} {limit:g}" for key, limit in given.items()]
    if any(getattr(limit, "allow_inf_nan", None) is False for limit in limits):
        ranges.append("finite")
    return " and ".join(ranges)
