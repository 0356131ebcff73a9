"""Several runs side by side: what `shoal.compare` returns, or raises when it is interrupted."""

from shoal.comparing.comparison import Comparison, Unfinished

__all__ = ["Comparison", "Unfinished"]
