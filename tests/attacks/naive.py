"""The attacks as they are told, on lists of rows; slow and obvious."""

from __future__ import annotations

from collections import Counter


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
