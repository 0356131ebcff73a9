"""The models as their definitions read, on lists of rows."""

from __future__ import annotations


def people_of(rows, people):
    """For every published row the people who have it."""
    found = {}
    for row, who in zip(rows, people, strict=True):
        found.setdefault(tuple(row), set()).add(who)
    return found


def k_anonymity(rows, people=None):
    """How many people the most exposed one cannot be told from."""
    people = list(people) if people is not None else list(range(len(rows)))
    inside = people_of(rows, people)
    rows_of = {}
    for row, who in zip(rows, people, strict=True):
        rows_of.setdefault(who, set()).add(tuple(row))
    return min(len(set.intersection(*(inside[row] for row in mine))) for mine in rows_of.values())


LEVELS = {"k-anonymity": k_anonymity}
EXAMPLES = {"k-anonymity": {"k": 2}}
