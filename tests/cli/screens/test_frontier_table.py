"""The frontier on a screen of 80 columns: no word is cut, and limits have a column."""

from __future__ import annotations

import io

from rich.console import Console

from shoal.cli.screens.frontier_table import show_frontier
from shoal.comparing.frontier.points import Frontier, Point
from shoal.comparing.frontier.settings import TriedSetting

BEYOND = ("highest_risk", "average_risk", "share_at_risk", "attacks.homogeneity")


def frontier(limited: bool = True) -> Frontier:
    points = []
    for i, k in enumerate((3, 12, 40)):
        tried = TriedSetting((("k", k), ("t", 0.35)))
        within = k > 3 if limited else None
        beyond = BEYOND if limited and k == 3 else ()
        points.append(
            Point(tried, "table", 6.5 + i, 0.05 / (i + 1), 1 / k, 0.5, within=within, beyond=beyond)
        )
    return Frontier(points, points[1].setting, "average", "nllm", 1000, 1000, ["Take it."],
                    None, [], 1)  # fmt: skip


def screen(found: Frontier) -> str:
    out = io.StringIO()
    show_frontier(Console(file=out, width=80, highlight=False), found)
    return out.getvalue()


def test_no_word_is_cut():
    out = screen(frontier())
    for word in (*BEYOND, "inference", "limits", "within", "beyond", "k = 3, t = 0.35"):
        assert word in out, out
    assert "k = 3, t = 0.35 is beyond: highest_risk, average_risk, share_at_risk," in out
    assert "plan" in out
    assert "► Take it." in out


def test_without_limits_there_is_no_word_about_them():
    out = screen(frontier(limited=False))
    assert "limits" not in out
    assert "beyond" not in out
