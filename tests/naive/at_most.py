"""`at_most` as its definition reads, on labels alone: what is above a value, and how far.

A column is one of the kinds below. `chain` writes down what may be published of a value, from the
value itself up to the root.
"""

from __future__ import annotations

from calendar import monthrange
from collections import Counter

JOBS = {  # unbalanced: what is above each
    "nurse": ["health", "services", "*"],
    "doctor": ["health", "services", "*"],
    "cook": ["services", "*"],
    "baker": ["trade", "*"],
    "smith": ["trade", "*"],
    "pope": ["*"],
}
HIERARCHIES = {
    "age": {"ranges": [5, 10, 20]},
    "stay": {"borders": [[1, 4, 10, 30], [4, 30]]},
    "zip": {"prefixes": True},
    "day": {"dates": ["month", "quarter", "year"]},
    "job": {"levels": [[job, *above] for job, above in JOBS.items()]},
    "sex": None,
}


def chain(column, value):
    """What may be published of a value, the least general first."""
    if column == "age":
        ranges = [(value // width * width, width) for width in (5, 10, 20)]
        return [str(value), *(f"[{low}, {low + width})" for low, width in ranges), "*"]
    if column == "stay":
        fine = ["<1", "[1, 4)", "[4, 10)", "[10, 30)", ">=30"][
            sum(value >= b for b in (1, 4, 10, 30))
        ]
        coarse = ["<4", "[4, 30)", ">=30"][sum(value >= b for b in (4, 30))]
        return [str(value), *dict.fromkeys([fine, coarse]), "*"]
    if column == "zip":
        return [value[:kept] + "*" * (5 - kept) for kept in (5, 4, 3, 2, 1)] + ["*"]
    if column == "day":
        year, month = value[:4], int(value[5:7])
        return [value, value[:7], f"{year}-Q{(month + 2) // 3}", year, "*"]
    if column == "job":
        return [value, *JOBS[value]]
    return [value, "*"]


def width(column, label):
    """How wide a published value is: in years, in days, or in jobs; None: without bounds."""
    if column in ("age", "stay"):
        if label[0] in "*<>":
            return None
        ends = [int(end) for end in label.strip("[)").split(", ")]
        return ends[-1] - ends[0]
    if column == "job":
        return sum(label in chain("job", job) for job in JOBS)
    assert column == "day"
    if label == "*":
        return None
    year = int(label[:4])
    if len(label) == 4:
        return 366 if monthrange(year, 2)[1] == 29 else 365
    if "Q" in label:
        quarter = int(label[-1])
        return sum(monthrange(year, 3 * quarter - i)[1] for i in range(3))
    return 1 if len(label) == 10 else monthrange(year, int(label[5:7]))[1]


def level(column, label, values):
    """How many steps a published value is above the values of the column, by the longest way."""
    values = {"job": JOBS, "stay": range(100)}.get(column, values)
    chains = [chain(column, value) for value in values]
    return max(one.index(label) for one in chains if label in one)


def allowed(column, at_most, label, values):
    """Whether a value may be published."""
    if at_most is None:
        return True
    if at_most == "exact":
        return any(chain(column, value)[0] == label for value in values)
    if "level" in at_most:
        return level(column, label, values) <= at_most["level"]
    wide = width(column, label)
    return wide is not None and wide <= at_most["width"]


def top(column, at_most, value, values):
    """The most general value that may be published of a value."""
    return [one for one in chain(column, value) if allowed(column, at_most, one, values)][-1]


def fewest_suppressed(rows, limits, k):
    """How many records have fewer than k that may be published with the same values."""
    values = {column: {row[column] for row in rows} for column in limits}
    tops = [
        tuple(top(column, limit, row[column], values[column]) for column, limit in limits.items())
        for row in rows
    ]
    return sum(many for many in Counter(tops).values() if many < k)
