"""Records that are published one by one, each with k possible originals."""
