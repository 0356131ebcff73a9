"""The section about criteria that others set, one of them per file. Internal."""
