"""The sections of the report of a release, one per file. Internal."""
