"""What an attacker sees of a class, against loops over lists of records."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadTable, Plan
from tests.naive import attacker_view as naive
from tests.strategies import examples

TREE = {"*": {"AB": ["a", "b"], "CD": {"C": ["c1", "c2"], "d": None}}}
PATHS = {"a": "AB", "b": "AB", "c1": "CD", "c2": "CD", "d": "CD"}
COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
    "job": {"role": "quasi", "hierarchy": {"tree": TREE}},
    "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
    "disease": "sensitive",
    "hours": "other",
}
QUASI = ("age", "job", "zip")
K_TWO = [{"name": "k-anonymity", "k": 2}]


def table(seed, persons=False, n=50):
    rng = np.random.default_rng(seed)
    found = {
        "age": [str(a) for a in rng.integers(20, 60, n)],
        "job": rng.choice([*PATHS], n).tolist(),
        "zip": rng.choice(["11", "12", "21"], n).tolist(),
        "disease": rng.choice(["flu", "gout", "cold"], n).tolist(),
        "hours": [str(h) for h in rng.integers(1, 6, n)],
    }
    found["disease"][3] = None
    if persons:
        found["patient"] = [f"p{i}" for i in rng.integers(0, 2 * n // 3, n)]
    return found


def made(seed, persons=False, models=(), **more):
    k = {"name": "k-anonymity", "k": 3}
    columns = COLUMNS | ({"patient": "person"} if persons else {})
    plan = Plan(**{"columns": columns, "models": [k, *models], "seed": seed % 7} | more)
    given_ = table(seed, persons)
    return given_, shoal.anonymize(pa.table(given_), plan, keep_order=True)


def members(release, published):
    rows = release.frame.to_pylist()
    return [i for i, one in enumerate(rows) if naive.same(published, one)]


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 10**6), persons=st.booleans())
def test_a_view_on_a_class_counts_its_people(seed, persons):
    before, release = made(seed, persons)
    who = before.get("patient", list(range(50)))
    rng = np.random.default_rng(seed)
    number, row = int(rng.integers(release.classes)), int(rng.integers(50))
    for view, mine in (
        (release.attacker_view(class_=number), None),
        (release.attacker_view(row=row), row),
    ):
        inside = members(release, view.published)
        assert (view.records, view.people) == (len(inside), naive.people(inside, who))
        assert view.among == view.people
        assert not view.fits
        assert view.required == 3
        if mine is not None:
            assert mine in inside
            now = release.frame.to_pylist()[mine]
            assert view.published == {name: now[name] for name in QUASI}
        (secret,) = view.sensitive
        assert list(secret.values) == naive.secrets(inside, who, before["disease"])
        exact = {one.column: one for one in view.knowledge if one.exact}
        for name in (*QUASI, "disease", "hours"):
            if name in QUASI and len({before[name][i] for i in inside}) == 1:
                assert name not in exact
                continue
            one = exact[name]
            found = naive.knowledge(inside, who, before[name].__getitem__, 3)
            assert (one.fewest, one.most, one.alone, one.below) == found
            if mine is not None:
                each = naive.left(inside, who, before[name].__getitem__)
                assert one.left == each[who[mine]]
            assert one.precision == {"age": "the exact number", "zip": "the whole code"}.get(
                name, "the exact value" if name == "job" else ""
            )
        columns = {name: before[name] for name in QUASI}
        person = None if mine is None else who[mine]
        assert len(view.alone_by) == naive.enough(inside, who, columns, 1, person)
        assert len(view.below_by) == naive.enough(inside, who, columns, 2, person)


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_precision_between_the_published_value_and_the_exact_one(seed):
    before, release = made(seed, models=[{"name": "k-anonymity", "k": 8}])
    for number in range(release.classes):
        view = release.attacker_view(class_=number)
        inside = members(release, view.published)
        for one in view.knowledge:
            if one.exact or one.column == "zip":
                continue
            if one.column == "age":
                wide = int(one.precision.removeprefix("a range of "))
                key = [int(a) // wide for a in before["age"]]
            else:
                assert one.precision in ("level 2 of its hierarchy", "level 1 of its hierarchy")
                key = [PATHS[j] for j in before["job"]]
                below = any(PATHS[before["job"][i]] == "CD" for i in inside)
                if one.precision.startswith("level 1") and below:  # a, b, C and d
                    key = [j[0] for j in before["job"]]
            found = naive.knowledge(inside, range(50), key.__getitem__, 8)
            assert (one.fewest, one.most, one.alone, one.below) == found


def test_classes_are_numbered_from_small_to_large():
    _, release = made(1)
    sizes = [release.attacker_view(class_=i).people for i in range(release.classes)]
    assert sizes == sorted(sizes)
    assert sizes[0] == release.smallest_class
    assert sum(sizes) == 50
    # Whatever the order of the records.
    plan = release.plan.changed(seed=3)
    shuffled = shoal.anonymize(pa.table(table(1)), plan)
    for number in (0, 1, release.classes - 1):
        one, other = (r.attacker_view(class_=number) for r in (release, shuffled))
        assert one.published == other.published


def test_an_audit_finds_out_who_is_in_a_class():
    """Then its view is that of the run that made the release."""
    sure = 0
    for seed in range(8):
        before, release = made(seed, persons=seed % 2 == 1)
        audit = shoal.audit(release.frame, release.plan, original=pa.table(before))
        for number in range(release.classes):
            mine, theirs = (one.attacker_view(class_=number) for one in (release, audit))
            if theirs.fits:
                continue
            sure += 1
            key = attrgetter("column", "precision")
            assert sorted(mine.knowledge, key=key) == sorted(theirs.knowledge, key=key)
            assert replace(mine, knowledge=()) == replace(theirs, knowledge=())
    assert sure > 10


def test_an_audit_counts_the_people_whom_the_values_fit(monkeypatch):
    """If it cannot find out who is in a class."""
    monkeypatch.setattr("shoal.flow.audit._whose", lambda *_: None)
    before, release = made(5)
    audit = shoal.audit(release.frame, release.plan, original=pa.table(before))
    bare = shoal.audit(release.frame, release.plan)
    covers = {
        "age": lambda v, p: p == "*" or v == p or _in(v, p),
        "job": lambda v, p: p in ("*", v, PATHS[v]) or (p == "C" and v[0] == "c"),
        "zip": lambda v, p: v.startswith(p.rstrip("*")),
    }
    for row in range(0, 50, 7):
        view, alone = audit.attacker_view(row=row), bare.attacker_view(row=row)
        published = {name: release.frame.to_pylist()[row][name] for name in QUASI}
        assert view.published == alone.published == published
        fits = [i for i in range(50) if all(covers[n](before[n][i], published[n]) for n in QUASI)]
        assert view.fits
        assert view.among == len(fits) >= view.people
        inside = members(release, published)
        for one in view.knowledge:
            rows = fits if one.precision else inside
            if one.exact:
                found = naive.knowledge(rows, range(50), before[one.column].__getitem__, 3)
                assert (one.fewest, one.most, one.alone, one.below) == found
            assert one.left is None
        assert alone.among is None
        assert [one.column for one in alone.knowledge] == ["disease", "hours"]
        assert alone.knowledge == tuple(one for one in view.knowledge if not one.precision)
        assert "without the original" in str(alone)


def _in(value, label):
    if not label.startswith("["):
        return False
    low, high = label[1:-1].split(", ")
    return int(low) <= int(value) < int(high)


def test_free_values():
    columns = COLUMNS | {
        "age": {"role": "quasi", "hierarchy": {"free_ranges": True}},
        "job": {"role": "quasi", "hierarchy": {"free_sets": True}},
    }
    before, release = made(2, columns=columns)
    audit = shoal.audit(release.frame, release.plan, original=pa.table(before))
    for number in (0, release.classes - 1):
        view, theirs = (one.attacker_view(class_=number) for one in (release, audit))
        inside = members(release, view.published)
        assert view.people == theirs.people == len(inside)
        assert theirs.among >= view.among == len(inside)
        for one in view.knowledge:
            found = naive.knowledge(inside, range(50), before[one.column].__getitem__, 3)
            if one.exact:
                assert (one.fewest, one.most, one.alone, one.below) == found


def test_several_attackers():
    """The view is that of the attacker with the highest risk; what others know is further."""
    attackers = [{"knows": ["age", "job"], "who": "employer"}, {"knows": ["zip"]}]
    before, release = made(4, attackers=attackers)
    worst = min(release.attackers, key=lambda name: release.attackers[name].smallest_class)
    assert release.attacker_view(class_=0).people == release.attackers[worst].smallest_class
    further = set()
    for number in range(release.attackers[worst].classes):
        view = release.attacker_view(class_=number)
        assert view.attacker == worst
        inside = members(release, view.published)
        assert view.people == len(inside)
        for one in view.knowledge:
            if one.exact:
                found = naive.knowledge(inside, range(50), before[one.column].__getitem__, 3)
                assert (one.fewest, one.most, one.alone, one.below) == found
        further |= {one.column for one in view.knowledge if one.precision} - {*view.published}
    assert further
    audit = shoal.audit(release.frame, release.plan, original=pa.table(before))
    for who in release.attackers:
        views = [one.attacker_view(row=7, attacker=who) for one in (release, audit)]
        for view in views:
            assert view.attacker == who
            assert set(view.published) == ({"age", "job"} if who == "employer" else {"zip"})
            assert view.people == len(members(release, view.published))
    with pytest.raises(BadTable, match="has no attacker 'employr'; did you mean 'employer'"):
        release.attacker_view(row=7, attacker="employr")


def test_candidates_of_people_with_several_records():
    _, release = made(3, persons=True)
    for number in range(release.classes):
        low, high = release.attacker_view(class_=number).candidates
        assert 3 <= low <= high


def surprise(view, whole):
    """How far the values of a class are from those of the table, by the definition."""
    (secret,) = view.sensitive
    there = {value: count / view.people for value, count in secret.values}
    return sum(abs(there.get(value, 0) - share) for value, share in whole.items()) / 2


@pytest.mark.parametrize("seed", [6, 7, 8])
def test_the_report_shows_the_classes_that_surprise_most(seed):
    _, release = made(seed)
    found = release.attacker_examples()
    every = [release.attacker_view(class_=i) for i in range(release.classes)]
    counts = Counter()
    for one in every:
        counts.update(dict(one.sensitive[0].values))
    whole = {value: count / counts.total() for value, count in counts.items()}
    small = [one for one in every if one.people == release.smallest_class]
    assert found["smallest"].people == release.smallest_class
    best = max(surprise(one, whole) for one in small)
    assert surprise(found["smallest"], whole) == pytest.approx(best)
    most = found.get("surprising", found["smallest"])
    best = max(surprise(one, whole) for one in every)
    assert surprise(most, whole) == pytest.approx(best)


def test_a_rare_value_surprises_more_than_a_frequent_one():
    """Everybody of a and c has what nearly all have: homogeneous, and yet b says more."""
    ill = ["flu"] * 40 + ["flu"] * 10 + ["gout"] * 30 + ["flu"] * 40
    table = pa.table({"group": ["a"] * 40 + ["b"] * 40 + ["c"] * 40, "ill": ill})
    columns = {"group": "quasi", "ill": "sensitive"}
    release = shoal.anonymize(table, Plan(columns=columns, models=K_TWO))
    (view,) = release.attacker_examples().values()
    assert view.published == {"group": "b"}


def test_no_value_that_is_not_published_is_in_it():
    before, release = made(9)
    published = {str(v) for column in release.frame.columns for v in column.to_pylist()}
    hidden = [v for name in QUASI for v in before[name] if v not in published and len(v) > 1]
    assert hidden
    for number in range(release.classes):
        view = release.attacker_view(class_=number)
        values = {str(v) for v in view.published.values()}
        values |= {str(value) for one in view.sensitive for value, _ in one.values}
        assert values <= published | {"None"}
        words = json.dumps([view.as_dict()["knowledge"], view.alone_by, view.conclusions])
        assert not any(f'"{value}"' in words for value in hidden)


def test_explaining_a_row_includes_the_view():
    _, release = made(7)
    found = release.explain(11)
    assert found.attacker == release.attacker_view(row=11)
    assert found.attacker.row == 11
    assert "look like this; an attacker who looks for one of them has" in str(found)
    assert found.as_dict()["attacker"]["people"] == found.attacker.people
    json.dumps(found.as_dict())


def test_what_cannot_be_looked_at(tmp_path):
    _, release = made(8)
    for row in (-1, 50, "3", True, 2.0):
        with pytest.raises(BadTable, match="the rows are 0 to 49"):
            release.attacker_view(row=row)
    with pytest.raises(BadTable, match=f"the classes are 0 to {release.classes - 1}"):
        release.attacker_view(class_=release.classes)
    for both in ({}, {"row": 1, "class_": 1}):
        with pytest.raises(BadTable, match="name either a row or a class"):
            release.attacker_view(**both)
    suppressing = {"name": "full-domain", "suppression": 0.2}
    _, some = made(8, algorithm=suppressing, loss="lm")
    gone = np.flatnonzero(some.tables.recoding.record < 0)
    assert len(gone)
    with pytest.raises(BadTable, match="is suppressed: an attacker sees nothing"):
        some.attacker_view(row=int(gone[0]))
    assert some.explain(int(gone[0])).attacker is None


def test_without_classes_there_is_no_view():
    rows = table(0)
    plan = Plan(
        columns=COLUMNS, models=[{"name": "k-concealment", "k": 3}], algorithm="concealment", seed=1
    )
    release = shoal.anonymize(pa.table(rows), plan)
    with pytest.raises(BadTable, match="need not form classes"):
        release.attacker_view(class_=0)
    assert release.attacker_examples() == {}
    assert release.explain(3).attacker is None


def test_records_that_are_counted_together(tmp_path):
    pytest.importorskip("duckdb")
    import pyarrow.csv as pcsv

    before = table(3)
    pcsv.write_csv(pa.table(before), tmp_path / "people.csv")
    plan = Plan(columns=COLUMNS, models=[{"name": "k-anonymity", "k": 3}], seed=1)
    memory = shoal.anonymize(tmp_path / "people.csv", plan)
    large = shoal.anonymize(tmp_path / "people.csv", plan.changed(engine="duckdb", parts=1))
    with pytest.raises(BadTable, match="not in memory"):
        large.attacker_view(row=0)
    for number in (0, 1):
        one, other = memory.attacker_view(class_=number), large.attacker_view(class_=number)
        assert one.published == other.published
        assert (one.people, one.alone_by, one.sensitive) == (
            other.people,
            other.alone_by,
            other.sensitive,
        )
        known = [k for k in one.knowledge if k.column != "hours"]
        assert known == list(other.knowledge)
