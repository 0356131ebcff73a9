"""SVG elements as text; whatever comes from a table is escaped."""

from __future__ import annotations

from markupsafe import Markup, escape


def element(name: str, inside: str = "", /, **attributes: object) -> Markup:
    """An element; `_` in names of attributes is `-`, and a trailing one is dropped."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{given}>{inside}</{name}>")


def picture(width: float, height: float, inside: str, label: str, kind: str) -> Markup:
    """A whole picture, with what it shows as text for those who do not see it."""
    return element(
        "svg",
        element("title", escape(label)) + inside,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        class_=f"chart {kind}",
        preserveAspectRatio="none",
    )
