"""Report and export: what was made, to read, to save, and to run again elsewhere. Internal."""

from __future__ import annotations

from shoal.studio.pages.export import database, files, page

ROUTES = [*page.ROUTES, *database.ROUTES, *files.ROUTES]
