"""The graph between originals and published records: k-concealment, perfect matchings. Internal."""
