"""1-k-anonymity."""

from __future__ import annotations

from typing import ClassVar

from shoal.base.wording import number
from shoal.models import LinkageModel


class OneKAnonymity(LinkageModel):
    """Every record of the original is covered by at least k published records (Def. 4, Tassa 2012).

    It protects against an attacker who looks for one person and does not know all others. Most
    records may still be published unchanged.
    """

    name: ClassVar[str] = "1-k-anonymity"
    view: ClassVar[str] = "neighbours"

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            "An attacker who looks for one person by their quasi-identifiers finds at least "
            f"{number(self.k)} published records that fit."
        )
