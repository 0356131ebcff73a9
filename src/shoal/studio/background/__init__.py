"""Work that pages wait for: previews, and tasks that take longer. Internal."""
