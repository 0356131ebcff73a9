"""The typer application: registers commands, and turns errors into messages and exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand

from shoal.base import interrupt
from shoal.io.raw_text import standard_streams

# Exit statuses. After an interrupt it is interrupt.status().
NOT_SATISFIED, BAD_INPUT, DEFECT = 1, 2, 70

app = typer.Typer(
    name="shoal",
    help="Anonymize a table about people: generalize it until it satisfies your privacy models, "
    "verify the result, and keep as much information as possible.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # it would print local variables: the data
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `shoal demo`, or with `shoal draft DATA -o plan.toml` on your own table. "
    "Exit status: 0 success, 1 a requirement is violated or cannot be satisfied, 2 bad input.",
)


class Command(TyperCommand):
    """A command that refuses an option that is given twice: only the last one would count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the name of the command."""
        options = {name: one for one in self.params for name in (*one.opts, *one.secondary_opts)}
        seen: set[str] = set()
        words = iter(args)
        for word in words:
            if word == "--":
                break
            name, equals, _ = word.partition("=")
            option: Any = options.get(name) if word.startswith("-") else None
            if option is None or option.multiple or option.is_flag or option.count:
                continue
            if not equals:
                next(words, None)  # its value
            if option.name in seen:
                fail(
                    f"{name} is given twice, and only one of them would count: give it once",
                    BAD_INPUT,
                )
            seen.add(option.name)
        return super().parse_args(ctx, args)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a function as a command; its errors become one message and an exit status."""

    @wraps(function)
    def guarded(*args: Any, **options: Any) -> None:
        from shoal.base.errors import BadInput, ShoalError

        try:
            with interrupt.consequences(leave=(typer.Exit,)):
                function(*args, **options)
        except BadInput as error:
            fail("; ".join([str(error), *_notes(error)]), BAD_INPUT)
        except ShoalError as error:
            fail("; ".join([str(error), *_notes(error)]), NOT_SATISFIED)
        except KeyboardInterrupt as error:
            fail(f"interrupted; {_written(error)}", interrupt.status())
        except BrokenPipeError:
            # The program that reads our output has ended; there is nobody left to print for.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if os.environ.get("SHOAL_DEBUG"):
                raise
            fail(
                f"internal error in shoal ({type(error).__name__}); {_written(error)}. Run again "
                "with SHOAL_DEBUG=1 for the traceback, and report it without your data.",
                DEFECT,
            )
        finally:
            standard_streams.remove_files()

    return app.command(function.__name__.rstrip("_"), cls=Command)(guarded)


def fail(message: str, status: int) -> NoReturn:
    """Print an error message and exit."""
    # File names are printed as given: nothing in them may move the cursor or change colours.
    named = standard_streams.by_name(message)
    plain = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in named)
    print(f"shoal: {plain}", file=sys.stderr)
    raise typer.Exit(status)


def _notes(error: BaseException) -> list[str]:
    """What was written before the error occurred."""
    return list(getattr(error, "__notes__", []))


def _written(error: BaseException) -> str:
    return "; ".join(_notes(error) or ["nothing was written"])
