"""Who could be whom: the graph of original and release against brute force."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import shoal
from shoal import Plan
from shoal.base.errors import BadTable
from shoal.catalog import models
from shoal.io.frames import open_frame
from shoal.measures.verify import seen
from shoal.table.encode import encode
from shoal.table.match_graph import link
from shoal.table.published_table import Published, read_published
from shoal.table.sensitive import Sensitive
from tests.naive import concealment as naive
from tests.naive.matchings import chances
from tests.strategies import examples, tables

NAMES = ("k-1-anonymity", "1-k-anonymity", "k-k-anonymity", "k-concealment")
EVERYTHING = {*NAMES, "k-anonymity"}


def as_published(table, vectors, secret=None):
    """A table of published nodes as its reader sees it."""
    labels = tuple([str(label) for label in tree.labels] for tree in table.trees)
    codes = np.array(vectors, np.int32)
    return Published(table.names, codes, labels, None, () if secret is None else (secret,))


@st.composite
def releases(draw, most_rows=7, sensitive=False):
    """A table, and a release of it in which each value is widened by chance, in any order."""
    table = draw(tables(most_rows=most_rows, most_columns=3, sensitive=sensitive))
    wide = table.codes.copy()
    for j, tree in enumerate(table.trees):
        for i in range(table.rows):
            for _ in range(draw(st.integers(0, 2))):
                wide[i, j] = tree.parent[wide[i, j]] if wide[i, j] else 0
    order = draw(st.permutations(range(table.rows)))
    return table, wide[list(order)].tolist(), list(order)


def all_matches(table, released):
    """By trying every perfect matching there is (Def. 6)."""
    rows = table.codes.tolist()
    n = len(rows)
    fits = [[naive.covers(table.trees, released[j], rows[i]) for j in range(n)] for i in range(n)]
    found = [set() for _ in range(n)]
    for one in permutations(range(n)):
        if all(fits[i][j] for i, j in enumerate(one)):
            for i, j in enumerate(one):
                found[i].add(j)
    return found, fits


@settings(deadline=None, max_examples=examples(150))
@given(releases())
def test_matches_are_those_of_all_perfect_matchings(case):
    table, released, _ = case
    found, fits = all_matches(table, released)
    linkage = link(table, as_published(table, released))
    assert linkage.candidates.tolist() == [len(some) for some in found]
    assert linkage.neighbours[linkage.original.label].tolist() == [sum(row) for row in fits]
    covered = linkage.preimages[linkage.classes.label]
    assert covered.tolist() == [sum(column) for column in zip(*fits, strict=True)]
    size = np.bincount(linkage.fits, linkage.given, len(linkage.original))
    assert size.tolist() == linkage.original.size.tolist()


@settings(deadline=None, max_examples=examples(100))
@given(releases(sensitive=True))
def test_the_sensitive_values_of_matches(case):
    table, released, order = case
    old = table.sensitive[0]
    secret = Sensitive(old.name, old.codes[order], old.values, old.hierarchy)
    linkage = link(table, as_published(table, released, secret))
    found, _ = all_matches(table, released)
    histogram = linkage.views["matches"].histograms["s"]
    for i, some in enumerate(found):
        u = linkage.original.label[i]
        inside = slice(histogram.start[u], histogram.start[u + 1])
        counted = dict(
            zip(histogram.value[inside].tolist(), histogram.count[inside].tolist(), strict=True)
        )
        assert counted == Counter(secret.codes[list(some)].tolist())


def lowest_belief(table, released):
    """How certain an attacker is at best, if perfect matchings are drawn as well as possible.

    A linear program over the probabilities of all perfect matchings there are: none of the pairs
    of a person and a record may have a probability above the highest belief, which is to be low.
    """
    rows = table.codes.tolist()
    n = len(rows)
    fits = [[naive.covers(table.trees, released[j], rows[i]) for j in range(n)] for i in range(n)]
    every = [p for p in permutations(range(n)) if all(fits[i][j] for i, j in enumerate(p))]
    pairs = np.zeros((n * n, len(every) + 1))
    for which, one in enumerate(every):
        pairs[[i * n + j for i, j in enumerate(one)], which] = 1
    pairs[:, -1] = -1
    cost = np.append(np.zeros(len(every)), 1.0)
    sure = np.append(np.ones(len(every)), 0.0)
    found = linprog(cost, A_ub=pairs, b_ub=np.zeros(n * n), A_eq=sure[None, :], b_eq=[1.0])
    return found.fun


@settings(deadline=None, max_examples=examples(60))
@given(releases(6))
def test_k_belief_is_the_lowest_belief_that_a_draw_can_have(case):
    """With a k-factor beliefs of 1/k are possible, and without one they are not."""
    table, released, _ = case
    linkage = link(table, as_published(table, released))
    best = 1 / lowest_belief(table, released)
    assert linkage.largest_factor == int(best + 1e-6)
    for k in range(1, table.rows + 1):
        assert linkage.has_factor(k) == (k <= best + 1e-6)
    for k in range(2, table.rows + 1):
        model = models.make({"name": "k-belief", "k": k})
        check = model.check(seen(model, as_published(table, released), linkage))
        assert check.reached == linkage.largest_factor
        assert check.holds == (k <= best + 1e-6)
        model = models.make({"name": "max-belief", "rho": 1 / k})
        check = model.check(seen(model, as_published(table, released), linkage))
        assert check.reached == 1 / linkage.largest_factor
        assert check.holds == (lowest_belief(table, released) <= 1 / k + 1e-6)


@settings(deadline=None, max_examples=examples(60))
@given(releases(6))
def test_matching_belief_is_the_share_of_all_perfect_matchings(case):
    table, released, _ = case
    published = as_published(table, released)
    rows = table.codes.tolist()
    fits = [[naive.covers(table.trees, wide, row) for wide in released] for row in rows]
    model = models.make({"name": "matching-belief", "belief": 0.5})
    classes = seen(model, published, linkage := link(table, published))
    most = chances(np.array(fits)).max(axis=1)
    assert model.levels(classes)[linkage.original.label] == pytest.approx(most)
    assert model.check(classes).holds == (most.max() <= 0.5 + 1e-9)


# ── The regions of figure 1: propositions 5 and 7, appendix A ──
#
# The paper's examples publish any set of values, which no taxonomy has. The value i among m
# becomes a row of m columns with a 1 in column i and 0 elsewhere; a set leaves open the columns of
# its members and says 0 in all others. A row fits it iff its value is a member.


def regions(originals, published, k):
    """Which promises hold."""
    every = sorted(set(originals) | set().union(*published))
    columns = Plan(columns={f"v{one}": "quasi" for one in every}, models=[]).columns
    frame = {f"v{one}": ["1" if value == one else "0" for value in originals] for one in every}
    release = {f"v{one}": ["*" if one in some else "0" for some in published] for one in every}
    readable = read_published(open_frame(pa.table(release)), columns)
    linkage = link(encode(open_frame(pa.table(frame)), columns), readable)
    asked = [models.make({"name": name, "k": k}) for name in EVERYTHING]
    return {m.name for m in asked if m.check(seen(m, readable, linkage)).holds}


@pytest.mark.parametrize("k", [3, 4, 6])
def test_propositions_5_and_7(k):
    values = list(range(1, k + 2))
    full = set(values)

    def without(*some):
        return full - set(some)

    assert regions(values, [full] * (k + 1), k) == EVERYTHING
    first = [{1}, *[full] * (k - 1), without(1)]
    assert regions(values, first, k) == {"1-k-anonymity"}  # Ω1
    second = [without(k + 1), *[without(1)] * k]
    assert regions(values, second, k) == {"k-1-anonymity"}
    third = [without(value) for value in values]
    assert regions(values, third, k) == set(NAMES)  # Ω2
    fourth = [set(range(1, k)), *[full] * k]
    assert regions(values, fourth, k) == {"1-k-anonymity", "k-concealment"}  # Ω3
    a, b = list(range(1, k + 2)), list(range(101, 101 + k))
    omega_4 = [
        {a[0], *b[: k - 1]},
        *[set(a)] * (k - 1),
        set(a[1:]),
        *[set(b)] * k,
    ]
    held = regions(a + b, omega_4, k)
    assert held == {"k-1-anonymity", "1-k-anonymity", "k-k-anonymity"}  # Ω4


def test_table_1_of_the_paper():
    names = ["Alice", "Bob", "Carol", "David", "Eve"]
    frame = pa.table(
        {
            "name": names,
            "age": ["30", "21", "21", "55", "47"],
            "zip": ["10055", "10055", "10023", "10165", "10224"],
            "disease": ["Measles", "Flu", "Angina", "Flu", "Diabetes"],
        }
    )
    ages = {"*": {"21-30": ["21", "30"], "47-55": ["47", "55"]}}
    plan = Plan(
        columns={
            "name": "identifier",
            "age": {"role": "quasi", "hierarchy": {"tree": ages}},
            "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
            "disease": "sensitive",
        },
        models=[{"name": "k-concealment", "k": 2}],
        algorithm="concealment",
    )
    concealed = pa.table(
        {
            "age": ["21-30", "21", "21-30", "47-55", "47-55"],
            "zip": ["10055", "100**", "100**", "10***", "10***"],
            "disease": frame["disease"],
        }
    )
    asked = plan.changed(models=[*plan.models, {"name": "k-anonymity", "k": 2}])
    audit = shoal.audit(concealed, asked, original=frame)
    assert audit.levels == {"k-concealment": 2, "k-anonymity": 1}
    assert [check.holds for check in audit.checks] == [True, False]
    anonymous = pa.table(
        {
            "age": ["21-30"] * 3 + ["47-55"] * 2,
            "zip": ["100**"] * 3 + ["10***"] * 2,
            "disease": frame["disease"],
        }
    )
    audit = shoal.audit(anonymous, asked, original=frame)
    assert audit.levels == {"k-concealment": 2, "k-anonymity": 2}
    assert audit.holds
    with pytest.raises(BadTable, match="only against the original"):
        shoal.audit(concealed, plan)
    short = concealed.slice(0, 4)
    with pytest.raises(BadTable, match="4 rows and its original 5: there is no perfect matching"):
        shoal.audit(short, plan, original=frame)


def test_releases_that_do_not_fit(tmp_path):
    frame = pa.table({"age": ["31", "32", "47"], "sex": ["f", "f", "m"]})
    plan = Plan(
        columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"},
        models=[{"name": "k-concealment", "k": 2}],
    )
    wrong = pa.table({"age": ["[30, 40)", "[30, 40)", "[40, 50)"], "sex": ["f", "f", "f"]})
    with pytest.raises(BadTable, match="more information than the original"):
        shoal.audit(wrong, plan, original=frame)
    # Each column by itself could be a release of this original; the rows cannot.
    wrong = pa.table({"age": ["31", "32", "[40, 50)"], "sex": ["f", "m", "f"]})
    with pytest.raises(BadTable, match=r"2 rows of the original fit no row .*rows 2, 3"):
        shoal.audit(wrong, plan, original=frame)
    frame = pa.table({"age": ["31", "32", "33", "34"], "sex": ["f", "f", "m", "m"]})
    wrong = pa.table({"age": ["31", "31", "33", "34"], "sex": ["f", "*", "m", "*"]})
    with pytest.raises(BadTable):
        shoal.audit(wrong, plan, original=frame)


def test_suppressed_records_are_left_out_of_the_original():
    """The way out that the message names leads to the level of the run."""
    frame = pa.table({"a": list("11223349"), "b": list("xxxxxxxy")})
    plan = Plan(
        columns={"a": "quasi", "b": {"role": "quasi", "at_most": "exact"}},
        models=[{"name": "k-concealment", "k": 2}],
        algorithm="concealment",
        suppression=0.2,
        seed=1,
    )
    release = shoal.anonymize(frame, plan)
    assert release.suppressed == 1
    with pytest.raises(BadTable, match="give the original without these records"):
        shoal.audit(release.frame, plan, original=frame)
    found = shoal.audit(release.frame, plan, original=frame.slice(0, 7))
    assert found.levels["k-concealment"] == release.checks[0].reached >= 2


def test_no_perfect_matching():
    """Everybody fits something, but two people fit the same single row only."""
    columns = {"a": "quasi", "b": "quasi"}
    plan = Plan(columns=columns, models=[{"name": "1-k-anonymity", "k": 2}])
    frame = pa.table({"a": ["0", "0", "1", "1"], "b": ["0", "0", "1", "0"]})
    wrong = pa.table({"a": ["0", "*", "1", "1"], "b": ["0", "1", "*", "0"]})
    with pytest.raises(BadTable, match="there is no perfect matching"):
        shoal.audit(wrong, plan, original=frame)
