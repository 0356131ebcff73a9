"""Weights, households and special uniques through audit, anonymize and the command line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from shoal import BadPlan, BadTable, CannotReach, Plan, anonymize, audit
from shoal.base.wording import number
from shoal.cli.main import app
from shoal.report.sample_facts import sample_rows
from tests.naive import populations as naive

# Six households of two or three; region and size are those of the household.
HOMES = {
    "home": ["h1", "h1", "h2", "h2", "h3", "h3", "h4", "h4", "h5", "h5", "h5", "h6", "h6"],
    "who": list("abcdefghijklm"),
    "region": ["n", "n", "n", "n", "s", "s", "s", "s", "n", "n", "n", "s", "s"],
    "age": [40, 42, 41, 43, 30, 31, 30, 33, 44, 45, 12, 35, 36],
    "w": [10.0, 12, 9, 11, 30, 31, 28, 29, 7, 8, 9, 20, 21],
    "ill": list("xyxyxyxyxyxyx"),
}
COLUMNS = {
    "home": "household",
    "who": "person",
    "region": {"role": "quasi", "of_household": True},
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
    "w": "weight",
    "ill": "sensitive",
}
PLAN = {"columns": COLUMNS, "models": [{"name": "k-anonymity", "k": 2}], "seed": 1}


def test_households_are_hidden_as_people_are():
    """Each household shares its published values with another one, and members stay linked."""
    release = anonymize(pa.table(HOMES), PLAN)
    shown = release.frame.to_pydict()
    assert not {*shown["home"]} & {*HOMES["home"]}
    assert not {*shown["who"]} & {*HOMES["who"]}
    homes: dict = {}
    for home, region, age in zip(shown["home"], shown["region"], shown["age"], strict=True):
        homes.setdefault(home, set()).add((region, age))
    assert len(homes) == 6
    assert len({*shown["who"]}) == 13
    for values in homes.values():
        assert sum(values <= other for other in homes.values()) >= 2
    checked = audit(release.frame, PLAN)
    assert checked.levels["k-anonymity"] == release.checks[0].reached >= 2
    assert checked.people == 6  # units that are hidden: households
    for notes in (checked.notes, release.notes):
        assert any("counts households" in note for note in notes)


def test_k_anonymity_over_records_is_not_enough():
    """Two records of the same household look alike, and nobody else does."""
    table = {"home": [1, 1, 2, 2, 3, 3], "region": ["a", "a", "b", "b", "b", "b"]}
    plan = {"columns": {"home": "household", "region": "quasi"}}
    plan["models"] = [{"name": "k-anonymity", "k": 2}]
    assert audit(pa.table(table), plan).levels == {"k-anonymity": 1}
    plan["columns"] = {"home": "drop", "region": "quasi"}
    assert audit(pa.table(table), plan).levels == {"k-anonymity": 2}


def test_households_that_are_not_published_are_counted_all_the_same():
    columns = {
        **COLUMNS,
        "home": {"role": "household", "publish": False},
        "who": {"role": "person", "publish": False},
    }
    release = anonymize(pa.table(HOMES), {**PLAN, "columns": columns})
    assert not {"home", "who"} & {*release.frame.column_names}
    numbers = release.as_dict()
    assert numbers["sample"]["individual_risk"]["household"]["households"] == 6
    assert release.checks[0].reached >= 2


def test_a_household_with_two_regions():
    wrong = {**HOMES, "region": ["n", "s", *HOMES["region"][2:]]}
    message = r"column 'region': a household has two values, 'n' and 's' \(rows 1 and 2\)"
    with pytest.raises(BadTable, match=message):
        anonymize(pa.table(wrong), PLAN)
    with pytest.raises(BadTable, match=message):
        audit(pa.table(wrong), PLAN)


def test_a_person_of_two_households():
    wrong = {**HOMES, "who": ["a", "b", "a", *HOMES["who"][3:]]}
    with pytest.raises(BadTable, match=r"a person belongs to two households \(rows 1 and 3\)"):
        anonymize(pa.table(wrong), PLAN)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"home": "other"}, "of_household = true for 'region', and has no household column"),
        (
            {
                "home": "other",
                "region": "other",
                "members": {"role": "quasi", "derive": "household-size"},
            },
            "says derive = \"household-size\" for 'members', and has no household column",
        ),
        ({"home": {"role": "household", "publish": False}}, "set publish = false for both"),
        ({"w": {"role": "weight", "of_household": True}, "who": "household"}, "one household"),
        ({"home": {"role": "household", "of_household": True}}, "not with household"),
        ({"ill": {"role": "sensitive", "publish": False}}, "person, household and weight"),
    ],
)
def test_plans_about_households_that_cannot_be(changed, message):
    with pytest.raises(BadPlan, match=message):
        Plan(**{**PLAN, "columns": {**COLUMNS, **changed}})


def test_a_plan_with_households_is_saved_and_read(tmp_path):
    plan = Plan(**PLAN, population={"fraction": 0.05})
    plan.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").to_toml() == plan.to_toml()
    assert "[population]\nfraction = 0.05" in (tmp_path / "plan.toml").read_text()


def test_large_tables_say_what_they_do_not_support(tmp_path):
    (tmp_path / "t.csv").write_text("w,a\n1,2\n")
    plan = {"columns": {"w": "weight", "a": "quasi"}, "models": PLAN["models"]}
    with pytest.raises(BadPlan, match=r"does not support a weight column \('w'\) yet"):
        anonymize(tmp_path / "t.csv", {**plan, "engine": "duckdb"})


def test_the_command_line_writes_what_is_measured_of_each_record(tmp_path, monkeypatch):
    names = list(HOMES)
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *zip(*HOMES.values(), strict=True)])
    Plan(**PLAN).save(tmp_path / "plan.toml")
    words = ["audit", "t.csv", "--plan", "plan.toml", "--special-uniques", "2"]
    words += ["--record-risks", "risks.csv", "--json", "numbers.json"]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1, done.output  # k-anonymity is violated
    assert "unique in the population" in done.output
    assert "Special uniques" in done.output
    with (tmp_path / "risks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "row", "risk", "class_size", "estimated_in_population", "individual_risk",
        "approximate_risk", "household_risk", "suda_score", "dis_score", "minimal_unique",
    ]  # fmt: skip
    found = audit(pa.table(HOMES), PLAN, special_uniques=2)
    for name, values in found.record_table().items():
        assert [float(row[name]) for row in rows] == pytest.approx(values, rel=1e-5)
    assert [row["row"] for row in rows] == [str(i) for i in range(1, 14)]
    each = list(zip(HOMES["region"], HOMES["age"], strict=True))  # of each person one record
    for i, row in enumerate(rows):
        mine = [w for w, other in zip(HOMES["w"], each, strict=True) if other == each[i]]
        assert int(row["class_size"]) == len(mine)
        assert float(row["estimated_in_population"]) == pytest.approx(sum(mine))
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["special_uniques"] == found.as_dict()["special_uniques"]
    assert numbers["sample"]["basis"] == "weights"


def test_sizes_of_classes_are_written_in_full(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("age\n" + "30\n40\n40\n")
    plan = Plan(columns={"age": "quasi"}, population={"size": 30_000_001})
    plan.save(tmp_path / "plan.toml")
    monkeypatch.chdir(tmp_path)
    words = ["audit", "t.csv", "--plan", "plan.toml", "--record-risks", "risks.csv"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    with (tmp_path / "risks.csv").open() as file:
        rows = [list(row.values())[1:4] for row in csv.DictReader(file)]
    assert rows == [["1", "1", "10000000"], ["0.5", "2", "20000001"], ["0.5", "2", "20000001"]]


def test_the_sizes_of_classes_with_a_missing_value_that_may_be_any():
    """f = 3 1 4 2 2 2 1 3 and F = 108 45.5 125 56 100 100 123.5 108 (../shared/risk.md)."""
    table = {
        "A": [2, 3, 2, 2, 3, 3, 1, 2],
        "B": [3, 3, 3, 3, 3, 3, 4, 3],
        "C": [1, 3, None, 2, 1, 1, None, 1],
        "w": [18, 45.5, 39, 17, 92, 8, 123.5, 51],
    }
    columns = {"A": "quasi", "B": "quasi", "C": "quasi", "w": "weight"}
    found = audit(pa.table(table), {"columns": columns, "population": {"missing": "any"}})
    measured = found.record_table()
    assert measured["class_size"].tolist() == [3, 1, 4, 2, 2, 2, 1, 3]
    people = [108, 45.5, 125, 56, 100, 100, 123.5, 108]
    assert measured["estimated_in_population"].tolist() == people


def test_a_population_that_is_not_estimated_is_noted(tmp_path):
    pytest.importorskip("duckdb")
    rows = "".join(f"{20 + i % 4},{'fm'[i % 2]}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("age,sex\n" + rows)
    columns = {"age": "quasi", "sex": "quasi"}
    plan = {"columns": columns, "models": PLAN["models"], "population": {"fraction": 0.1}}
    release = anonymize(tmp_path / "t.csv", {**plan, "engine": "duckdb"})
    assert release.as_dict()["sample"] is None
    assert any("were not estimated" in note for note in release.notes)
    assert anonymize(tmp_path / "t.csv", plan).as_dict()["sample"]["basis"] == "fraction"


SIZES = {**COLUMNS, "members": {"role": "quasi", "derive": "household-size"}}


def alike(rows, values):
    """For each household, how many have the same members: the naive twin, on lists."""
    homes: dict = {}
    for row in rows:
        homes.setdefault(row["home"], []).append(tuple(row[name] for name in values))
    members = [sorted(one) for one in homes.values()]
    return [sum(one == other for other in members) for one in members]


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian", "danonyir", "full-domain"])
@settings(max_examples=6)
@given(
    sizes=st.lists(st.integers(1, 3), min_size=8, max_size=24),
    k=st.integers(2, 3),
    seed=st.integers(0, 99),
)
def test_households_are_hidden_with_their_size(algorithm, sizes, k, seed):
    """Each household looks like k - 1 others as a whole: its members, and how many they are."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(len(sizes)), sizes)
    table = pa.table(
        {
            "home": home,
            "region": rng.choice(["n", "s"], len(sizes))[home],
            "age": rng.integers(20, 60, len(home)),
        }
    )
    columns = {name: SIZES[name] for name in ("home", "region", "age", "members")}
    models = [{"name": "k-anonymity", "k": k}]
    asked = {"columns": columns, "models": models, "algorithm": algorithm, "suppression": 1}
    try:
        release = anonymize(table, {**asked, "seed": seed})
    except CannotReach:
        assert max(sizes.count(size) for size in sizes) < k
        return
    rows = release.frame.to_pylist()
    if not rows:
        return
    assert min(alike(rows, ("region", "age", "members"))) >= k
    homes = [row["home"] for row in rows]
    assert [row["members"] for row in rows] == [homes.count(one) for one in homes]
    checked = audit(release.frame, asked)
    assert checked.levels["k-anonymity"] >= k
    assert not checked.exposure.row_count or not checked.exposure.row_count.below


