"""What plans would publish, for programs that show what a change costs, and drafts. Internal."""
