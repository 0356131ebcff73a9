"""What is measured of a release, compared with limits and criteria that others set. Internal."""
