"""Every hierarchy builder and file format of the catalog describes itself and its options."""

from __future__ import annotations

from inspect import signature

import pytest

from shoal import catalog


@pytest.mark.parametrize("name", catalog.hierarchies)
def test_a_builder_describes_itself_and_its_options(name):
    builder = catalog.hierarchies[name]
    for words in (builder.summary(), builder.takes, *builder.options.values()):
        assert words.strip(), f"{name}: give it a docstring, `takes` and a text for each option"
        assert "\n" not in words
    parameters = signature(builder.__init__).parameters
    assert set(builder.options) <= set(parameters), f"{name}: options are arguments of __init__"


@pytest.mark.parametrize("name", catalog.formats)
def test_a_format_describes_itself_and_its_names(name):
    form = catalog.formats[name]
    assert form.summary(), f"{name}: give it a docstring"
    assert form.endings
    assert all(ending == ending.lower() and ending[0] == "." for ending in form.endings)
