"""The naive twin of household-k-anonymity where people are households: as k-anonymity.

Where members are generalized each by itself, it is compared in tests/laws/test_household_models.py.
"""

VARIANTS = [{"k": 2}, {"k": 3}]


def level(one, **_):
    return one.hidden_among


def satisfied(one, k):
    return one.hidden_among >= k
