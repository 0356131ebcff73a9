"""One hierarchy builder per file; a new file is all that a new one needs. Internal.

The `name` of the class is the key in a plan file, `hierarchy = { name = … }`, and the name of its
constructor, as in `Hierarchy.ranges(…)`. The class describes itself in reports.
"""
