"""Fixtures of the tests of compiled kernels."""

from __future__ import annotations

import pytest


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    return folder
