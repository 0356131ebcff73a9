"""The lower bound on the loss: what every release of a table must lose."""

from shoal.measures.bounds.lower_bound import Bound, lower_bound

__all__ = ["Bound", "lower_bound"]
