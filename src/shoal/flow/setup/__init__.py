"""A dialogue about a table in, a plan out: plain questions, with the evidence for each column."""
