"""Loss against risk: which settings are worth their loss. Internal: `shoal.frontier` is public."""
