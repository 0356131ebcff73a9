"""What `shoal list` prints: the entries of the catalog, each with its options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoal import catalog
from shoal.base.options import options_of
from shoal.base.settings import Setting
from shoal.hierarchies.base import Hierarchy
from shoal.io.format import Format

KINDS: dict[str, Mapping[str, Any]] = {
    **catalog.registries,
    "hierarchies": catalog.hierarchies,
    "formats": catalog.formats,
}


def show_catalog(console: Console, kind: str | None = None) -> None:
    """List the entries of one kind, or of all kinds."""
    for title, entries in KINDS.items():
        if kind in (None, title):
            console.print(Text(f"\n{title}", "bold underline"))
            for name, entry in entries.items():
                console.print(Text.assemble("\n", (name, "bold cyan"), "  ", entry.summary()))
                _show_options(console, list(option_rows(entry)))


def _show_options(console: Console, rows: list[tuple[str, str, str]]) -> None:
    """Print options in aligned columns: name, allowed values, description."""
    if rows:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(max_width=26)
        table.add_column()
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(Padding(table, (0, 0, 0, 4)))


def option_rows(entry: Any) -> Iterator[tuple[str, str, str]]:
    """Per option its name, the values that it takes with the default, and its description."""
    if issubclass(entry, Setting):
        for option in options_of(entry):
            default = option.default
            note = default if default == "required" else f"default {default}"
            yield option.name, f"{option.values}, {note}", option.description
    elif issubclass(entry, Hierarchy):
        yield entry.name, "", entry.takes
        for name, description in entry.options.items():
            yield name, "", description
    elif issubclass(entry, Format):
        packed = f"; compressed: {', '.join(entry.packings)}" if entry.packings else ""
        yield "files", "", ", ".join(entry.endings) + packed
