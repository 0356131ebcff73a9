"""Databases: tables at an address, read and written as Arrow; no judgement. Internal."""
