"""Comparison: the results of several runs, with loss, time and memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.base.errors import BadFile, CannotReach
from shoal.base.version import __version__
from shoal.comparing.isolated_run import Measured
from shoal.io.atomic import atomic
from shoal.io.sources import is_address
from shoal.measures.bounds.lower_bound import Bound

if TYPE_CHECKING:
    from shoal.report.comparison_plot import Curve

MEAN = "mean"  # mean of the seven metrics, as the measure that decides


@dataclass(frozen=True)
class Line:
    """One run: its settings, and its result or why there is none."""

    k: int
    algorithm: str  # its name, and the options that differ from the default
    loss: str  # the guiding loss
    options: dict[str, Any]  # of the algorithm, all of them
    found: Measured | None
    reason: str = ""  # why there is no release

    def lost(self, yardstick: str) -> float:
        """Loss in percent; infinite if there is no release."""
        if self.found is None:
            return float("inf")
        return self.found.mean_loss if yardstick == MEAN else self.found.losses[yardstick]

    def numbers(self) -> dict[str, Any]:
        """The results by name; empty if there is no release."""
        if self.found is None:
            return {}
        found = asdict(self.found)
        del found["cold"]
        spent = {"recode_seconds": self.found.recode_seconds}
        spent |= {"whole_seconds": self.found.whole_seconds}
        return found | spent | {"memory_mb": self.found.memory_mb}


@dataclass(frozen=True)
class Comparison:
    """The results of runs, by k, and for each k the lowest loss first."""

    lines: list[Line]
    yardstick: str  # the loss that decides which is best: "mean" or the only guiding loss
    rows: int
    people: int
    bounds: dict[int, Bound]  # per k, the lower bound on that loss
    notes: list[str]
    seed: int
    finished: bool = True  # whether all runs were done
    version: str = __version__

    @property
    def lower_bounds(self) -> dict[int, float]:
        """Per k, the lower bound on the loss in percent, where it is known."""
        both = ((k, bound.percent) for k, bound in self.bounds.items())
        return {k: percent for k, percent in both if percent is not None}

    @property
    def ks(self) -> list[int]:
        """The values of k."""
        return sorted({line.k for line in self.lines})

    @property
    def guides(self) -> list[str]:
        """The guiding losses, in the order given."""
        return list(dict.fromkeys(line.loss for line in self.lines))

    @property
    def rest_mb(self) -> float | None:
        """Largest memory of the process before a run: Python, libraries, compiled code."""
        known = [line.found.rest_mb for line in self.lines if line.found and line.found.rest_mb]
        return max(known, default=None)

    def at(self, k: int) -> list[Line]:
        """The lines of one k with a release, the best first."""
        return [line for line in self.lines if line.k == k and line.found is not None]

    def best(self, k: int) -> Line:
        """The line with the lowest loss at this k."""
        done = self.at(k)
        if not done:
            reasons = "; ".join(f"{line.algorithm}: {line.reason}" for line in self.failed(k))
            raise CannotReach("k-anonymity", 0, f"no run produced a release at k={k}: {reasons}")
        return done[0]

    def failed(self, k: int | None = None) -> list[Line]:
        """The lines without a release."""
        return [line for line in self.lines if line.found is None and k in (None, line.k)]

    @property
    def holds(self) -> bool:
        """Whether any run produced a release."""
        return any(line.found is not None for line in self.lines)

    def __repr__(self) -> str:
        lines = [f"Comparison of {len(self.lines)} runs on {self.rows:,} records"]
        for k in self.ks:
            done = self.at(k)
            what = "no release" if not done else f"best {self.name(done[0])}, "
            loss = f"loss {done[0].lost(self.yardstick):.1f} % ({self.yardstick})" if done else ""
            lines.append(f"  k = {k}: {what}{loss}")
        return "\n".join(lines)

    def name(self, line: Line) -> str:
        """The algorithm of a line, and its guiding loss if there are several."""
        return line.algorithm if len(self.guides) == 1 else f"{line.algorithm} · {line.loss}"

    def table(self) -> list[dict[str, Any]]:
        """One flat mapping per run, as for a data frame."""
        rows = []
        for line in self.lines:
            numbers = line.numbers()
            losses, steps = numbers.pop("losses", {}), numbers.pop("seconds", {})
            row = {"k": line.k, "algorithm": line.algorithm, "loss": line.loss}
            row |= {"best": self._is_best(line), "reason": line.reason}
            row |= {"bound": self.lower_bounds.get(line.k), "bound_scope": self._scope(line.k)}
            row |= {"finished": self.finished, **numbers}
            row |= {f"lost_{name}": percent for name, percent in losses.items()}
            rows.append(row | {f"seconds_{step}": spent for step, spent in steps.items()})
        return rows

    def _scope(self, k: int) -> str | None:
        """Which requirements the bound of this k covers; None: there is no bound."""
        return self.bounds[k].scope if k in self.lower_bounds else None

    def bound_label(self, k: int) -> str:
        """The label of a bound; the notes say more about what it does not cover."""
        bound = self.bounds[k]
        what = ", ".join(bound.accounted) or "class size"
        return f"proven lower bound ({what}{' alone' if bound.lacks else ''})"

    def _is_best(self, line: Line) -> bool:
        return line in self.at(line.k)[:1]

    def as_dict(self) -> dict[str, Any]:
        """All numbers, by the names of the JSON file."""
        runs = []
        for line in self.lines:
            run: dict[str, Any] = {
                "k": line.k,
                "algorithm": line.algorithm,
                "options": line.options,
                "loss": line.loss,
                "holds": line.found is not None,
            }
            result = {"reason": line.reason} if line.reason else {"best": self._is_best(line)}
            runs.append(run | result | line.numbers())
        return {
            "rows": self.rows,
            "people": self.people,
            "k": self.ks,
            "judged_by": self.yardstick,
            "runs": runs,
            "finished": self.finished,
            "bound": {str(k): bound.as_dict() for k, bound in self.bounds.items()},
            "lower_bounds": {str(k): percent for k, percent in self.lower_bounds.items()},
            "memory_at_rest_mb": self.rest_mb,
            "notes": self.notes,
            "seed": self.seed,
            "version": self.version,
        }

    def csv(self) -> str:
        """The runs as the text of a CSV file."""
        rows = self.table()
        names = dict.fromkeys(name for row in sorted(rows, key=len)[::-1] for name in row)
        return csv_text(rows, list(names))

    def plot(self, path: str | Path) -> None:
        """Plot loss and time against k to an SVG or PNG file."""
        check_plot(path)
        from shoal.report.comparison_plot import draw  # loads the plotting library

        if not self.holds:
            raise BadFile(f"cannot draw {path}: no run produced a release")
        lost = "percent lost"
        lost += f" ({'mean of seven metrics' if self.yardstick == MEAN else self.yardstick})"
        kind = Path(path).suffix.lower()
        known = sorted(self.lower_bounds)
        label = self.bound_label(known[-1]) if known else ""
        drawn = draw(self._curves(), self.lower_bounds, lost, kind, self._drawn_notes(), label)
        with atomic(path, private=True) as target:
            target.write_bytes(drawn)

    def _curves(self) -> list[Curve]:
        """Loss and seconds at each k per method; the best at the largest k first."""
        from shoal.report.comparison_plot import Curve

        curves: dict[tuple[str, str], Curve] = {}
        for k in reversed(self.ks):
            for line in self.at(k):
                assert line.found is not None
                method = line.algorithm, line.loss
                curve = curves.setdefault(method, Curve(*method, {}, {}))
                curve.lost[k] = line.lost(self.yardstick)
                curve.seconds[k] = line.found.recode_seconds
        return list(curves.values())

    def _drawn_notes(self) -> list[str]:
        """Notes below the plot about what is not in it."""
        notes = [note for note in self.notes if "lower bound" in note]
        return notes if self.finished else ["interrupted: not all runs were done", *notes]


class Unfinished(KeyboardInterrupt):
    """A comparison was interrupted; `comparison` has the finished runs."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("the comparison was interrupted")
        self.comparison = comparison


def csv_text(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Rows as the text of a CSV file with these columns.

    >>> rows = [{"k": 5, "lost": 1 / 3, "limits": ["loss", "risk"]}]
    >>> print(csv_text(rows, list(rows[0])))
    k,lost,limits
    5,0.333333,loss; risk
    <BLANKLINE>
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _written(cell) for name, cell in row.items()} for row in rows)
    return text.getvalue()


def _written(cell: Any) -> Any:
    if isinstance(cell, list):
        return "; ".join(cell)
    return f"{cell:.6g}" if isinstance(cell, float) else cell


def check_plot(path: str | Path) -> None:
    """Refuse a plot file that is neither SVG nor PNG, before any run."""
    if Path(path).suffix.lower() not in (".svg", ".png"):
        shown = "an address" if is_address(Path(path)) else path  # it may contain a password
        raise BadFile(f"cannot draw {shown}: a plot is an .svg or a .png file")
