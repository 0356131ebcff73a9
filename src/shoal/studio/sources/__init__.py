"""Where tables come from: files that are dropped or chosen, databases, and an invented one."""
