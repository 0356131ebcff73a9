"""What `shoal list` prints: the entries of the catalog, with their options."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from shoal import catalog
from shoal.cli.console import new_table


def show_catalog(console: Console, kind: str | None = None) -> None:
    """List the entries of one kind, or of all."""
    for folder, registry in catalog.registries.items():
        if kind in (None, folder):
            table = new_table(folder, "name", "options", "what it is", left=3)
            table.columns[0].no_wrap = True
            for name, entry in registry.items():
                table.add_row(name, _options(entry), entry.summary())
            console.print(table)


def _options(thing: Any) -> str:
    """The options of a thing: what each may be, the default first where there is one."""
    lines = []
    for name, field in thing.model_fields.items():
        choices = getattr(field.annotation, "__args__", ())
        if choices and all(isinstance(choice, str) for choice in choices):
            ordered = sorted(choices, key=lambda choice: choice != field.default)
            lines.append(f"{name} = {' | '.join(ordered)}")
        elif field.is_required():
            lines.append(f"{name} (needed)")
        else:
            lines.append(f"{name} = {field.default!r}")
    return "\n".join(lines)
