"""Limits on the risks and costs of a release: the table `[limits]` of a plan.

A model says what every class must satisfy, and an algorithm makes it so. A limit is a threshold for
what is measured of the result. No algorithm aims at it: a release beyond a limit is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import Field, field_validator

from shoal import catalog
from shoal.base.errors import brief, did_you_mean
from shoal.base.settings import PositiveShare, Setting, Share
from shoal.models.share_at_risk import ShareAtRisk

Percent = Annotated[float, Field(ge=0, le=100)]


class Preset(NamedTuple):
    """Limits that others published: their values, what they are, and who uses them."""

    values: Mapping[str, float]
    words: str
    source: str


def _cells(size: int, source: str) -> Preset:
    return Preset(
        {"highest_risk": 1 / size},
        f"no group of fewer than {size} people, which is a highest risk of 1 in {size}",
        source,
    )


# The sources are in docs/limits.md.
PRESETS = {
    "public": Preset(
        {"highest_risk": 0.09},
        "a highest risk of 0.09, or 9 %, for a table that everyone may read",
        "the threshold for clinical reports that are published, by the European Medicines Agency "
        "(policy 0070) and by Health Canada (Public Release of Clinical Information)",
    ),
    "non-public": Preset(
        {"highest_risk": 0.2},
        "a highest risk of 0.2, or 20 %, for a table that goes to known recipients by contract",
        "the rule of groups of five, which data custodians have long used (El Emam 2013)",
    ),
    "cells-3": _cells(3, "a rule of some data custodians (El Emam 2013)"),
    "cells-5": _cells(5, "the rule that data custodians have used most (El Emam 2013)"),
    "cells-10": _cells(10, "the threshold of the Office for National Statistics for results"),
    "cells-11": _cells(11, "the rule of the US Centers for Medicare & Medicaid Services"),
    "cells-20": _cells(20, "used for public Canadian and US health data (El Emam 2013)"),
}


class Limits(Setting):
    """Thresholds for what is measured of a release; beyond one of them nothing is published."""

    name: ClassVar[str] = "[limits]"

    preset: str | None = None  # limits that others published; those given here override it
    highest_risk: PositiveShare | None = None  # re-identification risk of the most exposed person
    average_risk: PositiveShare | None = None  # over people
    share_at_risk: ShareAtRisk | None = None  # the share of people with a risk above a threshold
    # By attack, the share of people on whom it may succeed.
    attacks: dict[str, Share] = Field(default_factory=dict)
    loss: Percent | None = None  # in percent, by the loss of the plan
    suppressed: Share | None = None  # of the records

    @field_validator("preset")
    @classmethod
    def _preset(cls, given: str | None) -> str | None:
        if given is not None and given not in PRESETS:
            hint = did_you_mean(given, PRESETS) or f"; there are {', '.join(PRESETS)}"
            raise ValueError(f"has no preset {brief(given)}{hint}")
        return given

    @field_validator("share_at_risk", mode="before")
    @classmethod
    def _share_at_risk(cls, given: Any) -> Any:
        if given is None or isinstance(given, ShareAtRisk):
            return given
        if not isinstance(given, dict):
            raise ValueError(
                "needs share_at_risk = { share = 0.05, threshold = 0.2 }: the share of people who "
                f"may have a risk above the threshold; got {brief(given)}"
            )
        return ShareAtRisk(**given)

    @field_validator("attacks", mode="before")
    @classmethod
    def _attacks(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError(
                "needs attacks = { homogeneity = 0.0 }: by attack, the share of people on whom it "
                f"may succeed; got {brief(given)}"
            )
        for name, share in given.items():
            if name not in catalog.attacks:
                known = list(catalog.attacks)
                hint = did_you_mean(str(name), known) or f"; there are {', '.join(known)}"
                raise ValueError(f"has no attack {brief(name)}{hint}")
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise ValueError(f"needs attacks.{name} from 0 to 1, got {brief(share)}")
        return given

    def limit(self, name: str) -> float | None:
        """The limit of this name; the preset's, unless another one is given.

        >>> Limits(preset="public").limit("highest_risk")
        0.09
        >>> Limits(preset="public", highest_risk=0.05).limit("highest_risk")
        0.05
        """
        given: float | None = getattr(self, name)
        if given is None and self.preset is not None:
            return PRESETS[self.preset].values.get(name)
        return given

    def __bool__(self) -> bool:
        return self != Limits()

    def stated(self) -> dict[str, object]:
        """The settings that differ from their defaults.

        >>> Limits(share_at_risk={"share": 0.05, "threshold": 0.2}, loss=30.0).stated()
        {'share_at_risk': {'share': 0.05, 'threshold': 0.2}, 'loss': 30.0}
        """
        return self.model_dump(exclude_defaults=True)
