"""Bad input about people: what the person column and its models do with it, and what they say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadPlan, CannotReach
from shoal.cli import main as cli

COLUMNS = {"who": "person", "age": "quasi", "disease": "sensitive"}
ALGORITHMS = ["danonyir", "geneir", "gaa"]
MODELS = {
    "ir-k-anonymity": {"k": 2},
    "ir-kl-anonymity": {"column": "disease", "k": 2, "l": 2},
    "ir-alpha-beta-anonymity": {"column": "disease", "alpha": 0.5, "beta": 0.5},
    "eir-l-diversity": {"column": "disease", "l": 2},
    "eir-alpha-beta-anonymity": {"column": "disease", "alpha": 0.5, "beta": 0.5},
}
ABOUT_VALUES = [name for name in MODELS if name != "ir-k-anonymity"]
SHARES = ["ir-alpha-beta-anonymity", "eir-alpha-beta-anonymity"]


def table(*rows):
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def plan(name, algorithm="gaa", **options):
    model = {"name": name, **MODELS.get(name, {}), **options}
    return Plan(columns=COLUMNS, models=[model], algorithm=algorithm, seed=1)


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run a command on a table and a plan; returns status, output and errors together, files."""
    monkeypatch.chdir(tmp_path)

    def call(data, asked, *words):
        pa_csv.write_csv(data, "people.csv")
        (tmp_path / "plan.toml").write_text(
            asked if isinstance(asked, str) else asked.to_toml(), encoding="utf-8"
        )
        words = words or ("anonymize", "--out", "r.csv", "--json", "r.json", "--report", "r.html")
        line = ["shoal", words[0], "people.csv", "--plan", "plan.toml", *words[1:]]
        monkeypatch.setattr(sys, "argv", line)
        with pytest.raises(SystemExit) as end:
            cli.main()
        out = capsys.readouterr()
        made = {path.name for path in tmp_path.iterdir()} - {"people.csv", "plan.toml"}
        return end.value.code or 0, " ".join((out.out + out.err).split()), made

    return call


# A person column with missing values

NOBODY = table(
    ("a", "30", "flu"), ("a", "30", "cold"), (None, "30", "flu"), (None, "30", "gout"),
    ("b", "40", "flu"), ("c", "40", "cold"),
)  # fmt: skip
SAID = "2 records have no 'who': each counts as one person"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_record_without_a_person_counts_as_one_person_with_a_note(algorithm):
    asked = plan("ir-k-anonymity", algorithm)
    release = shoal.anonymize(NOBODY, asked)
    assert [note for note in release.notes if SAID in note]
    assert release.frame["who"].null_count == 0
    assert len(set(release.frame["who"].to_pylist())) == 5  # a, b, c, and two nobodies
    audit = shoal.audit(NOBODY, asked)
    assert audit.people == 5
    assert [note for note in audit.notes if SAID in note]
    assert not shoal.anonymize(NOBODY.slice(4), asked).notes


def test_a_token_for_missing_is_no_person():
    """Else everybody without a number would be one person with many rows."""
    rows = [("?", "30", "flu")] * 3 + [("a", "30", "cold")]
    asked = plan("ir-k-anonymity", k=4).changed(missing_values=["?"])
    audit = shoal.audit(table(*rows), asked)
    assert audit.people == 4
    assert audit.holds
    assert shoal.audit(table(*rows), plan("ir-k-anonymity")).people == 2


def test_the_command_line_says_it_too(run):
    asked = plan("ir-k-anonymity")
    status, said, made = run(NOBODY, asked)
    assert (status, made) == (0, {"r.csv", "r.json", "r.html"})
    assert SAID in said
    status, said, _ = run(NOBODY, asked, "audit", "--json", "audit.json")
    assert status == 0
    assert SAID in said
    assert SAID in json.loads(Path("audit.json").read_text(encoding="utf-8"))["notes"][0]


# People without sensitive values: missing is a value like any other

GAPS = table(
    ("a", "30", None), ("a", "30", None), ("b", "30", "flu"), ("b", "30", "cold"),
    ("c", "40", "gout"), ("d", "40", None),
)  # fmt: skip
WRITTEN = GAPS.set_column(
    2, "disease", pa.array([value or "not told" for value in GAPS["disease"].to_pylist()])
)


