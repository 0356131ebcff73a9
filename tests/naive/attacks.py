"""The attacks as they are defined, on lists of records; slow and obvious.

The naive twin of a new attack goes into a file of its own, see `twin`.
"""

from __future__ import annotations

import importlib
from collections import Counter
from itertools import combinations


def classes_of(rows, values):
    """For every published row the sensitive values that stand beside it."""
    classes = {}
    for row, value in zip(rows, values, strict=True):
        classes.setdefault(tuple(row), []).append(value)
    return list(classes.values())


def found(classes, succeeds):
    hit = [inside for inside in classes if succeeds(inside)]
    records = sum(map(len, hit))
    return {
        "classes": len(hit),
        "records": records,
        "percent": 100 * records / sum(map(len, classes)),
    }


def homogeneity(rows, values):
    return found(classes_of(rows, values), lambda inside: len(set(inside)) == 1)


def background_knowledge(rows, values):
    classes = classes_of(rows, values)
    needed = {n: found(classes, lambda i, n=n: len(set(i)) - 1 == n)["records"] for n in (0, 1)}
    return {
        **found(classes, lambda inside: len(set(inside)) <= 2),
        "fewest_to_rule_out": min(len(set(inside)) - 1 for inside in classes),
        "records_with_none_to_rule_out": needed[0],
        "records_with_one_to_rule_out": needed[1],
    }


def skewness(rows, values, gain=0.2, belief=0.5):
    classes = classes_of(rows, values)
    table = Counter(values)
    gains = []  # (gain, records of the class, value)

    def succeeds(inside):
        won = False
        for value, times in Counter(inside).items():
            before, after = table[value] / len(values), times / len(inside)
            gains.append((after - before, len(inside), value))
            won |= after - before > gain + 1e-9 and after >= belief - 1e-9
        return won

    result = found(classes, succeeds)
    most = max(g for g, _, _ in gains)
    ties = [(n, v) for g, n, v in gains if g >= most - 1e-9]
    size = max(n for n, _ in ties)
    value = min((v is None, str(v), v) for n, v in ties if n == size)[2]
    before = table[value] / len(values)
    return {
        **result,
        "value": None if value is None else str(value),
        "belief_before": before,
        "belief_after": before + most,
        "gain": most,
        "ratio": (before + most) / before,
        "class_records": size,
    }


def branches(tree, values):
    """All nodes that cover all of the values."""
    nodes = [tree.node(value) for value in values]
    return {v for v in range(tree.size) if all(tree.covers(v, n) for n in nodes)}


def one_branch(rows, values, tree):
    """`tree` has a leaf for missing values."""
    top = branches(tree, {value for value in values if value is not None})

    def succeeds(inside):
        return len(set(inside)) > 1 and bool(branches(tree, set(inside)) - top)

    return found(classes_of(rows, values), succeeds)


def narrow_range(rows, values, narrow=0.3):
    known = sorted({value for value in values if value is not None})

    def succeeds(inside):
        if None in inside or len(set(inside)) == 1:
            return False
        low, high = min(inside), max(inside)
        by_rank = (known.index(high) - known.index(low)) / (len(known) - 1)
        by_size = (high - low) / (known[-1] - known[0])
        return max(by_rank, by_size) <= narrow + 1e-9

    return found(classes_of(rows, values), succeeds)


# The same with persons: records are (published row, person, value).


def joined(lists):
    return [value for one in lists for value in one]


def people_of(records):
    """For every published row its people, each with a list of values."""
    classes = {}
    for row, who, value in records:
        classes.setdefault(tuple(row), {}).setdefault(who, []).append(value)
    return list(classes.values())


def found_twice(records, by_rows, by_people):
    """What is found in classes as `found` has them; `by_people` sees lists of values of people."""
    classes = people_of(records)
    rows, people = [], []
    for inside in classes:
        if by_rows([value for values in inside.values() for value in values]):
            rows.append(inside)
        if by_people(list(inside.values())):
            people.append(inside)
    hit = [inside for inside in classes if inside in rows or inside in people]
    in_them = {who for inside in hit for who in inside}
    everybody = {who for _, who, _ in records}
    many = sum(len(values) for inside in hit for values in inside.values())
    return {
        "classes": len(hit),
        "records": many,
        "percent": 100 * many / len(records),
        "people": len(in_them),
        "people_percent": 100 * len(in_them) / len(everybody),
        "classes_by_rows": len(rows),
        "classes_by_people": len(people),
    }


def people_homogeneity(records):
    return found_twice(
        records,
        lambda values: len(set(values)) == 1,
        lambda people: any(all(v in one for one in people) for v in joined(people)),
    )


def to_rule_out(people):
    """The fewest values to rule out such that all who are left, and somebody is, share a value."""
    known = list(dict.fromkeys(joined(people)))
    for many in range(len(known)):
        for gone in combinations(known, many):
            left = [one for one in people if not any(value in gone for value in one)]
            if left and any(all(value in one for one in left) for value in known):
                return many
    raise AssertionError("whoever is left alone shares all values with all who are left")


