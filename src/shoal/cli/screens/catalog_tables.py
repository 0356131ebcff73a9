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
                console.print(Text(f"\n{name}", "bold cyan"))
                console.print(Padding(Text(entry.summary()), (0, 0, 0, 4)))
                table = Table.grid(padding=(0, 2, 0, 0))
                for option, description in option_rows(entry):
                    table.add_row(Text(option, no_wrap=True), Text(description))
                if table.row_count:
                    console.print(Padding(table, (0, 0, 0, 6)))


def option_rows(entry: Any) -> Iterator[tuple[str, str]]:
    """Per option its name, and its description with the values that it takes."""
    if issubclass(entry, Setting):
        for option in options_of(entry):
            default = option.default
            note = default if default == "required" else f"default: {default}"
            yield option.name, f"{option.description} ({option.values}; {note})".lstrip()
    elif issubclass(entry, Hierarchy):
        yield entry.name, entry.takes
        yield from entry.options.items()
    elif issubclass(entry, Format):
        packed = f" (also compressed: {', '.join(entry.packings)})" if entry.packings else ""
        yield "files", ", ".join(entry.endings) + packed
