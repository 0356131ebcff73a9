"""Columns with at_most through the whole flow: releases, audits, applied recodings, engines."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import shoal
from shoal import CannotReach, Fitted, NotHeld, Plan
from shoal.flow.auto_select import search
from shoal.table.recoding import Recoding
from tests.command_line import PLAN, left

K = [{"name": "k-anonymity", "k": 4}]
AGE = {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}}
JOBS = {"levels": [["a", "A", "*"], ["b", "A", "*"], ["c", "B", "*"], ["d", "B", "*"]]}
COLUMNS = {
    "age": {**AGE, "at_most": {"width": 10}},
    "zip": {"role": "quasi", "hierarchy": {"prefixes": True}, "at_most": {"level": 3}},
    "job": {"role": "quasi", "hierarchy": JOBS, "at_most": {"level": 1}},
    "sex": {"role": "quasi", "at_most": "exact"},
    "ill": "sensitive",
}
ALLOWED = {
    "age": r"\d+|\[(\d+), \d+\)",
    "zip": r"\d{2}[\d*]{3}",
    "job": "[a-dAB]",
    "sex": "[fm]",
}


def people(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 50, rows),
            "zip": [str(47600 + x) for x in rng.integers(0, 400, rows)],
            "job": rng.choice(list("abcd"), rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "cold", "none"], rows),
        }
    )


def plan(columns=COLUMNS, **more):
    return Plan(**{"columns": columns, "models": K, "seed": 1, "suppression": 0.3, **more})


def complies(frame):
    for column, pattern in ALLOWED.items():
        for label in set(map(str, frame[column].to_pylist())):
            assert re.fullmatch(pattern, label), (column, label)
            if column == "age" and label.startswith("["):
                low, high = map(int, label[1:-1].split(", "))
                assert high - low <= 10
    return True


def alike(frame):
    return Counter(map(str, frame.to_pylist()))


def test_full_domain_need_not_suppress_what_matters():
    """The complaint of issue 16: everything but one column was published as *."""
    rng = np.random.default_rng(4)
    table = pa.table(
        {
            "area": [str(10000 + x) for x in rng.integers(0, 2000, 3000)],
            "age": rng.integers(18, 90, 3000),
            "industry": rng.choice([f"i{x}" for x in range(20)], 3000),
        }
    )
    columns = {
        "area": {"role": "quasi", "hierarchy": {"prefixes": True}},
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20, 40]}},
        "industry": "quasi",
    }
    asked = {"models": [{"name": "k-anonymity", "k": 50}], "algorithm": "full-domain", "seed": 1}
    before = shoal.anonymize(table, Plan(columns=columns, **asked)).frame
    assert all(len(set(before[name].to_pylist())) == 1 for name in ("area", "age"))
    columns["area"] |= {"at_most": {"level": 3}}
    columns["age"] |= {"at_most": {"width": 20}}
    after = shoal.anonymize(table, Plan(columns=columns, suppression=0.05, **asked))
    assert set(after.frame["area"].to_pylist()) == {"10***", "11***"}
    assert len(set(after.frame["age"].to_pylist())) >= 4
    assert after.suppressed <= 0.05 * 3000


def test_what_is_possible_is_said():
    columns = {**COLUMNS, "zip": {**COLUMNS["zip"], "at_most": {"level": 1}}}
    with pytest.raises(CannotReach) as error:
        shoal.anonymize(people(), plan(columns, suppression=0.01))
    said = str(error.value)
    assert re.search(r"suppression = 0.01: at least \d+ of 240 records \(\d+(\.\d+)? %\)", said)
    assert "'zip' contributes most: without its at_most it would be 0 %" in said
    share = float(re.search(r"allow suppression = ([\d.]+)", said)[1])
    assert shoal.anonymize(people(), plan(columns, suppression=share)).suppressed
    with pytest.raises(CannotReach):
        shoal.anonymize(people(), plan(columns, suppression=share - 1e-4 - 1 / 240))
    level = int(re.search(r"'zip' with at_most = { level = (\d) }", said)[1])
    wider = {**COLUMNS, "zip": {**COLUMNS["zip"], "at_most": {"level": level}}}
    assert shoal.anonymize(people(), plan(wider, suppression=0.01)).suppressed <= 2
    narrow = {**COLUMNS, "zip": {**COLUMNS["zip"], "at_most": {"level": level - 1}}}
    with pytest.raises(CannotReach):
        shoal.anonymize(people(), plan(narrow, suppression=0.01))


def test_full_domain_says_how_much_it_has_to_suppress():
    """At level 1 the values c and d, which are right below the root, are suppressed."""
    jobs = {"levels": [["a", "A", "*"], ["b", "A", "*"], ["c", "*"], ["d", "*"]]}
    columns = {"job": {"role": "quasi", "hierarchy": jobs, "at_most": {"level": 1}}}
    table = pa.table({"job": list("aabbcccccddddde")[:14]})
    with pytest.raises(CannotReach) as error:
        shoal.anonymize(table, plan(columns, algorithm="full-domain", suppression=0.1))
    said = "with suppression = 0.2858 there are levels that comply. Allow that, widen at_most, or"
    assert f"{said} choose another algorithm, which needs suppression = 0" in str(error.value)
    release = shoal.anonymize(table, plan(columns, algorithm="full-domain", suppression=0.2858))
    assert set(release.frame["job"].to_pylist()) == {"c", "d"}
    release = shoal.anonymize(table, plan(columns, algorithm="peel", suppression=0.0))
    assert set(release.frame["job"].to_pylist()) == {"A", "c", "d"}


@pytest.mark.parametrize("algorithm", ["peel", "full-domain"])
def test_no_wider_limit_is_proposed_if_none_can_be_wide_enough(algorithm):
    """A sensitive column with one value has no diversity, whatever is published."""
    table = people().set_column(4, "ill", pa.array(["flu"] * 240))
    models = [*K, {"name": "entropy-l-diversity", "column": "ill", "l": 1.5}]
    with pytest.raises(CannotReach, match="even the whole table as one class reaches only 1"):
        shoal.anonymize(table, plan(models=models, algorithm=algorithm))


def test_a_proposal_leaves_something_to_publish():
    """With suppression = 1 limits that suppress all records are not what anybody asks for."""
    columns = {"zip": {**COLUMNS["zip"], "at_most": "exact"}, "sex": COLUMNS["sex"]}
    table = pa.table({"zip": ["47601", "47602", "47611", "47612"], "sex": list("ffmm")})
    with pytest.raises(CannotReach) as error:
        shoal.anonymize(
            table, plan(columns, models=[{"name": "k-anonymity", "k": 2}], suppression=1.0)
        )
    assert "'zip' with at_most = { level = 1 } (0 % suppressed)" in str(error.value)
    assert "100 % suppressed" not in str(error.value)


def test_several_columns_are_proposed_if_no_single_one_is_enough():
    columns = {name: one for name, one in COLUMNS.items() if name in ("age", "zip", "ill")}
    columns["zip"] = {**columns["zip"], "at_most": "exact"}
    columns["age"] = {"role": "quasi", "hierarchy": {"ranges": [2, 10]}, "at_most": "exact"}
    table = people(60).select(["age", "zip", "ill"])
    with pytest.raises(CannotReach) as error:
        shoal.anonymize(table, plan(columns, suppression=0.0))
    found = dict(re.findall(r"'(age|zip)' with at_most = { level = (\d) }", str(error.value)))
    for name, level in found.items():
        columns[name] = {**columns[name], "at_most": {"level": int(level)}}
    assert set(found) == {"age", "zip"}
    assert shoal.anonymize(table, plan(columns, suppression=0.0)).suppressed == 0


def test_a_release_that_cannot_comply_is_exit_status_1_and_nothing_is_written(run, people):
    limited = 'age = { role = "quasi", at_most = "exact", hierarchy = { ranges = [5, 10, 20] } }'
    text = re.sub("age = .*", limited, PLAN)
    (people / "plan.toml").write_text(text)
    command = ("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    status, _, err = run(*command, "--json", "r.json", "--report", "r.html", "--recoding", "r.rec")
    assert status == 1
    assert "at_most cannot be satisfied" in " ".join(err.split())
    assert left(people) == ["people.csv", "plan.toml"]
    (people / "plan.toml").write_text("suppression = 1\n" + text.replace("k = 3", "k = 2"))
    status, out, err = run(*command, "--report", "r.html")
    assert status == 0, err
    assert "at_most [age]" in " ".join(out.split())
    assert "at most the original value" in (people / "r.html").read_text()
    status, out, _ = run("audit", "r.csv", "--plan", "plan.toml")
    assert status == 0
    assert "at_most [age] at most 0 0" in " ".join(out.split())


def test_the_release_itself_is_checked(monkeypatch):
    """An algorithm that publishes roots is found out, whatever it says."""

    def roots(algorithm, table, *_, **__):
        nothing = np.zeros((1, len(table.trees)), np.int32)
        return Recoding(nothing, np.zeros(len(table.codes), np.int64))

    monkeypatch.setattr(search, "recode_for", roots)
    with pytest.raises(NotHeld, match="'age' has at most width 10, and the table reaches without"):
        shoal.anonymize(people(), plan())


def test_an_audit_reports_what_is_beyond_it():
    free = {name: {**one} if one != "sensitive" else one for name, one in COLUMNS.items()}
    for one in free.values():
        if one != "sensitive":
            one.pop("at_most", None)
    release = shoal.anonymize(people(), plan(free))
    for original in (None, people()):
        audit = shoal.audit(release.frame, plan(), original=original)
        found = {check.column: check for check in audit.at_most}
        assert all(check.holds for check in audit.checks)
        assert not audit.holds
        assert not found["age"].holds
        assert found["age"].reached > 10
        # How many characters a code has is a matter of the column.
        assert ("zip" in found) == (original is not None)
        assert any("'zip' was not checked" in note for note in audit.notes) == (original is None)
        assert audit.as_dict()["at_most"][0]["column"] == "age"
    assert shoal.audit(shoal.anonymize(people(), plan()).frame, plan()).holds


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian", "k-member", "full-domain"])
def test_the_order_of_the_records_and_the_number_of_threads_do_not_matter(algorithm):
    table = people()
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    made = plan(algorithm=algorithm)
    release = shoal.anonymize(table, made)
    assert complies(release.frame)
    assert alike(release.frame) == alike(shoal.anonymize(mixed, made).frame)
    for threads in (1, 3):
        again = shoal.anonymize(table, made.with_threads(threads))
        assert again.frame.equals(release.frame)
        assert again.bound == release.bound


def test_parts_of_blocks():
    made = plan(
        {name: one for name, one in COLUMNS.items() if name not in ("zip", "job")},
        models=[{"name": "k-anonymity", "k": 2}],
        parts=6,
    )
    table = people(3000).select(["age", "sex", "ill"])
    release = shoal.anonymize(table, made)
    assert min(Counter(zip(release.frame["age"], release.frame["sex"], strict=True)).values()) >= 2
    assert {str(one) for one in release.frame["sex"].to_pylist()} == {"f", "m"}


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "danonyir", "geneir", "full-domain"])
def test_people_with_several_records(algorithm):
    """All records of a person comply together, or none is published."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(150), rng.choice([1, 1, 2, 3], 150))
    table = people(len(who)).append_column("who", pa.array(who))
    columns = {**COLUMNS, "who": "person"}
    columns["zip"] = {"role": "quasi", "hierarchy": {"prefixes": True}}
    release = shoal.anonymize(table, plan(columns, algorithm=algorithm, suppression=0.99))
    rows = release.frame.to_pylist()
    by_class = {}
    for row in rows:
        by_class.setdefault(tuple(row[name] for name in ALLOWED), set()).add(row["who"])
    assert min(map(len, by_class.values())) >= 4
    assert sum(map(len, by_class.values())) == len({row["who"] for row in rows})
    assert set(release.frame["sex"].to_pylist()) <= {"f", "m"}
    # People of both sexes cannot be published.
    seen = {}
    for row in table.to_pylist():
        seen.setdefault(row["who"], set()).add(row["sex"])
    assert len({row["who"] for row in rows}) <= sum(len(one) == 1 for one in seen.values())


