"""The command line: parse, call, print. Internal: the command `shoal` is public."""
