"""Requirements: what the release must satisfy, with a live preview on a sample. Internal."""

from __future__ import annotations

from shoal.studio.pages.requirements import edits, frontier, page, preview, whole

ROUTES = [*page.ROUTES, *edits.ROUTES, *preview.ROUTES, *whole.ROUTES, *frontier.ROUTES]
