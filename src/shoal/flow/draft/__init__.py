"""A table in, a first proposal of a plan out: one file per question about the table."""
