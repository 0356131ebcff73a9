"""Raw input: text files as lines in UTF-8, the spelling of columns, standard streams. Internal."""
