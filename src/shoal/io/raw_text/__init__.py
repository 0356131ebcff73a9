"""Raw input: text files as lines in UTF-8, spellings, standard streams, wrong names. Internal."""
