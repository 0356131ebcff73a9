"""A published table by class size, by precision of its values, by sensitive value. Internal."""
