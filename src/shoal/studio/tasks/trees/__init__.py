"""Tasks about the hierarchy of a column, one per file, in the process that has the table."""
