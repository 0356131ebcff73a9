"""Indexes and searches: the nearest, the farthest, the cheapest cell. Internal."""
