"""How one column generalizes. Internal: `shoal.Hierarchy` is public."""
