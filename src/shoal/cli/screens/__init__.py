"""What the screen shows of results, one kind per file. Internal."""
