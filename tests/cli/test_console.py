"""What the screen shows, on 80 columns, whatever the attacks find."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from rich.console import Console

import shoal
from shoal import Plan
from shoal.base.wording import number
from shoal.cli import attack_table
from shoal.cli.audit_tables import show_audit
from shoal.cli.console import percent
from shoal.cli.plan_table import show_roles
from shoal.cli.release_tables import show_release
from shoal.measures import exposure
from shoal.report.attack_facts import attack_lines
from tests.algorithms.test_concealment import people, plan
from tests.models.test_people import ASKED, TABLE_3, levels

MATCHING = {"largest_probability": 0.6, "mean_largest_probability": 0.31, "percent": 40.0}


def printed(show, *things, width=80):
    console = Console(width=width, color_system=None, force_terminal=False, record=True, quiet=True)
    console.quiet = False
    with console.capture() as caught:
        show(console, *things)
    return caught.get()


def table(rows=40):
    return pa.table(
        {
            "age": [20 + i % 30 for i in range(rows)],
            "a-very-long-name-of-a-sensitive-column": [f"d{i % 4}" for i in range(rows)],
        }
    )


def asked(**change):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}},
        "a-very-long-name-of-a-sensitive-column": "sensitive",
    }
    return Plan(**{"columns": columns, "models": [{"name": "k-anonymity", "k": 3}]} | change)


def test_any_finding_has_a_line():
    lines = list(attack_lines({"matching": MATCHING | {"people": 7}, "linkage": {}}))
    assert [(one.attack, one.column, one.count) for one in lines] == [("matching", None, "7")]
    assert lines[0].share.replace("\xa0", " ") == "40 %"
    words = "most likely record: 60 % or more, 31 % on average"
    assert lines[0].detail.replace("\xa0", " ") == words
    graph = {"fewest_that_fit": 5, "fewest_left": 4, "percent": 2.5}
    (line,) = attack_lines({"graph": graph})
    assert (line.count, line.share) == ("–", "2.5\xa0%")
    assert "at least 4 remain" in line.detail
    both = list(attack_lines({"homogeneity": {"percent": None, "disease": {"records": 1}}}))
    assert [(one.column, one.count, one.share) for one in both] == [
        (None, "–", "–"),
        ("disease", "1", "–"),
    ]


def test_what_a_release_is_good_for():
    release = shoal.anonymize(table(), asked())
    out = printed(show_release, release)
    assert number(release.utility.normalized_loss) in out
    assert "mean error of counting queries (median" in out
    assert "vulnerable" not in out
    beside = shoal.audit(release.frame, asked(), original=table())
    assert "mean error of counting queries (median" in printed(show_audit, beside)
    assert "counting queries" not in printed(show_audit, shoal.audit(release.frame, asked()))
    out = printed(show_audit, levels(TABLE_3, **ASKED))
    words = "vulnerable classes: violate eir-l-diversity [disease] 1 of 2"
    assert words in " ".join(out.split())


def test_a_release_of_linked_records():
    release = shoal.anonymize(people(60), plan())
    attacks = {name: found for name, found in release.attacks.items() if name != "matching"}
    bare = replace(release.after, attacks=attacks)
    out = printed(show_release, replace(release, after=bare))
    assert "graph" in out
    assert "smallest class" not in out
    assert "possible records of the most exposed person" in out
    assert "need not be equally" in " ".join(out.split())  # whatever the width
    weighed = replace(
        bare,
        attacks=attacks | {"matching": MATCHING},
        risks=exposure._weighed(bare.risks, MATCHING),
    )
    out = printed(show_release, replace(release, after=weighed))
    assert "60 %" in out
    assert "need not be equally" not in out


def test_the_whole_command_line_with_concealment(run, tmp_path):
    pa_csv.write_csv(people(60), tmp_path / "people.csv")
    plan().save(tmp_path / "plan.toml")
    words = ("--plan", "plan.toml")
    status, out, err = run(
        "anonymize",
        "people.csv",
        *words,
        "--out",
        "r.csv",
        "--report",
        "r.html",
        "--json",
        "r.json",
    )
    assert status == 0, err
    for name in ("r.csv", "r.html", "r.json"):
        assert f"written: {name}" in out
    numbers = json.loads((tmp_path / "r.json").read_text())
    assert "graph" in numbers["attacks"]
    status, out, err = run("audit", "r.csv", *words, "--original", "people.csv")
    assert status == 0, err
    assert "graph" in out


def test_no_name_is_cut_in_eighty_columns():
    release = shoal.anonymize(table(), asked())
    audit = shoal.audit(release.frame, asked(), original=table())
    for out in (printed(show_audit, audit), printed(show_release, release)):
        assert "…" not in out
        assert "background-knowledge" in out
        assert max(map(len, out.splitlines())) <= 80
    assert "not judged" in printed(show_audit, audit)


def test_the_population_is_explained():
    audit = shoal.audit(table(), asked(), population=pa.concat_tables([table(), table()]))
    out = " ".join(printed(show_audit, audit).split())
    assert "highest re-identification risk in the population 50 %" in out
    assert "average risk per record in the population" in out


def test_warnings():
    release = shoal.anonymize(table(), asked())
    out = " ".join(printed(show_release, release).split())
    assert "Warning: no requirement protects 'a-very-long-name-of-a-sensitive-column'" in out
    assert "almost no information" not in out
    model = {"name": "distinct-l-diversity", "column": list(table().column_names)[1], "l": 2}
    one = shoal.anonymize(table(), asked(models=[{"name": "k-anonymity", "k": 40}, model]))
    out = " ".join(printed(show_release, one).split())
    assert "no requirement protects" not in out
    assert "Warning: the release contains almost no information: all records look the same" in out


def test_what_cannot_be_shown_does_not_hide_the_rest(monkeypatch):
    release = shoal.anonymize(table(), asked())

    def crash(*_):
        raise KeyError("secret value")

    monkeypatch.setattr(attack_table, "attack_lines", crash)
    out = " ".join(printed(show_release, release).split())
    assert "cannot be shown here: internal error in shoal (KeyError). The files are complete" in out
    assert "secret" not in out
    assert "satisfied" in out
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    with pytest.raises(KeyError):
        printed(show_release, release)


def test_what_a_draft_says_of_bands_and_small_numbers():
    n = 40
    drafted = shoal.draft(
        pa.table(
            {
                "grade": [1 + i % 4 for i in range(n)],
                "age": [f"[{10 * (i % 8)}-{10 * (i % 8) + 10})" for i in range(n)],
                "years": [["18 to 24", "25-40", "41–64", "65+"][i % 4] for i in range(n)],
                "month": [f"2024-0{1 + i % 9}" for i in range(n)],
                "disease": ["flu", "gout"] * (n // 2),
            }
        )
    )
    assert drafted.columns["grade"].hierarchy.setting() == {"ranges": [2], "start": 1}
    for name in ("age", "years"):
        assert drafted.columns[name].hierarchy.setting().keys() == {"tree"}
        assert "neighbours joined" in drafted.notes[name]
    assert "[0-10) … [30-40)" in drafted.columns["age"].hierarchy.tree().labels
    assert drafted.columns["month"].hierarchy is None
    assert "add a model" in drafted.remarks[0]
    again = Plan(**tomllib.loads(drafted.to_toml()))
    assert again.columns.keys() == drafted.columns.keys()
    assert "8 bands" in printed(show_roles, drafted, width=200)


def test_suppressed_records_are_shown_on_the_screen():
    algorithm = {"name": "full-domain", "suppression": 0.25}
    rows = pa.table({"age": [20, 20, 20, 20, 30, 30, 30, 40], "x": ["a"] * 8})
    columns = {"age": "quasi", "x": "other"}
    release = shoal.anonymize(rows, asked(columns=columns, algorithm=algorithm))
    assert release.suppressed == 1
    out = " ".join(printed(show_release, release).split())
    assert "suppressed (12.5 % of 25 % allowed) 1 record" in out
    assert "suppressed (" not in printed(show_release, shoal.anonymize(table(), asked()))


def test_the_bound_is_shown_where_it_was_found_anyway(run, tmp_path):
    told = []
    release = shoal.anonymize(table(), asked())
    words = "lower bound on the loss for k-anonymity (k = 3)"
    assert words not in printed(show_release, release)
    assert not release.bound_known
    release.as_dict(lambda stage, share: told.append(stage))
    assert "bounding" in told
    assert release.bound.percent is not None
    out = " ".join(printed(show_release, release).split())
    assert f"{words} {percent(release.bound.percent)}" in out
    pa_csv.write_csv(table(), tmp_path / "t.csv")
    asked().save(tmp_path / "plan.toml")
    call = ["anonymize", "t.csv", "--plan", "plan.toml", "--out", "r.csv"]
    assert words not in run(*call)[1]
    assert words in run(*call, "--report", "r.html")[1]
    assert words in run(*call, "--json", "r.json")[1]


def test_attacks_say_whether_they_count_people_or_records():
    found = {
        "homogeneity": {"disease": {"classes": 1, "records": 12, "percent": 3.0}},
        "dependency": {"k": 5, "people_below": 7, "percent": 1.0, "fewest_left": 2},
    }
    counts = list(attack_table.attack_findings(found).columns[2].cells)
    assert counts == ["12 records", "7 people"]