def test_without_its_size_a_household_can_stand_out():
    """The reason to derive it: one of three among households of two, in the same class."""
    table = {"home": [1, 1, 2, 2, 3, 3, 3], "region": ["a"] * 7}
    plan = {"columns": {"home": "household", "region": "quasi"}}
    plan["models"] = [{"name": "k-anonymity", "k": 2}]
    assert audit(pa.table(table), plan).levels == {"k-anonymity": 3}
    assert audit(pa.table(table), plan).exposure.row_count.alone == 1
    plan["columns"]["members"] = SIZES["members"]
    assert audit(pa.table(table), plan).levels == {"k-anonymity": 1}


def test_sizes_that_are_stated_are_checked(tmp_path):
    plan = {**PLAN, "columns": SIZES}
    wrong = pa.table({**HOMES, "members": [2] * 13})
    message = r"column 'members' is '2' where a household has 3 in the table \(row 9\)"
    for run in (anonymize, audit):
        with pytest.raises(BadTable, match=message):
            run(wrong, plan)
    right = pa.table({**HOMES, "members": [2] * 8 + [3] * 3 + [2] * 2})
    assert audit(right, plan).levels == audit(pa.table(HOMES), plan).levels == {"k-anonymity": 1}
    Plan(**plan).save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").to_toml() == Plan(**plan).to_toml()


