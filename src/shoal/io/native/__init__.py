"""Columns of pandas and polars frames. Internal."""
