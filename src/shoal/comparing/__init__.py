"""Runs several algorithms on one table. Internal: `shoal.compare` is public."""
