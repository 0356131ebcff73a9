"""What the page Look shows, as its address says. Internal."""
