"""The pages of the studio, one per file, each with its routes. Internal."""