def test_every_kind_of_frame_gets_sizes():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    plan = {**PLAN, "columns": SIZES, "suppression": 0.5, "keep_order": True}
    frames = [pd.DataFrame(HOMES, index=range(50, 63)), pl.DataFrame(HOMES), pa.table(HOMES)]
    for frame in frames:
        release = anonymize(frame, plan)
        shown = release.frame
        # The household of three is suppressed: its people are still in the population.
        weights = [w for w, home in zip(HOMES["w"], HOMES["home"], strict=True) if home != "h5"]
        assert sum(weights) < release.sample.population == pytest.approx(sum(HOMES["w"]))
        assert release.as_dict()["sample"]["individual_risk"]["household"]["households"] == 5
        assert [int(one) for one in list(shown["members"])] == [2] * 10
        assert audit(shown, plan, original=frame).levels["k-anonymity"] >= 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"derive": "household-size", "hierarchy": {"ranges": [2]}}, "is generalized"),
        ({"derive": "household-size", "role": "other"}, "can have derive only with the role quasi"),
        ({"derive": "members"}, "household-size"),
    ],
)
def test_plans_that_derive_what_cannot_be(changed, message):
    column = {"role": "quasi", **changed}
    with pytest.raises(BadPlan, match=message):
        Plan(**{**PLAN, "columns": {**COLUMNS, "members": column}})
    with pytest.raises(BadPlan, match="no household column"):
        Plan(columns={"members": SIZES["members"]}, models=PLAN["models"])


