"""Facts in, pages out: tables and plots in one self-contained HTML file. Internal."""
