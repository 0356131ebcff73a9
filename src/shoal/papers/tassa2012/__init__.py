"""Tassa, Mazza, Gionis 2012: k-concealment against k-anonymity (figures 5 to 10)."""
