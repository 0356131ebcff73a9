"""The recoding of one release, applied to other tables. Internal: `shoal.Fitted` is public."""
