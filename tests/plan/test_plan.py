"""Plans: checked when made, the same again from their file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from shoal import BadFile, BadPlan, Hierarchy, Plan, anonymize
from shoal.algorithms.gaa import GAA
from shoal.losses.ncp import NCP
from shoal.models.k_anonymity import KAnonymity

COLUMNS = {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}}, "name": "identifier"}


def test_by_name_by_mapping_or_as_an_object():
    named = {"models": [{"name": "k-anonymity", "k": 3}], "loss": "ncp", "algorithm": "gaa"}
    by_name = Plan(columns=COLUMNS, **named)
    as_object = Plan(columns=COLUMNS, models=[KAnonymity(k=3)], loss=NCP(), algorithm=GAA())
    assert by_name.to_toml() == as_object.to_toml()


def test_the_default_supports_free_values():
    """Where the plan names no algorithm: peel, or gaa for what peel cannot publish."""
    free = {"age": {"role": "quasi", "hierarchy": {"free_ranges": True}}}
    models = [{"name": "k-anonymity", "k": 3}]
    assert Plan(columns=COLUMNS, models=models).algorithm.name == "peel"
    assert Plan(columns=free, models=models).algorithm.name == "gaa"
    with pytest.raises(BadPlan, match="needs trees"):
        Plan(columns=free, models=models, algorithm="peel").check_served()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"models": [{"name": "k-anonymity", "k": 1}]},
            "k-anonymity needs k of 2 or more, got k=1",
        ),
        ({"models": [{"name": "k-anonymity"}]}, "k-anonymity needs k"),
        ({"models": [{"name": "k-anonymity", "k": "5"}]}, "k='5'"),
        ({"models": [{"name": "k-anonimity", "k": 5}]}, "did you mean 'k-anonymity'"),
        ({"models": [{"k": 5}]}, "needs a name"),
        ({"models": [{"name": "k-anonymity", "kk": 5}]}, "did you mean 'k'"),
        ({"loss": "nlm"}, "no loss 'nlm'; did you mean 'nllm'"),
        ({"loss": 5}, "not int"),
        ({"loss": KAnonymity(k=2)}, "no loss 'k-anonymity'"),
        ({"algorithm": {"name": "gaa", "weigth": "size"}}, "did you mean 'weight'"),
        ({"algorithm": {"name": "gaa", "strategy": "S9"}}, "strategy='S9'"),
        ({"seed": -1}, "seed of 0 or more"),
        ({"threads": 0}, "threads of 1 or more, got threads=0"),
        ({"threads": -2}, "threads of 1 or more"),
        ({"threads": 1.5}, "threads=1.5"),
        ({"threads": "2"}, "threads='2'"),
        ({"threads": True}, "threads=True"),
        ({"parts": 0}, "parts = 'auto' or a number of 1 or more, got parts=0"),
        ({"parts": True}, "got parts=True"),
        ({"parts": 1.5}, "got parts=1.5"),
        ({"parts": "2"}, "got parts='2'"),
        ({"missing": "drop"}, "missing='drop'"),
        ({"colums": {}}, "the plan has no option 'colums'; did you mean 'columns'"),
        ({"columns": {}}, "needs columns"),
        ({"columns": {"age": {"role": "quazi"}}}, "column 'age': role='quazi'"),
        ({"columns": {"age": {}}}, "column 'age' needs role"),
        ({"columns": {"age": 5}}, "column 'age': give it a role"),
        ({"columns": {"a": "person", "b": "person", "c": "quasi"}}, "one person column"),
        ({"accept": ["agee"]}, "accepts 'agee', which is no column of the plan"),
        (
            {"columns": {"age": "quasi", "density": "other"}, "accept": ["densty"]},
            "accepts 'densty', which is no column of the plan; did you mean 'density'?",
        ),
        (
            {"columns": {"age": "quasi", "ill": "sensitive"}, "accept": ["ill"]},
            "accepts 'ill', which has the role sensitive: accept is for columns of the role other",
        ),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(BadPlan) as error:
        Plan(**{"columns": COLUMNS, **change})
    assert message in str(error.value)


def test_saved_and_loaded_it_is_the_same(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "education.csv").write_text("BSc;Degree;*\nPhD;Degree;*\n")
    plan = Plan(
        columns={
            "name": {"role": "identifier"},
            'odd "name" ü = [x]': {"role": "quasi"},
            "a.b": {"role": "other"},
            "": {"role": "other"},
            "age": {"role": "quasi", "hierarchy": Hierarchy.ranges([2.5, 10], start=1)},
            "stay": {"role": "quasi", "hierarchy": Hierarchy.borders([[1, 2.5, 30], [30]])},
            "zip": {"role": "quasi", "hierarchy": Hierarchy.prefixes()},
            "seen": {"role": "quasi", "hierarchy": Hierarchy.dates(["month", "5 years"])},
            "education": {"role": "quasi", "hierarchy": tmp_path / "tables" / "education.csv"},
            "job": {
                "role": "quasi",
                "hierarchy": Hierarchy.from_tree(
                    {"any": {'in "quotes"': ["a\tb", "ü"], "c": None}}
                ),
            },
            "disease": {"role": "sensitive"},
        },
        models=[{"name": "k-anonymity", "k": 4}],
        algorithm={"name": "gaa", "weight": "unit", "candidates": "small"},
        loss={"name": "weights", "edge_weights": {"zip": {"4": 1.5}}},
        seed=7,
        missing="root",
        missing_values=["", "?"],
        keep_order=True,
        threads=3,
        parts=4,
    )
    (tmp_path / "plans").mkdir()
    path = tmp_path / "plans" / "plan.toml"
    plan.save(path)
    assert '"../tables/education.csv"' in path.read_text(encoding="utf-8")
    again = Plan.load(path)
    assert again.to_toml(path.parent) == plan.to_toml(path.parent)
    assert list(again.columns) == list(plan.columns)
    assert again.threads == 3
    assert again.parts == 4
    assert again.columns["education"].hierarchy.tree().labels == ("*", "Degree", "BSc", "PhD")


def test_bad_files(tmp_path):
    with pytest.raises(BadFile, match="shoal draft"):
        Plan.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("columns = [", encoding="utf-8")
    with pytest.raises(BadPlan, match="not valid TOML"):
        Plan.load(tmp_path / "bad.toml")
    (tmp_path / "latin.toml").write_bytes("name = 'Zoë'".encode("latin-1"))
    with pytest.raises(BadFile, match="UTF-8"):
        Plan.load(tmp_path / "latin.toml")
    (tmp_path / "plan.toml").write_text('[columns]\na = { role = "quasi", hierarchy = "no.csv" }')
    with pytest.raises(BadFile, match=r"no\.csv"):
        Plan.load(tmp_path / "plan.toml")
    with pytest.raises(BadFile, match="there is no directory"):
        Plan(columns=COLUMNS).save(tmp_path / "nowhere" / "plan.toml")


def test_a_plan_without_requirements():
    with pytest.raises(BadPlan, match="has no requirements"):
        Plan(columns=COLUMNS).check_served()


def test_plan_of_the_interface(tmp_path):
    """The plan file shown to users, word by word."""
    (tmp_path / "education.csv").write_text("BSc;Degree;*\n")
    (tmp_path / "disease.csv").write_text("flu;*\n")
    (tmp_path / "plan.toml").write_text(
        """