@pytest.mark.parametrize("name", ABOUT_VALUES)
def test_missing_is_a_value_like_any_other(name):
    gaps, written = (shoal.audit(one, plan(name)) for one in (GAPS, WRITTEN))
    assert gaps.levels == written.levels
    for algorithm in ALGORITHMS:
        gaps, written = (shoal.anonymize(one, plan(name, algorithm)) for one in (GAPS, WRITTEN))
        assert gaps.checks == written.checks
        assert (gaps.published, gaps.suppressed) == (6, 0)
        assert gaps.frame["disease"].null_count == 3


def test_the_levels_with_missing_values_by_hand():
    """a: nothing; b: flu, cold; c: gout; d: nothing. Two classes of two people."""
    reached = {name: shoal.audit(GAPS, plan(name)).checks[0].reached for name in ABOUT_VALUES}
    assert reached == {
        "ir-kl-anonymity": 2,  # missing, gout
        "ir-alpha-beta-anonymity": 0.5,
        "eir-l-diversity": 2,  # missing and one of b's
        "eir-alpha-beta-anonymity": 0.5,
    }


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", ABOUT_VALUES)
def test_nobody_has_a_value(name, algorithm):
    """One value for all, though a missing one, keeps no promise."""
    empty = table(*((who, "30", None) for who in "abcd"))
    empty = empty.set_column(2, "disease", pa.array([None] * 4, pa.string()))
    assert not shoal.audit(empty, plan(name)).holds
    with pytest.raises(
        CannotReach, match=r"\[disease\] with .*(reaches only 1; |a share of 1; )"
    ) as got:
        shoal.anonymize(empty, plan(name, algorithm))
    assert got.value.best == 1


# Promises that no class can keep

FEW = table(*((f"p{i}", str(30 + i % 3), ("flu", "cold")[i % 2]) for i in range(12)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", ["ir-kl-anonymity", "eir-l-diversity"])
def test_more_values_than_there_are(run, name, algorithm):
    asked = plan(name, algorithm, l=4)
    with pytest.raises(CannotReach, match="reaches only 2; ask for 2") as got:
        shoal.anonymize(FEW, asked)
    assert (got.value.model, got.value.best) == (f"{name}[disease]", 2)
    status, said, made = run(FEW, asked)
    assert (status, made) == (1, set())
    assert f"{name}[disease] with 4 cannot be reached" in said
    assert "ask for 2" in said


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.6), (0.6, 0.3), (0.01, 0.01)])
def test_shares_that_no_class_can_keep(run, name, algorithm, alpha, beta):
    """Two values of six people each: no β below 1/2; twelve people: no α below 1/12."""
    asked = plan(name, algorithm, alpha=alpha, beta=beta)
    with pytest.raises(CannotReach, match="cannot be reached") as got:
        shoal.anonymize(FEW, asked)
    assert got.value.best == pytest.approx(1 + 1 / 12 if alpha < 1 / 12 else 0.5)
    status, said, made = run(FEW, asked)
    assert (status, made) == (1, set())
    which = f"alpha={alpha:g}" if alpha < 1 / 12 else f"beta={beta:g}"
    assert f"{name}[disease] with {which} cannot be reached" in said


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", SHARES)
def test_what_can_just_be_satisfied_is_released(name, algorithm):
    release = shoal.anonymize(FEW, plan(name, algorithm, alpha=1 / 12, beta=0.5))
    assert (release.published, release.suppressed, release.classes) == (12, 0, 1)


@pytest.mark.parametrize("name", SHARES)
def test_what_to_do_if_alpha_cannot_be_satisfied(name):
    with pytest.raises(CannotReach, match="alpha") as got:
        shoal.anonymize(FEW, plan(name, alpha=0.05, beta=0.6))
    assert "1.08" not in str(got.value)


@pytest.mark.parametrize("name", SHARES)
def test_no_message_suggests_a_share_that_is_refused(name):
    same = table(*((f"p{i}", "30", "flu") for i in range(4)))
    with pytest.raises(CannotReach) as got:
        shoal.anonymize(same, plan(name))
    assert "ask for 1," not in str(got.value)


