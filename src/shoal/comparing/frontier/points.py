"""Frontier: what each setting loses and what risk remains, and which settings are worth it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from shoal.base.notebook import html_block
from shoal.base.version import __version__
from shoal.base.wording import percent
from shoal.comparing.comparison import check_plot, csv_text
from shoal.comparing.frontier.advice import Place, knee_of, undominated
from shoal.comparing.frontier.settings import TriedSetting
from shoal.io.atomic import atomic

Risk = Literal["average", "highest", "inference"]
RISKS: tuple[Risk, ...] = get_args(Risk)
RISK_WORDS = {
    "average": "average re-identification risk",
    "highest": "highest re-identification risk",
    "inference": "largest share of people on whom an attack on sensitive values succeeds",
}


@dataclass(frozen=True)
class Point:
    """One setting: its loss and its risks, or why there is no release."""

    setting: TriedSetting
    on: Literal["sample", "table"]
    lost: float | None = None  # in percent, by the loss of the plan
    average: float | None = None  # risks, from 0 to 1
    highest: float | None = None
    inference: float | None = None
    suppressed: int = 0
    seconds: float = 0.0
    reason: str = ""  # why there is no release
    within: bool | None = None  # whether all limits of the plan are kept; None: it has none
    beyond: tuple[str, ...] = ()  # the limits that are not

    def risk(self, kind: Risk) -> float:
        """The risk of this kind; infinite if there is no release."""
        found = {"average": self.average, "highest": self.highest, "inference": self.inference}
        value = found[kind]
        return float("inf") if value is None else value

    def row(self) -> dict[str, Any]:
        """The numbers by name."""
        found = asdict(self)
        del found["setting"]
        options = dict(self.setting.options)
        return {"setting": self.setting.label, **options, **found, "beyond": list(self.beyond)}


@dataclass(frozen=True)
class Frontier:
    """Loss against risk, on a sample and on the whole table."""

    points: list[Point]
    own: TriedSetting  # the setting of the plan
    by: Risk  # the risk that the frontier is about
    loss: str  # the loss of the plan
    rows: int
    sample_rows: int
    advice: list[str]  # the recommendation, in sentences
    chosen: Point | None  # by the limits of the plan; None: none was asked for, or none is within
    notes: list[str]
    seed: int
    finished: bool = True
    version: str = __version__

    @property
    def on_table(self) -> list[Point]:
        """The settings with a release of the whole table, the riskiest first."""
        done = [one for one in self.points if one.on == "table" and one.lost is not None]
        return sorted(done, key=lambda one: (-one.risk(self.by), one.lost or 0.0))

    @property
    def best(self) -> list[Point]:
        """Those of which no other one loses less at no more risk, the riskiest first."""
        points = self.on_table
        return [points[i] for i in undominated([self._place(one) for one in points])]

    @property
    def knee(self) -> Point | None:
        """Where more protection begins to cost much more; None if the loss rises evenly."""
        best = self.best
        found = knee_of([self._place(one) for one in best])
        return None if found is None else best[found]

    def _place(self, point: Point) -> Place:
        assert point.lost is not None
        return Place(point.risk(self.by), point.lost)

    @property
    def holds(self) -> bool:
        """Whether any setting has a release of the whole table."""
        return bool(self.on_table)

    def __repr__(self) -> str:
        lines = [f"Frontier of {len(self.on_table)} settings on {self.rows:,} records"]
        lines += [f"  {sentence}" for sentence in self.advice]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """What a notebook shows: the settings that are worth their loss, and the advice."""
        rows = [
            [one.setting.label, percent(100 * one.risk(self.by)), percent(one.lost or 0.0)]
            for one in self.best
        ]
        heads = ["setting", RISK_WORDS[self.by], f"loss ({self.loss})"]
        facts = [("", sentence) for sentence in self.advice]
        return html_block(f"Loss against risk on {self.rows:,} records", facts, [(heads, rows)])

    def as_dict(self) -> dict[str, Any]:
        """All numbers, by the names of the JSON file."""
        best, knee = self.best, self.knee
        points = [
            one.row() | {"frontier": one in best, "knee": one == knee, "own": self.is_own(one)}
            for one in self.points
        ]
        return {
            "rows": self.rows,
            "sample_rows": self.sample_rows,
            "risk": self.by,
            "loss": self.loss,
            "points": points,
            "own": self.own.label,
            "knee": None if knee is None else knee.setting.label,
            "chosen": None if self.chosen is None else self.chosen.setting.label,
            "advice": self.advice,
            "notes": self.notes,
            "finished": self.finished,
            "seed": self.seed,
            "version": self.version,
        }

    def is_own(self, point: Point) -> bool:
        """Whether a point has the setting of the plan."""
        return point.setting == self.own

    def csv(self) -> str:
        """The settings as the text of a CSV file."""
        rows = self.as_dict()["points"]
        return csv_text(rows, list(dict.fromkeys(name for row in rows for name in row)))

    def plot(self, path: str | Path) -> None:
        """Plot loss against risk to an SVG or PNG file."""
        check_plot(path)
        from shoal.report.frontier_plot import Dot, draw  # loads the plotting library

        best, knee = self.best, self.knee
        dots = [
            Dot(
                one.setting.label,
                100 * one.risk(self.by),
                one.lost,
                one.on == "table",
                one in best,
                one == knee,
                self.is_own(one),
            )
            for one in self.points
            if one.lost is not None
        ]
        drawn = draw(dots, RISK_WORDS[self.by], f"loss ({self.loss})", Path(path).suffix.lower())
        with atomic(path, private=True) as target:
            target.write_bytes(drawn)


class UnfinishedFrontier(KeyboardInterrupt):
    """The runs were interrupted; `frontier` has the finished ones."""

    def __init__(self, frontier: Frontier) -> None:
        super().__init__("the frontier was interrupted")
        self.frontier = frontier
