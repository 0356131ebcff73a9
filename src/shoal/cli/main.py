"""The command line: a thin door that builds a Plan, calls the flow and prints."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from shoal.base import interrupt
from shoal.io.format import known_endings

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.base.progress import Progress
    from shoal.flow.release import Release

app = typer.Typer(
    name="shoal",
    help="Publish a table about people: hide everybody in a crowd of k, prove it on the "
    "published table, and lose as little as possible.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # it would print local variables: the data
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `shoal demo`, or with `shoal draft DATA -o plan.toml` on a table of your "
    "own. Exit status: 0 done and held, 1 a promise is not or cannot be held, 2 bad input.",
)

DONE, BROKEN, BAD_INPUT, DEFECT = 0, 1, 2, 70  # and after an interrupt interrupt.status()
NOTHING = "nothing was written"

Data = Annotated[Path, typer.Argument(metavar="DATA", help=f"a table: {known_endings()}")]
PlanFile = Annotated[Path, typer.Option("--plan", help="the plan, a TOML file")]
Out = Annotated[Path, typer.Option("--out", "-o", help="where the release goes")]
Report = Annotated[
    Path | None, typer.Option(help="a page for whoever signs the release; not for publication")
]
Seed = Annotated[int | None, typer.Option(help="makes the run repeatable")]
KeepOrder = Annotated[
    bool, typer.Option("--keep-order", help="do not shuffle the rows (order can identify)")
]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="all numbers as JSON; - prints them")
]


class Registry(StrEnum):
    """What `shoal list` can list."""

    models = "models"
    losses = "losses"
    algorithms = "algorithms"
    attacks = "attacks"


def _version(asked: bool) -> None:
    if asked:
        from shoal.base.version import __version__

        print(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a screen that knows ASCII only
    interrupt.run(_run)


def _run() -> None:
    try:
        app()
    except KeyboardInterrupt:  # outside of any command: while it was being loaded, or had ended
        sys.exit(interrupt.status())


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command whose errors become one plain message and an exit status."""

    @wraps(function)
    def careful(*args: Any, **options: Any) -> None:
        from shoal.base.errors import BadInput, ShoalError

        try:
            with interrupt.consequences(leave=(typer.Exit,)):
                function(*args, **options)
        except BadInput as error:
            _fail("; ".join([str(error), *_there(error)]), BAD_INPUT)
        except ShoalError as error:
            _fail("; ".join([str(error), *_there(error)]), BROKEN)
        except KeyboardInterrupt as error:
            _fail("; ".join(["interrupted", *(_there(error) or [NOTHING])]), interrupt.status())
        except BrokenPipeError:
            # Whoever read our output has gone; nothing more can be said there.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if os.environ.get("SHOAL_DEBUG"):
                raise
            there = "; ".join(_there(error) or [NOTHING])
            _fail(
                f"a defect of shoal ({type(error).__name__}); {there}. Run it again "
                "with SHOAL_DEBUG=1 for the traceback and report it, without the data.",
                DEFECT,
            )

    return app.command(function.__name__.rstrip("_"))(careful)


def _there(error: BaseException) -> list[str]:
    """What was written before something failed."""
    return list(getattr(error, "__notes__", []))


@command
def anonymize(
    data: Data,
    plan: PlanFile,
    out: Out,
    json_file: Json = None,
    report: Report = None,
    recoding: Annotated[
        Path | None, typer.Option(help="what `shoal apply` needs for other tables of this kind")
    ] = None,
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            help="which promise made rows more general: a run more for each, after the release is "
            "written; by default told in a report of a short run",
        ),
    ] = None,
    seed: Seed = None,
    keep_order: KeepOrder = False,
) -> None:
    """Publish a table: generalize it until every promise of the plan holds, verify, write."""
    from shoal.flow.anonymize import anonymize as run
    from shoal.io import frames
    from shoal.plan import Plan

    frames.check_target(out)
    _check_json(json_file)
    asked = Plan.load(plan)
    more = [path for path in (report, recoding) if path is not None]
    _keep_all_apart([out, *more], json_file, [data, plan, *asked.files()])
    if seed is not None:
        asked = asked.with_seed(seed)
    console = _console(json_file)
    with _progress(console) as tell:
        release = run(data, asked, keep_order=keep_order or None, progress=tell)
        _write_release(release, out, report, json_file, tell, recoding, explain)
    _show_release(console, release, [out, report, recoding], json_file)


