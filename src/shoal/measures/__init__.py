"""A published table in, a dataclass out. Internal."""
