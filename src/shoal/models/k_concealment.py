"""k-concealment."""

from __future__ import annotations

from typing import ClassVar

from shoal.base.wording import number
from shoal.models import LinkageModel


class KConcealment(LinkageModel):
    """At least k published records could be each person's, whatever the rest (Def. 6, Tassa 2012).

    A published record could be a person's if some perfect matching of all people and all records
    gives it to that person. Every k-anonymous release satisfies it. The k records need not be
    equally likely: see the attack `matching`.
    """

    name: ClassVar[str] = "k-concealment"
    view: ClassVar[str] = "matches"

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"At least {number(self.k)} published records could be each person's, even for an "
            "attacker who knows the quasi-identifiers of everyone and rules out all that fits into "
            "no complete assignment of people to records."
        )
