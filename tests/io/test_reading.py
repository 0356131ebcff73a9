"""How files are read, as a plan states it."""

from __future__ import annotations

import hashlib

import pytest

import shoal
from shoal import Plan
from shoal.flow.apply.fitted import Fitted
from shoal.report.plan_facts import plan_file

LINES = ["who@age@sex", *(f"p{i}@{20 + i % 4}@{'fm'[i % 2]}" for i in range(16))]
COLUMNS = {"who": "identifier", "age": {"role": "quasi", "hierarchy": {"ranges": [2, 4]}}}
COLUMNS["sex"] = "quasi"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_is_stated_reaches_every_command(tmp_path, people, engine):
    models = [{"name": "k-anonymity", "k": 4}]
    plan = Plan(columns=COLUMNS, models=models, seed=1, engine=engine, read={"delimiter": "@"})
    release = shoal.anonymize(people, plan)
    release.save(tmp_path / "release.csv")
    assert (tmp_path / "release.csv").read_text().startswith("age@sex\n")
    found = shoal.audit(tmp_path / "release.csv", plan, original=people)
    assert found.holds
    release.recoding.save(tmp_path / "recoding.json")
    applied = Fitted.load(tmp_path / "recoding.json").apply(people, seed=1)
    applied.save(tmp_path / "applied.csv")
    assert (tmp_path / "applied.csv").read_text().startswith("age@sex\n")
    compared = shoal.compare(people, plan, k=[4], algorithms=["peel"], apart=False)
    assert compared.rows == len(LINES) - 1
    assert '[read]\ndelimiter = "@"\n' in plan_file(plan).toml


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_an_encoding_that_was_found_is_reported(tmp_path, engine):
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(["größe", *["groß"] * 4, *["klein"] * 4]).encode("latin-1"))
    plan = {"columns": {"größe": "quasi"}, "models": [{"name": "k-anonymity", "k": 2}]}
    release = shoal.anonymize(path, plan | {"seed": 1, "engine": engine})
    release.save(tmp_path / "release.csv")
    words = "not in UTF-8 and was read as Latin-1; if letters"
    assert any(words in note for note in release.notes)
    assert "groß" in (tmp_path / "release.csv").read_text(encoding="utf-8")
    found = shoal.audit(tmp_path / "release.csv", release.plan, original=path)
    assert len([note for note in found.notes if words in note]) == 1
    applied = release.recoding.apply(path, seed=1)
    assert any(words in note for note in applied.notes)
    stated = release.plan.changed(read={"encoding": "latin-1"})
    release = shoal.anonymize(path, stated)
    release.save(tmp_path / "marked.csv")
    assert not any(words in note for note in release.notes)
    assert (tmp_path / "marked.csv").read_bytes().startswith(b"\xef\xbb\xbfgr\xc3")
    assert shoal.audit(tmp_path / "marked.csv", stated, original=path).holds
    digest = hashlib.sha256((tmp_path / "marked.csv").read_bytes()).hexdigest()
    assert release.csv_sha256() == digest
