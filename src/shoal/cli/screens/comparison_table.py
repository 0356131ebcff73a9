"""What the screen shows of a comparison: all runs by k, the lowest loss first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from shoal.cli.console import show_notes, shown
from shoal.comparing.comparison import MEAN, Comparison, Line

BEST = "►"
MORE = ("ncp", "total", "nllm", "distortion", "wnllm", "llm", "wllm")  # as many as fit


def show_comparison(console: Console, comparison: Comparison) -> None:
    """Show the runs by k, the best of each k first; on a wide screen with all metrics."""
    if comparison.holds:
        more = [name for name in MORE if name != comparison.yardstick]
        layouts = [(more[:n], pad) for n in range(len(more), -1, -1) for pad in (1, 0)]
        tables = [_table(comparison, *layout) for layout in layouts]
        console.print(next((one for one in tables if _fits(console, one)), tables[-1]))
    for name, reason, ks in _failures(comparison.failed()):
        at = ", ".join(f"{k:,}" for k in ks)
        console.print(f"[yellow]Not done:[/] {shown(name)}, k = {at}: {shown(reason)}")
    if comparison.holds:
        show_notes(console, [_yardstick(comparison), *_memory(comparison), *comparison.notes])


def _fits(console: Console, table: Table) -> bool:
    needed = Measurement.get(console, console.options.update(width=1000), table).maximum
    return needed <= console.width


def _table(comparison: Comparison, more: Sequence[str], pad: int) -> Table:
    """The table; `more` are metrics besides the one that decides which run is best."""
    judge = comparison.yardstick
    done = [line for line in comparison.lines if line.found is not None]
    suppressed = any(line.found and line.found.suppressed for line in done)
    people = f" of {comparison.people:,} people" if comparison.people < comparison.rows else ""
    table = Table(
        title=f"{comparison.rows:,} records{people}",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, pad, 0, 0),
        pad_edge=False,
    )
    table.add_column("k", justify="right")
    table.add_column("  algorithm", overflow="fold")
    for name in [*([judge] if judge != MEAN else []), MEAN, *more]:
        table.add_column(f"% lost\n{name}", justify="right", style="dim" if name in more else "")
    for heading in ("classes", "min\nclass", *(["supp.\nrows"] if suppressed else [])):
        table.add_column(heading, justify="right")
    for heading in ("recode\nseconds", "total\nseconds", "used\nMB"):
        table.add_column(heading, justify="right")
    for k in comparison.ks:
        table.add_section()
        for i, line in enumerate(comparison.at(k)):
            found = line.found
            assert found is not None
            first = i == 0 and len(comparison.at(k)) > 1
            mark = BEST if first else " "
            cells = [f"{k:,}" if i == 0 else "", f"{mark} {shown(comparison.name(line))}"]
            cells += [_lost(line.lost(judge))] if judge != MEAN else []
            cells += [_lost(found.mean_loss), *(_lost(found.losses[name]) for name in more)]
            cells += ["–" if found.linked else f"{found.classes:,}", f"{found.smallest_class:,}"]
            cells += [f"{found.suppressed:,}"] if suppressed else []
            cells += [_seconds(found.recode_seconds), _seconds(found.whole_seconds)]
            cells += ["–" if found.memory_mb is None else f"{found.memory_mb:,.0f}"]
            table.add_row(*cells, style="bold green" if first else None)
        if k in comparison.lower_bounds:
            words = shown(comparison.bound_label(k)).replace(" (", "\n  (")
            cells = ["", f"  {words}", _lost(comparison.lower_bounds[k])]
            table.add_row(*cells, style="italic")
    return table


def _failures(lines: Sequence[Line]) -> list[tuple[str, str, list[int]]]:
    """Each algorithm and reason once, with all k, whatever the guiding loss."""
    found: dict[tuple[str, str], dict[int, None]] = {}
    for line in lines:
        found.setdefault((line.algorithm, line.reason), {})[line.k] = None
    return [(name, reason, list(ks)) for (name, reason), ks in found.items()]


def _yardstick(comparison: Comparison) -> str:
    mean = "the mean of the seven metrics (Mauger 2023)"
    if comparison.yardstick == MEAN:
        return f"{BEST} lowest loss at this k, by {mean}"
    return f"{BEST} lowest loss at this k, by {comparison.yardstick}; mean is {mean}"


def _memory(comparison: Comparison) -> list[str]:
    if comparison.rest_mb is None:
        return []
    return [
        "used MB is the peak memory of a run, in addition to up to "
        f"{comparison.rest_mb:,.0f} MB that its process used before for Python, libraries and "
        "compiled code; compiling is not timed"
    ]


def _lost(percent: float) -> str:
    return f"{percent:.2f}" if percent < 99.995 else "100"


def _seconds(spent: float) -> str:
    return f"{spent:.2f}" if spent < 100 else f"{spent:,.0f}"