def test_a_recoding_is_applied_within_at_most(tmp_path):
    release = shoal.anonymize(people(), plan())
    release.recoding.save(tmp_path / "recoding.json")
    fitted = Fitted.load(tmp_path / "recoding.json")
    assert fitted.plan.suppression == 0.3
    assert fitted.plan.columns["age"].at_most == plan().columns["age"].at_most
    applied = fitted.apply(people(400, 7), seed=1)
    assert complies(applied.frame)
    assert all(check.holds for check in applied.at_most)
    # A recoding of another plan, whose vectors are beyond what this plan allows.
    wide = Plan(columns={**COLUMNS, "age": AGE}, models=K, seed=1, suppression=0.3)
    vectors = shoal.anonymize(people(), wide).recoding.vectors
    assert any("[20, 40)" in vector for vector in vectors)
    mixed = Fitted(fitted.plan, vectors, fitted.order)
    assert complies(mixed.apply(people(400, 7), seed=1).frame)


def test_duckdb_publishes_the_same(tmp_path):
    pytest.importorskip("duckdb")
    pa_csv.write_csv(people(), tmp_path / "people.csv")
    releases = {}
    for engine in ("memory", "duckdb"):
        release = shoal.anonymize(tmp_path / "people.csv", plan(engine=engine))
        release.save(tmp_path / f"{engine}.csv")
        releases[engine] = pa_csv.read_csv(tmp_path / f"{engine}.csv")
        assert release.suppressed == 240 - releases[engine].num_rows
        assert all(check.holds for check in release.at_most)
        assert complies(releases[engine])
    assert alike(releases["memory"]) == alike(releases["duckdb"])


