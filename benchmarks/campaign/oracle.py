"""Every requirement of the catalog, counted in plain Python from published cells.

`level` says what a model reached, `enough` whether that satisfies it. Definitions: docs/models.md
and the papers named there. A missing sensitive value is a value like any other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import combinations
from math import exp, inf, log

from benchmarks.campaign.trees import Tree, same

HAIR = 1e-9  # of rounding, which does not count
LOWER_IS_SAFER = {
    "alpha-k-anonymity", "t-closeness", "beta-likeness", "delta-disclosure",
    "ir-alpha-beta-anonymity", "eir-alpha-beta-anonymity", "average-risk", "share-at-risk",
    "max-belief",
}  # fmt: skip
TABLE_MODELS = ("average-risk", "share-at-risk")  # about all classes together
REQUIRED = {
    "k-anonymity": "k", "distinct-l-diversity": "l", "p-sensitivity": "p",
    "frequency-l-diversity": "l", "entropy-l-diversity": "l", "recursive-cl-diversity": "l",
    "alpha-k-anonymity": "alpha", "t-closeness": "t", "beta-likeness": "beta",
    "delta-disclosure": "delta", "ir-k-anonymity": "k", "ir-kl-anonymity": "l",
    "ir-alpha-beta-anonymity": "beta", "eir-l-diversity": "l", "eir-alpha-beta-anonymity": "beta",
    "1-k-anonymity": "k", "k-1-anonymity": "k", "k-k-anonymity": "k", "k-concealment": "k",
    "k-belief": "k", "max-belief": "rho",
    "average-risk": "r", "share-at-risk": "share",
}  # fmt: skip


@dataclass
class Published:
    """What is published: the class of each row, who it belongs to, and its sensitive values."""

    label: list[tuple]  # the published quasi-identifiers of each row
    persons: list | None  # of each row; None: each row is a person
    values: dict[str, list]  # of each sensitive column
    trees: dict[str, Tree | None]  # hierarchies of the sensitive columns

    def __post_init__(self) -> None:
        self.classes: dict[tuple, list[int]] = {}
        for row, label in enumerate(self.label):
            self.classes.setdefault(label, []).append(row)

    def only(self, rows: list[int]) -> Published:
        """The same of these rows only."""
        return Published(
            [self.label[i] for i in rows],
            None if self.persons is None else [self.persons[i] for i in rows],
            {name: [cells[i] for i in rows] for name, cells in self.values.items()},
            self.trees,
        )


def enough(model: dict, level: float) -> bool:
    """Whether a level satisfies the model."""
    required = model[REQUIRED[model["name"]]]
    slack = HAIR * max(1, abs(required))
    if model["name"] == "delta-disclosure":
        return level < required  # strict; what is equal within rounding is not enough
    if model["name"] in LOWER_IS_SAFER:
        return level <= required + slack
    return level >= required - slack


def level(model: dict, table: Published) -> float:
    """The level of the worst class."""
    levels = class_levels(model, table).values()
    return max(levels) if model["name"] in LOWER_IS_SAFER else min(levels)


def class_levels(model: dict, table: Published) -> dict[tuple, float]:
    """The level of each class."""
    name = model["name"]
    if name in TABLE_MODELS:
        return dict.fromkeys(table.classes, _mean_risk(model, table))
    if name == "k-anonymity":
        return candidates(table)
    if name.startswith(("ir-", "eir-")):
        return {label: _people_level(model, table, rows) for label, rows in table.classes.items()}
    min_candidates = candidates(table) if name == "alpha-k-anonymity" else {}
    by_rows = _levels_of(model, table, min_candidates, _row_counts(model, table))
    if table.persons is None:
        return by_rows
    by_people = _levels_of(model, table, min_candidates, _people_counts(model, table))
    worse = max if name in LOWER_IS_SAFER else min
    return {label: worse(by_rows[label], by_people[label]) for label in by_rows}


def candidates(table: Published) -> dict[tuple, float]:
    """People who are in all classes in which the most exposed person of a class is."""
    found: dict[tuple, float] = {}
    for labels, (_, many) in _kinds_of_people(table).items():
        for label in labels:
            found[label] = min(found.get(label, inf), many)
    return found


def _kinds_of_people(table: Published) -> dict[frozenset, tuple[int, int]]:
    """Per set of classes that somebody is in: how many people, and how many could be each."""
    persons = table.persons or range(len(table.label))
    where: dict = {}
    for label, rows in table.classes.items():
        for row in rows:
            where.setdefault(persons[row], set()).add(label)
    kinds = Counter(frozenset(labels) for labels in where.values())
    if table.persons is None:
        return {labels: (count, count) for labels, count in kinds.items()}
    return {
        labels: (count, sum(many for other, many in kinds.items() if labels <= other))
        for labels, count in kinds.items()
    }


def _mean_risk(model: dict, table: Published) -> float:
    """The mean over people of their risk, or of whether it is above the threshold."""
    people = risk = 0.0
    for count, many in _kinds_of_people(table).values():
        one = 1 / many
        if model["name"] == "share-at-risk":
            one = float(one > model["threshold"] * (1 + HAIR))
        people, risk = people + count, risk + count * one
    return risk / people


@dataclass
class Counts:
    """How often each value occurs in a class, and how many there are to divide by."""

    often: dict[tuple, Counter]
    size: dict[tuple, int]
    total: Counter
    whole: int


def _row_counts(model: dict, table: Published) -> Counts:
    cells = table.values[model["column"]]
    often = {label: Counter(cells[i] for i in rows) for label, rows in table.classes.items()}
    size = {label: len(rows) for label, rows in table.classes.items()}
    return Counts(often, size, Counter(cells), len(cells))


def _people_counts(model: dict, table: Published) -> Counts:
    """Each person counts once for each value that he or she has.

    The share is that of the people who have the value in frequency-l-diversity and
    alpha-k-anonymity, else that of all values that people have.
    """
    cells, persons = table.values[model["column"]], table.persons
    assert persons is not None
    pairs = {label: {(persons[i], cells[i]) for i in rows} for label, rows in table.classes.items()}
    often = {label: Counter(value for _, value in found) for label, found in pairs.items()}
    if model["name"] in ("frequency-l-diversity", "alpha-k-anonymity"):
        size = {label: len({person for person, _ in found}) for label, found in pairs.items()}
    else:
        size = {label: len(found) for label, found in pairs.items()}
    total = sum(often.values(), Counter())
    return Counts(often, size, total, total.total())


def _levels_of(
    model: dict, table: Published, min_candidates: dict, counts: Counts
) -> dict[tuple, float]:
    measure = _Measure(model, table, counts)
    return {
        label: measure(counts.often[label], counts.size[label], min_candidates.get(label, 0))
        for label in counts.often
    }


class _Measure:
    """The level of one class by one model of a sensitive column."""

    def __init__(self, model: dict, table: Published, counts: Counts) -> None:
        self.model, self.counts = model, counts
        self.tree = table.trees.get(model["column"])
        self.ranks = None
        if model.get("distance") == "ordered":
            self.ranks = _ranks(list(counts.total), model.get("order"))

    def __call__(self, often: Counter, size: int, min_candidates: float) -> float:
        model, total, whole = self.model, self.counts.total, self.counts.whole
        shares = {value: count / size for value, count in often.items()}
        overall = {value: count / whole for value, count in total.items()}
        match model["name"]:
            case "distinct-l-diversity" | "p-sensitivity":
                return len(often)
            case "frequency-l-diversity":
                return size / max(often.values())
            case "entropy-l-diversity":
                return exp(-sum(share * log(share) for share in shares.values()))
            case "recursive-cl-diversity":
                most = sorted(often.values(), reverse=True)
                good = [
                    last
                    for last in range(2, len(most) + 1)
                    if most[0] < model["c"] * sum(most[last - 1 :]) * (1 - HAIR)
                ]
                return max(good, default=1)
            case "alpha-k-anonymity":
                return (
                    model["k"] / max(min_candidates, 1)
                    if min_candidates < model["k"]
                    else max(shares.values())
                )
            case "beta-likeness":
                return max(self._gain(shares[value], overall[value]) for value in shares)
            case "delta-disclosure":
                if len(often) < len(total):
                    return inf
                return max(abs(log(shares[value] / overall[value])) for value in shares)
        everything = {value: shares.get(value, 0) - overall[value] for value in total}
        match model.get("distance", "equal"):
            case "equal":
                return sum(map(abs, everything.values())) / 2
            case "l1":
                return sum(map(abs, everything.values()))
            case "ordered":
                return _ordered(everything, self.ranks)
        return _hierarchical(everything, self.tree)

    def _gain(self, share: float, overall: float) -> float:
        gain = (share - overall) / overall
        if gain <= HAIR:
            return 0
        if self.model.get("kind", "basic") == "basic":
            return gain
        beta = self.model["beta"]
        return beta * gain / min(beta, -log(overall))


def _ranks(values: list, order: list | None) -> dict:
    """The place of each value that occurs, the missing one last."""
    known = [value for value in values if value is not None]
    if order is not None:
        places = {same(str(value)): place for place, value in enumerate(order)}
        known.sort(key=lambda value: places[value])
    else:
        try:
            known.sort(key=Decimal)
        except InvalidOperation:
            known.sort(key=date.fromisoformat)
    if None in values:
        known.append(None)
    return {value: place for place, value in enumerate(known)}


def _ordered(difference: dict, ranks: dict) -> float:
    """Earth Mover's Distance on ranks (Li 2007)."""
    if len(ranks) < 2:
        return 0
    carried = work = 0.0
    for value in sorted(difference, key=ranks.__getitem__):
        carried += difference[value]
        work += abs(carried)
    return work / (len(ranks) - 1)


