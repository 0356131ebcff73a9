"""A release in the form of its file, and back."""