def test_auto_complies():
    for change in ({"algorithm": "auto"}, {"loss": "auto"}):
        columns = {**COLUMNS, "job": {"role": "quasi", "at_most": "exact"}}
        release = shoal.anonymize(people(120), plan(columns, **change, suppression=0.9))
        assert set(release.frame["job"].to_pylist()) <= set("abcd")
        assert all(check.holds for check in release.at_most)


def test_several_attackers():
    attackers = [{"knows": ["age", "sex"]}, {"knows": ["sex", "zip", "job"]}]
    release = shoal.anonymize(people(), plan(attackers=attackers, suppression=0.3))
    assert complies(release.frame)
    for one in attackers:
        seen = zip(*(release.frame[name].to_pylist() for name in one["knows"]), strict=True)
        assert min(Counter(seen).values()) >= 4
    # Nobody knows all columns, so that less need be suppressed than for one who does.
    narrow = {**COLUMNS, "age": {**AGE, "at_most": {"width": 5}}}
    narrow["zip"] = {**COLUMNS["zip"], "at_most": {"level": 2}}
    with pytest.raises(CannotReach):
        shoal.anonymize(people(), plan(narrow, suppression=0.0))
    release = shoal.anonymize(people(), plan(narrow, attackers=attackers, suppression=0.0))
    assert release.suppressed == 0


