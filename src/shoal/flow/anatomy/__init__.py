"""Anatomy: exact quasi-identifiers in one table, sensitive values in another, linked by groups."""
