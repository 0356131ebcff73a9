"""Decisions about a table in, a plan out: a dialogue in plain words, and plans that are kept."""
