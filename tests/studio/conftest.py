"""One studio for many tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.studio.served import Served, serving


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running studio without a table."""
    with serving(tmp_path_factory.mktemp("studio") / "kept") as served:
        yield served


@pytest.fixture(scope="session")
def project(studio: Served) -> str:
    """The address of a project with the invented table."""
    return studio.opened()
