"""Coded records and how they are grouped; nothing here judges privacy. Internal."""
