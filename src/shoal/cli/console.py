"""The terminal: tables, warnings and notes, and how names and numbers are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from textwrap import fill

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shoal.base import wording


class Screen(Console):
    """A console that does not end the process when the reader of a pipe has seen enough."""

    def on_broken_pipe(self) -> None:
        """Raise what `app.command` handles."""
        raise BrokenPipeError


def open_console(*files: str | None) -> Console:
    """The terminal; if one of the files is standard output, all else goes to standard error."""
    return Screen(stderr="-" in files, highlight=False)


def new_table(title: str, *headings: str, left: int = 1) -> Table:
    """A table whose first `left` columns hold text, and the others numbers; no text is cut."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i < left else "right", overflow="fold")
    return table


def print_tables(console: Console, *tables: Callable[[], Table]) -> None:
    """Print tables one by one; an error in one does not hide the others."""
    for make in tables:
        try:
            table = make()
        except Exception as error:
            if os.environ.get("SHOAL_DEBUG"):
                raise
            console.print(
                "A table cannot be shown here: internal error in shoal "
                f"({type(error).__name__}). The files are complete. Run again with SHOAL_DEBUG=1 "
                "and report it.",
                markup=False,
            )
        else:
            console.print(table)


def show(screen: Callable[[], None]) -> None:
    """Show results. The files are written already, so that an error here is not a failure."""
    try:
        screen()
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        message = f"shoal: the results cannot be shown ({type(error).__name__}), but are complete"
        print(message, file=sys.stderr)


def warn(console: Console, text: str) -> None:
    """Print a warning."""
    console.print(f"[yellow]Warning:[/] {shown(text)}")


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """Print notes for the reader."""
    for note in notes:
        console.print(f"Note: {note}", markup=False)


def print_plain(console: Console, text: str) -> None:
    """Print text as it is: no markup, no colours, no line breaks of our own in a path."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def ask(question: str) -> str:
    """Print a question, and read a line; EOFError at the end of the input.

    Plain lines work over SSH, in pipes and without colours.
    """
    sys.stdout.write(_wrapped(question))
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stdout.write("\n")
        sys.stdout.flush()
        raise EOFError
    return line


def say(text: str) -> None:
    """Print text; nothing in it moves the cursor or changes colours."""
    plain = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    sys.stdout.write(f"{_wrapped(plain)}\n")
    sys.stdout.flush()


def _wrapped(text: str) -> str:
    """Text with line breaks between words if it is for a terminal, indented as its lines are."""
    if not sys.stdout.isatty():
        return text
    width = get_terminal_size().columns
    return "\n".join(
        line if len(line) < width else _folded(line, width) for line in text.split("\n")
    )


def _folded(line: str, width: int) -> str:
    r"""A line that is broken between words; a blank at its end is kept, as answers follow it.

    >>> _folded("  Of five people four are left. ", 20)
    '  Of five people\n  four are left. '
    """
    indent = " " * (len(line) - len(line.lstrip()))
    folded = fill(
        line.strip(),
        max(width - 1, 20),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return folded + line[len(line.rstrip()) :]


def percent(share: float) -> str:
    """A percentage as the report writes it, with plain spaces: a terminal may have ASCII only.

    >>> percent(0.0), percent(6.66), percent(99.97)
    ('0 %', '6.7 %', '99.97 %')
    """
    return wording.percent(share).replace("\xa0", " ")


def shown(name: str) -> str:
    """A name from the data, with nothing in it that could format text or move the cursor."""
    return escape("".join(c if c.isprintable() else "?" for c in name))