@command
def apply(
    data: Data,
    recoding: Annotated[
        Path, typer.Option("--recoding", help="what `shoal anonymize --recoding` wrote")
    ],
    out: Out,
    json_file: Json = None,
    report: Report = None,
    most_left_out: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="fail if more of the rows are left out; 0.05 is 5 %"),
    ] = None,
    drop_extra: Annotated[
        bool, typer.Option("--drop-extra", help="leave out columns that the recoding lacks")
    ] = False,
    seed: Seed = None,
    keep_order: KeepOrder = False,
) -> None:
    """Publish new rows as the rows of a release were, and verify the promises on them."""
    from shoal.flow.apply.fitted import Fitted
    from shoal.io import frames

    frames.check_target(out)
    _check_json(json_file)
    fitted = Fitted.load(recoding)
    _keep_all_apart([out, *([] if report is None else [report])], json_file, [data, recoding])
    console = _console(json_file)
    with _progress(console) as tell:
        release = fitted.apply(
            data,
            seed=seed,
            keep_order=keep_order or None,
            drop_extra=drop_extra,
            most_left_out=most_left_out,
            progress=tell,
        )
        _write_release(release, out, report, json_file, tell)
    _show_release(console, release, [out, report], json_file)


def _write_release(
    release: Release,
    out: Path,
    report: Path | None,
    json_file: str | None,
    tell: Progress,
    recoding: Path | None = None,
    explain: bool | None = None,
) -> None:
    """Write the release and its recoding, and then what is said about it, which may take long.

    Files that belong together get their names when all of them are complete.
    """
    from shoal.io import frames

    with ExitStack() as files:
        if recoding is not None:
            release.recoding.save(files.enter_context(frames.atomic(recoding, private=True)))
        release.save(out)
    try:
        with ExitStack() as files:
            if explain:
                release.reasons(progress=tell)
            if report is not None:
                page = files.enter_context(frames.atomic(report, private=True))
                release.report(page, explain=explain, progress=tell)
            numbers = {} if json_file is None else release.as_dict(tell)
            _write_json(files, json_file, numbers)
    except BaseException as error:
        asked = {"the report": report, "the JSON": json_file, "the explanation": explain or None}
        missing = [what for what, wanted in asked.items() if wanted is not None]
        error.add_note(f"the release is written: {out}; not written: {', '.join(missing)}")
        raise
    if json_file == "-":
        _print_json(numbers)


def _show_release(
    console: Console, release: Release, written: list[Path | None], json_file: str | None
) -> None:
    from shoal.cli.console import show_release

    _show(lambda: show_release(console, release))
    files = [*written, None if json_file == "-" else json_file]
    console.print(
        "\n".join(f"written: {path}" for path in files if path is not None),
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


@command
def audit(
    data: Data,
    plan: PlanFile,
    original: Annotated[
        Path | None, typer.Option(help="the table that DATA was made from, to measure the loss")
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="a table of all people of whom DATA may hold some")
    ] = None,
    json_file: Json = None,
    record_risks: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="the risk of each row of DATA as CSV; not to publish"),
    ] = None,
) -> None:
    """Measure a table as it is: which promises hold, how large the risks are."""
    from shoal.cli.console import show_audit
    from shoal.flow.audit import audit as look
    from shoal.io.frames import atomic, check_place
    from shoal.plan import Plan

    _check_json(json_file)
    asked = Plan.load(plan)
    more = [path for path in (original, population) if path is not None]
    inputs = [data, plan, *asked.files(), *more]
    if json_file not in (None, "-"):
        _keep_apart(Path(str(json_file)), None, inputs)
    if record_risks is not None:
        check_place(record_risks)
        _keep_apart(record_risks, json_file, inputs)
    console = _console(json_file)
    with _progress(console) as tell:
        tell("read", 0.0)
        result = look(data, asked, original=original, population=population, progress=tell)
    with ExitStack() as files:
        _write_json(files, json_file, result.as_dict())
        if record_risks is not None:
            lines = (f"{row},{risk:.6g}\n" for row, risk in enumerate(result.record_risks(), 1))
            target = files.enter_context(atomic(record_risks, private=True))
            target.write_text("row,risk\n" + "".join(lines), encoding="utf-8")
    if json_file == "-":
        _print_json(result.as_dict())
    _show(lambda: show_audit(console, result))
    if not result.holds:
        raise typer.Exit(BROKEN)


