"""Audit: judges a table that already exists, alone or against its original."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal import catalog
from shoal.attacks import Attack
from shoal.columns import encode
from shoal.errors import BadTable, some
from shoal.frames import Frame, open_frame
from shoal.models import Check, Model
from shoal.plan import Plan
from shoal.published import Published, look_at
from shoal.quality import Quality, measure
from shoal.risks import Risks, risks


@dataclass(frozen=True, eq=False)
class Audit:
    """What a table promises, and what it gives away."""

    rows: int
    people: int
    classes: int
    smallest_class: int
    average_class_size: float
    levels: dict[str, float]
    checks: list[Check]
    risks: Risks
    attacks: dict[str, dict[str, Any]]
    quality: Quality | None  # only against an original

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
        rows=published.rows,
        people=published.crowd,
        classes=len(published.classes),
        smallest_class=published.classes.smallest,
        average_class_size=published.rows / len(published.classes),
        levels={m.key: m.reached(published.classes) for m in plan.models or _standard()},
        checks=checks,
        risks=risks(published),
        attacks=run_attacks(published),
        quality=quality,
    )


def run_attacks(published: Published) -> dict[str, dict[str, Any]]:
    """Run every attack of the catalog."""
    found = {}
    for name, kind in catalog.attacks.items():
        attack = kind()
        assert isinstance(attack, Attack)
        found[name] = attack.run(published)
    return found


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
