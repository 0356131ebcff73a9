"""Knows nothing about privacy: errors, progress, settings, interrupts, wording. Internal."""