@command
def compare(
    data: Data,
    plan: PlanFile,
    k: Annotated[
        str | None, typer.Option("--k", metavar="2,5,10", help="crowds; by default the plan's")
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="gaa,gaa:weight=unit,…",
            help="algorithms, with options if need be; by default all that serve the plan",
        ),
    ] = None,
    losses: Annotated[
        str | None, typer.Option(metavar="nllm,ncp", help="guiding losses; by default the plan's")
    ] = None,
    json_file: Json = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="a row a run, as CSV")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="loss and time against k, .svg or .png"),
    ] = None,
    limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="stop a run that takes longer")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="makes the runs repeatable")] = None,
) -> None:
    """Compare algorithms, crowds and guiding losses on one table; nothing of it is published."""
    from shoal.cli.comparison_table import show_comparison
    from shoal.comparing.compare import compare as run
    from shoal.comparing.compare import from_words
    from shoal.comparing.comparison import Unfinished, check_plot
    from shoal.io import frames
    from shoal.plan import Plan

    _check_json(json_file)
    if plot is not None:
        check_plot(plot)
    asked = Plan.load(plan)
    inputs = [data, plan, *asked.files()]
    targets = [path for path in (csv, plot) if path is not None]
    for i, target in enumerate(targets):
        frames.check_place(target)
        _keep_apart(target, json_file, [*inputs, *targets[:i]])
    if not targets and json_file not in (None, "-"):
        _keep_apart(Path(str(json_file)), None, inputs)
    if seed is not None:
        asked = asked.with_seed(seed)
    wanted = from_words(k, algorithms, losses)
    console = _console(json_file)
    with _progress(console) as tell:
        try:
            result = run(data, asked, **wanted, limit=limit, progress=tell)
        except Unfinished as stopped:
            interrupt.settle()
            result = stopped.comparison
        with ExitStack() as files:  # all files get their names when all of them are complete
            if result.holds:
                _write_json(files, json_file, result.as_dict())
                if csv is not None:
                    target = files.enter_context(frames.atomic(csv, private=True))
                    target.write_text(result.csv(), encoding="utf-8")
                if plot is not None:
                    result.plot(files.enter_context(frames.atomic(plot, private=True)))
    if json_file == "-" and result.holds:
        _print_json(result.as_dict())
    _show(lambda: show_comparison(console, result))
    if not result.holds:
        _fail("no run brought a release; nothing was written", BROKEN)
    for path in (csv, plot, None if json_file == "-" else json_file):
        if path is not None:
            console.print(f"written: {path}", highlight=False, markup=False, soft_wrap=True)
    if not result.finished:
        _fail("interrupted; this is what had finished", interrupt.status())


