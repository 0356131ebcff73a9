"""What the papers print is data next to their code, and every installation has it."""

from __future__ import annotations

import pytest

from shoal.papers import papers
from shoal.papers._printed import printed


@pytest.mark.parametrize("paper", papers())
def test_every_paper_has_its_figures_as_data(paper: str) -> None:
    assert printed(paper)
