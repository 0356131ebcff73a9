"""The scripts of the pages: those of one page share a room for their names."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

DECLARED = re.compile(r"^(?:async function|function|class|const|let) (\w+)", re.M)


def test_no_name_is_declared_twice() -> None:
    """A name that is declared in two scripts stops the second one, silently for its user."""
    scripts = files("shoal.studio").joinpath("static").iterdir()
    names = [
        name
        for one in scripts
        if one.name.endswith(".js")
        for name in DECLARED.findall(one.read_text(encoding="utf-8"))
    ]
    assert "place" in names
    assert [name for name, times in Counter(names).items() if times > 1] == []
