"""The words of Vega-Lite, in which plots are written as dictionaries, and their drawing.

A plot has layers. A layer has rows, a mark that is drawn for each of them or through all of them,
and channels (x, y, color, shape, text, …): which field of the rows decides what about the mark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.base.errors import did_you_mean

# The words that our plots use. Vega-Lite ignores a word that it does not know, so that a misspelled
# option would be a plot that silently looks different.
WORDS = frozenset(
    """
    align anchor angle axis background bandPosition baseline bottom color columnPadding columns
    config data detail direction domain domainColor dx dy encoding field fill filled font
    fontSize fontStyle fontWeight for format frame grid gridColor hconcat height interpolate
    labelAlign labelAngle labelColor labelExpr labelFontSize labelLimit labelLineHeight
    labelOffset labelOverlap labelPadding labels layer left legend limit line lineBreak
    lineHeight mark name nice offset opacity order orient padding range resolve right rowPadding
    scale shape size sort spacing stack step stroke strokeDash strokeWidth symbolSize
    symbolStrokeColor symbolStrokeWidth symbolType text tickColor tickCount tickMinStep ticks title
    titleAlign titleAnchor titleColor titleFontSize titleFontWeight titleLimit titlePadding top
    type value values view width x x2 xOffset y y2 yOffset zero
    """.split()
)

Spec = dict[str, Any]
SHARPER = 2.0  # pixels of a PNG per unit of the drawing


def quantitative(field: str, **options: Any) -> Spec:
    """A channel that shows a field of numbers.

    >>> quantitative("loss", title="percent lost")
    {'field': 'loss', 'type': 'quantitative', 'title': 'percent lost'}
    """
    return {"field": field, "type": "quantitative", **options}


def nominal(field: str, **options: Any) -> Spec:
    """A channel that shows a field of names."""
    return {"field": field, "type": "nominal", **options}


def ordinal(field: str, **options: Any) -> Spec:
    """A channel that shows a field of steps, which have an order."""
    return {"field": field, "type": "ordinal", **options}


def look(field: str, names: Sequence[Any], looks: Sequence[Any], **options: Any) -> Spec:
    """A channel that gives each name its own look: its colour, shape or dashes."""
    scale = {"domain": list(names), "range": list(looks)}
    return nominal(field, sort=list(names), title=None, scale=scale, **options)


def layer(mark: str, rows: Sequence[Spec], channels: Mapping[str, Spec], **style: Any) -> Spec:
    """Rows drawn as marks (bar, line, point, rect, rule, text, area), which have a style."""
    return {
        "data": {"values": rows},
        "mark": {"type": mark, **style},
        "encoding": dict(channels),
    }


def plot(layers: Sequence[Spec], **options: Any) -> Spec:
    """Layers that share their axes; the first one is behind the others."""
    return {"layer": layers, **options}


def side_by_side(plots: Sequence[Spec], **options: Any) -> Spec:
    """Plots from left to right."""
    return {"hconcat": plots, **options}


def note(text: str | Sequence[str], **options: Any) -> Spec:
    """A title from the left that looks like text, of one or several lines."""
    return {"text": text, "anchor": "start", "fontWeight": "normal", **options}


def to_svg(spec: Spec) -> str:
    """Draw a plot as SVG, without a browser."""
    import vl_convert  # slow to import, and rarely needed

    svg: str = vl_convert.vegalite_to_svg(_plain(spec))
    return svg


def to_png(spec: Spec) -> bytes:
    """Draw a plot as PNG, without a browser."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(_plain(spec), scale=SHARPER))


def _plain(spec: Spec) -> Any:
    """A copy in which the numbers of NumPy are those of Python: vl_convert takes no others."""
    _check(spec)
    return json.loads(json.dumps(spec, default=float))


def _check(spec: object) -> None:
    """Raise an error if a plot has an option that is none."""
    if isinstance(spec, Mapping):
        for word, value in spec.items():
            if word not in WORDS:
                raise ValueError(f"a plot has no option {word!r}{did_you_mean(word, WORDS)}")
            if word != "data":  # its rows have fields of their own
                _check(value)
    elif isinstance(spec, list | tuple):
        for one in spec:
            _check(one)
