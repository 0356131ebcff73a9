"""How much a kernel may do at a time; see `shoal.pace`."""

from shoal.pace import GROWTH, PATIENCE, Pace

__all__ = ["GROWTH", "PATIENCE", "Pace"]
