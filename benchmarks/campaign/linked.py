"""Models about the graph of original and release, by drawing the graph (Tassa 2012)."""

from __future__ import annotations

from collections import Counter
from math import nan

STATES = 100_000  # of rows that are left, up to which complete assignments are counted


def edges(originals: list[tuple], published: list[tuple], trees: list) -> list[list[int]]:
    """For each original the published rows that cover it."""
    known: dict = {}

    def covers(j: int, label, value) -> bool:
        key = j, label, value
        if key not in known:
            known[key] = trees[j].covers(label, value)
        return known[key]

    return [
        [
            r
            for r, row in enumerate(published)
            if all(covers(j, row[j], value) for j, value in enumerate(original))
        ]
        for original in originals
    ]


def perfect_matching(fits: list[list[int]]) -> dict[int, int] | None:
    """Whose each published row is in one complete assignment; None if there is none."""
    owner: dict[int, int] = {}

    def find(person: int, seen: set[int]) -> bool:
        # Without recursion: paths can be as long as the table.
        stack = [(person, iter(fits[person]))]
        path: list[int] = []
        while stack:
            _, rows = stack[-1]
            for row in rows:
                if row in seen:
                    continue
                seen.add(row)
                path.append(row)
                if row not in owner:
                    for (someone, _), taken in zip(stack, path, strict=True):
                        owner[taken] = someone
                    return True
                stack.append((owner[row], iter(fits[owner[row]])))
                break
            else:
                stack.pop()
                if path:
                    path.pop()
        return False

    for person in range(len(fits)):
        if not find(person, set()):
            return None
    return owner


def matches(fits: list[list[int]], owner: dict[int, int]) -> list[list[int]]:
    """For each original the published rows that are its own in some complete assignment.

    Row r can be i's if the owner of r can be given another row, and so on, until i's own row is
    taken: if i can be reached from the owner of r.
    """
    reach = []
    for start in range(len(fits)):
        seen, todo = {start}, [start]
        while todo:
            for row in fits[todo.pop()]:
                if owner[row] not in seen:
                    seen.add(owner[row])
                    todo.append(owner[row])
        reach.append(seen)
    return [[row for row in rows if i in reach[owner[row]]] for i, rows in enumerate(fits)]


def largest_factor(fits: list[list[int]], most: int) -> int:
    """The largest k for which everybody can have k rows, and every row k people, that fit.

    Rows are given out one by one, along alternating paths, until nobody can have one more.
    """
    n, k = len(fits), 0
    mine: list[set[int]] = [set() for _ in range(n)]
    whose: list[set[int]] = [set() for _ in range(n)]

    def give(person: int, k: int) -> bool:
        came: dict[int, tuple[int, int]] = {}  # a row, from whom, and the row before
        todo = [(person, -1)]
        while todo:
            someone, last = todo.pop()
            for row in fits[someone]:
                if row in came or row in mine[someone]:
                    continue
                came[row] = someone, last
                if len(whose[row]) < k:
                    while row >= 0:
                        taker, before = came[row]
                        mine[taker].add(row)
                        whose[row].add(taker)
                        if before >= 0:
                            mine[taker].remove(before)
                            whose[before].remove(taker)
                        row = before
                    return True
                todo += [(other, row) for other in whose[row]]  # each may have another instead
        return False

    while k < most:
        k += 1
        if not all(give(person, k) for person in range(n)):
            return k - 1
    return k


def assignments(fits: list[list[int]]) -> list[dict[int, float]] | None:
    """For each original the share of complete assignments in which each row is its own.

    Rows that fit the same originals are alike: a state is how many of each kind are left when some
    originals have theirs. None if there are too many states.
    """
    people: dict[int, list[int]] = {}
    for person, rows in enumerate(fits):
        for row in rows:
            people.setdefault(row, []).append(person)
    kinds: dict[tuple, list[int]] = {}
    for row, who in people.items():
        kinds.setdefault(tuple(who), []).append(row)
    rows_of, who_of = list(kinds.values()), [set(who) for who in kinds]
    # Originals with the same rows follow each other, so that few states are between them.
    order = sorted(range(len(fits)), key=lambda person: fits[person])
    forward = [{tuple(map(len, rows_of)): 1}]
    for person in order:
        after: dict[tuple, int] = {}
        for left, ways in forward[-1].items():
            for kind, who in enumerate(who_of):
                if person in who and left[kind]:
                    rest = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
                    after[rest] = after.get(rest, 0) + ways * left[kind]
        if sum(map(len, forward)) + len(after) > STATES:
            return None
        forward.append(after)
    backward = {(0,) * len(rows_of): 1}
    found: list[dict[int, float]] = [{} for _ in fits]
    (whole,) = forward[-1].values()
    for place in range(len(order) - 1, -1, -1):
        person, before = order[place], {}
        each = [0] * len(rows_of)
        for left, ways in forward[place].items():
            total = 0
            for kind, who in enumerate(who_of):
                if person in who and left[kind]:
                    rest = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
                    ends = left[kind] * backward.get(rest, 0)
                    each[kind] += ways * ends
                    total += ends
            before[left] = total
        backward = before
        for kind, count in enumerate(each):
            for row in rows_of[kind] if count else ():
                found[person][row] = count / (whole * len(rows_of[kind]))
    return found


def least_frequency(fits: list[list[int]], cells: list) -> float:
    """1 / the probability of anybody's most likely value; nan if it would take too long."""
    found = assignments(fits)
    if found is None:
        return nan
    highest = 0.0
    for shares in found:
        likely: dict = {}
        for row, share in shares.items():
            likely[cells[row]] = likely.get(cells[row], 0.0) + share
        highest = max(highest, *likely.values())
    return 1 / highest


def linkage_levels(models: list[dict], fits: list[list[int]], values: dict) -> list[float | None]:
    """What each model reached; None where there is no perfect matching; nan: not known."""
    backwards = Counter(row for rows in fits for row in rows)
    forward = min(len(rows) for rows in fits)
    backward = min(backwards[row] for row in range(len(fits)))
    owner = perfect_matching(fits)
    if owner is None:
        return [None] * len(models)
    mine = matches(fits, owner)
    levels: list[float | None] = []
    for model in models:
        cells = values.get(model.get("column"), [])
        seen = [Counter(cells[row] for row in rows) for rows in mine] if cells else []
        match model["name"]:
            case "1-k-anonymity":
                levels.append(forward)
            case "k-1-anonymity":
                levels.append(backward)
            case "k-k-anonymity":
                levels.append(min(forward, backward))
            case "k-concealment":
                levels.append(min(map(len, mine)))
            case "k-belief":
                levels.append(largest_factor(fits, min(forward, backward)))
            case "max-belief":
                levels.append(1 / largest_factor(fits, min(forward, backward)))
            case "distinct-l-diversity" | "p-sensitivity":
                levels.append(min(map(len, seen)))
            case "frequency-l-diversity":
                levels.append(least_frequency(fits, cells))
            case other:
                raise AssertionError(other)
    return levels
