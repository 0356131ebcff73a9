"""Rows of a table that are no records: units below the names, and totals at the end."""
