"""The columns of a table: what each line of the page shows, and how it changes the plan."""
