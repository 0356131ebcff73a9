"""Steps that form, merge, split and repair classes. Internal."""
