"""Attacks: what somebody who has the published table can still find out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from shoal.published import Published
from shoal.settings import Setting


class Attack(Setting):
    """A way to learn about people from a published table."""

    @abstractmethod
    def run(self, published: Published) -> dict[str, Any]:
        """What the attack finds: named numbers, and nothing that names a person."""
