"""What the release is still good for: counts, statistics, models. Internal."""
