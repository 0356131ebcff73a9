"""Class sizes of a sample in, estimates of the population out; no columns, no words.

Internal.
"""
