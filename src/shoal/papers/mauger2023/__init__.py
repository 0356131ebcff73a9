"""Mauger, Le Mahec, Dequen 2023: metrics as guides (section 3) and strategies (section 4)."""
