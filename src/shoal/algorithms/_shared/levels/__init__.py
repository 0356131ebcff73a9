"""One level per column for the whole table: what a combination of levels is worth. Internal."""
