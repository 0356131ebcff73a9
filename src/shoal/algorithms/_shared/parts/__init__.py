"""Tables cut into parts that are recoded one by one: where to cut, how to recode. Internal."""