loss = "nllm"
seed = 7

[columns]
name      = { role = "identifier" }
age       = { role = "quasi", hierarchy = { ranges = [5, 10, 20] } }
zip       = { role = "quasi", hierarchy = { prefixes = true } }
education = { role = "quasi", hierarchy = "education.csv" }
disease   = { role = "sensitive", hierarchy = "disease.csv" }

[[models]]
name = "k-anonymity"
k = 5

[algorithm]
name = "gaa"
strategy = "S1"
"""
    )
    plan = Plan.load(tmp_path / "plan.toml")
    assert plan.seed == 7
    assert plan.models == [KAnonymity(k=5)]
    assert plan.algorithm == GAA(strategy="S1")


def test_how_files_are_read_is_kept(tmp_path):
    stated = {"encoding": "latin-1", "delimiter": ";", "header": False, "sheet": "people"}
    plan = Plan(columns=COLUMNS, read=stated)
    plan.save(tmp_path / "plan.toml")
    back = Plan.load(tmp_path / "plan.toml")
    assert back.read == plan.read == plan.with_seed(3).read
    assert back.read.stated() == stated
    assert "[read]" not in Plan(columns=COLUMNS).to_toml()
    with pytest.raises(BadPlan, match=r"\[read\] has no option 'encodign'; did you mean"):
        Plan(columns=COLUMNS, read={"encodign": "latin-1"})
    with pytest.raises(BadPlan, match="is a table of settings"):
        Plan(columns=COLUMNS, read="latin-1")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sex = quasi", 'column 7): sex = quasi; texts are in quotes, as in role = "quasi"'),
        ('sex = { role = "quasi", , }', 'column 25): sex = { role = "quasi", , }'),
        ("sex", "column 4): sex"),
    ],
)
def test_a_line_that_is_no_toml_is_shown(line, said, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(f"[columns]\n{line}\n", encoding="utf-8")
    with pytest.raises(BadPlan) as error:
        Plan.load(path)
    assert str(error.value).startswith(f"{path} is not valid TOML: ")
    assert f"(at line 2, {said}" in str(error.value)


def test_a_plan_can_contain_its_level_tables(tmp_path: Path) -> None:
    """Then it runs anywhere, to the same release."""
    table = tmp_path / "jobs.csv"
    table.write_text("nurse;care;*\ndoctor;care;*\nclerk;office;*\n;office;*\n", encoding="utf-8")
    plan = Plan(
        columns={"job": {"role": "quasi", "hierarchy": str(table)}, "age": "quasi"},
        models=[{"name": "k-anonymity", "k": 2}],
        seed=1,
    )
    alone = plan.inlined()
    assert plan.files() == [table]
    assert alone.files() == []
    frame = pa.table({"job": ["nurse", "doctor", "clerk", None], "age": [1, 1, 2, 2]})
    inside = tmp_path / "plan.toml"
    alone.save(inside)
    table.unlink()
    made = [anonymize(frame, one).frame.to_pydict() for one in (plan, Plan.load(inside))]
    assert made[0] == made[1]
    assert alone.inlined() is alone
