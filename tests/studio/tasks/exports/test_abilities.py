"""What can be written where a program or a library is missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from shoal.base.progress import silent
from shoal.io.format import formats
from shoal.report import pdf
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.exports.abilities import run


def test_formats_and_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # there is no browser
    monkeypatch.setattr(pdf, "ELSEWHERE", ())
    monkeypatch.setattr(pdf, "_has_weasyprint", lambda: False)
    lacking = run(Held(), silent)
    assert set(lacking) == {*formats, "pdf"}
    assert "neither was found" in lacking["pdf"]
    assert lacking["csv"] == ""
    assert bool(lacking["xlsx"]) is (find_spec("fastexcel") is None)
