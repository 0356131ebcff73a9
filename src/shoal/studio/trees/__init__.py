"""The page of a hierarchy: what its address and its forms mean. Internal."""
