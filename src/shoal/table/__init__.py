"""Coded records and their groupings; no judgement. Internal."""
