"""k-k-anonymity."""

from __future__ import annotations

from typing import ClassVar

from shoal.models import LinkageModel


class KKAnonymity(LinkageModel):
    """Both k-1-anonymity and 1-k-anonymity hold (Def. 4, Tassa 2012).

    Whoever knows the quasi-identifiers of everybody may still rule out some of the k records.
    """

    name: ClassVar[str] = "k-k-anonymity"
    view: ClassVar[str] = "both"
