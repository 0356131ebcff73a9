"""The file of a recoding: what it contains, and what is refused."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadTable, Fitted, Plan
from tests.flow.apply.tables import K2


def fit_file(tmp_path, **more):
    (tmp_path / "sex.csv").write_text("f;*\nm;*\nx;*\n")
    columns = {
        "name": "identifier",
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
        "sex": {"role": "quasi", "hierarchy": str(tmp_path / "sex.csv")},
        "disease": "sensitive",
    }
    fit = pa.table(
        {"name": ["Ann", "Bob", "Cid", "Dee"], "age": [31, 33, 54, 57],
         "sex": ["f", "f", "m", "m"], "disease": ["flu", "cold", "flu", "gout"]}
    )  # fmt: skip
    models = [*K2, {"name": "t-closeness", "column": "disease", "t": 0.9}]
    plan = Plan(columns=columns, models=models, seed=77, loss="lm", **more)
    release = shoal.anonymize(fit, plan)
    release.recoding.save(tmp_path / "fit.json")
    return release, tmp_path / "fit.json"


def test_the_file_is_read_back_and_needs_no_other_file(tmp_path):
    release, path = fit_file(tmp_path)
    (tmp_path / "sex.csv").unlink()
    again = Fitted.load(path)
    assert again.vectors == release.recoding.vectors
    assert again.plan.seed is None
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    new = pa.table({"name": ["Eve"] * 2, "age": [32, 30], "sex": ["f"] * 2, "disease": ["a", "b"]})
    assert again.apply(new).published == 2


def test_the_file_reveals_nothing_about_a_record(tmp_path):
    release, path = fit_file(tmp_path)
    content = path.read_text(encoding="utf-8")
    assert '"sha256"' in content
    content = "\n".join(line for line in content.split("\n") if '"sha256"' not in line)
    for word in ("Ann", "flu", "77", str(tmp_path), '"31"', '"54"', "sex.csv"):
        assert word not in content, word
    numbers = json.loads(path.read_text(encoding="utf-8"))
    published = {(str(row["age"]), row["sex"]) for row in release.frame.to_pylist()}
    assert {tuple(vector) for vector in numbers["vectors"]} == published


def edit(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def summed(content):
    from shoal.flow.apply.recoding_file import CONTENT, checksum

    content["sha256"] = checksum({key: content.get(key) for key in CONTENT})


def narrower(content):
    content["vectors"] = [vector[:1] for vector in content["vectors"]]
    summed(content)


def other_plan(content):
    content["plan"]["columns"]["age"]["hierarchy"] = {"ranges": [2]}


def other_order(content):
    content["order"] = ["age", "zip"]
    summed(content)


def no_plan(content):
    content["plan"] = None
    summed(content)


def senseless_plan(content):
    content["plan"]["models"] = [{"name": "k-anonymity", "k": 1}]
    summed(content)


def without_requirements(content):
    content["plan"]["models"] = []
    summed(content)


def with_vector(vector):
    def change(content):
        content["vectors"][0] = vector
        summed(content)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_requirements, "the plan has no requirements"),
        *(
            (with_vector(one), "lists of values as text")
            for one in (7, None, "ab", [1, 2], [[], ""])
        ),
        (other_plan, "its checksum does not match"),
        (narrower, "belong to another plan"),
        (no_plan, "lacks the plan"),
        (senseless_plan, "needs k of 2 or more"),
        (lambda content: content.pop("vectors"), "checksum"),
        (lambda content: content.update(version=1), "version 1 of the format"),
        (other_order, "columns that are not in its plan"),
        (lambda content: content.update(format="other"), "not a recoding file"),
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path, change, words):
    _, path = fit_file(tmp_path)
    edit(path, change)
    with pytest.raises(BadFile, match=words):
        Fitted.load(path)


def test_damaged_files(tmp_path):
    _, path = fit_file(tmp_path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\xff\xfe\0", b"[1, 2]", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(BadFile, match=r"fit\.json"):
            Fitted.load(path)
    with pytest.raises(BadFile, match=r"the recoding .*no such file"):
        Fitted.load(tmp_path / "none.json")
    with pytest.raises(BadFile, match="cannot read"):
        Fitted.load(tmp_path)


def test_tables_of_another_kind(tmp_path):
    _, path = fit_file(tmp_path)
    fitted = Fitted.load(path)
    good = {"name": ["E", "F"], "age": [32, 30], "sex": ["f", "f"], "disease": ["a", "b"]}
    without = {key: value for key, value in good.items() if key != "age"}
    with pytest.raises(BadTable, match=r"recoding was made with .* the table lacks: 'age'"):
        fitted.apply(pa.table(without))
    with pytest.raises(BadTable, match="not mention the columns 'zip'"):
        fitted.apply(pa.table(good | {"zip": [1, 2]}))
    with pytest.raises(BadTable, match="no rows"):
        fitted.apply(pa.table(good).slice(0, 0))
    with pytest.raises(BadTable, match="no record of the table falls into a class"):
        fitted.apply(pa.table(good | {"age": [90, 91]}))
