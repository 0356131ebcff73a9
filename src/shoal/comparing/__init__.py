"""Several runs, one table. Internal: `shoal.compare` is public."""
