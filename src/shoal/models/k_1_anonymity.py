"""k-1-anonymity."""

from __future__ import annotations

from typing import ClassVar

from shoal.base.wording import number
from shoal.models import LinkageModel


class K1Anonymity(LinkageModel):
    """Every published record covers at least k records of the original (Def. 4, Tassa 2012).

    Also known as k-ambiguity. It protects against an attacker who starts from a published record.
    A person may still be covered by one record only.
    """

    name: ClassVar[str] = "k-1-anonymity"
    view: ClassVar[str] = "preimages"

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"An attacker who starts from a published record finds at least {number(self.k)} "
            "people of the original whom it fits."
        )
