"""The studio: a page in the browser, for those who decide. Internal.

A thin room: it shows and edits a plan, and calls the same functions as the command line. State is a
plan and a table, in a private folder. The server holds no table: processes of their own do, so that
it answers while they work.
"""