def _hierarchical(difference: dict, tree: Tree) -> float:
    """Earth Mover's Distance on a hierarchy: cost(N) = height(N) / H · min(pos, neg) (Li 2007)."""
    height = max(tree.level(tree.root), 1)
    work = 0.0

    def extra(node) -> float:
        nonlocal work
        below = [extra(child) for child in tree.children.get(node, [])]
        if node in difference:
            below.append(difference[node])
        more = sum(e for e in below if e > 0)
        less = -sum(e for e in below if e < 0)
        work += tree.level(node) / height * min(more, less)
        return more - less

    extra(tree.root)
    return work


def _people_level(model: dict, table: Published, rows: list[int]) -> float:
    """The identity-reserved models (Wang 2018)."""
    persons = table.persons
    assert persons is not None
    people = Counter(persons[i] for i in rows)
    name = model["name"]
    if name == "ir-k-anonymity":
        return len(people)
    cells = table.values[model["column"]]
    has: dict = {}
    for i in rows:
        has.setdefault(persons[i], set()).add(cells[i])
    if name == "ir-kl-anonymity":
        few = len(people) < model["k"]
        return len(people) / model["k"] if few else len({cells[i] for i in rows})
    if name == "eir-l-diversity":
        return _smallest_hitting_set(list(has.values()), model["l"])
    most = max(people.values()) / len(rows)
    if most > model["alpha"] * (1 + HAIR):
        return 1 + most
    if name == "ir-alpha-beta-anonymity":
        return max(Counter(cells[i] for i in rows).values()) / len(rows)
    return max(Counter(value for values in has.values() for value in values).values()) / len(has)


def _smallest_hitting_set(sets: list[set], far: int) -> int:
    """The fewest values of which everybody has one; `far` where there are so many or more."""
    values = set().union(*sets)
    for size in range(1, far):
        if any(all(s & {*chosen} for s in sets) for chosen in combinations(values, size)):
            return size
    return far
