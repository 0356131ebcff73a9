"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Kernels compile on their first call, so a time limit would only tell how busy the machine is.
settings.register_profile(
    "shoal", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=False
)
settings.load_profile("shoal")

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with more real tables; tests that need it say so when it is not there."""
    if not SHARED.is_dir():
        pytest.skip("needs the real tables of ../shared/data, which are not here")
    return SHARED
