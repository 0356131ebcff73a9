"""Lattice peeling: classes of k people, the cheapest cells first. Internal."""
