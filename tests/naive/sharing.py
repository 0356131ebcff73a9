"""Who shares people, and which records fit each other: every pair is compared."""

from __future__ import annotations

from tests.naive.coverage import covered_rows


def groups(population, vectors):
    """The groups of vectors of labels that share rows of a population, as sets of places."""
    rows = covered_rows(population, vectors)
    found = [{v} for v in range(len(vectors))]
    for a in range(len(vectors)):
        for b in range(a):
            if rows[a] & rows[b]:
                both = next(g for g in found if a in g) | next(g for g in found if b in g)
                found = [one for one in found if not one & both] + [both]
    return sorted(map(sorted, found))


def counts_with_any(rows, weights):
    """For each row the rows that agree with it where both have a value (-1: none), and weights."""
    alike = [
        [j for j, other in enumerate(rows)
         if all(a < 0 or b < 0 or a == b for a, b in zip(one, other, strict=True))]
        for one in rows
    ]  # fmt: skip
    return [len(one) for one in alike], [sum(weights[j] for j in one) for one in alike]
