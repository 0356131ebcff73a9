"""What axe-core finds on a page."""

from __future__ import annotations

from typing import Any

import pytest

CONTRAST = "color-contrast"


def violations(page: Any, schemes: tuple[str, ...] = ("light", "dark")) -> str:
    """What axe finds on a page without the policy (`bypass_csp`), which would refuse its script.

    Only the contrast differs between the schemes, so that the other rules are tried once.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    base = pytest.importorskip("axe_playwright_python.base")
    page.evaluate(base.AXE_SCRIPT)
    found = [_found(page, axe, {"rules": {CONTRAST: {"enabled": False}}})]
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        found.append(_found(page, axe, {"runOnly": [CONTRAST]}))
    return "\n".join(filter(None, found))


def _found(page: Any, axe: Any, options: dict) -> str:
    asked = {"resultTypes": ["violations"], **options}
    answer = page.evaluate("(options) => axe.run(document, options)", asked)
    assert answer["passes"], options  # it has really looked
    found = axe.AxeResults(answer)
    return str(found.generate_report()) if found.violations_count else ""
