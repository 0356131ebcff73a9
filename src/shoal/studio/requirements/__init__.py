"""Requirements as forms: options, what can be added, limits, places of mistakes. Internal."""
