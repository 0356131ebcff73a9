"""k-1-anonymity."""

from __future__ import annotations

from typing import ClassVar

from shoal.models import LinkageModel


class K1Anonymity(LinkageModel):
    """Every published record covers at least k records of the original (Def. 4, Tassa 2012).

    Known as k-ambiguity too. It protects against somebody who starts from a published record; a
    person may still be covered by one record only.
    """

    name: ClassVar[str] = "k-1-anonymity"
    view: ClassVar[str] = "preimages"
