"""The models as their definitions read, on lists of rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from math import exp, inf, isclose, log
from pathlib import Path

from shoal.populations.class_sizes import ClassSizes
from shoal.populations.uniqueness import population_uniqueness


def people_of(rows, people):
    """For every published row the people who have it."""
    found = {}
    for row, who in zip(rows, people, strict=True):
        found.setdefault(tuple(row), set()).add(who)
    return found


def candidates(rows, people=None):
    """For every person, how many people look the same, the person included."""
    people = list(people) if people is not None else list(range(len(rows)))
    inside = people_of(rows, people)
    rows_of = {}
    for row, who in zip(rows, people, strict=True):
        rows_of.setdefault(who, set()).add(tuple(row))
    return {
        who: len(set.intersection(*(inside[row] for row in mine))) for who, mine in rows_of.items()
    }


def k_anonymity(rows, people=None):
    """How many people look the same as the most exposed one."""
    return min(candidates(rows, people).values())


@dataclass
class OneClass:
    """A class: its sensitive values and those of the table, each as a plain list."""

    mine: list
    table: list
    hidden_among: int  # candidates of its most exposed person
    parents: dict = field(default_factory=dict)  # of the sensitive hierarchy; a root has none
    order: list = field(default_factory=list)  # the values from low to high; None comes last
    by_people: list = field(default_factory=list)  # each value once per person, if there are people
    table_by_people: list = field(default_factory=list)
    people: int = 0  # of the class, and of the table: only where shares are those of people
    all_people: int = 0

    def p(self, value):
        return Fraction(self.mine.count(value), self.people or len(self.mine))

    def q(self, value):
        return Fraction(self.table.count(value), self.all_people or len(self.table))

    def readings(self, name, whose):
        """The class by its rows, and by its people where there are some."""
        yield self
        if self.by_people:
            both = {"mine": self.by_people, "table": self.table_by_people}
            counts = {"people": whose[0], "all_people": whose[1]} if name in OF_PEOPLE else {}
            yield replace(self, **both, **counts)

    def shares(self):
        """P and Q of every value of the table."""
        return {value: (self.p(value), self.q(value)) for value in set(self.table)}


def split(rows, people, values, parents=None, order=None):
    """The classes of a table, in the order in which they first appear."""
    several = people is not None
    people = list(people) if people is not None else list(range(len(rows)))
    exposed = candidates(rows, people)
    at = {}
    for i, row in enumerate(rows):
        at.setdefault(tuple(row), []).append(i)

    def by_people(inside):
        return [value for _, value in {(people[i], values[i]) for i in inside}]

    return [
        OneClass(
            [values[i] for i in inside],
            list(values),
            min(exposed[people[i]] for i in inside),
            parents or {},
            order or [],
            by_people(inside) if several else [],
            by_people(range(len(rows))) if several else [],
        )
        for inside in at.values()
    ]


def heads(rows, people):
    """The number of people of each class, and of the table."""
    found = people_of(rows, people)
    return [len(who) for who in found.values()], len(set(people))


# Models about the share of the people who have a value.
OF_PEOPLE = {"frequency-l-diversity", "alpha-k-anonymity"}


# Distances


def equal(one):
    return sum(abs(p - q) for p, q in one.shares().values()) / 2


def l1(one):
    return sum(abs(p - q) for p, q in one.shares().values())


def kl(one):
    return sum(float(p) * log(p / q) for p, q in one.shares().values() if p > 0)


def ordered(one):
    shares = one.shares()
    known = [value for value in one.order if value in shares and value is not None]
    line = known + ([None] if None in shares else [])
    gaps = [sum(p - q for p, q in (shares[v] for v in line[: i + 1])) for i in range(len(line))]
    return sum(map(abs, gaps)) / (len(line) - 1) if len(line) > 1 else 0


def above(one, value):
    """The value and all that is above it; a missing value hangs under the root."""
    if value is None:
        roots = set(one.parents.values()) - set(one.parents)
        return [None, *roots]
    way = [value]
    while way[-1] in one.parents:
        way.append(one.parents[way[-1]])
    return way


def height(one, node):
    """Edges on the longest way down."""
    below = [child for child, parent in one.parents.items() if parent == node]
    return 1 + max(height(one, child) for child in below) if below else 0


def ground(one, a, b):
    """The hierarchical distance of two values."""
    if a == b:
        return Fraction(0)
    root = above(one, a)[-1]
    if root is None or root not in one.parents.values():  # a tree that is nothing but a root
        return Fraction(1)
    meet = next(node for node in above(one, a) if node in above(one, b))
    return Fraction(height(one, meet), height(one, root))


def hierarchical(one):
    """Moves what is too much to where it is too little, always over the shortest way left.

    The distance is an ultrametric, for which this greedy way is best.
    """
    left = {value: p - q for value, (p, q) in one.shares().items()}
    work = 0
    for a, b in sorted(combinations(left, 2), key=lambda pair: ground(one, *pair)):
        if left[a] * left[b] < 0:
            moved = min(abs(left[a]), abs(left[b]))
            work += moved * ground(one, a, b)
            left[a] -= moved if left[a] > 0 else -moved
            left[b] -= moved if left[b] > 0 else -moved
    return work


DISTANCES = {"equal": equal, "l1": l1, "ordered": ordered, "hierarchical": hierarchical}


# Levels of a class


def distinct(one, **_):
    return len(set(one.mine))


def entropy(one, **_):
    return exp(-sum(one.p(v) * log(one.p(v)) for v in set(one.mine)))


def frequency(one, **_):
    return 1 / max(one.p(v) for v in one.mine)


def recursive(one, c, **_):
    r = sorted(Counter(one.mine).values(), reverse=True)
    c = Fraction(str(c))
    return max([1, *(i for i in range(2, len(r) + 1) if r[0] < c * sum(r[i - 1 :]))])


def alpha_k(one, alpha, k, **_):
    if one.hidden_among < k:
        return k / one.hidden_among
    return max(one.p(v) for v in one.mine)


def t_closeness(one, distance="equal", **_):
    return DISTANCES[distance](one)


def gains(one):
    """The relative gain of each value that is more frequent than in the table, with its q."""
    return [((p - q) / q, q) for p, q in one.shares().values() if p > q]


def beta(one, beta, kind="basic", **_):
    most = 0
    for gain, q in gains(one):
        bound = beta if kind == "basic" else min(beta, -log(q))
        most = max(most, beta * gain / bound)
    return most


def delta(one, **_):
    return max(abs(log(p / q)) if p > 0 else inf for p, q in one.shares().values())


LEVELS = {
    "k-anonymity": lambda one, **_: one.hidden_among,
    "distinct-l-diversity": distinct,
    "entropy-l-diversity": entropy,
    "frequency-l-diversity": frequency,
    "recursive-cl-diversity": recursive,
    "p-sensitivity": distinct,
    "alpha-k-anonymity": alpha_k,
    "t-closeness": t_closeness,
    "beta-likeness": beta,
    "delta-disclosure": delta,
}


# Whether a class satisfies the model


def at_most(a, b):
    return a <= b or isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def satisfies_recursive(one, c, l, **_):  # noqa: E741
    r = sorted(Counter(one.mine).values(), reverse=True)
    return r[0] < Fraction(str(c)) * sum(r[l - 1 :])


def satisfies_alpha_k(one, alpha, k, **_):
    return one.hidden_among >= k and all(at_most(one.p(v), alpha) for v in one.mine)


def satisfies_beta(one, beta, kind="basic", **_):
    if kind == "basic":
        return all(at_most(gain, beta) for gain, _ in gains(one))
    return all(at_most(gain, min(beta, -log(q))) for gain, q in gains(one))


def satisfies_delta(one, delta, **_):
    return set(one.mine) == set(one.table) and all(
        abs(log(p / q)) < delta and not isclose(abs(log(p / q)), delta, rel_tol=1e-9)
        for p, q in one.shares().values()
    )


SATISFIED = {
    "k-anonymity": lambda one, k: one.hidden_among >= k,
    "distinct-l-diversity": lambda one, l, **_: len(set(one.mine)) >= l,  # noqa: E741
    "entropy-l-diversity": lambda one, l, **_: at_most(  # noqa: E741
        log(l), -sum(one.p(v) * log(one.p(v)) for v in set(one.mine))
    ),
    "frequency-l-diversity": lambda one, l, **_: all(  # noqa: E741
        at_most(one.p(v), 1 / l) for v in one.mine
    ),
    "recursive-cl-diversity": satisfies_recursive,
    "p-sensitivity": lambda one, p, **_: len(set(one.mine)) >= p,
    "alpha-k-anonymity": satisfies_alpha_k,
    "t-closeness": lambda one, t, **options: at_most(t_closeness(one, **options), t),
    "beta-likeness": satisfies_beta,
    "delta-disclosure": satisfies_delta,
}

# The first options of each model are the common ones.
VARIANTS = {
    "k-anonymity": [{"k": 2}],
    "distinct-l-diversity": [{"column": "s", "l": 2}, {"column": "s", "l": 3}],
    "entropy-l-diversity": [{"column": "s", "l": 2}, {"column": "s", "l": 1.5}],
    "frequency-l-diversity": [{"column": "s", "l": 2}, {"column": "s", "l": 1.5}],
    "recursive-cl-diversity": [
        {"column": "s", "c": 1.0, "l": 2},
        {"column": "s", "c": 0.5, "l": 2},
        {"column": "s", "c": 3, "l": 3},
    ],
    "p-sensitivity": [{"column": "s", "p": 2}],
    "alpha-k-anonymity": [
        {"column": "s", "alpha": 0.5, "k": 2},
        {"column": "s", "alpha": 1.0, "k": 3},
    ],
    "t-closeness": [
        {"column": "s", "t": 0.5},
        {"column": "s", "t": 1.0, "distance": "l1"},
        {"column": "s", "t": 0.25, "distance": "ordered"},
        {"column": "s", "t": 0.25, "distance": "hierarchical"},
    ],
    "beta-likeness": [
        {"column": "s", "beta": 1.0},
        {"column": "s", "beta": 1.0, "kind": "enhanced"},
        {"column": "s", "beta": 0.25, "kind": "enhanced"},
    ],
    "delta-disclosure": [{"column": "s", "delta": log(2)}, {"column": "s", "delta": 1.0}],
}

# A new model has its twin in a file of its own, `model_<name>.py`; see CONTRIBUTING.md.
for path in sorted(Path(__file__).parent.glob("model_*.py")):
    twin = import_module(f"tests.naive.{path.stem}")
    name = path.stem.removeprefix("model_").replace("_", "-")
    LEVELS[name], SATISFIED[name], VARIANTS[name] = twin.level, twin.satisfied, twin.VARIANTS
    if getattr(twin, "OF_PEOPLE", False):  # as `of_people` of the model
        OF_PEOPLE.add(name)

# Models about the whole table: their level, from the candidates of each person as a plain list


def at_risk(one, threshold):
    return not at_most(Fraction(1, one), threshold)


def strict_average_risk(each, k, **_):
    return inf if min(each) < k else sum(Fraction(1, one) for one in each) / len(each)


def estimated_uniqueness(each, sampling_fraction, **_):
    """From the size of every class; the estimators have twins of their own (naive.populations)."""
    sizes = [size for size, many in Counter(each).items() for _ in range(-(-many // size))]
    if 1 not in sizes:
        return 0
    return population_uniqueness(ClassSizes.of(sizes), sampling_fraction).uniqueness


TABLE_LEVELS = {
    "population-uniqueness": estimated_uniqueness,
    "strict-average-risk": strict_average_risk,
    "average-risk": lambda each, **_: sum(Fraction(1, one) for one in each) / len(each),
    "share-at-risk": lambda each, threshold, **_: Fraction(
        sum(at_risk(one, threshold) for one in each), len(each)
    ),
}
TABLE_VARIANTS = {
    "population-uniqueness": [
        {"u": 0.2, "sampling_fraction": 1.0},
        {"u": 0.1, "sampling_fraction": 0.4},
        {"u": 0.0, "sampling_fraction": 0.1},
    ],
    "strict-average-risk": [{"r": 0.4, "k": 2}, {"r": 1.0, "k": 3}, {"r": 0.2, "k": 2}],
    "average-risk": [{"r": 0.5}, {"r": 1 / 3}, {"r": 0.4}, {"r": 0.15}],
    "share-at-risk": [
        {"share": 0.25, "threshold": 0.5},
        {"share": 0.0, "threshold": 1 / 3},
        {"share": 0.5, "threshold": 0.34},
    ],
}
