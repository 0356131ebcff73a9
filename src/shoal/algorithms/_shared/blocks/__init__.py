"""Recode a table block by block, so that no value beyond `at_most` is published. Internal."""
