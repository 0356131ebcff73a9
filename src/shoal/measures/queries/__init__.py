"""Counting queries, and the error of their answers from a release. Internal."""
