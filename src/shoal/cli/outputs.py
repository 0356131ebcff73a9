"""Output files of commands: checked before the work begins, and written when all is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from shoal.base.errors import BadFile, NotHeld
from shoal.base.progress import Progress
from shoal.cli.console import print_plain
from shoal.cli.progress import telling_it_is_written
from shoal.databases.database import Database
from shoal.flow.release import Release
from shoal.flow.saving.refused import JSON
from shoal.io.frames import atomic, check_writable
from shoal.io.raw_text.standard_streams import STREAM, pass_on
from shoal.report.pdf import check_report


def check_targets(
    targets: Sequence[Path | Database | None], json_file: str | None, inputs: Sequence[Path]
) -> None:
    """Refuse targets that cannot be written, that are also read, or that are the same file."""
    wanted = [path for path in (*targets, json_target(json_file)) if isinstance(path, Path)]
    for i, target in enumerate(wanted):
        check_distinct(target, [*inputs, *wanted[:i]])
        check_writable(target)


def check_distinct(target: Path, others: Sequence[Path]) -> None:
    """Refuse to overwrite a file that the command reads, or to write it twice."""
    for other in others:
        if other.is_dir() and os.path.realpath(target.parent) == os.path.realpath(other):
            raise BadFile(
                f"cannot write {target}: this command reads all files of {other}; write to another "
                "folder"
            )
        # Not Path.resolve: it fails on a link to itself, for which reading has a better message.
        if os.path.realpath(target) == os.path.realpath(other):
            same = "" if str(target) == str(other) else f", as {other}"
            raise BadFile(
                f"cannot write {target}: this command reads that file, or writes something "
                f"else to it{same}; choose another name"
            )


def json_target(json_file: str | None) -> Path | None:
    """The file that the JSON goes to; None for none, and for standard output (-)."""
    return None if json_file in (None, "-") else Path(str(json_file))


def write_json(files: ExitStack, json_file: str | None, content: dict[str, Any]) -> None:
    """Write the JSON to its file, which gets its name when `files` is closed."""
    if (path := json_target(json_file)) is not None:
        target = files.enter_context(atomic(path, private=True))
        target.write_text(_json(content) + "\n", encoding="utf-8")


def print_json(json_file: str | None, content: dict[str, Any]) -> None:
    """Print the JSON where standard output was asked for."""
    if json_file == "-":
        print(_json(content))


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def write_release(
    release: Release,
    out: Path | Database,
    report: Path | None,
    json_file: str | None,
    progress: Progress,
    recoding: Path | None = None,
    explain: bool | None = None,
    replace: bool = False,
    codebook: Path | None = None,
    learn: str | None = None,
    is_stream: bool = False,
) -> None:
    """Write the release and its recoding first, then report and JSON, which may take long.

    Files that belong together get their names when all of them are complete. `is_stream`: the
    release is passed on to standard output later.
    """
    if learn is not None:
        release.check_learnable(learn)
    with ExitStack() as files:
        if recoding is not None:
            release.recoding.save(files.enter_context(atomic(recoding, private=True)))
        release.save(out, replace=replace)
    if not is_stream:
        progress = telling_it_is_written(progress)
    try:
        with ExitStack() as files:
            if explain:
                release.reasons(progress=progress)
            if learn is not None:
                release.learn(learn, progress=progress)
            if codebook is not None:
                release.codebook(files.enter_context(atomic(codebook)))
            if report is not None:
                page = files.enter_context(atomic(report, private=True))
                release.report(page, explain=explain, progress=progress)
            numbers = {} if json_file is None else release.as_dict(progress)
            write_json(files, json_file, numbers)
    except BaseException as error:
        asked = {
            "the codebook": codebook,
            "the report": report,
            "the JSON": json_file,
            "the explanation": explain or None,
            "the comparison of models": learn,
        }
        missing = [what for what, wanted in asked.items() if wanted is not None]
        error.add_note(f"the release is written: {out}; not written: {', '.join(missing)}")
        raise
    print_json(json_file, numbers)


def check_refused_report(path: Path | None) -> None:
    """Raise an error unless a report of this name can be made."""
    if path is not None and path.suffix.lower() != JSON:
        check_report(path)


@contextmanager
def telling_why(path: Path | None) -> Iterator[None]:
    """Write the report of a release that is refused, if it was asked for; the error stays."""
    try:
        yield
    except NotHeld as error:
        if path is not None and error.refused is not None:
            error.refused.report(path)
            error.add_note(f"no release is written; why it was refused is in {path}")
        elif path is not None:
            error.add_note(
                f"not written: {path}, which is about limits and columns that reveal "
                "quasi-identifiers"
            )
        raise


def passed_on(out: str, target: Path | Database) -> Path | Database | None:
    """Pass a verified release on to standard output if asked for; the file, if it stays."""
    if out != STREAM or not isinstance(target, Path):
        return target
    pass_on(target)
    return None


def show_written(
    console: Console, paths: Sequence[Path | Database | None], json_file: str | None
) -> None:
    """List the files that were written."""
    files = [path for path in (*paths, json_target(json_file)) if path is not None]
    if files:
        print_plain(console, "\n".join(f"written: {path}" for path in files))
