"""What tests of comparisons share."""

from __future__ import annotations

import pytest

from tests.comparing.tables import compare, plan, table


@pytest.fixture(scope="module")
def several():
    return compare(table(), plan(), k=[2, 6], algorithms=["gaa", "agglomerative", "concealment"])