@command
def draft(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="where the plan goes")],
    force: Annotated[bool, typer.Option("--force", help="overwrite an existing plan")] = False,
) -> None:
    """Propose a plan: roles and hierarchies guessed from the table, meant to be edited."""
    from shoal.base.errors import BadFile
    from shoal.cli.console import show_roles
    from shoal.flow.draft import draft as propose

    _keep_apart(out, None, [data])
    if out.exists() and not force:
        raise BadFile(f"{out} exists already, perhaps with your edits; --force overwrites it")
    console = _console(None)
    with _progress(console) as tell:
        tell("read", 0.0)
        plan = propose(data)
    plan.save(out)
    show_roles(console, plan)
    console.print(
        f"written: {out}\nThese are guesses. Read them one by one, edit the file, then run\n"
        f"  shoal anonymize {quote(str(data))} --plan {quote(str(out))} --out release.csv",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


@command
def list_(
    kind: Annotated[Registry | None, typer.Argument(help="only these")] = None,
) -> None:
    """Show the models, losses, algorithms and attacks there are, with their options."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from shoal import catalog

    console = _console(None)
    for folder, shelf in catalog.registries.items():
        if kind is not None and folder != kind.value:
            continue
        table = Table(title=folder, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        for heading in ("name", "options", "what it is"):
            table.add_column(heading, no_wrap=heading == "name")
        for name, thing in shelf.items():
            table.add_row(name, _options(thing), thing.summary())
        console.print(table)


@command
def demo(
    out: Annotated[Path, typer.Option("--out", help="the folder to write to")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="rows of the invented table", min=10)] = 3000,
    seed: Annotated[int, typer.Option(help="another invented table", min=0)] = 7,
) -> None:
    """Try everything on an invented hospital table: draft, anonymize, audit."""
    from shoal.cli.demo import demo as run

    console = _console(None)
    with _progress(console) as tell:
        story = run(out, rows, seed, tell)
    story(console)


@command
def reproduce(
    paper: Annotated[
        str, typer.Argument(help="li2007, mauger2020, mauger2023, tassa2012 or wang2018")
    ],
    data: Annotated[
        Path | None, typer.Option(help="a folder with the data, and hierarchies if it has some")
    ] = None,
    out: Annotated[Path, typer.Option(help="the folder to write to")] = Path("reproduce"),
    quick: Annotated[bool, typer.Option("--quick", help="a small version, in seconds")] = False,
) -> None:
    """Run a paper's experiment and put our figures beside theirs."""
    from shoal.papers import reproduce as run

    console = _console(None)
    with _progress(console) as tell:
        page = run(paper, data, out, quick, tell)
    console.print(f"written: {page}", highlight=False, markup=False)


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


def _console(json_file: str | None) -> Console:
    """The screen; with JSON on standard output everything else goes to standard error."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # whoever reads has seen enough; that is no failure of ours

    return Screen(stderr=json_file == "-", highlight=False)


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    """Progress on standard error, with a word when kernels are compiled."""
    from rich.console import Console

    from shoal.cli.console import progress_on
    from shoal.kernels import on_compiling

    screen = console if console.stderr else Console(stderr=True)

    def compiling() -> None:
        screen.print(
            "Compiling kernels that this run is the first to use (once, up to a minute or two) …"
        )

    with progress_on(screen) as draw, on_compiling(compiling):

        def tell(stage: str, share: float) -> None:
            interrupt.check()
            draw(stage, share)

        yield tell


def _show(screen: Callable[[], None]) -> None:
    """Show what was found; the files are there already, so a failure here must not deny them."""
    try:
        screen()
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        print(f"shoal: cannot show it ({type(error).__name__}); it is done", file=sys.stderr)


def _keep_apart(out: Path, json_file: str | None, inputs: list[Path]) -> None:
    """Refuse to write over what is read, or twice to the same file."""
    from shoal.base.errors import BadFile

    targets = [out] + ([Path(json_file)] if json_file not in (None, "-") else [])
    for i, target in enumerate(targets):
        for other in [*inputs, *targets[:i]]:
            # Path.resolve fails where a link leads to itself; what reads it then says so.
            if os.path.realpath(target) == os.path.realpath(other):
                same = "" if str(target) == str(other) else f", as {other}"
                raise BadFile(
                    f"cannot write {target}: this command reads that file, or writes something "
                    f"else to it{same}; choose another name"
                )


def _keep_all_apart(targets: list[Path], json_file: str | None, inputs: list[Path]) -> None:
    """Refuse targets that cannot be written, that are read, or that are the same."""
    from shoal.io.frames import check_place

    for i, target in enumerate(targets):
        check_place(target)
        _keep_apart(target, json_file, [*inputs, *targets[:i]])


def _check_json(json_file: str | None) -> None:
    """Find out early whether the JSON can be written."""
    from shoal.io.frames import check_place

    if json_file is not None and json_file != "-":
        check_place(Path(json_file))


def _write_json(files: ExitStack, json_file: str | None, content: dict[str, Any]) -> None:
    from shoal.io.frames import atomic

    if json_file is None or json_file == "-":
        return
    lines = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    target = files.enter_context(atomic(Path(json_file), private=True))
    target.write_text(lines + "\n", encoding="utf-8")


def _print_json(content: dict[str, Any]) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def _fail(message: str, status: int) -> NoReturn:
    # Names of files come as they are: nothing in them may move or color the screen.
    plain = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in message)
    print(f"shoal: {plain}", file=sys.stderr)
    raise typer.Exit(status)


if __name__ == "__main__":
    main()