# Plans that make no sense


@pytest.mark.parametrize("name", MODELS)
def test_a_model_about_people_without_a_person_column(run, name):
    columns = {"who": "identifier", "age": "quasi", "disease": "sensitive"}
    with pytest.raises(BadPlan, match=f"needs a person column for {name}: give the role person"):
        Plan(columns=columns, models=[{"name": name, **MODELS[name]}])
    written = plan(name).to_toml().replace('role = "person"', 'role = "identifier"')
    for words in ((), ("audit", "--json", "audit.json")):
        status, said, made = run(FEW, written, *words)
        assert (status, made) == (2, set())
        assert f"needs a person column for {name}" in said
        assert "the role person" in said


@pytest.mark.parametrize("name", MODELS)
def test_a_table_that_lacks_the_person_column(run, name):
    """To count its rows as people would be to promise what nobody knows."""
    anonymous = FEW.drop_columns(["who"])
    with pytest.raises(BadPlan, match=f"{name} is about people .* has no person column; give"):
        shoal.audit(anonymous, plan(name))
    status, said, made = run(anonymous, plan(name), "audit", "--json", "audit.json")
    assert (status, made) == (2, set())
    assert "no person column" in said
    status, said, made = run(anonymous, plan(name))
    assert (status, made) == (2, set())
    assert "the plan names columns that the table lacks: 'who'" in said


def test_k_over_records_is_not_reported_as_k_over_people():
    audit = shoal.audit(FEW.drop_columns(["who"]), plan("k-anonymity", k=2))
    assert any("'who'" in note for note in audit.notes)


@pytest.mark.parametrize("wrong", [2.5, 5.0, "3", True, None, 1, 0, -3])
@pytest.mark.parametrize(
    ("name", "option"),
    [("ir-k-anonymity", "k"), ("ir-kl-anonymity", "k"), ("ir-kl-anonymity", "l"),
     ("eir-l-diversity", "l")],
)  # fmt: skip
def test_k_and_l_are_whole_and_2_or_more(name, option, wrong):
    whole = isinstance(wrong, int) and not isinstance(wrong, bool)
    message = (
        f"{name} needs .* of 2 or more" if whole else f"{name} needs {option} as a whole number"
    )
    with pytest.raises(BadPlan, match=message) as got:
        plan(name, **{option: wrong})
    assert repr(wrong) in str(got.value)


@pytest.mark.parametrize("wrong", [0, 0.0, -0.1, 1, 1.0, 1.5, float("nan"), float("inf"), "0.5"])
@pytest.mark.parametrize("option", ["alpha", "beta"])
@pytest.mark.parametrize("name", SHARES)
def test_shares_are_between_0_and_1(name, option, wrong):
    """1 is refused as well: it would promise nothing."""
    message = f"as a number, got {option}='0.5'" if wrong == "0.5" else f"got {option}={wrong!r}$"
    with pytest.raises(BadPlan, match=message) as got:
        plan(name, **{option: wrong})
    assert str(got.value).startswith(name)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "eir-l-diversity",
            "l = 2",
            "l = 2.5",
            "eir-l-diversity needs l as a whole number",
        ),
        ("ir-k-anonymity", "k = 2", "k = 1", "ir-k-anonymity needs k of 2 or more, got k=1"),
        ("ir-alpha-beta-anonymity", "alpha = 0.5", "alpha = 1.5", "below 1, got alpha=1.5"),
        ("eir-alpha-beta-anonymity", "beta = 0.5", "beta = 0", "above 0 and below 1, got beta=0"),
    ],
)
def test_a_plan_file_with_such_numbers(run, name, old, new, message):
    written = plan(name).to_toml()
    assert old in written
    status, said, made = run(FEW, written.replace(old, new))
    assert (status, made) == (2, set())
    assert message in said


