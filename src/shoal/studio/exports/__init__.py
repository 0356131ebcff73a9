"""Exports: what is taken away of a run, as files, as tables, and as a command. Internal."""
