"""Compare: algorithms and settings side by side. Internal."""

from __future__ import annotations

from shoal.studio.pages.compare import page

ROUTES = [*page.ROUTES]
