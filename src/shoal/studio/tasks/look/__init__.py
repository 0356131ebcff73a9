"""Tasks of the page Look, one per file: a release next to its original, row by row."""
