"""People as points, and clusters of near ones."""
