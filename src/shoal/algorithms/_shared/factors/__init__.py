"""Releases without classes in which everybody is a member of k rows: k-factors. Internal."""
