"""Kinds of figures besides lines and bars. Internal."""
