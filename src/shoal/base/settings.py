"""Settings that check themselves: the base of models, losses, algorithms and attacks."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from shoal.base.errors import BadPlan, brief, did_you_mean

DIGITS = 300  # that a number may have before its point: what is measured of it fits into a float


class Setting(BaseModel):
    """A thing of the catalog: its name, and its options as fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    name: ClassVar[str]
    is_auto: ClassVar[bool] = False  # whether it stands for a choice that the flow makes

    def __init__(self, **options: Any) -> None:
        large = [k for k, v in options.items() if isinstance(v, int) and abs(v) >= 10**DIGITS]
        if large:
            raise BadPlan(
                f"{self.name}: {large[0]} is a whole number of more than {DIGITS} digits; write a "
                "smaller one"
            )
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise BadPlan(explain(self.name, error, type(self).model_fields)) from None

    def setting(self) -> dict[str, Any]:
        """How a plan file writes it: the name, and the options that differ from the default."""
        return {"name": self.name, **self.model_dump(exclude_defaults=True)}

    def options(self) -> dict[str, Any]:
        """All options with their values."""
        return self.model_dump()

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]


def explain(name: str, error: ValidationError, known: Any) -> str:
    """A plain sentence for each thing that is wrong with a setting."""
    sentences = []
    for fault in error.errors():
        field = ".".join(str(part) for part in fault["loc"]) or "it"
        if fault["type"] == "extra_forbidden":
            sentences.append(f"{name} has no option {field!r}{did_you_mean(field, known)}")
        elif fault["type"] == "missing":
            sentences.append(f"{name} needs {field}, which is not given")
        elif fault["type"] == "value_error":
            sentences.append(f"{name} {fault['msg'].removeprefix('Value error, ')}")
        else:
            wish = fault["msg"][0].lower() + fault["msg"][1:]
            choices = re.findall(r"'([^']+)'", fault["msg"])
            hint = did_you_mean(brief(fault["input"]).strip("'"), choices) if choices else ""
            sentences.append(f"{name}: {field}={brief(fault['input'])}: {wish}{hint}")
    return "; ".join(sentences)