@pytest.mark.parametrize("mean", [0.4, 0.89, 0.95, 1.0, 1.005])
def test_weights_that_add_up_to_fewer_people_than_there_are(mean):
    """An error if they clearly do; about one on average, they were scaled: a note."""
    table = pa.table({"a": [1, 1, 2, 2, 3] * 20, "w": [mean] * 100})
    plan = {"columns": {"a": "quasi", "w": {"role": "weight", "publish": False}}}
    plan["models"] = [{"name": "k-anonymity", "k": 2}]
    if mean < 0.9:
        said = r"'w': the weights are 0\.\d+ on average and add up to .*, fewer than the 100 peop.*"
        for run in (audit, anonymize):
            with pytest.raises(BadTable, match=said + r"state size under \[population\]"):
                run(table, plan)
            given = {**plan, "population": {"size": 1000}}
            assert run(table, given).sample.population == 1000
        with pytest.raises(BadTable, match=said):
            audit(table.slice(0, 50), plan, original=table)
        return
    for found in (audit(table, plan), anonymize(table, plan)):
        assert found.sample.population == pytest.approx(max(100 * mean, 100))
        assert found.sample.fraction == pytest.approx(min(1, 1 / mean))
        assert found.sample.individual.people.sum() <= 100
        assert any("scaled to a mean of 1" in note for note in found.notes)


