"""Types of columns, and their values. Internal."""