def people_background_knowledge(records, knows=1):
    needed = [
        (
            min(to_rule_out(list(inside.values())), len(set(joined(inside.values()))) - 1),
            sum(map(len, inside.values())),
        )
        for inside in people_of(records)
    ]
    return {
        **found_twice(
            records,
            lambda values: len(set(values)) - 1 <= knows,
            lambda people: to_rule_out(people) <= knows,
        ),
        "fewest_to_rule_out": min(n for n, _ in needed),
        "records_with_none_to_rule_out": sum(many for n, many in needed if n == 0),
        "records_with_one_to_rule_out": sum(many for n, many in needed if n == 1),
    }


def people_skewness(records, gain=0.2, belief=0.5):
    table = [value for _, _, value in records]
    everybody = {}
    for _, who, value in records:
        everybody.setdefault(who, []).append(value)
    beliefs = []  # (counted by, value, before, after, size, records, people)

    def by_rows(value, inside):
        values = [v for one in inside.values() for v in one]
        return table.count(value) / len(table), values.count(value) / len(values), len(values)

    def by_people(value, inside):
        had = sum(value in one for one in everybody.values()) / len(everybody)
        return had, sum(value in one for one in inside.values()) / len(inside), len(inside)

    for inside in people_of(records):
        many = sum(map(len, inside.values()))
        for value in set(joined(inside.values())):
            for name, count in (("rows", by_rows), ("people", by_people)):
                beliefs.append((name, value, *count(value, inside), many, len(inside)))

    def won(before, after):
        return after - before > gain + 1e-9 and after >= belief - 1e-9

    def most_of(name):
        mine = [one for one in beliefs if one[0] == name]
        most = max(one[3] - one[2] for one in mine)
        ties = [one for one in mine if one[3] - one[2] >= most - 1e-9]
        size = max(one[4] for one in ties)
        return min(
            (one for one in ties if one[4] == size), key=lambda one: (one[1] is None, str(one[1]))
        )

    rows, people = most_of("rows"), most_of("people")
    largest = people if people[3] - people[2] >= rows[3] - rows[2] - 1e-9 else rows
    counted, value, before, after, *_ = largest
    inside = [one for one in beliefs if one[:2] == (counted, value) and one[4] == largest[4]]
    ends = max((one[5], one[6]) for one in inside if abs(one[3] - after) < 1e-9)
    return {
        **found_twice(
            records,
            lambda values: any(
                won(table.count(v) / len(table), values.count(v) / len(values)) for v in values
            ),
            lambda inside: any(
                won(
                    sum(v in one for one in everybody.values()) / len(everybody),
                    sum(v in one for one in inside) / len(inside),
                )
                for v in joined(inside)
            ),
        ),
        "value": None if value is None else str(value),
        "counted_by": counted,
        "belief_before": before,
        "belief_after": after,
        "gain": after - before,
        "ratio": after / before,
        "class_records": ends[0],
        "class_people": ends[1],
    }


def people_one_branch(records, tree):
    """`tree` has a leaf for missing values."""
    values = [value for _, _, value in records]
    top = branches(tree, {value for value in values if value is not None})
    everybody = {}
    for _, who, value in records:
        everybody.setdefault(who, []).append(value)

    def below(values):
        """Nodes under the one that holds all known values, above some of these."""
        lowest = max(top)
        return {
            v
            for value in values
            for v in branches(tree, [value])
            if v != lowest and tree.covers(lowest, v)
        }

    common = set.intersection(*(below(one) for one in everybody.values()))

    def by_people(people):
        same = any(all(v in one for one in people) for v in joined(people))
        return not same and bool(set.intersection(*(below(one) for one in people)) - common)

    def by_rows(values):
        return len(set(values)) > 1 and bool(branches(tree, set(values)) - top)

    return found_twice(records, by_rows, by_people)


def linkage(rows, values):
    candidates = [rows.count(row) for row in rows]
    unique = candidates.count(1)
    return {
        "fewest_candidates": min(candidates),
        "mean_candidates": sum(candidates) / len(rows),
        "singled_out": unique,
        "singled_out_percent": 100 * unique / len(rows),
    }


def similarity(rows, values):
    """Without a hierarchy, values are judged as numbers."""
    numbers = [None if value is None else float(value) for value in values]
    return {} if set(values) == {None} else narrow_range(rows, numbers, 0.3)


TWINS = {
    "homogeneity": homogeneity,
    "background-knowledge": background_knowledge,
    "skewness": skewness,
    "similarity": similarity,
    "linkage": linkage,
}
# Those that need the original are compared with their twins in tests/attacks.
ELSEWHERE = {"graph", "matching", "interval-disclosure"}


def twin(name):
    """The function that finds the same as an attack: (rows, values) -> findings."""
    if name in TWINS:
        return TWINS[name]
    file = f"attack_{name.replace('-', '_')}"
    try:
        return importlib.import_module(f"tests.naive.{file}").find
    except (ModuleNotFoundError, AttributeError):
        raise AssertionError(
            f"the attack {name!r} has no naive twin: write tests/naive/{file}.py with a function "
            "find(rows, values) that returns the findings of the attack as a dictionary, straight "
            "from its definition; rows are the published quasi-identifiers as tuples, values the "
            "sensitive values"
        ) from None
