"""Sections about a table that is a sample of a population."""
