"""Distances between the sensitive values of a class and those of the whole table."""

from shoal.models._distances import equal, hierarchical, kl, l1, ordered

__all__ = ["equal", "hierarchical", "kl", "l1", "ordered"]
