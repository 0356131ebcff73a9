"""How files of a release are written: settings, types, and a guard against formulas."""
