"""k-belief."""

from __future__ import annotations

from typing import ClassVar

from shoal.base.wording import number
from shoal.models import LinkageModel


class KBelief(LinkageModel):
    """Every published record can be that of k people, each of them with the probability 1/k.

    A k-factor of the graph of original and release exists: k records for each person, k people for
    each record, all of whom fit. If records were drawn such that each pair of it has the
    probability 1/k, as the algorithm `freeform` draws them, no attacker believes with more than 1/k
    that a record is a given person's, even with all originals and the algorithm at hand. Every
    k-anonymous release satisfies it, and it implies k-concealment. The tables show that such a draw
    is possible, and not that it took place.
    """

    name: ClassVar[str] = "k-belief"
    view: ClassVar[str] = "factor"
    needs_draw: ClassVar[bool] = True

    @property
    def min_factor(self) -> int:
        """What the model requires."""
        return self.k

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"{number(self.k)} people fit each published record, and {number(self.k)} records fit "
            f"each person, such that each of these pairs can have the probability 1 / "
            f"{number(self.k)}. If the records were drawn so (by the algorithm freeform), an "
            "attacker who knows the algorithm and the quasi-identifiers of everyone, but nobody's "
            "record, cannot be more certain."
        )