def test_the_person_column_is_a_quasi_identifier_too(run):
    message = r"column 'who': .*\['person', 'quasi'\].* 'person', 'household', 'quasi'"
    with pytest.raises(BadPlan, match=message):
        Plan(columns={**COLUMNS, "who": {"role": ["person", "quasi"]}})
    written = plan("ir-k-anonymity").to_toml()
    twice = written.replace("age = ", 'who = { role = "quasi" }\nage = ')
    status, said, made = run(FEW, twice)
    assert (status, made) == (2, set())
    assert "'who' occurs twice" in said
    assert "a column has one role" in said


def test_a_model_about_the_person_column(run):
    for algorithm in ALGORITHMS:
        with pytest.raises(BadPlan, match="'who', which is not a sensitive column"):
            shoal.anonymize(FEW, plan("eir-l-diversity", algorithm, column="who"))
    status, said, made = run(FEW, plan("eir-l-diversity", column="diseas"))
    assert (status, made) == (2, set())
    assert "'diseas', which is not a sensitive column" in said
    assert "did you mean 'disease'?" in said


# Few people, or all alike


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("name", ["k-anonymity", *MODELS])
def test_one_person(run, name, rows, algorithm):
    """Many rows with many values are no crowd either."""
    alone = table(*(("a", str(30 + i), f"d{i}") for i in range(rows)))
    options = {"k": 2} if name == "k-anonymity" else {}
    asked = plan(name, algorithm, **options)
    assert not shoal.audit(alone, asked).holds
    with pytest.raises(CannotReach, match="cannot be reached") as got:
        shoal.anonymize(alone, asked)
    assert got.value.model.startswith(name)
    status, said, made = run(alone, asked)
    assert (status, made) == (1, set())
    assert f"{got.value.model} with" in said
    if "k" in asked.models[0].options():
        assert "the table has 1 person; nobody can be hidden in it; add people" in said


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", MODELS)
def test_2000_people_who_are_all_alike(run, name, algorithm):
    alike = table(*((f"p{i}", "30", "flu") for i in range(2000)))
    asked = plan(name, algorithm)
    if name == "ir-k-anonymity":
        release = shoal.anonymize(alike, asked)
        assert release.checks[0].reached == 2000
        assert release.losses["nllm"] == 0
        assert shoal.audit(alike, asked).attacks["homogeneity"]["disease"]["records"] == 2000
        return
    assert shoal.audit(alike, asked).checks[0].reached == 1
    with pytest.raises(CannotReach, match=r"(reaches only 1;|a share of 1;)"):
        shoal.anonymize(alike, asked)
    status, said, made = run(alike, asked)
    assert (status, made) == (1, set())
    assert f"{name}[disease] with" in said


# The same person written in several ways


def named(who):
    return {"who": who, "age": ["30"] * len(who), "disease": list("abcd")[: len(who)]}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(named(pd.Series([17, 17.0, 18, 18.0], dtype=object))),
        pd.DataFrame(named([17, 17, 18, 18])),
        pl.DataFrame(named([17.0, 17.0, 18.0, 18.0])),
        pa.table(named(["17", "17", "18", "18"])),
        pa.table(named(pa.array(["17", "17", "18", "18"]).dictionary_encode())),
    ],
)
def test_a_person_s_number_of_any_type(frame):
    audit = shoal.audit(frame, plan("ir-k-anonymity"))
    assert audit.people == 2
    assert audit.levels == {"ir-k-anonymity": 2}


def test_nan_among_numbers_is_nobody():
    audit = shoal.audit(pd.DataFrame(named([17.0, 17.0, np.nan])), plan("ir-k-anonymity"))
    assert audit.people == 2
    assert "1 record has no 'who'" in audit.notes[0]


def test_leading_zeros_distinguish_people():
    assert shoal.audit(pa.table(named(["17", "017"])), plan("ir-k-anonymity")).people == 2


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(named(["17", "17.0", "17", "18"])),
        pa.table(named(["17", " 17", "17 ", "18"])),
        pd.DataFrame(named(pd.Series([17, 17.0, "17", "18"], dtype=object))),
    ],
    ids=["text", "blanks", "objects"],
)
def test_a_person_written_in_two_ways_is_one_person(frame):
    """What two tables stuck together look like, one of which had its numbers as floats."""
    assert shoal.audit(frame, plan("ir-k-anonymity")).people == 2
