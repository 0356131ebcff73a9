"""Indexes and searches: the nearest and the farthest box, the cheapest cell. Internal."""
