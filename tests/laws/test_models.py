"""Laws that hold for every model of the catalog."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import catalog
from shoal.models import TableModel
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.sensitive import Histogram, Sensitive
from tests.naive.models import (
    LEVELS,
    SATISFIED,
    TABLE_LEVELS,
    TABLE_VARIANTS,
    VARIANTS,
    at_most,
    candidates,
    heads,
    split,
)
from tests.naive.requirements import PEOPLE_VARIANTS
from tests.strategies import tables

EACH = [(name, options) for name, variants in VARIANTS.items() for options in variants]


def naive_classes(table):
    """The classes of a table for the twins: plain lists."""
    (column,) = table.sensitive
    values = [column.values[code] for code in column.codes]
    tree = column.hierarchy.tree()
    parents = {tree.labels[v]: tree.labels[tree.parent[v]] for v in range(1, tree.size)}
    return split(table.codes.tolist(), table.people, values, parents, list(tree.labels))


@pytest.mark.parametrize("name", catalog.models)
def test_every_model_has_a_naive_twin(name):
    kind = catalog.models[name]
    file, words = "tests/naive/models.py", f"the model {name} has no naive twin"
    if issubclass(kind, TableModel):
        assert name in TABLE_LEVELS, (
            f"{words}: write it in {file}, as TABLE_LEVELS[{name!r}](each, **options), which "
            "returns the level of a table from the list of the candidates of each person, as the "
            "definition reads"
        )
        assert name in TABLE_VARIANTS, f"{words}: add options to try to TABLE_VARIANTS in {file}"
        return
    if kind.linkage or kind.needs_person_column:
        where = "tests/table/test_match_graph.py" if kind.linkage else "tests/models/test_people.py"
        module = "table.test_match_graph" if kind.linkage else "models.test_people"
        source = Path(import_module(f"tests.{module}").__file__).read_text(encoding="utf-8")
        assert kind.__name__ in source or name in source, (
            f"{words}: write it in {where}, as a function of plain lists that returns the level as "
            "the definition reads, and a test that compares the two"
        )
        return
    assert name in LEVELS, (
        f"{words}: write tests/naive/model_{name.replace('-', '_')}.py with VARIANTS, a list of "
        "options to try (column 's' included); level(one, **options), which returns the level of "
        "the class `one` (a OneClass of plain lists) as the definition reads; and satisfied(one, "
        "**options), which returns whether it satisfies the model, without its level"
    )


TABLES = [(name, options) for name, variants in TABLE_VARIANTS.items() for options in variants]


@pytest.mark.parametrize(("name", "options"), TABLES)
@given(table=tables(persons=True), seed=st.integers(0, 1000))
def test_a_model_about_the_table_agrees_with_its_naive_twin(name, options, table, seed):
    model = catalog.models[name](**options)
    classes = tally(table.codes, table.people)
    each = candidates(table.codes.tolist(), table.people)
    level = float(TABLE_LEVELS[name](list(each.values()), **options))
    assert model.reached(classes) == pytest.approx(level)
    check = model.check(classes)
    assert check.holds == at_most(level, model.required)
    assert json.dumps(check.as_dict(), allow_nan=False)
    assert model.levels(classes).tolist() == [check.reached] * len(classes)
    assert model.satisfied(classes).all() == check.holds
    order = np.random.default_rng(seed).permutation(table.rows)
    people = None if table.people is None else table.people[order]
    assert model.reached(tally(table.codes[order], people)) == check.reached


@pytest.mark.parametrize(("name", "options"), TABLES)
@given(people=st.lists(st.integers(1, 9), min_size=2, max_size=9), seed=st.integers(0, 1000))
def test_merging_never_raises_the_level_of_a_table(name, options, people, seed):
    """On this every merge and the proof of full-domain rely; else on an upper bound that falls."""
    model = catalog.models[name](**options)

    def level(sizes):
        label = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
        reached = model.reached(tally(label[:, None]))
        if model.falls_by_merging:
            return reached
        bound = float(model.total(np.array(sizes)).sum() / sum(sizes))
        assert reached <= bound + 1e-12
        return bound

    a, b = np.random.default_rng(seed).choice(len(people), 2, replace=False)
    rest = [size for i, size in enumerate(people) if i not in (a, b)]
    assert level([*rest, people[a] + people[b]]) <= level(people) + 1e-12
    assert level([sum(people)]) <= level(people) + 1e-12
    enough = model.sufficient_people
    assert model.holds(level([max(size, enough) for size in people]))
    if enough > 1:
        fails = not model.holds(level([enough - 1] * len(people)))
        assert fails or model.required > 0  # a share of 1 is satisfied by anything


@pytest.mark.parametrize(("name", "options"), EACH)
@given(table=tables(persons=True, sensitive=True))
def test_agrees_with_its_naive_twin(name, options, table):
    model = catalog.models[name](**options)
    classes = tally(table.codes, table.people, table.sensitive)
    naive = naive_classes(table)
    rest = {key: value for key, value in options.items() if key != "column"}
    people = range(table.rows) if table.people is None else table.people.tolist()
    inside, everybody = heads(table.codes.tolist(), people)
    worse = min if model.higher_is_safer else max
    read = [list(one.readings(name, (n, everybody))) for one, n in zip(naive, inside, strict=True)]
    levels = [worse(float(LEVELS[name](o, **rest)) for o in ones) for ones in read]
    assert model.levels(classes).tolist() == pytest.approx(levels)
    worst = min(levels) if model.higher_is_safer else max(levels)
    assert model.reached(classes) == pytest.approx(worst)
    satisfied = [all(SATISFIED[name](one, **rest) for one in ones) for ones in read]
    assert model.satisfied(classes).dtype == np.bool_
    assert model.satisfied(classes).tolist() == satisfied
    check = model.check(classes)
    assert check.holds == all(satisfied) == model.holds(check.reached)
    assert check.required == model.required
    assert json.dumps(check.as_dict(), allow_nan=False)


@pytest.mark.parametrize(("name", "options"), EACH)
@given(table=tables(persons=True, sensitive=True), seed=st.integers(0, 1000))
def test_does_not_depend_on_row_order(name, options, table, seed):
    order = np.random.default_rng(seed).permutation(table.rows)
    model = catalog.models[name](**options)
    people = None if table.people is None else table.people[order]
    turned = [Sensitive(s.name, s.codes[order], s.values, s.hierarchy) for s in table.sensitive]
    assert model.reached(tally(table.codes[order], people, turned)) == model.reached(
        tally(table.codes, table.people, table.sensitive)
    )


@pytest.mark.parametrize(("name", "options"), EACH)
@given(table=tables(sensitive=True), seed=st.integers(0, 1000))
def test_judges_any_batch_of_classes(name, options, table, seed):
    """As algorithms ask: some of the classes, with the totals of the whole table."""
    model = catalog.models[name](**options)
    classes = tally(table.codes, None, table.sensitive)
    rng = np.random.default_rng(seed)
    some = rng.permutation(len(classes))[: rng.integers(0, len(classes) + 1)]
    assert model.levels(batch(classes, some)).tolist() == model.levels(classes)[some].tolist()
    assert model.satisfied(batch(classes, some)).tolist() == model.satisfied(classes)[some].tolist()


def batch(classes, some):
    histograms = {}
    for name, h in classes.histograms.items():
        pairs = [k for c in some for k in range(h.start[c], h.start[c + 1])]
        start = np.concatenate([[0], np.cumsum(np.diff(h.start)[some])]).astype(np.int64)
        histograms[name] = Histogram(h.column, start, h.value[pairs], h.count[pairs], h.total)
    none = np.empty(0, np.int64)
    size, people = classes.size[some], classes.people[some]
    return Classes(none, classes.first[some], size, people, none, histograms)


PEOPLE = [(name, options) for name, each in PEOPLE_VARIANTS.items() for options in each]


def test_the_laws_of_classes_speak_of_every_class_model():
    named = {name for name, _ in EACH + PEOPLE + TABLES}
    assert named == {name for name, kind in catalog.models.items() if not kind.linkage}


@pytest.mark.parametrize(("name", "options"), EACH + PEOPLE)
@given(table=tables(persons=True, sensitive=True), seed=st.integers(0, 1000))
def test_classes_that_satisfy_a_model_do_so_together(name, options, table, seed):
    """`full-domain` and every merge rely on this; a monotone model is satisfied after any join."""
    model = catalog.models[name](**options)
    people = np.arange(table.rows) if table.people is None else table.people
    part = np.random.default_rng(seed).integers(0, 3, people.max() + 1)[people]  # of each person

    def satisfied(part, rows):
        column = table.sensitive[0]
        secret = [Sensitive(column.name, column.codes[rows], column.values, column.hierarchy)]
        whose = None if table.people is None and not model.needs_person_column else people[rows]
        classes = tally(part[rows, None].astype(np.int32), whose, secret)
        fine = model.satisfied(classes)
        return {int(part[rows][first]): bool(fine[c]) for c, first in enumerate(classes.first)}

    every = np.arange(table.rows)
    apart, together = satisfied(part, every), satisfied(np.where(part == 1, 0, part), every)
    if apart.get(0, False) and apart.get(1, False):
        assert together[0]
    if model.is_monotone and apart.get(0, False):
        assert together[0]
        assert satisfied(part, every[part != 2])[0]
