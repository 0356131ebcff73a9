"""Columns that give a quasi-identifier back: refused, accepted, and found by an audit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import NotHeld, Plan
from shoal.attacks.dependency import Dependency
from shoal.engines import resources
from shoal.io.frames import open_frame, read, write
from shoal.plan.ways_out import resolved
from tests.command_line import left
from tests.naive import attack_dependency as naive
from tests.naive.attack_dependency import Record

K, AREAS = 5, 12
QUASI = ("area", "age", "sex")
SINGLE = {"density": "other", "visits": "other"}  # the first tells the area
PAIR = {"lock": "other", "key": "other", "visits": "other"}  # the first two tell it together


def people(rows: int = 500, seed: int = 1) -> pa.Table:
    """The area follows from the density, and from lock and key together, but from neither alone."""
    rng = np.random.default_rng(seed)
    area, lock = rng.integers(0, AREAS, (2, rows))
    return pa.table(
        {
            "area": [f"{100 + 9 * one}" for one in area],
            "age": rng.integers(20, 44, rows),
            "sex": rng.choice(["f", "m"], rows),
            "disease": rng.choice(["flu", "cold", "gout"], rows),
            "density": [1000.5 + 37 * one for one in area],
            "lock": lock,
            "key": (lock + area) % AREAS,
            "visits": rng.integers(0, 9, rows),
        }
    )


def plan(roles: dict[str, object], **change: object) -> Plan:
    columns: dict[str, object] = {
        "area": {"role": "quasi", "hierarchy": {"prefixes": True}},
        "age": {"role": "quasi", "hierarchy": {"ranges": [4, 8]}},
        "sex": "quasi",
        "disease": "sensitive",
        **dict.fromkeys(("density", "lock", "key", "visits"), "drop"),
    }
    asked: dict = {
        "columns": columns | roles,
        "models": [{"name": "k-anonymity", "k": K}],
        "keep_order": True,
        "seed": 1,
    }
    return Plan(**asked | change)


def refusal(table: object, asked: Plan) -> str:
    with pytest.raises(NotHeld) as error:
        shoal.anonymize(table, asked)
    return str(error.value)


# The recount: from the texts of the release and of the original, by code that shares nothing


def covers(text: str, value: str) -> bool:
    """Whether a published text stands for a value: itself, a prefix, a range or anything."""
    if text == "*" or text == value:
        return True
    if text.endswith("*"):
        return len(text) == len(value) and value.startswith(text.rstrip("*"))
    found = re.fullmatch(r"\[(\d+), (\d+)\)", text)
    return found is not None and int(found[1]) <= int(value) < int(found[2])


def records(original: pa.Table, published: pa.Table, columns: list[str]) -> list[Record]:
    """The records of the naive twin; the rows of both tables are in the same order."""
    true = [[str(one) for one in original[name].to_pylist()] for name in QUASI]
    texts = [[str(one) for one in published[name].to_pylist()] for name in QUASI]
    seen = [{one for one in some if one[0] != "[" and "*" not in one} for some in texts]
    inside = [
        {text: {one for one in seen[j] if covers(text, one)} for text in set(texts[j])}
        for j in range(len(QUASI))
    ]
    values = {name: published[name].to_pylist() for name in columns}
    found = []
    for row in range(original.num_rows):
        said = tuple(some[row] for some in texts)
        assert all(covers(text, some[row]) for text, some in zip(said, true, strict=True))
        found.append(
            Record(
                exact=tuple(one if one in seen[j] else None for j, one in enumerate(said)),
                classed=said,
                truth=tuple({some[row]} for some in true),
                values={name: some[row] for name, some in values.items()},
                person=row,
                inside=tuple(inside[j][one] for j, one in enumerate(said)),
            )
        )
    return found


def recount(original: pa.Table, published: pa.Table, columns: list[str], known: bool) -> dict:
    """People below k, counted by the naive twin; `known`: their own values are."""
    attack = Dependency()
    return naive.attack(
        records(original, published, columns), columns, len(QUASI), K, attack.rare, attack.chance,
        original=known,
    )  # fmt: skip


def test_a_column_that_tells_a_quasi_identifier_is_refused() -> None:
    said = refusal(people(), plan(SINGLE))
    accepted = shoal.anonymize(people(), plan(SINGLE, accept=["density"]))
    found = recount(people(), accepted.frame, list(SINGLE), known=True)
    assert found["people_below"] > 50
    assert found["alone"] > 0
    assert said == (
        "the table that would be published reveals too much: for "
        f"{found['people_below']} of 500 people fewer than the required 5 people are left, "
        f"{found['alone']} of them alone, to an attacker who reads quasi-identifiers back from "
        f"'density' ('density' reveals 'area': {found['density',]} people). Give such a column the "
        "role quasi, so that it is generalized too, or the role drop; or accept it with "
        'accept = ["density"] at the top of the plan'
    )


def small(seed: int, follows: bool) -> tuple[pa.Table, Plan]:
    """A small table with large classes; a code of the school follows from it, or is random."""
    rng = np.random.default_rng(seed)
    rows, schools = 600, 16
    share = 0.7 ** np.arange(schools)
    school = rng.choice(schools, rows, p=share / share.sum())
    code = school if follows else rng.permutation(school)
    table = {"school": [f"school {one}" for one in school]}
    table |= {name: rng.choice(list("abcdef"), rows) for name in ("job", "state", "home")}
    table |= {"age": rng.integers(17, 80, rows), "code": 3 * code + 1}
    table |= {"visits": rng.integers(0, 9, rows), "number": rng.integers(0, 300, rows)}
    quasi = dict.fromkeys(("school", "job", "state", "home"), "quasi")
    age = {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}}
    roles = {**quasi, "age": age, "code": "other", "visits": "other", "number": "other"}
    asked = Plan(columns=roles, models=[{"name": "k-anonymity", "k": 12}], seed=1)
    return pa.table(table), asked


@pytest.mark.parametrize("seed", range(4))
def test_few_classes_are_enough_if_all_their_records_agree(seed: int) -> None:
    """A dozen classes prove little; their hundred records do, and the attacker is right."""
    said = refusal(*small(seed, True))
    assert "'code' reveals 'school'" in said
    assert "visits" not in said
    assert "number" not in said


@pytest.mark.parametrize("seed", range(10))
def test_columns_that_say_nothing_are_not_refused(seed: int) -> None:
    table, asked = small(seed, False)
    assert shoal.anonymize(table, asked).smallest_class >= 12


def test_two_columns_that_tell_it_only_together_are_refused() -> None:
    said = refusal(people(), plan(PAIR))
    accepted = shoal.anonymize(people(), plan(PAIR, accept=["lock", "key"]))
    found = recount(people(), accepted.frame, list(PAIR), known=True)
    assert found["lock",] == found["key",] == 0 < found["lock", "key"]
    assert f"for {found['people_below']} of 500 people" in said
    assert f"'lock' and 'key' together reveal 'area': {found['lock', 'key']} people" in said
    assert 'accept = ["lock", "key"]' in said


@pytest.mark.parametrize(
    "roles",
    [
        SINGLE | {"density": "drop"},
        SINGLE | {"density": {"role": "quasi", "hierarchy": {"ranges": [100, 200]}}},
        PAIR | {"lock": "drop"},
        PAIR | {"key": "quasi"},
        SINGLE | {"density": "sensitive"},  # measured and reported, not refused
    ],
    ids=["drop", "quasi", "one of two", "one of two quasi", "sensitive"],
)
def test_the_ways_out(roles: dict) -> None:
    release = shoal.anonymize(people(), plan(roles))
    assert release.dependency.below == 0
    found = release.as_dict()["dependency"]
    assert set(found) == {name for name, role in roles.items() if role != "drop"} - {
        name for name, role in roles.items() if role == "quasi" or isinstance(role, dict)
    } | {"disease"}
    assert (found.get("density") or 0) > 50 or roles.get("density") != "sensitive"


@pytest.mark.parametrize(
    ("roles", "accept", "said"),
    [
        (SINGLE, ["density"], "density is not generalized and reveals area"),
        (PAIR, ["key"], "lock and key are not generalized and together reveal area"),
    ],
    ids=["single", "one of two"],
)
def test_what_is_accepted_is_shown(
    roles: dict, accept: list[str], said: str, tmp_path: Path
) -> None:
    release = shoal.anonymize(people(), plan(roles, accept=accept))
    found = release.as_dict()
    assert found["accepted"] == accept
    below = found["attacks"]["dependency"]["by_other"]
    assert below > 20
    if len(accept) == 1 and roles is SINGLE:
        assert found["dependency"]["density"] == below
    noted = f"{said}; for {below} of 500 people fewer than 5 people are left"
    assert any(one.startswith(f"accepted by the plan: {noted}") for one in found["notes"])
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    words = re.sub(r"<[^>]*>", " ", page)
    summary = " ".join(words[: words.index("What is not guaranteed")].split())
    assert f"Accepted by the plan: {noted}" in summary
    named = " and ".join(accept)
    assert f"leave fewer than 5 0 {below} ▲ amber Accepted by the plan: {named}." in summary


def test_a_release_without_such_columns_is_shown_as_satisfied(tmp_path: Path) -> None:
    release = shoal.anonymize(people(), plan({"visits": "other"}))
    assert release.as_dict()["accepted"] == []
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "leave fewer than 5 0 0 ✔ satisfied" in words
    assert "Accepted by the plan" not in words


def test_the_command_writes_nothing(run, tmp_path: Path) -> None:
    write(open_frame(people()), tmp_path / "people.csv")
    plan(SINGLE).save(tmp_path / "plan.toml")
    words = ("anonymize", "people.csv", "--plan", "plan.toml", "--out", "out.csv", "--json",
             "out.json", "--report", "out.html", "--recoding", "out.recoding")  # fmt: skip
    status, _, errors = run(*words)
    assert status == 1
    said = " ".join(errors.split())
    assert "'density' reveals 'area'" in said
    assert 'accept = ["density"]' in said
    assert left(tmp_path) == ["people.csv", "plan.toml"]
    # The advice works as it is written.
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    (tmp_path / "plan.toml").write_text('accept = ["density"]\n' + text, encoding="utf-8")
    status, out, errors = run(*words)
    assert status == 0, errors
    said = " ".join((out + errors).split())
    assert "accepted by the plan: density is not generalized" in said
    assert (tmp_path / "out.csv").exists()
    assert json.loads((tmp_path / "out.json").read_text())["accepted"] == ["density"]


@pytest.mark.parametrize("limits", [{}, {"highest_risk": 0.2}], ids=["no limits", "limits"])
def test_why_it_is_refused_is_a_report_too(limits: dict, tmp_path: Path) -> None:
    """It says which columns, for how many people and what to do, and shows no value."""
    with pytest.raises(NotHeld) as error:
        shoal.anonymize(people(), plan(SINGLE, limits=limits))
    assert error.value.refused is not None
    error.value.refused.report(tmp_path / "why.html")
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]).split())
    found = re.search(r"for (\d+) of 500 people", str(error.value))
    assert found is not None
    assert "Not released. ✖ The requirement is satisfied. Columns that are not generalized" in words
    assert f"leave fewer than 5 0 {found[1]} ✖ red By density: not accepted." in words
    assert "Give such a column the role quasi" in words
    assert "density other area" in words
    for name in ("density", "disease"):
        for value in set(map(str, people()[name].to_pylist())):
            assert not re.search(rf"\b{re.escape(value)}\b", words), value
    error.value.refused.report(tmp_path / "why.json")
    told = json.loads((tmp_path / "why.json").read_text())
    assert told["released"] is False
    assert told["dependency"]["density"] > 50


@pytest.mark.parametrize("roles", [SINGLE, PAIR], ids=["single", "pair"])
def test_an_audit_finds_the_same(roles: dict, run, tmp_path: Path) -> None:
    accept = list(roles)[:-1]
    release = shoal.anonymize(people(), plan(roles, accept=accept))
    release.save(tmp_path / "release.csv")
    found = recount(people(), release.frame, list(roles), known=False)
    audit = shoal.audit(tmp_path / "release.csv", plan(roles))
    assert not audit.holds
    assert all(one.holds for one in audit.checks)
    assert audit.attacks["dependency"]["refused"] == found["people_below"] > 0
    assert audit.attacks["dependency"]["refused_columns"] == accept
    plan(roles).save(tmp_path / "plan.toml")
    status, out, errors = run("audit", "release.csv", "--plan", "plan.toml", "--json", "out.json")
    said = " ".join((out + errors).split())
    assert status == 1
    assert f"for {found['people_below']} of 500 people fewer than the required 5" in said
    assert json.loads((tmp_path / "out.json").read_text())["holds"] is False
    plan(roles, accept=accept).save(tmp_path / "plan.toml")
    status, out, _ = run("audit", "release.csv", "--plan", "plan.toml")
    assert status == 0
    assert "accepted by the plan" in out


def assert_same(audit: shoal.Audit, release: shoal.Release) -> None:
    """What the attack finds in an audit with the original is what the run found."""
    assert audit.attacks["dependency"]["reading"] == "original"
    found = release.as_dict()["attacks"]["dependency"]
    own = {"refused", "refused_alone", "refused_columns"}  # by what each plan accepts
    assert {key: one for key, one in audit.attacks["dependency"].items() if key not in own} == {
        key: one for key, one in found.items() if key not in own
    }


@pytest.mark.parametrize("roles", [SINGLE, PAIR], ids=["single", "pair"])
def test_an_audit_with_the_original_finds_what_the_run_found(roles: dict) -> None:
    accept = list(roles)[:-1]
    release = shoal.anonymize(people(), plan(roles, accept=accept))
    shuffled = release.frame.take(np.random.default_rng(1).permutation(release.frame.num_rows))
    audit = shoal.audit(shuffled, plan(roles), original=people())
    assert_same(audit, release)
    found = recount(people(), release.frame, list(roles), known=True)
    assert audit.attacks["dependency"]["refused"] == found["people_below"] > 0
    assert audit.attacks["dependency"]["alone"] == found["alone"]
    assert not audit.holds


def noisy(seed: int) -> tuple[pa.Table, dict]:
    """A density that tells the area, or is wrong for some or for all people."""
    rng = np.random.default_rng(seed)
    rows, areas = int(rng.integers(200, 500)), int(rng.integers(3, 14))
    who = np.arange(rows)
    if seed % 3 == 0:
        who = np.unique(np.sort(rng.integers(0, rows // 2, rows)), return_inverse=True)[1]
    persons = int(who.max()) + 1
    area, age = rng.integers(0, areas, persons)[who], rng.integers(20, 44, persons)[who]
    wrong = rng.random(rows) < [0, 0.05, 0.3, 1][seed % 4]
    table = {
        "area": [f"{100 + 9 * one}" for one in area],
        "age": age,
        "sex": rng.choice(["f", "m"], rows),
        "disease": rng.choice(["flu", "cold", "gout"], rows),
        "density": np.where(wrong, rng.integers(0, areas, rows), area),
        "who": who,
    }
    roles = {"density": "other", "who": "person" if seed % 3 == 0 else "drop"}
    columns = dict(plan(roles).columns)
    for name in ("lock", "key", "visits"):
        del columns[name]
    algorithm = ["peel", "mondrian", "gaa", "full-domain"][seed % 4]
    extra = {"suppression": 0.1} if seed % 5 == 0 else {}
    return pa.table(table), {"columns": columns, "algorithm": {"name": algorithm}} | extra


@pytest.mark.parametrize("seed", range(12))
def test_an_audit_judges_as_the_run_did(seed: int) -> None:
    """With the original it refuses what the run refuses, and nothing else."""
    table, asked = noisy(seed)
    strict = plan({}, **asked, keep_order=False)
    release = shoal.anonymize(table, strict.changed(accept=["density"]))
    audit = shoal.audit(release.frame, strict, original=table)
    assert_same(audit, release)
    if audit.holds:
        assert shoal.anonymize(table, strict).dependency.below == 0
    else:
        assert audit.dependency.words in refusal(table, strict)


def test_the_tables_of_audits_are_refused_and_not() -> None:
    below = [
        shoal.anonymize(table, plan({}, **asked, accept=["density"])).dependency.by_other
        for table, asked in map(noisy, range(12))
    ]
    assert 2 < sum(one > 0 for one in below) < 10


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("roles", [SINGLE, PAIR], ids=["single", "pair"])
def test_duckdb_refuses_the_same(roles: dict, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    write(open_frame(people()), path)
    asked = plan(roles, keep_order=False)
    said = refusal(path, asked.changed(engine="memory"))
    assert refusal(path, asked.changed(engine="duckdb")) == said
    assert left(tmp_path) == [path.name]
    accept = list(roles)[:-1]
    found = []
    for engine in ("memory", "duckdb"):
        release = shoal.anonymize(path, asked.changed(engine=engine, accept=accept))
        found.append([release.as_dict()[key] for key in ("attacks", "dependency", "accepted")])
        release.save(tmp_path / f"release{ending}")
    assert found[0] == found[1]
    assert set(read(tmp_path / f"release{ending}").names) >= set(roles)


def test_a_recoding_refuses_and_accepts_as_its_plan() -> None:
    release = shoal.anonymize(people(), plan(SINGLE, accept=["density"]))
    again = release.recoding.apply(people()).as_dict()
    assert again["accepted"] == ["density"]
    assert again["dependency"]["density"] > 20
    # Here the density says nothing, so that nothing has to be accepted.
    mixed = people().set_column(4, "density", people(seed=2)["density"])
    release = shoal.anonymize(mixed, plan(SINGLE))
    with pytest.raises(NotHeld, match="'density' reveals 'area'"):
        release.recoding.apply(people())


def patients(seed: int = 3) -> pa.Table:
    """The same people with one to three records each; only lock and key change between these."""
    rng = np.random.default_rng(seed)
    table = people(450, seed)
    who = np.repeat(np.arange(450), rng.integers(1, 4, 450))
    found = table.take(pa.array(who)).append_column("who", pa.array(who))
    lock = rng.integers(0, AREAS, len(who))
    area = (np.array(found["area"].to_pylist(), int) - 100) // 9
    found = found.set_column(5, "lock", pa.array(lock))
    return found.set_column(6, "key", pa.array((lock + area) % AREAS))


@pytest.mark.parametrize("roles", [SINGLE, PAIR], ids=["single", "pair"])
def test_duckdb_refuses_the_same_with_people(roles: dict, tmp_path: Path) -> None:
    path = tmp_path / "patients.parquet"
    write(open_frame(patients()), path)
    asked = plan(roles | {"who": "person"}, keep_order=False)
    said = refusal(path, asked.changed(engine="memory"))
    assert "of 450 people fewer than the required 5" in said
    assert refusal(path, asked.changed(engine="duckdb")) == said
    found = [
        shoal.anonymize(path, asked.changed(engine=engine, accept=list(roles)[:-1])).as_dict()
        for engine in ("memory", "duckdb")
    ]
    for key in ("attacks", "dependency", "accepted", "notes"):
        assert found[0][key] == found[1][key]
    assert found[1]["attacks"]["dependency"]["by_other"] > 20


@pytest.mark.parametrize("who", [False, True], ids=["records", "people"])
def test_what_does_not_fit_into_memory_is_amber(
    who: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.parquet"
    write(open_frame(patients() if who else people()), path)
    roles = {"visits": "other"} | ({"who": "person"} if who else {})
    asked = plan(roles, keep_order=False, engine="duckdb")
    monkeypatch.setattr(resources, "PER_CELL", 1 << 40)
    release = shoal.anonymize(path, asked)
    assert release.as_dict()["dependency"]["visits"] is None
    said = "whether quasi-identifiers can be read back from"
    why = "(the values do not fit into the memory limit)"
    assert f"not measured: {said} 'visits' {why}" in release.notes
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "leave fewer than 5 0 – ▲ amber Not measured: visits." in words
    assert f"It was not measured {said} visits {why}." in words


def test_a_refusal_offers_its_ways_out() -> None:
    """A program can offer them as buttons, and each of them is enough for that column."""
    table, asked = people(), plan(SINGLE)
    with pytest.raises(NotHeld) as error:
        shoal.anonymize(table, asked)
    ways = error.value.ways
    assert [(way.action, way.target, way.value) for way in ways] == [
        ("role", "density", "quasi"),
        ("role", "density", "drop"),
        ("accept", "density", None),
    ]
    for way in ways:
        assert shoal.anonymize(table, resolved(asked, way)).checks[0].holds
