"""The texts of the studio, one file per language. Internal."""
