"""A plan in, a Release out. Internal: `shoal.anonymize`, `audit` and `draft` are public."""
