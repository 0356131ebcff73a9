"""The naive twin of delta-presence without a table of the population: anybody may be in the table.

With one it is compared in tests/laws/test_population_models.py.
"""

from math import inf

VARIANTS = [{"high": 1.0}, {"high": 0.5}, {"high": 1.0, "low": 0.2}]


def level(one, high, low=0.0):
    return 1 if low == 0 else inf


def satisfied(one, high, low=0.0):
    return high >= 1 and low == 0
