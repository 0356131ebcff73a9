"""Small pictures as SVG, drawn on the server. Internal.

Scripts and styles inside of them are not allowed: classes get their look from the style sheet.
"""

from __future__ import annotations

from shoal.studio.charts.bars import bars
from shoal.studio.charts.before_after import before_after
from shoal.studio.charts.cut import cut
from shoal.studio.charts.frontier import frontier
from shoal.studio.charts.histogram import histogram

chart = {
    "bars": bars,
    "before_after": before_after,
    "cut": cut,
    "frontier": frontier,
    "histogram": histogram,
}
