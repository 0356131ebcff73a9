"""Whether a release satisfies a requirement: each model by its naive twin, on plain lists."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shoal import catalog
from shoal.models import TableModel
from shoal.table.recoding import SUPPRESSED
from tests.naive import hitting
from tests.naive.coverage import covered_people, k_map_level, presence_level
from tests.naive.models import (
    SATISFIED,
    TABLE_LEVELS,
    TABLE_VARIANTS,
    VARIANTS,
    at_most,
    candidates,
    heads,
    split,
)

PEOPLE_VARIANTS = {
    "ir-k-anonymity": [{"k": 2}, {"k": 3}],
    "ir-kl-anonymity": [{"column": "s", "k": 2, "l": 2}, {"column": "s", "k": 3, "l": 2}],
    "ir-alpha-beta-anonymity": [
        {"column": "s", "alpha": 0.5, "beta": 0.7},
        {"column": "s", "alpha": 0.4, "beta": 0.9},
    ],
    "eir-l-diversity": [{"column": "s", "l": 2}, {"column": "s", "l": 3}],
    "eir-alpha-beta-anonymity": [
        {"column": "s", "alpha": 0.5, "beta": 0.7},
        {"column": "s", "alpha": 0.9, "beta": 0.5},
    ],
}
# Every model that judges classes, with several settings.
ALL_VARIANTS = VARIANTS | TABLE_VARIANTS | PEOPLE_VARIANTS
EVERY = [catalog.models[name](**one) for name, each in ALL_VARIANTS.items() for one in each]
ABOUT_TABLE = [model for model in EVERY if isinstance(model, TableModel)]


@dataclass
class Release:
    """The published records: their labels, and what an algorithm knows of each."""

    rows: list
    people: list | None
    values: list  # of the sensitive column "s"
    parents: dict = field(default_factory=dict)  # of its hierarchy
    order: list = field(default_factory=list)  # its labels from low to high
    homes: list | None = None
    population: object = None  # a table of everybody
    incomplete: bool = False

    @staticmethod
    def of(table, recoding):
        """What a reader of the release sees."""
        known = [
            recoding.covers[j].labels() if recoding.covers else tree.labels
            for j, tree in enumerate(table.trees)
        ]
        codes = recoding.codes().tolist()
        kept = np.flatnonzero(recoding.record != SUPPRESSED).tolist()
        rows = [[known[j][code] for j, code in enumerate(codes[i])] for i in kept]
        return Release.with_rows(table, kept, rows)

    @staticmethod
    def as_one_class(table):
        """All records with the most general values."""
        return Release.with_rows(
            table, range(table.rows), [[tree.labels[0] for tree in table.trees]] * table.rows
        )

    @staticmethod
    def with_rows(table, kept, rows):
        """The release of these records of a table, with these labels."""
        secret = {column.name: column for column in table.sensitive}
        values, parents, order = [None] * table.rows, {}, []
        if "s" in secret:
            values = [secret["s"].values[code] for code in secret["s"].codes]
            tree = secret["s"].hierarchy.tree()
            parents = {tree.labels[v]: tree.labels[tree.parent[v]] for v in range(1, tree.size)}
            order = list(tree.labels)
        homes = secret["home"].codes.tolist() if "home" in secret else None
        people = None if table.people is None else table.people.tolist()
        everybody = None if table.population is None else table.population.table
        return Release(
            [tuple(row) for row in rows],
            None if people is None else [people[i] for i in kept],
            [values[i] for i in kept],
            parents,
            order,
            None if homes is None else [homes[i] for i in kept],
            everybody,
            everybody is not None and table.population.incomplete,
        )


def combined(algorithm, table, asked, also, reachable=True):
    """The models that are asked for, and of the others those that go with them.

    These are what the algorithm supports, what the table has the columns and the population for,
    and, with `reachable`, what the whole table as one class satisfies.
    """
    whole = Release.as_one_class(table)
    names = [model.name for model in asked]
    homes = any(column.is_household for column in table.sensitive)
    found = [
        model
        for model in also
        if model.name not in names
        and algorithm.serves(model)
        and (table.people is not None or not model.needs_person_column)
        and (homes or not model.needs_household_column)
        and (table.population is not None or not model.needs_population)
        and (not reachable or satisfies(whole, model))
    ]
    return [*found, *asked]


def satisfies(release, model):
    """Whether the release satisfies the model."""
    options = {key: value for key, value in model.options().items() if value is not None}
    if model.needs_population and release.population is not None:
        return model.holds(population_level(release, model))
    if model.name in TABLE_LEVELS:
        each = list(candidates(release.rows, release.people).values())
        return at_most(float(TABLE_LEVELS[model.name](each, **options)), model.required)
    options.pop("column", None)
    if model.name in PEOPLE_SATISFIED:
        return all(PEOPLE_SATISFIED[model.name](one, **options) for one in with_people(release))
    if model.name == "household-k-anonymity" and release.homes is not None:
        return household_level(release) >= model.k
    inside, everybody = heads(release.rows, release.people or range(len(release.rows)))
    classes = split(release.rows, release.people, release.values, release.parents, release.order)
    return all(
        SATISFIED[model.name](read, **options)
        for one, people in zip(classes, inside, strict=True)
        for read in one.readings(model.name, (people, everybody))
    )


def population_level(release, model):
    """The level of k-map or delta-presence, by the population that each class covers."""
    whose = release.people or range(len(release.rows))
    found = {}
    for row, who in zip(release.rows, whose, strict=True):
        found.setdefault(row, set()).add(who)
    own = [len(one) for one in found.values()]
    people = covered_people(release.population, list(found))
    if model.name == "k-map":
        return k_map_level(own, people)
    everyone = release.population.people
    everybody = range(len(release.population.codes)) if everyone is None else set(everyone.tolist())
    return presence_level(own, people, everybody, model.low, release.incomplete)


def household_level(release):
    """1 / the largest share of a household among the records, and the people, of a class."""
    people = release.people or list(range(len(release.rows)))
    levels = []
    for row in set(release.rows):
        inside = [i for i, one in enumerate(release.rows) if one == row]
        by_record = [release.homes[i] for i in inside]
        by_person = [home for _, home in {(people[i], release.homes[i]) for i in inside}]
        for each in (by_record, by_person):
            levels.append(Fraction(len(each), max(Counter(each).values())))
    return min(levels)


def with_people(release):
    """The classes as lists of records, each a person and a value."""
    found = {}
    for row, who, value in zip(release.rows, release.people, release.values, strict=True):
        found.setdefault(row, []).append((who, value))
    return list(found.values())


def persons(one):
    return {who for who, _ in one}


def sets_of(one):
    """The values of each person of a class."""
    return [{value for mine, value in one if mine == who} for who in persons(one)]


def no_person_above(one, alpha):
    most = max(Counter(who for who, _ in one).values())
    return at_most(most / len(one), alpha)


def satisfies_ir_shares(one, alpha, beta):
    most = max(Counter(value for _, value in one).values())
    return no_person_above(one, alpha) and at_most(most / len(one), beta)


def satisfies_eir_shares(one, alpha, beta):
    owners = Counter(value for each in sets_of(one) for value in each)
    share = max(owners.values()) / len(persons(one))
    return no_person_above(one, alpha) and at_most(share, beta)


def numbered(sets):
    """The sets with numbers in place of values, which can be sorted."""
    values = list(dict.fromkeys(value for one in sets for value in one))
    return [{values.index(value) for value in one} for one in sets]


PEOPLE_SATISFIED = {
    "ir-k-anonymity": lambda one, k: len(persons(one)) >= k,
    "ir-kl-anonymity": lambda one, k, l: (  # noqa: E741
        len(persons(one)) >= k and len({value for _, value in one}) >= l
    ),
    "ir-alpha-beta-anonymity": satisfies_ir_shares,
    "eir-l-diversity": lambda one, l: hitting.smallest(numbered(sets_of(one))) >= l,  # noqa: E741
    "eir-alpha-beta-anonymity": satisfies_eir_shares,
}
