"""Analyses of a release next to the same analyses of its original. Internal."""
