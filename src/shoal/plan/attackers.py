"""Attackers: who knows which quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, field_validator

from shoal.base.errors import BadPlan, WayOut, did_you_mean, preview
from shoal.base.settings import Setting
from shoal.base.wording import listed
from shoal.models import Model
from shoal.table.roles import Column, columns_with_role


class Attacker(Setting):
    """Somebody who knows some of the quasi-identifiers of a person: a key set."""

    name: ClassVar[str] = "an attacker"
    knows: list[str] = Field(description="the quasi-identifiers that this attacker knows")
    who: str | None = Field(default=None, description="what reports call this attacker")

    @field_validator("knows")
    @classmethod
    def _knows(cls, given: list[str]) -> list[str]:
        if not given:
            raise ValueError("needs knows with at least one quasi-identifier, got an empty list")
        if twice := sorted({name for name in given if given.count(name) > 1}):
            raise ValueError(f"names {preview(twice)} twice in knows; name each column once")
        return given

    @field_validator("who")
    @classmethod
    def _who(cls, given: str | None) -> str | None:
        if given is not None and not given.strip():
            raise ValueError("has an empty name; remove who, or write for example who = 'employer'")
        return given

    @property
    def title(self) -> str:
        """What reports call this attacker.

        >>> Attacker(knows=["age", "sex"]).title, Attacker(knows=["age"], who="employer").title
        ('who knows age and sex', 'employer')
        """
        return self.who or f"who knows {listed(self.knows)}"

    def setting(self) -> dict[str, Any]:
        """As in a plan file."""
        return {name: value for name, value in self.model_dump().items() if value is not None}


def made_attackers(given: Any) -> list[Attacker]:
    """Attackers from the [[attackers]] of a plan, given as objects or mappings."""
    if not isinstance(given, list | tuple) or not all(
        isinstance(one, Attacker | dict) for one in given
    ):
        raise BadPlan("[[attackers]] are tables, each with the columns that one of them knows")
    return [one if isinstance(one, Attacker) else Attacker(**one) for one in given]


def check_attackers(
    attackers: Sequence[Attacker], columns: Mapping[str, Column], models: Sequence[Model]
) -> None:
    """Raise an error unless the key sets are made of the quasi-identifiers, and of all of them."""
    if not attackers:
        return
    quasi = columns_with_role(columns, "quasi")
    for one in attackers:
        for name in one.knows:
            if name not in columns:
                raise BadPlan(
                    f"an attacker knows {name!r}, which is no column of the plan"
                    f"{did_you_mean(name, quasi)}"
                )
            if name not in quasi:
                raise BadPlan(
                    f"an attacker knows {name!r}, which has the role {columns[name].role}; a key "
                    "set is made of quasi-identifiers: give it the role quasi, or remove it from "
                    "knows"
                )
    known = {name for one in attackers for name in one.knows}
    if unknown := [name for name in quasi if name not in known]:
        raise BadPlan(
            f"no attacker knows {preview(unknown)}, but the role quasi says that somebody may; add "
            "it to the key set of an attacker, or give it the role other or sensitive"
        ).offering(WayOut("attackers"))
    titles = [one.title for one in attackers]
    if twice := sorted({title for title in titles if titles.count(title) > 1}):
        raise BadPlan(f"two attackers are called {twice[0]!r}; remove one, or rename it")
    if linked := [model.name for model in models if model.linkage]:
        raise BadPlan(
            f"{linked[0]} is about an attacker who knows all quasi-identifiers; remove "
            "[[attackers]], or choose a model about classes, for example k-anonymity"
        ).offering(WayOut("remove", linked[0]), WayOut("attackers"))
