"""Pages that people look at: facts become tables and plots in one self-contained HTML file.

Internal.
"""
