"""Audit: judges a table that already exists, alone or against its original."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal import catalog
from shoal.columns import encode
from shoal.errors import BadTable, some
from shoal.exposure import Exposure, expose
from shoal.frames import Frame, open_frame
from shoal.models import Check, Model
from shoal.plan import Plan
from shoal.published import look_at
from shoal.quality import Quality, measure
from shoal.risks import Risks


@dataclass(frozen=True, eq=False)
class Audit:
    """What a table promises, and what it gives away."""

    exposure: Exposure
    levels: dict[str, float]
    checks: list[Check]
    quality: Quality | None  # only against an original

    @property
    def rows(self) -> int:
        """Number of records."""
        return self.exposure.rows

    @property
    def people(self) -> int:
        """Number of people."""
        return self.exposure.people

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.exposure.classes

    @property
    def smallest_class(self) -> int:
        """Candidates of the most exposed person: without persons, the smallest class."""
        return self.exposure.smallest_class

    @property
    def average_class_size(self) -> float:
        """Records per class."""
        return self.exposure.average_class_size

    @property
    def risks(self) -> Risks:
        """Chances of re-identification."""
        return self.exposure.risks

    @property
    def attacks(self) -> dict[str, dict[str, Any]]:
        """What each attack finds."""
        return self.exposure.attacks

    @property
    def holds(self) -> bool:
        """Whether every promise of the plan holds."""
        return all(check.holds for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """All numbers of the audit, by the names of the JSON file."""
        numbers: dict[str, Any] = {
            "rows": self.rows,
            "people": self.people,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "average_class_size": self.average_class_size,
            "levels": self.levels,
            "checks": [asdict(check) for check in self.checks],
            "holds": self.holds,
            "risks": self.risks.as_dict(),
            "attacks": self.attacks,
        }
        if self.quality is not None:
            numbers["losses"] = self.quality.losses
            numbers["mean_loss"] = self.quality.mean_loss
            numbers["generalized_percent"] = self.quality.generalized_percent
            numbers["root_percent"] = self.quality.root_percent
        return numbers


def audit(table: Any, plan: Plan, *, original: Any = None) -> Audit:
    """Measure a table as it is, or a release against its original.

    >>> import pyarrow as pa
    >>> plan = Plan(columns={"sex": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    >>> audit(pa.table({"sex": ["f", "f", "m"]}), plan).levels
    {'k-anonymity': 1}
    """
    frame = open_frame(table)
    _check_known(frame, plan)
    published = look_at(frame, plan.columns, plan.missing_values)
    quality = None
    if original is not None:
        before = encode(open_frame(original), plan.columns, plan.missing, plan.missing_values)
        if published.rows > before.rows:
            raise BadTable(
                f"the release has {published.rows} rows, its original only {before.rows}; "
                "they do not belong together"
            )
        quality = measure(before, published, plan.loss)
    checks = [model.check(published.classes) for model in plan.models]
    return Audit(
        exposure=expose(published),
        levels={m.key: m.reached(published.classes) for m in plan.models or _standard()},
        checks=checks,
        quality=quality,
    )


def _standard() -> list[Model]:
    """What is measured when the plan names no model."""
    model = catalog.models.make({"name": "k-anonymity", "k": 2})
    assert isinstance(model, Model)
    return [model]


def _check_known(frame: Frame, plan: Plan) -> None:
    """Complain of columns that the plan does not name: they could be quasi-identifiers."""
    unnamed = [name for name in frame.names if name not in plan.columns]
    if unnamed:
        raise BadTable(
            f"the plan says nothing of the columns {some(unnamed)}; give each a role: "
            "identifier, person, quasi, sensitive or other"
        )
