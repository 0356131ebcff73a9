"""Every option of every entry of the catalog is described, so that `shoal list` explains it."""

from __future__ import annotations

import pytest

from shoal import catalog
from shoal.base.options import options_of

OPTIONS = [
    pytest.param(option, id=f"{name}-{option.name}")
    for registry in catalog.registries.values()
    for name, kind in registry.items()
    for option in options_of(kind)
]


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_described(option) -> None:
    assert option.description, f"give the field {option.name} a description=…"
    assert not option.description[0].isupper()
    assert option.description[-1] not in ".;:"
    assert option.values
    assert option.default


@pytest.mark.parametrize("name", [name for r in catalog.registries.values() for name in r])
def test_every_entry_has_a_summary(name: str) -> None:
    kind = next(r[name] for r in catalog.registries.values() if name in r)
    assert kind.summary().endswith((".", "?")), f"begin the docstring of {kind} with a sentence"


@pytest.mark.parametrize("name", catalog.hierarchies)
def test_every_hierarchy_describes_what_it_takes(name: str) -> None:
    kind = catalog.hierarchies[name]
    assert kind.summary().endswith((".", "…"))
    assert kind.takes, f"say in {kind}.takes what {name} = … takes"
    assert all(kind.options.values())


@pytest.mark.parametrize("name", catalog.formats)
def test_every_format_describes_itself(name: str) -> None:
    assert catalog.formats[name].summary().endswith(".")
