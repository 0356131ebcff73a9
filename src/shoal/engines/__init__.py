"""Engines: tables larger than memory; groups in, rows out, and no judgement. Internal."""
