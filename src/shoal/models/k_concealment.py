"""k-concealment."""

from __future__ import annotations

from typing import ClassVar

from shoal.models import LinkageModel


class KConcealment(LinkageModel):
    """At least k published records could be each person's, whatever the rest (Def. 6, Tassa 2012).

    A published record could be a person's if some perfect matching of all people and all records
    gives it to that person. Every k-anonymous release keeps it. The k records need not be equally
    likely: see the attack `matching`.
    """

    name: ClassVar[str] = "k-concealment"
    view: ClassVar[str] = "matches"
