"""Anatomy: what two published tables disclose and lose, from nothing but their content."""