@pytest.mark.parametrize(
    ("hierarchy", "at_most"),
    [
        (None, "exact"),
        ({"prefixes": True}, "exact"),
        ({"prefixes": True}, {"level": 2}),
        (JOBS, "exact"),
        (JOBS, {"level": 1}),
        ({"ranges": [5]}, {"level": 1}),
    ],
    ids=str,
)
@pytest.mark.parametrize("cell", ["*", None])
def test_a_column_that_has_nothing_but_the_root_has_no_exact_value(cell, hierarchy, at_most):
    column = {"role": "quasi", "hierarchy": hierarchy, "at_most": at_most}
    table = pa.table({"job": pa.array([cell] * 8, pa.string()), "sex": list("ffffmmmm")})
    asked = plan({"job": column, "sex": "quasi"}, missing="root", suppression=1.0)
    with pytest.raises(CannotReach, match="8 of 8 records"):
        shoal.anonymize(table, asked)
    general = pa.table({"job": ["*"] * 8, "sex": list("ffffmmmm")})
    assert not shoal.audit(general, asked, original=table).holds


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian"])
@pytest.mark.parametrize("seed", range(4))
def test_attackers_are_kept_away_with_the_least_suppression(algorithm, seed):
    """Counted by hand: again and again, records with fewer than k like them for an attacker go."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(list("xyzuv"), (60, 3), p=[0.4, 0.3, 0.2, 0.05, 0.05])
    rows = [tuple(row) for row in drawn.tolist()]
    sets = [[0, 1], [1, 2]] if seed % 2 else [[0, 1], [1, 2], [0, 2]]  # a chain, or a circle
    left_over = rows
    while True:
        seen = [Counter(tuple(row[j] for j in one) for row in left_over) for one in sets]
        stay = [
            row
            for row in left_over
            if all(
                many[tuple(row[j] for j in one)] >= 3 for many, one in zip(seen, sets, strict=True)
            )
        ]
        if stay == left_over:
            break
        left_over = stay
    gone = len(rows) - len(left_over)
    assert 0 < gone < len(rows)
    table = pa.table({name: [row[j] for row in rows] for j, name in enumerate("abc")})
    asked = {
        "columns": {name: {"role": "quasi", "at_most": "exact"} for name in "abc"},
        "models": [{"name": "k-anonymity", "k": 3}],
        "attackers": [{"knows": ["abc"[j] for j in one]} for one in sets],
        "algorithm": algorithm,
    }
    release = shoal.anonymize(table, plan(**asked, suppression=gone / 60))
    assert release.suppressed == gone
    assert alike(release.frame) == Counter(str(dict(zip("abc", r, strict=True))) for r in left_over)
    with pytest.raises(CannotReach, match=f"at least {gone} of 60 records"):
        shoal.anonymize(table, plan(**asked, suppression=(gone - 1) / 60))


@pytest.mark.parametrize("loss", ["nllm", "entropy"])
def test_at_most_of_columns_that_only_one_attacker_knows(loss):
    """The other attackers know no limited column."""
    columns = {name: one for name, one in COLUMNS.items() if name != "zip"}
    columns["age"], columns["job"] = AGE, {"role": "quasi", "hierarchy": JOBS}
    sets = [["age", "job"], ["job", "sex"]]
    attackers = [{"knows": one} for one in sets]
    asked = {"attackers": attackers, "loss": loss, "suppression": 0.0}
    release = shoal.anonymize(people().drop_columns("zip"), plan(columns, **asked))
    assert set(release.frame["sex"].to_pylist()) == {"f", "m"}
    for one in sets:
        seen = zip(*(release.frame[name].to_pylist() for name in one), strict=True)
        assert min(Counter(seen).values()) >= 4
    assert release.as_dict()["bound"] is not None


def test_missing_values():
    table = people()
    jobs = [None if i % 6 == 0 else job for i, job in enumerate(table["job"].to_pylist())]
    table = table.set_column(2, "job", pa.array(jobs))
    release = shoal.anonymize(table, plan())
    assert None in release.frame["job"].to_pylist()
    assert set(release.frame["job"].to_pylist()) <= {None, *"abcdAB"}
    # Published as the root they are beyond any limit.
    release = shoal.anonymize(table, plan(missing="root", suppression=0.5))
    assert release.suppressed >= 40
    assert set(release.frame["job"].to_pylist()) <= set("abcdAB")
    row = jobs.index(None)
    assert "its own values are more general than at_most allows" in str(release.explain(row))


def test_a_suppressed_row_is_explained():
    columns = {**COLUMNS, "zip": {**COLUMNS["zip"], "at_most": {"level": 1}}}
    release = shoal.anonymize(people(), plan(columns, suppression=0.99))
    gone = next(i for i in range(240) if release.explain(i).left_out)
    said = str(release.explain(gone))
    assert re.search(r"its class has [123] (person|people) and would violate k-anonymity", said)


def test_limits_without_effect_are_noted():
    columns = {"age": {**AGE, "at_most": {"level": 9}}, "ill": "sensitive"}
    release = shoal.anonymize(people().select(["age", "ill"]), plan(columns))
    assert "at_most = { level = 9 } of 'age' has no effect" in " ".join(release.notes)
    assert release.at_most[0].holds


@pytest.mark.parametrize(
    "model",
    [
        {"name": "t-closeness", "column": "ill", "t": 0.25},
        {"name": "entropy-l-diversity", "column": "ill", "l": 2},
        {"name": "average-risk", "r": 0.12},
        {"name": "share-at-risk", "share": 0.1, "threshold": 0.15},
    ],
    ids=lambda model: model["name"],
)
@pytest.mark.parametrize("algorithm", ["peel", "gaa", "full-domain"])
def test_requirements_are_verified_on_what_is_left(model, algorithm):
    columns = {**COLUMNS, "zip": {**COLUMNS["zip"], "at_most": {"level": 2}}}
    made = plan(columns, models=[*K, model], algorithm=algorithm, suppression=0.9)
    release = shoal.anonymize(people(), made)
    assert complies(release.frame)
    assert all(check.holds for check in release.checks)
    assert shoal.audit(release.frame, made).checks[1].holds
