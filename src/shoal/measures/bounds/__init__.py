"""Proven lower bounds on the loss. Internal."""
