"""Attempts to change classes at random, of which the good ones are kept. Internal."""
