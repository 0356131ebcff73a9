"""The population that a table is a sample of: how many of its people published values cover."""
