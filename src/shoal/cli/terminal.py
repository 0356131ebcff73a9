"""Questions on a terminal: plain lines, so that they work over SSH, in pipes and without colors."""

from __future__ import annotations

import sys


def ask(question: str) -> str:
    """Print a question, and read a line; EOFError at the end of the input."""
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stdout.write("\n")
        sys.stdout.flush()
        raise EOFError
    return line


def say(text: str) -> None:
    """Print text; nothing in it moves the cursor or changes colors."""
    sys.stdout.write("".join(c if c.isprintable() or c == "\n" else "?" for c in text) + "\n")
    sys.stdout.flush()
