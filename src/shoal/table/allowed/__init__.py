"""Which values of a column may be published. Internal."""