@pytest.mark.parametrize("stated", [{}, {"size": 1100}, {"fraction": 0.01}])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_original_is_estimated_too_and_suppression_takes_nobody_from_the_population(
    stated, weighted
):
    if not weighted and not stated:
        return
    table = pa.table({"a": [1] * 10 + [2], "w": [50] * 10 + [600]})
    columns = {"a": "quasi", "w": {"role": "weight"}}
    if not weighted:
        table, columns = table.select(["a"]), {"a": "quasi"}
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 3}], "suppression": 0.2}
    plan |= {"algorithm": "full-domain", "population": stated}
    release = anonymize(table, plan)
    before, after = release.sample_before, release.sample
    assert release.suppressed == 1
    assert before.population == after.population == 1100
    assert (before.people, after.people) == (11, 10)
    assert after.fraction == pytest.approx(10 / 1100)
    own = audit(table, plan).sample
    assert before.as_dict() == own.as_dict()
    ours = [naive.risk_by_sum(10, 500 if weighted else 1000)] * 10
    assert after.individual.of_record == pytest.approx(ours)
    ours.append(naive.risk(1, 600 if weighted else 100))
    assert before.individual.of_record == pytest.approx(ours)
    numbers = release.as_dict()
    assert numbers["sample_before"] == own.as_dict()
    rows = {label: values for label, *values in sample_rows(before, after)}
    said = rows["expected re-identifications in the population"]
    assert said == [number(before.individual.people.sum()), number(after.individual.people.sum())]
    again = audit(release.frame, plan, original=table).sample
    assert again.as_dict() == after.as_dict()


def test_smaller_weights_of_a_part_are_not_those_of_the_table():
    """The records that are left when others are suppressed may stand for fewer people each."""
    table = pa.table({"a": [1] * 10 + [2], "w": [0.5] * 10 + [6.0]})
    columns = {"a": "quasi", "w": {"role": "weight"}}
    plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 3}], "suppression": 0.2}
    plan |= {"algorithm": "full-domain"}
    release = anonymize(table, plan)
    assert release.suppressed == 1
    assert release.sample.population == 11
    assert audit(release.frame, plan, original=table).sample.population == 11


def test_settings_without_effect_are_noted():
    table = pa.table({"a": [1, 1, 2, 3], "b": [1, 2, 1, 1]})
    plan = {"columns": dict.fromkeys(table.column_names, "quasi")}
    found, same = (audit(table, plan, special_uniques=most) for most in (99, 2))
    assert found.uniques.as_dict() == same.uniques.as_dict()
    [note] = [one for one in found.notes if "special uniques" in one]
    assert "on up to 2 columns, not 99" in note
    assert not any("special uniques" in one for one in same.notes)

    plan["models"] = [{"name": "k-anonymity", "k": 2}]
    for stated, silent in (({}, False), ({"fraction": 0.5}, True)):
        asked = {**plan, "population": {"missing": "any", **stated}}
        for one in (audit(table, asked), anonymize(table, asked)):
            said = any("missing = 'any' under [population] has no effect" in n for n in one.notes)
            assert said != silent


@pytest.mark.parametrize("published", [True, False])
def test_an_audit_of_a_release_without_its_weights_says_what_is_lost(published):
    table = pa.table({"a": [1, 1, 2, 2, 3] * 4, "w": [20] * 20})
    plan = {"columns": {"a": "quasi", "w": {"role": "weight", "publish": published}}}
    plan["models"] = [{"name": "k-anonymity", "k": 2}]
    release = anonymize(table, plan)
    without = release.frame.select(["a"])
    found = audit(without, plan, original=table)
    assert found.sample is None
    [note] = [note for note in found.notes if "no column 'w'" in note]
    assert "state size or fraction under [population]" in note
    assert ("which the plan does not publish" in note) == (not published)
    stated = audit(without, {**plan, "population": {"size": 400}})
    assert stated.sample.population == release.sample.population == 400
    for other in (stated, audit(table, plan), release):
        assert not any("no column 'w'" in note for note in other.notes)


