"""Tasks about what is taken away of a run: files, tables of databases, the report. Internal."""
