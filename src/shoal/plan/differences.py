"""Differences between plans, setting by setting, as their files have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from shoal.base.settings import Setting
from shoal.base.wording import many, short
from shoal.plan.plan import Plan
from shoal.plan.plan_file import FIELDS, TABLES
from shoal.plan.toml_text import toml_value

LONGEST = 60  # characters of a value


class Difference(NamedTuple):
    """A setting that plans do not have in common."""

    what: tuple[str, ...]  # where it is in the plan, as in ("columns", "age", "hierarchy")
    values: tuple[str | None, ...]  # one per plan, in TOML; None: it is not stated there


def differences(plans: Sequence[Plan]) -> list[Difference]:
    """The settings in which plans differ, in the order of a plan file.

    >>> one = Plan(columns={"age": "quasi"}, models=[{"name": "k-anonymity", "k": 5}])
    >>> differences([one, one.changed(models=[{"name": "k-anonymity", "k": 7}], seed=1)])
    ... # doctest: +NORMALIZE_WHITESPACE
    [Difference(what=('seed',), values=(None, '1')),
     Difference(what=('models', 'k-anonymity', 'k'), values=('5', '7'))]
    """
    settings = [dict(_settings(plan)) for plan in plans]
    places = dict.fromkeys(place for one in settings for place in one)
    found = []
    for place in sorted(places, key=_rank):  # within a part, as they come
        values = [one.get(place) for one in settings]
        if any(value != values[0] for value in values):
            written = (None if value is None else _written(value) for value in values)
            found.append(Difference(place, tuple(written)))
    return found


def _settings(plan: Plan) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Everything that a plan states, with its place."""
    for field in FIELDS:
        value = getattr(plan, field)
        if value != type(plan).model_fields[field].get_default(call_default_factory=True):
            yield (field,), value
    for name in TABLES:
        yield from _inside((name,), getattr(plan, name).stated())
    for name, column in plan.columns.items():
        yield from _inside(("columns", name), column.setting_in())
    for part, entries in (("models", plan.models), ("attackers", plan.attackers)):
        often: dict[str, int] = {}
        for entry in entries:
            key = _key(entry)
            often[key] = often.get(key, 0) + 1
            named = key if often[key] == 1 else f"{key} ({often[key]})"
            options = {k: v for k, v in entry.setting().items() if k not in ("name", "column")}
            yield (part, named), True  # that it is there at all
            yield from _inside((part, named), options)
    yield from _inside(("algorithm",), plan.algorithm.setting())
    yield from _inside(("loss",), plan.loss.setting())


def _key(entry: Setting) -> str:
    """A model by its name and column; an attacker by its name."""
    return str(getattr(entry, "key", None) or entry.setting().get("name") or entry.name)


def _inside(place: tuple[str, ...], setting: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for name, value in setting.items():
        yield (*place, name), value


def _rank(place: tuple[str, ...]) -> int:
    parts = ("loss", "algorithm", *FIELDS, *TABLES, "columns", "models", "attackers")
    return parts.index(place[0])


def _written(value: Any) -> str:
    """A value as the plan file has it; of a long one the beginning, and what tells it apart."""
    text = toml_value(value)
    if len(text) <= LONGEST:
        return text
    return f"{short(text, LONGEST)} ({many(len(text), 'character')}, {crc32(text.encode()):08x})"
