"""Loops over points: numbers and categories with squared distances."""