@pytest.mark.parametrize("mode", ["value", "root", "empty"])
@pytest.mark.parametrize("per_column", [False, True])
def test_words_for_missing_may_be_any_as_empty_cells_may(mode, per_column):
    """f and the estimated people are the same, however missing values are written."""
    rng = np.random.default_rng(7)
    cells = [[["1", "2", None][v] for v in rng.integers(0, 3, 40)] for _ in "ab"]
    weights = rng.integers(2, 30, 40)
    found = []
    for written in (None, "?", 99):
        word = str(written)
        columns = {n: {"role": "quasi"} for n in "ab"} | {"w": {"role": "weight", "publish": False}}
        plan = {"columns": columns, "models": [{"name": "k-anonymity", "k": 3}], "missing": mode}
        plan |= {"population": {"missing": "any"}, "seed": 1, "keep_order": True}
        if per_column:
            columns |= {n: {**columns[n], "missing_values": [word]} for n in "ab"}
        else:
            plan["missing_values"] = ["", word]
        kind = str if written != 99 else int
        filled = [[written if v is None else kind(v) for v in column] for column in cells]
        table = pa.table({"a": filled[0], "b": filled[1], "w": weights})
        audited, release = audit(table, plan), anonymize(table, plan)
        measured = audited.record_table()
        found.append([measured[n].tolist() for n in ("class_size", "estimated_in_population")])
        found[-1].append(release.as_dict()["sample"]["individual_risk"])
    rows = list(zip(*cells, strict=True))
    own = [
        [j for j, other in enumerate(rows)
         if all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))]
        for one in rows
    ]  # fmt: skip
    assert found[0][0] == [len(each) for each in own]
    assert found[0][1] == [sum(weights[j] for j in each) for each in own]
    assert found[1][:2] == found[0][:2] == found[2][:2]
    assert found[1][2] == found[0][2]


def test_a_missing_value_may_be_any_in_a_release_too():
    """Releases count equal records together, and once took missing for a value then."""
    rng = np.random.default_rng(0)
    ages = [None if rng.random() < 0.2 else int(one) for one in rng.integers(0, 3, 60)]
    table = pa.table({"a": ages, "b": rng.integers(0, 3, 60)})
    plan = {
        "columns": {"a": "quasi", "b": "quasi"},
        "models": [{"name": "k-anonymity", "k": 2}],
        "population": {"fraction": 0.1, "missing": "any"},
    }
    release = anonymize(table, plan)
    told = release.as_dict()["sample"]["individual_risk"]
    cells = [*zip(*release.frame.to_pydict().values(), strict=True)]
    f = [
        sum(all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))
            for other in cells)
        for one in cells
    ]  # fmt: skip
    ours = [naive.risk_by_sum(many, 10 * many) for many in f]
    assert told["mean"] == pytest.approx(sum(ours) / 60, rel=1e-6)
    assert audit(release.frame, plan).as_dict()["sample"]["individual_risk"] == told


def test_people_with_several_records_and_missing_values_that_may_be_any():
    plan = {"columns": {"a": "quasi", "who": "person"}, "population": {"missing": "any"}}
    with pytest.raises(BadPlan, match=r'missing = "any" .* person column \(.who.\)'):
        Plan(**plan)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"population": {"fraction": 1e-320}}, "fraction"),
        ({"algorithm": {"name": "freeform", "rounds": 10**20}}, "rounds"),
        (
            {
                "algorithm": "concealment",
                "models": [{"name": "matching-belief", "belief": 1e-320}],
            },
            "matching-belief",
        ),
    ],
)
def test_numbers_beyond_all_bounds_are_errors_that_name_the_setting(change, words):
    table = pa.table({"age": [30, 31, 32, 33, 34, 35], "ill": list("xyxyxy")})
    plan = {"columns": {"age": "quasi", "ill": "other"}, "accept": ["ill"]}
    models = [{"name": "k-belief", "k": 2}] if "freeform" in str(change) else None
    plan["models"] = models or [{"name": "k-anonymity", "k": 2}]
    with pytest.raises((BadPlan, CannotReach), match=words):
        anonymize(table, {**plan, **change})
