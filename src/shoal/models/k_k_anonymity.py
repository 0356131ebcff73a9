"""k-k-anonymity."""

from __future__ import annotations

from typing import ClassVar

from shoal.base.wording import number
from shoal.models import LinkageModel


class KKAnonymity(LinkageModel):
    """Both k-1-anonymity and 1-k-anonymity hold (Def. 4, Tassa 2012).

    An attacker who knows the quasi-identifiers of everyone may still rule out some of the k
    records.
    """

    name: ClassVar[str] = "k-k-anonymity"
    view: ClassVar[str] = "both"

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"Each person fits at least {number(self.k)} published records, and each published "
            f"record fits at least {number(self.k)} people. An attacker who knows everyone's "
            "quasi-identifiers may rule out some."
        )
