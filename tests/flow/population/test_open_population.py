"""k-map and delta-presence against a table of the population, from the plan to the release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadInput, BadPlan, BadTable, CannotReach
from shoal.flow.saving.kept_release import keep, load_kept
from shoal.report.exposure_facts import risk_rows

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
    "sex": "quasi",
    "disease": "sensitive",
}
PEOPLE = pa.table(
    {
        "name": [f"p{i}" for i in range(12)],
        "age": [31, 31, 32, 33, 38, 39, 52, 52, 57, 57, 71, 79],
        "sex": list("fffmmmffmmfm"),
    }
)
SAMPLE = pa.table({"age": [31, 38, 57, 79], "sex": list("fmmm"), "disease": list("abcd")})


def plan(*models, **more):
    asked = [{"name": name, **options} for name, options in models]
    given = {"population": {"data": PEOPLE}, "seed": 1, "keep_order": True, **more}
    return Plan(columns=COLUMNS, models=asked, **given)


def people_of(label, ages):
    """The ages that a published label covers, without shoal."""
    if label == "*":
        return set(ages)
    if not label.startswith("["):
        return {int(label)}
    low, high = label.strip("[)").split(", ")
    return {age for age in ages if int(low) <= age < int(high)}


def fewest(frame):
    """The people of the population whom each published record could be: the fewest of all."""
    both = list(zip(PEOPLE["age"].to_pylist(), PEOPLE["sex"].to_pylist(), strict=True))
    found = []
    for age, sex in zip(frame["age"].to_pylist(), frame["sex"].to_pylist(), strict=True):
        ages = people_of(str(age), [a for a, _ in both])
        found.append(sum(a in ages and sex in ("*", s) for a, s in both))
    return min(found)


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian", "full-domain"])
@pytest.mark.parametrize("k", [2, 3, 5, 12])
def test_k_map_is_counted_in_the_population(algorithm, k, tmp_path):
    release = shoal.anonymize(SAMPLE, plan(("k-map", {"k": k}), algorithm=algorithm))
    (check,) = release.checks
    assert check.reached == fewest(release.frame) >= k
    assert check.key == "k-map"
    assert release.after.risks.journalist == 1 / check.reached
    audit = shoal.audit(release.frame, plan(("k-map", {"k": k})))
    assert audit.checks[0].reached == check.reached
    release.save(tmp_path / "release.csv")  # verified again, on the file
    audit = shoal.audit(tmp_path / "release.csv", plan(("k-map", {"k": k})))
    assert audit.checks[0].reached == check.reached
    keep(release, tmp_path)
    load_kept(tmp_path).save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()


def test_k_map_loses_less_than_k_anonymity():
    k_map = shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2})))
    assert k_map.frame["age"].to_pylist()[0] == "31"  # two of the population have it
    hidden = shoal.anonymize(SAMPLE, plan(("k-anonymity", {"k": 2})))
    assert k_map.quality.losses["nllm"] < hidden.quality.losses["nllm"]


@pytest.mark.parametrize(
    "model", [("k-anonymity", {"k": 2}), ("k-map", {"k": 2, "sampling_fraction": 0.5})]
)
def test_a_population_that_no_requirement_reads_is_noted(model, tmp_path):
    """Not even opened, so that nothing of it is in the risks; an audit that is given it is."""
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    asked = plan(model, population={"data": tmp_path / "people.csv"})
    release = shoal.anonymize(SAMPLE, asked)
    [note] = [one for one in release.notes if "was not read" in one]
    assert "k-map without sampling_fraction, delta-presence and audits against a" in note
    assert note in shoal.audit(release.frame, asked).notes
    assert release.after.risks.journalist is None
    given = shoal.audit(release.frame, asked, population=tmp_path / "people.csv")
    assert not any("was not read" in one for one in given.notes)
    assert given.risks.journalist == 1 / fewest(release.frame)
    measured = given.record_table()
    assert list(measured) == ["risk", "class_size", "counted_in_population"]
    assert measured["counted_in_population"].min() == fewest(release.frame)
    rows = list(zip(*(release.frame[name].to_pylist() for name in ("age", "sex")), strict=True))
    assert measured["class_size"].tolist() == [rows.count(row) for row in rows]
    read = shoal.anonymize(SAMPLE, plan(model, ("k-map", {"k": 2})))
    assert not any("was not read" in one for one in read.notes)


def test_a_release_shows_the_risk_that_was_measured_in_the_population():
    """Not only what is estimated, which may be about another population: a note says so."""
    release = shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2})))
    rows = {label: values for label, *values in risk_rows(release.before, release.after)}
    highest = rows["highest re-identification risk in the population"]
    assert highest == ["100\N{NO-BREAK SPACE}%", "50\N{NO-BREAK SPACE}%"]
    assert release.before.risks == shoal.audit(SAMPLE, release.plan).risks
    found = shoal.audit(release.frame, release.plan, original=SAMPLE)
    assert found.risks.journalist == 0.5
    assert not any("different populations" in note for note in release.notes)
    fraction = {"data": PEOPLE, "fraction": 0.01}
    release = shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2}), population=fraction))
    said = "the table of the population has 12 people, and by the fraction of [population] there"
    assert any(said in note for note in release.notes), release.notes
    found = shoal.audit(release.frame, release.plan, original=SAMPLE)
    assert any(said in note for note in found.notes)


def test_more_than_the_population_cannot_be_reached():
    with pytest.raises(CannotReach, match="k-map with 13 cannot be reached"):
        shoal.anonymize(SAMPLE, plan(("k-map", {"k": 13})))


def test_delta_presence():
    release = shoal.anonymize(SAMPLE, plan(("delta-presence", {"high": 0.4})))
    assert release.checks[0].reached <= 0.4
    rows = list(
        zip(release.frame["age"].to_pylist(), release.frame["sex"].to_pylist(), strict=True)
    )
    both = list(zip(PEOPLE["age"].to_pylist(), PEOPLE["sex"].to_pylist(), strict=True))
    for a, s in both:  # everybody of the population
        mine = [r for r in set(rows) if a in people_of(str(r[0]), [a]) and r[1] in ("*", s)]
        assert len(mine) <= 1
        for age, sex in mine:
            inside = people_of(str(age), [x for x, _ in both])
            covered = sum(x in inside and sex in ("*", y) for x, y in both)
            assert rows.count((age, sex)) / covered <= 0.4
    with pytest.raises(CannotReach, match=r"from 0\.5 to 0\.9 cannot be reached"):
        shoal.anonymize(SAMPLE, plan(("delta-presence", {"high": 0.9, "low": 0.5})))
    with pytest.raises(BadPlan, match="needs low of at most high"):
        plan(("delta-presence", {"high": 0.2, "low": 0.5}))


def test_a_population_that_lacks_people_of_the_table():
    """Say which; the way to proceed counts the people of the table."""
    few = PEOPLE.slice(0, 10)  # nobody of 79
    asked = plan(("k-map", {"k": 2}), population={"data": few})
    with pytest.raises(BadTable, match=r"age='79', sex='m': 1 in the table, 0 there.*incomplete"):
        shoal.anonymize(SAMPLE, asked)
    release = shoal.anonymize(
        SAMPLE, plan(("k-map", {"k": 2}), population={"data": few, "incomplete": True})
    )
    assert release.checks[0].holds
    assert release.after.risks.journalist is None  # it would be about another population
    said = "may lack people of the table (incomplete = true)"
    assert any(said in note for note in release.notes)
    found = shoal.audit(release.frame, release.plan, original=SAMPLE)
    assert any(said in note for note in found.notes)
    complete = shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2})))
    assert not any(said in note for note in complete.notes)


JOBS = {"job": {"role": "quasi", "hierarchy": {"free_sets": True}}}


def test_a_set_with_a_value_that_the_population_lacks():
    """It covers the people with its other values, for k-map and for delta-presence."""
    register = pa.table({"job": ["a"] * 6 + ["b"] * 6})
    source = {"data": register, "incomplete": True}
    asked = Plan(
        columns=JOBS, models=[{"name": "k-map", "k": 4}], population=source, algorithm="gaa"
    )
    for labels, reached in [(["{a, z}"], 6), (["{a, b, z}"], 12), (["{y, z}"], 1), (["z"], 1)]:
        (check,) = shoal.audit(pa.table({"job": labels}), asked).checks
        assert check.reached == reached
    table = pa.table({"job": ["a", "z", "b", "b", "a", "z"]})
    release = shoal.anonymize(table, asked)
    assert release.checks[0].reached >= 4
    assert shoal.audit(release.frame, asked).checks == release.checks

    # Both sets cover those with a, so that certainty is assumed.
    hidden = Plan(columns=JOBS, models=[{"name": "delta-presence", "high": 0.5}], population=source)
    published = pa.table({"job": ["{a, z}", "{a, z}", "{a, b}", "{a, b}"]})
    assert shoal.audit(published, hidden).checks[0].reached == 1
    published = pa.table({"job": ["{a, z}", "{a, z}", "b"]})
    assert shoal.audit(published, hidden).checks[0].reached == pytest.approx(1 / 3)


def test_free_values_of_the_table_do_not_cover_everybody():
    """Nobody of the table is a pilot, so that no set has them; the error says how many are left."""
    register = pa.table({"job": ["cook"] * 2 + ["clerk"] * 2 + ["pilot"] * 9})
    models = [{"name": "k-map", "k": 5}]
    asked = Plan(columns=JOBS, models=models, population={"data": register}, algorithm="gaa")
    with pytest.raises(CannotReach, match=r"13 people, of whom the most general free .* 4;"):
        shoal.anonymize(pa.table({"job": ["cook", "clerk"]}), asked)


def test_a_smallest_presence_needs_everybody():
    """Of 3 people in a table, a register of 6 that lacks one of them: 3 of 7, not 3 of 6."""
    asked = plan(
        ("delta-presence", {"high": 1.0, "low": 0.01}),
        population={"data": PEOPLE.slice(0, 10), "incomplete": True},
    )
    with pytest.raises(BadPlan, match="low above 0 needs everybody of the table"):
        shoal.anonymize(SAMPLE, asked)
    assert not shoal.audit(SAMPLE, asked).holds


def test_bad_populations():
    with pytest.raises(BadTable, match="population lacks the quasi-identifiers 'sex'"):
        shoal.anonymize(
            SAMPLE, plan(("k-map", {"k": 2}), population={"data": PEOPLE.select(["age"])})
        )
    with pytest.raises(BadTable, match="the population has no rows; give"):
        shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2}), population={"data": PEOPLE.slice(0, 0)}))
    words = PEOPLE.set_column(1, "age", pa.array(["young"] * len(PEOPLE)))
    with pytest.raises(BadInput, match=r"in the population: column 'age'.*'young'"):
        shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2}), population={"data": words}))
    with pytest.raises(BadPlan, match=r"has no table of it; add one, as in \[population\]"):
        shoal.anonymize(SAMPLE, plan(("delta-presence", {"high": 0.5}), population={}))
    with pytest.raises(BadPlan, match="or a sampling_fraction for k-map"):
        shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2}), population={}))
    with pytest.raises(BadPlan, match="needs data with the path of a file"):
        plan(("k-map", {"k": 2}), population={"data": 7})
    with pytest.raises(BadPlan, match="sampling_fraction"):
        plan(("k-map", {"k": 2, "sampling_fraction": 1.5}))
    who = [{"knows": ["age"]}, {"knows": ["sex"]}]
    with pytest.raises(BadPlan, match="several attackers is not supported"):
        shoal.anonymize(SAMPLE, plan(("k-map", {"k": 2}), attackers=who))


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_engines_that_do_not_read_populations_say_so(engine, tmp_path):
    pa.csv.write_csv(SAMPLE, tmp_path / "sample.csv")
    with pytest.raises(BadPlan, match=f"engine = '{engine}' does not support k-map yet"):
        shoal.anonymize(tmp_path / "sample.csv", plan(("k-map", {"k": 2}), engine=engine))


def test_people_with_several_records_in_the_population_count_once():
    twice = pa.concat_tables([PEOPLE, PEOPLE])
    columns = {**COLUMNS, "name": "person"}
    sample = SAMPLE.append_column("name", pa.array(["a", "b", "c", "d"]))
    asked = Plan(
        columns=columns, models=[{"name": "k-map", "k": 3}], population={"data": twice}, seed=1
    )
    release = shoal.anonymize(sample, asked)
    assert release.checks[0].reached == fewest(release.frame) >= 3
    with pytest.raises(BadTable, match="delta-presence needs one record per person"):
        shoal.anonymize(sample, asked.changed(models=[{"name": "delta-presence", "high": 0.5}]))


HOMES = {
    "region": {"role": "quasi"},
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
}
REGISTER = pa.table(
    {
        "home": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6],
        "region": ["A"] * 12,
        "age": [30, 30, 50, 60, 30, 70, 30, 45, 50, 60, 50, 60],
    }
)


def homes_plan(role="household", k=3, **more):
    asked = {"models": [{"name": "k-map", "k": k}], "population": {"data": REGISTER}, "seed": 1}
    return Plan(columns={"home": role, **HOMES}, **asked | more)


@pytest.mark.parametrize("role", ["household", "person"])
def test_an_entity_of_the_population_counts_if_all_its_records_are_covered(role):
    """Members are published linked and alike: a home with one member of 30 is not one of two."""
    sample = REGISTER.slice(0, 4)
    both = homes_plan(role)
    published = sample.set_column(2, "age", pa.array(["30", "30", "*", "*"]))
    found = shoal.audit(published, both)
    assert found.checks[0].reached == 1  # not 3, of whom two are homes with others of 45 and 70
    assert not found.checks[0].holds
    assert found.record_table()["counted_in_population"].tolist() == [1, 1, 6, 6]
    release = shoal.anonymize(sample, both)
    ages = {}
    for home, age in zip(
        release.frame["home"].to_pylist(), release.frame["age"].to_pylist(), strict=True
    ):
        ages.setdefault(home, set()).add(age)
    register = {}
    for home, age in zip(*(REGISTER[name].to_pylist() for name in ("home", "age")), strict=True):
        register.setdefault(home, []).append(age)
    for mine in ages.values():
        (label,) = mine
        whole = [
            home for home, all_ages in register.items() if {*all_ages} <= people_of(label, all_ages)
        ]
        assert len(whole) >= 3
    for name in ("gaa", "mondrian", "full-domain"):
        assert shoal.anonymize(sample, both.changed(algorithm=name)).checks[0].holds
    with pytest.raises(BadTable, match="delta-presence needs one record per person"):
        shoal.anonymize(sample, both.changed(models=[{"name": "delta-presence", "high": 0.5}]))


@pytest.mark.parametrize("role", ["household", "person"])
def test_an_entity_with_different_records_is_compared_with_all_of_them(role):
    """In a table as it is: who could be a home of 50 and 60 has members of 50 and 60, no others."""
    sample = REGISTER.slice(0, 4)
    found = shoal.audit(sample, homes_plan(role), population=REGISTER)
    assert found.record_table()["counted_in_population"].tolist() == [1, 1, 3, 3]
    assert found.risks.journalist == 1
    assert found.risks.marketer == pytest.approx((1 + 1 / 3) / 2)


def test_members_apart_are_people_of_the_population():
    """Nothing links them, and each could be everybody with these values."""
    apart = {"role": "household", "publish": False, "together": False}
    sample = REGISTER.slice(0, 4)
    found = shoal.audit(sample, homes_plan(apart), population=REGISTER)
    assert found.record_table()["counted_in_population"].tolist() == [4, 4, 3, 3]
    by_home = {"name": "household-k-anonymity", "k": 2}
    release = shoal.anonymize(
        sample, homes_plan(apart, models=[{"name": "k-map", "k": 3}, by_home])
    )
    assert all(check.holds for check in release.checks)
    assert release.checks[0].reached == 12


def test_records_that_nothing_links_could_be_of_everybody_with_one_like_them():
    hidden = {"role": "household", "publish": False}
    release = shoal.anonymize(REGISTER.slice(0, 4), homes_plan(hidden))
    assert release.checks[0].reached == 6  # with the numbers, before they were dropped
    published = pa.table({"region": ["A"] * 4, "age": ["30", "30", "*", "*"]})
    found = shoal.audit(published, homes_plan(hidden), population=REGISTER)
    assert found.record_table()["counted_in_population"].tolist() == [3, 3, 6, 6]
    assert any("which overstates k if a household has several" in one for one in found.notes)


@pytest.mark.parametrize("incomplete", [False, True])
def test_a_population_that_lists_other_records_of_a_home_lacks_it(incomplete):
    """It cannot be told from another home then; counted as there, the risk is rather too high."""
    more = REGISTER.set_column(2, "age", pa.array([30, 99, *[50, 60] * 5]))
    sample = REGISTER.slice(0, 2)
    source = {"data": more, "incomplete": incomplete}
    if incomplete:
        found = shoal.audit(sample, homes_plan(population=source), population=more)
        assert found.record_table()["counted_in_population"].tolist() == [1, 1]
        assert not found.checks[0].holds
        assert shoal.anonymize(sample, homes_plan(population=source)).checks[0].reached >= 3
        return
    said = "region='A', age='30': 1 in the table, 0 there.*the same records as the table"
    with pytest.raises(BadTable, match=said):
        shoal.anonymize(sample, homes_plan(population=source))
    with pytest.raises(BadTable, match=said):
        shoal.audit(sample, homes_plan(population=source))


@pytest.mark.parametrize("person", [False, True])
def test_people_of_households_are_compared_with_people_by_the_weights(person):
    """Six households of twelve people are the population of weights that add up to twelve."""
    asked = homes_plan().changed(
        columns={"home": "household", "who": "person", "weight": "weight", **HOMES}
    )
    register = REGISTER.append_column("who", pa.array([1, 1, *range(3, 13)]))
    sample = register.slice(2, 4).append_column("weight", pa.array([3.0] * 4))
    register = register if person else register.drop_columns(["who"])
    for weight, differ in [(3.0, False), (1.5, True)]:
        one = sample.set_column(4, "weight", pa.array([weight] * 4))
        given = asked.changed(population={"data": register})
        notes = [
            *shoal.anonymize(one, given).notes,
            *shoal.audit(one, given, population=register).notes,
        ]
        people = 11 if person else 12
        said = [n for n in notes if f"the table of the population has {people} people, and by" in n]
        assert len(said) == (2 if differ else 0), notes


def test_an_audit_and_a_run_say_alike_that_the_population_lacks_people():
    few = PEOPLE.set_column(2, "sex", pa.array(list("fff" + "ffffffffm")))  # no other men
    asked = plan(("k-map", {"k": 2}), population={"data": few})
    said = []
    for run in (shoal.anonymize, shoal.audit):
        with pytest.raises(BadTable) as error:
            run(SAMPLE, asked)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert (
        "in 2 groups of people with equal values (age='38', sex='m': 1 in the table, 0" in said[0]
    )
    assert said[0].count("in the table, 0 there") == 2


def test_an_estimate_needs_no_table():
    rng = np.random.default_rng(3)
    sample = pa.table(
        {
            "age": rng.integers(20, 80, 300),
            "sex": rng.choice(["f", "m"], 300),
            "disease": rng.choice(["a", "b"], 300),
        }
    )
    model = ("k-map", {"k": 20, "sampling_fraction": 0.1})
    release = shoal.anonymize(sample, plan(model, population={}))
    (check,) = release.checks
    assert check.holds
    assert check.key.startswith("k-map (sampling_fraction = 0.1, estimator = zero-truncated-poisso")
    # Poisson(2) given one or more: 1 - P(X <= 5) is 0.0166, and 1 - P(X <= 6) is 0.0045.
    assert release.after.smallest_class >= 7


def test_the_plan_file_names_the_population(tmp_path):
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    pa.csv.write_csv(SAMPLE, tmp_path / "sample.csv")
    (tmp_path / "plan.toml").write_text(
        '[population]\ndata = "people.csv"\n\n[columns]\nage = { role = "quasi", hierarchy = '
        '{ ranges = [5, 10, 20] } }\nsex = "quasi"\ndisease = "sensitive"\n\n'
        '[[models]]\nname = "k-map"\nk = 3\n'
    )
    asked = Plan.load(tmp_path / "plan.toml")
    release = shoal.anonymize(tmp_path / "sample.csv", asked)
    assert fewest(release.frame) >= 3
    asked.save(tmp_path / "again.toml")
    assert 'data = "people.csv"' in (tmp_path / "again.toml").read_text()
    again = Plan.load(tmp_path / "again.toml")
    assert again.population == asked.population
    assert again.to_toml() == asked.to_toml()
    assert tmp_path / "people.csv" in asked.files()
    with pytest.raises(BadPlan, match="table in memory; write it to a file"):
        plan(("k-map", {"k": 2})).save(tmp_path / "no.toml")
    release.recoding.save(tmp_path / "recoding.json")
    assert "people.csv" not in (tmp_path / "recoding.json").read_text()
    with pytest.raises(BadPlan, match="which a recoding does not contain"):
        release.recoding.apply(SAMPLE)


def test_an_algorithm_that_suppresses_people_says_that_too_few_are_published():
    """A lower limit on presence is about those who are published: the error counts them."""
    sample = pa.table({"age": [1, 1, 9], "sex": [1, 1, 9], "disease": list("abc")})
    people = pa.table({"age": [1, 1, 9, *[1] * 5], "sex": [1, 1, 9, *[1] * 5]})
    columns = {"age": "quasi", "sex": "quasi", "disease": "sensitive"}
    both = [{"name": "k-anonymity", "k": 2}, {"name": "delta-presence", "low": 0.3, "high": 0.9}]
    asked = Plan(
        columns=columns, models=both, population={"data": people}, algorithm="danonyir", seed=1
    )
    with pytest.raises(CannotReach, match="only 2 of 3 people are published, of a pop") as error:
        shoal.anonymize(sample, asked)
    assert error.value.ways[0].action == "algorithm"
    assert shoal.anonymize(sample, asked.changed(algorithm="peel")).suppressed == 0
