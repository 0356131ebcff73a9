"""One command per file: parse the options, call the flow, print the result. Internal."""
