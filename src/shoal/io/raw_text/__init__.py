"""Raw text: the bytes of a text file as lines in UTF-8, and its header. Internal."""
