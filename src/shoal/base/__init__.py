"""Knows nothing of privacy: errors, progress, settings, interrupts, wording. Internal."""
