"""1-k-anonymity."""

from __future__ import annotations

from typing import ClassVar

from shoal.models import LinkageModel


class OneKAnonymity(LinkageModel):
    """Every record of the original is covered by at least k published records (Def. 4, Tassa 2012).

    It protects against somebody who looks for one person and does not know all others; most
    records may still be published as they are.
    """

    name: ClassVar[str] = "1-k-anonymity"
    view: ClassVar[str] = "neighbours"
