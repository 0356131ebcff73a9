"""Compiled kernels: where they are stored, and how they are found and loaded again. Internal."""
