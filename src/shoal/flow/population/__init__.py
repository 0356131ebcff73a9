"""The population that a plan names: read, coded like the table, and compared with it."""
