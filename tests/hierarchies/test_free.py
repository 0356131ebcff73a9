"""Free ranges and free sets: labels, joins, losses, and the algorithms that publish them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, Plan, catalog
from shoal.algorithms._shared.boxes import Space
from shoal.algorithms.agglomerative import Agglomerative
from shoal.algorithms.gaa import GAA
from shoal.base.errors import BadHierarchy, BadPlan, BadTable
from shoal.hierarchies.free_values import Covers, FreeTree, closed_range
from shoal.hierarchies.values import end_of, number_of, shown
from shoal.io.frames import open_frame
from shoal.losses.lm import LM
from shoal.losses.nllm import NLLM
from shoal.table.encode import Table
from shoal.table.published_table import read_published
from shoal.table.recoding import check_covers
from tests.algorithms.test_danonyir import naive_kept, naive_value, published
from tests.naive.clusters import agglomerative_boxes
from tests.naive.danonyir import distance, join
from tests.strategies import examples, free_trees, tables

K2 = catalog.models.make({"name": "k-anonymity", "k": 2})


# ── Labels ──


@given(free_trees(), st.data())
def test_a_label_stands_for_what_it_was_made_of(tree, data):
    leaves = data.draw(st.sets(st.integers(1, tree.size - 1), min_size=1))
    value = tree.code(sorted(leaves))
    label = Covers(tree, [value] if isinstance(value, tuple) else []).labels()[
        tree.size if isinstance(value, tuple) else value
    ]
    if label is not None:
        assert tree.cover(label) == value
    if isinstance(value, tuple):
        held = set(tree.members(value).tolist())
        assert leaves <= held
        assert (held == leaves) == (tree.kind == "sets" or len(held) == len(leaves))


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b, c", "{d", "e}", 'f"g', "", " h", "missing", "ünï ☂", "x\\y"],
        [str(i) for i in range(40)],
    ],
)
def test_unusual_categories_can_be_distinguished(names):
    tree = Hierarchy.free_sets(names).tree(names).with_missing()
    for several in combinations(range(1, tree.size), 3):
        assert tree.cover(tree.label(several)) == several


def test_labels_of_sets_and_ranges():
    sets = Hierarchy.free_sets().tree(["10073", "9", "10070", "b"])
    assert sets.labels == ("{9, 10070, 10073, b}", "9", "10070", "10073", "b")
    assert sets.label((2, 3)) == "{10070, 10073}"
    assert sets.with_missing().label((1, 5)) == "{9, missing}"
    ranges = Hierarchy.free_ranges().tree([34, 33, 40.5])
    assert ranges.labels == ("[33, 40.5]", "33", "34", "40.5")
    assert ranges.label((1, 2)) == "[33, 34]"
    assert ranges.cover("[33, 34]") == (1, 2)
    assert ranges.cover("[32, 35]") == (1, 2)
    assert ranges.cover("[35, 36]") is None
    assert ranges.cover("[34, 33]") is None
    assert ranges.cover("[33, 34)") is None
    assert ranges.cover("*") == 0
    assert ranges.with_missing().labels[0] == "*"
    assert ranges.with_missing().code([1, 4]) == 0
    assert Hierarchy.free_ranges().tree([5]).labels == ("*", "5")
    assert len(Hierarchy.free_sets().tree(map(str, range(21))).labels[0]) == 1


@pytest.mark.parametrize(
    "values",
    [
        ["0.99999999999999999999", "3", "2", "2"],
        ["0.10000000000000000001", "0.10000000000000000002", "0.5", "0.6"],
        ["9007199254740993.5", "9007199254740999.5", "1", "2"],
        [1e-300, 2e-300, 1.0, 2.0],
        [5e-324, 1e299, -1e299, 0.1],
        [Decimal("0.1234567890123456789012345678901234567"), Decimal(1), Decimal(2), Decimal(3)],
        ["9" * 250 + ".5", "8" * 250 + ".5", "1", "2"],
        ["1e-999", "2e-999", "9e299", "8e299"],
    ],
)
def test_ranges_are_written_with_all_their_digits(values, tmp_path):
    table = pa.table({"a": values, "s": ["m", "m", "f", "f"]})
    plan = Plan(columns={"a": free_plan().columns["age"], "s": "quasi"}, models=[K2], seed=1)
    release = shoal.anonymize(table, plan, keep_order=True)
    for value, label in zip(values, release.frame["a"].to_pylist(), strict=True):
        low, high = closed_range(str(label)) or [number_of(label)] * 2
        assert low <= number_of(value) <= high
    release.save(tmp_path / "release.csv")
    again = shoal.audit(tmp_path / "release.csv", plan, original=table)
    assert again.quality.losses == pytest.approx(release.losses)


@pytest.mark.parametrize("value", ["9" * 350 + ".5", "1e5000", "1e301"])
def test_numbers_that_are_too_large_are_refused(value):
    table = pa.table({"a": [value, "3"], "s": ["m", "m"]})
    plan = Plan(columns={"a": free_plan().columns["age"], "s": "quasi"}, models=[K2])
    with pytest.raises(BadHierarchy, match="column 'a': free ranges need numbers of at most 300"):
        shoal.anonymize(table, plan)


@given(
    st.fractions() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=30)
)
def test_shown_numbers_read_as_they_are(number):
    exact = Fraction(number)
    if 10**400 % exact.denominator:
        with pytest.raises(BadHierarchy, match="decimal"):
            shown(exact)
    else:
        assert end_of(shown(exact)) == exact


def test_a_label_with_another_meaning_is_not_released(monkeypatch):
    """What is checked is the text that will be published."""
    monkeypatch.setattr("shoal.hierarchies.free_values.shown", lambda number: str(round(number)))
    table = pa.table({"age": ["0.6", "2"], "town": ["a", "a"]})
    with pytest.raises(shoal.errors.ShoalError, match="'age': a published value does not cover"):
        shoal.anonymize(table, free_plan())


def test_widths_are_those_of_definitions_4_1_and_4_2():
    ages = Hierarchy.free_ranges(30, 39).tree([33, 34, 36])
    assert ages.width((1, 2)) == Fraction(1, 9)
    assert ages.labels[0] == "*"
    codes = Hierarchy.free_sets().tree("abcdefg")
    assert codes.width((1, 2, 7)) == Fraction(2, 6)


# ── Plans and errors ──


def test_plan_settings_go_round(tmp_path):
    columns = {
        "a": {"role": "quasi", "hierarchy": {"free_ranges": True}},
        "b": {"role": "quasi", "hierarchy": {"free_ranges": True, "low": 0, "high": 9.5}},
        "c": {"role": "quasi", "hierarchy": {"free_sets": True}},
        "d": {"role": "quasi", "hierarchy": Hierarchy.free_sets(["x", "y"])},
    }
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}])
    plan.save(tmp_path / "plan.toml")
    again = Plan.load(tmp_path / "plan.toml")
    settings = [again.columns[name].hierarchy.setting() for name in columns]
    assert settings == [
        {"free_ranges": True}, {"free_ranges": True, "low": 0, "high": 9.5}, {"free_sets": True},
        {"free_sets": ["x", "y"]},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hierarchy", "values", "words"),
    [
        (Hierarchy.free_ranges(), ["old", "17"], "free ranges need numbers.*'old'"),
        (Hierarchy.free_ranges(0, 10), [11, 5], "do not include the values '11'"),
        (Hierarchy.free_sets(["a"]), ["a", "b"], "lack values of the column: 'b'"),
        (Hierarchy.free_sets(), ["{a, b}", "a"], "look like sets already"),
    ],
)
def test_values_that_do_not_fit(hierarchy, values, words):
    with pytest.raises(BadHierarchy, match=words):
        hierarchy.tree(values)


@pytest.mark.parametrize("kind", ["free_ranges", "flat", "free_sets"])
@pytest.mark.parametrize("given", [[0, 120], False, "no", 5, None, {}])
def test_a_word_that_takes_only_true(kind, given):
    if kind == "free_sets" and given in ([0, 120], None):
        return
    words = "need a list of values" if kind == "free_sets" else f"{kind} takes only true"
    with pytest.raises(BadHierarchy, match=words) as found:
        Hierarchy.of({kind: given})
    assert kind != "free_ranges" or "write free_ranges = true, low = 1" in str(found.value)


def test_values_that_do_not_fit_are_reported_with_column_and_rows():
    table = pa.table({"age": ["31", "x", "35", "x", "y"], "town": list("abbac")})
    with pytest.raises(BadHierarchy, match=r"column 'age': .*'x', 'y'.*first in the rows 2, 5"):
        shoal.anonymize(table, free_plan())
    columns = {"age": "quasi", "town": {"role": "quasi", "hierarchy": {"free_sets": ["a", "b"]}}}
    plan = Plan(columns=columns, models=[K2])
    with pytest.raises(BadHierarchy, match=r"column 'town': .*lack.*'c'.*first in row 5"):
        shoal.anonymize(table, plan)
    columns["age"] = {"role": "quasi", "hierarchy": {"free_ranges": True, "low": 0, "high": 9}}
    plan = Plan(columns=columns, models=[K2])
    with pytest.raises(BadHierarchy, match=r"'31', '35' of the column.*first in the rows 1, 2"):
        shoal.anonymize(pa.table({"age": ["31", "35"], "town": ["a", "b"]}), plan)


def test_sets_know_values_however_they_are_written():
    table = pa.table({"age": ["1.0", "2", " 3", "1"], "town": list("abba")})
    columns = {
        "age": {"role": "quasi", "hierarchy": {"free_sets": ["1", "2", "3"]}},
        "town": "other",
    }
    plan = Plan(columns=columns, models=[K2], algorithm="agglomerative")
    assert plan.columns["age"].hierarchy.knows("1.0")
    release = shoal.anonymize(table, plan, keep_order=True)
    assert release.frame["age"].to_pylist() == ["1", "{2, 3}", "{2, 3}", "1"]
    assert shoal.audit(release.frame, plan, original=table).holds


def test_settings_that_make_no_sense():
    for end in (float("nan"), float("inf"), True, "5"):
        with pytest.raises(BadHierarchy, match="need numbers"):
            Hierarchy.free_ranges(low=end)
    with pytest.raises(BadHierarchy, match="low below high"):
        Hierarchy.free_ranges(5, 5)
    with pytest.raises(BadHierarchy, match="need a list"):
        Hierarchy.free_sets("abc")


AGES = pa.table({"age": [31, 35, 35, 60], "town": ["a", "b", "c", "d"]})


def free_plan(**more):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"free_ranges": True}},
        "town": {"role": "quasi", "hierarchy": {"free_sets": True}},
    }
    return Plan(columns=columns, **{"models": [{"name": "k-anonymity", "k": 2}], **more})


def test_what_needs_trees_says_so():
    with pytest.raises(BadPlan, match=r"needs trees.*'age'.*these support them:.*danonyir.*gaa"):
        shoal.anonymize(AGES, free_plan(algorithm="forest"))
    weights = {"name": "weights", "edge_weights": {}}
    with pytest.raises(BadPlan, match="choose another loss"):
        shoal.anonymize(AGES, free_plan(loss=weights))
    with pytest.raises(BadPlan, match="only the strategy S1"):
        shoal.anonymize(AGES, free_plan(algorithm={"name": "gaa", "candidates": "small"}))
    release = shoal.anonymize(AGES, free_plan())
    concealed = free_plan(models=[{"name": "k-concealment", "k": 2}])
    with pytest.raises(BadPlan, match="linkage models need hierarchies"):
        shoal.audit(release.frame, concealed, original=AGES)


# ── What a root says ──


@pytest.mark.parametrize("algorithm", ["gaa", "agglomerative", "danonyir", "mondrian"])
def test_a_missing_value_that_is_a_root_names_no_values(algorithm):
    table = pa.table({"age": [30, 40, None, None], "town": ["a", None, "b", None]})
    release = shoal.anonymize(
        table, free_plan(missing="root", algorithm=algorithm), keep_order=True
    )
    for i, (age, town) in enumerate(
        zip(*(table[name].to_pylist() for name in ("age", "town")), strict=True)
    ):
        assert age is not None or release.frame["age"][i].as_py() == "*"
        assert town is not None or release.frame["town"][i].as_py() == "*"
    assert "[30, 40]" in shoal.anonymize(table.slice(0, 2), free_plan()).frame["age"].to_pylist()


FREE = sorted(name for name, kind in catalog.algorithms.items() if kind.free)


@settings(deadline=None, max_examples=examples(300))
@given(
    tables(persons=True, free=True, sensitive=True),
    st.sampled_from(FREE),
    st.integers(2, 4),
    st.booleans(),
)
def test_a_label_names_values_of_its_class_only(table, name, k, strong):
    """So that it tells nothing of people who are suppressed, or published elsewhere."""
    if table.person_count < k:
        return
    asked = [{"name": "k-anonymity", "k": k}]
    if strong:
        asked.append({"name": "distinct-l-diversity", "column": "s", "l": 2})
    models = [catalog.models.make(one) for one in asked]
    try:
        algorithm = catalog.algorithms.make({"name": name})
        recoding = algorithm.recode(table, models, LM(), np.random.default_rng(0))
    except (shoal.errors.CannotReach, BadPlan):
        return
    for c, vector in enumerate(recoding.vectors):
        rows = np.flatnonzero(recoding.record == c)
        for j, tree in enumerate(table.trees):
            if not len(rows) or not isinstance(tree, FreeTree):
                continue
            held = set(table.codes[rows, j].tolist())
            code = int(vector[j])
            if code >= tree.size:
                named = recoding.covers[j].covers[code - tree.size]
            elif code > 0:
                named = (code,)
            elif tree.labels[0] == "*":
                named = ()
            else:
                named = (1, tree.last) if tree.kind == "ranges" else range(1, tree.size)
            assert held.issuperset(named)


# ── The algorithms ──


def naive_gaa(space, boxes, sizes, first, k, by_size):
    """The smallest failing class joins the nearest; equal ones are one."""
    classes = [
        [box, size, at, [i]]
        for i, (box, size, at) in enumerate(zip(boxes, sizes, first, strict=True))
    ]

    def keeps(box):
        return naive_kept(space, box)

    while len(classes) > 1:
        failing = [one for one in classes if one[1] < k]
        if not failing:
            break
        c = min(failing, key=lambda one: (one[1], one[2]))
        classes.remove(c)

        def far(other, c=c):
            mine, theirs = (c[1], other[1]) if by_size else (1, 1)
            return distance(space.table.trees, keeps, c[0], mine, other[0], theirs), other[2]

        partner = min(classes, key=far)
        while partner is not None:
            classes.remove(partner)
            box = join(space.table.trees, c[0], partner[0])
            c = [box, c[1] + partner[1], min(c[2], partner[2]), c[3] + partner[3]]
            same = [other for other in classes if other[0] == c[0]]
            partner = same[0] if same else None
        classes.append(c)
    return classes


@settings(deadline=None, max_examples=examples(200))
@given(tables(persons=True, free=True), st.integers(2, 4), st.booleans())
def test_gaa_joins_free_values(table, k, by_size):
    if table.person_count < k or not table.free:
        return
    model = catalog.models.make({"name": "k-anonymity", "k": k})
    weight = "size" if by_size else "unit"
    recoding = GAA(weight=weight).recode(table, [model], LM(), np.random.default_rng(0))
    check_covers(table, recoding)
    if table.people is not None:
        return  # a person's rows count as one; the oracle counts rows
    space = Space.of(table, LM())
    vectors, start, sizes = np.unique(table.codes, axis=0, return_index=True, return_counts=True)
    boxes = [[naive_value(space, j, v) for j, v in enumerate(vector)] for vector in vectors]
    expected = naive_gaa(space, boxes, sizes.tolist(), start.tolist(), k, by_size)
    rows = {tuple(vector): i for i, vector in enumerate(vectors.tolist())}
    mine = [rows[tuple(row)] for row in table.codes.tolist()]
    for box, _, _, members in expected:
        inside = [i for i, one in enumerate(mine) if one in members]
        assert len({int(recoding.record[i]) for i in inside}) == 1
        vector = recoding.vectors[recoding.record[inside[0]]]
        held = zip(vector, table.trees, recoding.covers, strict=True)
        got = [v if v < tree.size else c.covers[v - tree.size] for v, tree, c in held]
        assert got == published(space, box)


@settings(deadline=None, max_examples=examples(300))
@given(tables(persons=True, free=True), st.integers(2, 4), st.booleans())
def test_the_agglomerative_algorithm_is_its_twin_over_free_values(table, k, by_size):
    if table.person_count < k or not table.free:
        return
    model = catalog.models.make({"name": "k-anonymity", "k": k})
    weight = "size" if by_size else "unit"
    recoding = Agglomerative(weight=weight).recode(table, [model], LM(), np.random.default_rng(0))
    space = Space.of(table, LM())
    people = np.arange(table.rows) if table.people is None else table.people
    _, first, sizes = np.unique(people, return_index=True, return_counts=True)
    order = np.argsort(first)  # units stand by their first record
    boxes = [
        [naive_value(space, j, v) for j, v in enumerate(table.unified[first[u]])] for u in order
    ]

    def cost(a, size_a, b, size_b):
        sizes = (size_a, size_b) if by_size else (1, 1)
        return distance(table.trees, lambda box: naive_kept(space, box), a, sizes[0], b, sizes[1])

    expected = agglomerative_boxes(
        boxes, sizes[order].tolist(), k, cost, lambda a, b: join(table.trees, a, b)
    )
    for place, u in enumerate(order):
        for row in np.flatnonzero(people == u):
            vector = recoding.vectors[recoding.record[row]]
            held = zip(vector, table.trees, recoding.covers, strict=True)
            got = [v if v < tree.size else c.covers[v - tree.size] for v, tree, c in held]
            assert got == published(space, expected[place])


@settings(deadline=None, max_examples=examples(200))
@given(tables(persons=True), st.integers(2, 4), st.sampled_from(["size", "unit"]))
def test_boxes_of_trees_merge_as_the_index_of_trees_does(table, k, weight):
    """The same algorithm twice, over two indexes: where all columns have trees they agree."""
    if table.person_count < k:
        return
    model = catalog.models.make({"name": "k-anonymity", "k": k})
    rng = np.random.default_rng(0)
    for kind in (GAA, Agglomerative):
        plain = kind(weight=weight).recode(table, [model], NLLM(), rng)
        other = kind(weight=weight).recode(boxed(table), [model], NLLM(), rng)
        assert np.array_equal(plain.codes(), other.codes())


def boxed(table):
    """The same table, of which the algorithms believe that it has free values."""

    class Free(Table):
        free = ("all",)

    return Free(table.names, table.trees, table.codes, table.people, table.exact, table.sensitive)


@settings(deadline=None, max_examples=examples(150))
@given(tables(persons=True, sensitive=True, free=True), st.integers(2, 3))
def test_the_agglomerative_algorithm_joins_free_values(table, k):
    if table.person_count < k:
        return
    asked = [
        {"name": "k-anonymity", "k": k},
        {"name": "distinct-l-diversity", "column": "s", "l": 2},
    ]
    for names in (asked[:1], asked):
        models = [catalog.models.make(one) for one in names]
        try:
            recoding = Agglomerative().recode(table, models, LM(), np.random.default_rng(0))
        except shoal.errors.CannotReach:
            assert len(names) == 2
            continue
        check_covers(table, recoding)
        counts = np.bincount(recoding.record)
        people = np.arange(table.rows) if table.people is None else table.people
        for c in range(len(counts)):
            assert len(np.unique(people[recoding.record == c])) >= k


@pytest.mark.parametrize("algorithm", ["gaa", "agglomerative", "danonyir"])
def test_through_the_whole_flow(algorithm, tmp_path):
    rng = np.random.default_rng(3)
    n = 400
    who = rng.integers(0, 250, n)
    town = rng.integers(0, 3000, 250)
    people = pa.table(
        {
            "who": who,
            "age": np.where(rng.random(n) < 0.05, np.nan, rng.integers(18, 90, 250)[who]),
            "town": [f"T, {t}" for t in np.where(rng.random(n) < 0.1, 7, town[who])],
            "disease": rng.choice(list("abcdef"), n),
        }
    )
    plan = Plan(
        columns={
            "who": "person",
            "age": {"role": "quasi", "hierarchy": {"free_ranges": True}},
            "town": {"role": "quasi", "hierarchy": {"free_sets": True}},
            "disease": "sensitive",
        },
        models=[{"name": "k-anonymity", "k": 4}],
        algorithm=algorithm,
        seed=1,
    )
    release = shoal.anonymize(people, plan)
    assert release.checks[0].holds
    release.save(tmp_path / "release.csv")
    release.report(tmp_path / "report.html")
    again = shoal.audit(tmp_path / "release.csv", plan, original=people)
    assert again.holds
    assert again.quality.losses == pytest.approx(release.losses)
    assert 0 < release.losses["lm"] < 100
    whole = shoal.audit(tmp_path / "release.csv", plan, population=people)
    assert 0 < whole.risks.journalist <= 0.25


def test_losses_are_those_of_definition_4_4():
    """Half of the rows in a range of width 4/29, half in sets of two of four towns."""
    release = shoal.anonymize(AGES.slice(0, 2), free_plan())
    assert sorted(set(release.frame["age"].to_pylist())) == ["[31, 35]"]
    frame = pa.table(
        {"age": ["[31, 35]", "[31, 35]", "[35, 60]", "[35, 60]"],
         "town": ["{a, b}", "{a, b}", "{c, d}", "{c, d}"]}
    )  # fmt: skip
    audit = shoal.audit(frame, free_plan(), original=AGES)
    expected = (2 * Fraction(4, 29) + 2 * Fraction(25, 29) + 4 * Fraction(1, 3)) / 8
    assert audit.quality.losses["lm"] == pytest.approx(100 * float(expected))
    # nllm weighs a flat column of m values by (m - 1) / m.
    ages, towns = Fraction(2, 3), Fraction(3, 4)
    weighed = (ages / 2 + towns / 3) / (ages + towns)
    assert audit.quality.losses["nllm"] == pytest.approx(100 * float(weighed))
    assert audit.quality.generalized_percent == 100
    assert audit.quality.root_percent == 0


def test_a_release_that_says_more_than_its_original_is_refused():
    frame = pa.table({"age": ["[31, 35]"] * 4, "town": ["{a, b}"] * 4})
    with pytest.raises(BadTable, match="more information than the original"):
        shoal.audit(frame, free_plan(), original=AGES)


@given(tables(free=True), st.integers(0, 99))
def test_a_population_is_counted_as_it_reads(table, seed):
    """The people whom each class covers, against a look at every value."""
    if table.rows < 2:
        return
    recoding = Agglomerative().recode(table, [K2], LM(), np.random.default_rng(seed))
    labels = [
        [covers.labels()[v] for v in recoding.codes()[:, j]]
        for j, covers in enumerate(recoding.covers or [Covers(tree) for tree in table.trees])
    ]
    frame = pa.table({name: pa.array(labels[j]) for j, name in enumerate(table.names)})
    plan = {name: {"role": "quasi"} for name in table.names}
    columns = Plan(columns=plan, models=[]).columns
    seen = read_published(open_frame(frame), columns)
    vectors, covers = seen.vectors(table, "population")
    from shoal.table.population.covered import covered

    found = covered(vectors, table, covers)
    for c, vector in enumerate(vectors):
        inside = np.ones(table.rows, bool)
        for j, (v, tree) in enumerate(zip(vector, table.trees, strict=True)):
            if v < tree.size:
                inside &= (v <= table.codes[:, j]) & (table.codes[:, j] < tree.end[v])
            else:
                held = tree.members(covers[j].covers[v - tree.size])
                inside &= np.isin(table.codes[:, j], held)
        assert found[c] == inside.sum()
