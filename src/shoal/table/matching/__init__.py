"""Matching a release with its original, record by record."""
