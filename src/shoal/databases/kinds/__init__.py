"""One kind of database per file; a new file is all that a new one needs. Internal."""
