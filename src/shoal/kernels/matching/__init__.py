"""The graph of original and release: expansion for k-concealment, matchings. Internal."""
