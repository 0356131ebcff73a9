"""What the processes of the studio do, one task per file. Internal.

A task is a function that gets what its process holds, a callback for progress and its arguments,
and returns what can be pickled. Which tasks there are is decided by the folder.
"""
