"""Saving: a release goes to files and databases verified, also one that was kept for later.

Internal: nothing here is a public name.
"""
