"""Risks of a table that is a sample of a population, and of sets of few columns."""
