"""The report of an anatomy: measures in, a page out."""
