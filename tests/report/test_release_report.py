from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, Plan, catalog
from shoal.attacks import Attack
from shoal.base.errors import BadFile, NotHeld
from shoal.catalog import attacks
from shoal.cli.demo import edited
from shoal.datasets import hospital
from shoal.io.frames import open_frame
from shoal.measures.exposure import NOT_PUBLISHED
from shoal.report.front.refused import why
from shoal.report.page import render
from shoal.report.plan_facts import plan_file
from shoal.report.release_report import facts, page, write_report
from shoal.table.published_table import read_published
from tests.strategies import examples

HOSTILE = "</text></svg><script>alert(1)</script>"
FORBIDDEN = {"script", "link", "img", "iframe", "object", "embed", "base", "form", "use", "image"}
TREE = {"*": {"north": ["Aalborg", "Bergen"], "south": ["Cadiz", "Delphi"]}}


class Seen(HTMLParser):
    """The tags of a page, its attributes, and its words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def people(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"Identifier{i:04d}" for i in range(n)],
            "patient": [f"Patient{i // 2:04d}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "city": rng.choice(["Aalborg", "Bergen", "Cadiz", "Delphi"], n),
            "disease": rng.choice(["flu", "cold", "gout"], n),
            "income": rng.choice(["low", "middle", "high"], n),
            "note": ["as it is"] * n,
        }
    )


def plan(**roles):
    columns = {
        "name": "identifier",
        "patient": "identifier",
        "age": {"role": "quasi", "hierarchy": {"ranges": [10, 20]}},
        "city": {"role": "quasi", "hierarchy": Hierarchy.from_tree(TREE)},
        "disease": "sensitive",
        "income": "other",
        "note": "other",
    }
    return Plan(columns={**columns, **roles}, models=[{"name": "k-anonymity", "k": 4}], seed=7)


def html_of(release):
    return render(page(facts(release)))


def check_safe(html):
    seen = Seen(html)
    assert not seen.tags & FORBIDDEN
    for name, value in seen.attributes:
        assert not name.startswith("on")
        if name in {"href", "src", "xlink:href"}:
            assert re.fullmatch(r"#part-\d+", value or "")
    assert "http" not in html
    assert "url(" not in html
    assert "@import" not in html
    return seen


def test_all_that_an_officer_looks_for_is_there():
    release = shoal.anonymize(people(), plan())
    seen = check_safe(html_of(release))
    for piece in (
        "The requirement is satisfied",
        "at least 4",
        "looks the same as at least 3 other people",
        "satisfied",
        "No requirement protects the sensitive values of disease",
        "linkage",
        attacks["linkage"]().about(),
        "homogeneity, on disease",
        "no attacker knows them",
        "seed: 7",
        f"shoal {release.version}",
        "whole table",
        "class A",
        "60 records",
    ):
        assert piece in seen.text, piece
    assert {"svg", "table", "pre"} <= seen.tags
    assert seen.text.count("violated") == 0


def test_two_pages_to_sign_then_the_annex_with_its_contents():
    html = html_of(shoal.anonymize(people(), plan()))
    titles = re.findall(r"<h[12][^>]*>(?:<span[^>]*>\d+</span> )?(.*?)</h", html)
    assert titles[:2] == ["Release of 60 records", "What is published"]
    assert titles[2:5] == ["What is not guaranteed", "Sign-off", "Annex"]
    listed = re.findall(r'<li><a href="#part-(\d+)">(.*?)</a></li>', html)
    assert [title for _, title in listed] == titles[5:]
    assert [place for place, _ in listed] == re.findall(r'<section id="part-(\d+)">', html)
    assert "break-before: page" in html


def test_the_checksum_is_that_of_the_saved_file(tmp_path):
    people().to_pandas().to_csv(tmp_path / "in.csv", index=False, sep=";")
    for table in (people(), people().to_pandas(), pl.from_arrow(people()), tmp_path / "in.csv"):
        release = shoal.anonymize(table, plan())
        release.save(tmp_path / "out.csv")
        wanted = hashlib.sha256((tmp_path / "out.csv").read_bytes()).hexdigest()
        assert facts(release).sha256 == wanted
        assert wanted in html_of(release)


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.tsv", "out.parquet"])
def test_the_checksum_names_the_file_that_it_belongs_to(name, tmp_path):
    """Whoever compares it runs sha256sum on the file that was written, in whatever format."""
    release = shoal.anonymize(people(), plan())
    release.save(tmp_path / name)
    wanted = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    seen = Seen(html_of(release))
    assert seen.text.count(wanted) == 2  # next to the signature, and in the annex
    assert f"SHA-256 of the file {name}" in seen.text
    assert f"the file that was written, “{name}”" in seen.text
    assert str(tmp_path) not in seen.text
    assert "CSV" not in seen.text


def test_the_checksum_of_the_last_file_is_shown(tmp_path):
    release = shoal.anonymize(people(), plan())
    for name in ("one.csv", "two.parquet"):
        release.save(tmp_path / name)
    assert facts(release).written == "two.parquet"
    release.save(shoal.Database(tmp_path / "a.db", "release"))
    known = facts(release)
    assert known.written is None
    assert known.sha256 == hashlib.sha256((tmp_path / "one.csv").read_bytes()).hexdigest()


def test_without_a_file_the_checksum_is_that_of_a_csv_file():
    seen = Seen(html_of(shoal.anonymize(people(), plan())))
    assert "SHA-256 of the release as a CSV file, as no file was written" in seen.text
    assert "was not written to a file of its own when this report was made" in seen.text


def test_without_a_checksum_it_says_so():
    table = people().append_column("photo", pa.array([b"\xff\xfe"] * 60))
    release = shoal.anonymize(table, plan(photo="other"))
    assert facts(release).sha256 is None
    assert "There is no checksum" in html_of(release)


@pytest.mark.parametrize("kind", [pa.Table.to_pandas, pl.from_arrow, lambda table: table])
def test_every_kind_of_frame_gives_the_same_result(kind):
    known = facts(shoal.anonymize(kind(people()), plan()))
    wanted = facts(shoal.anonymize(people(), plan()))
    assert known.sensitive == wanted.sensitive
    assert known.sizes == wanted.sizes
    assert known.attacks == wanted.attacks


def test_without_sensitive_columns():
    release = shoal.anonymize(people(), plan(disease="other"))
    seen = check_safe(html_of(release))
    assert "Sensitive values" not in seen.text
    assert "sensitive value" not in seen.text.replace("How many sensitive values", "")


def test_with_several_sensitive_columns_and_models():
    asked = plan(income="sensitive").changed(
        models=[
            {"name": "k-anonymity", "k": 3},
            {"name": "distinct-l-diversity", "column": "disease", "l": 2},
            {"name": "t-closeness", "column": "income", "t": 0.6},
        ]
    )
    known = facts(shoal.anonymize(people(), asked))
    assert [one.column for one in known.sensitive] == ["disease", "income"]
    assert known.unprotected == []
    seen = check_safe(render(page(known)))
    assert "All 3 requirements are satisfied" in seen.text
    two = facts(shoal.anonymize(people(), asked.changed(models=asked.models[:2])))
    assert "Both requirements are satisfied" in render(page(two))
    for name in ("distinct-l-diversity, on disease", "t-closeness, on income", "at most 0.6"):
        assert name in seen.text
    for one in known.sensitive:
        assert len(one.worst) == 3
        assert [bool(worst.attacks) for worst in one.worst] == sorted(
            (bool(worst.attacks) for worst in one.worst), reverse=True
        )
        for shares in [one.shares, *(worst.shares for worst in one.worst)]:
            assert sum(shares) == pytest.approx(100)


def test_the_classes_that_are_shown_are_those_of_the_published_frame():
    release = shoal.anonymize(people().to_pandas(), plan())
    frame = release.frame
    overall = frame["disease"].value_counts(normalize=True)
    groups = {key: group["disease"] for key, group in frame.groupby(["age", "city"])}
    shares = {key: group.value_counts(normalize=True) for key, group in groups.items()}
    (column,) = facts(release).sensitive
    gains = {key: (share - overall).max() for key, share in shares.items()}
    hit = {key for key in groups if shares[key].max() >= 0.5 and gains[key] > 0.2 + 1e-9}
    assert column.hit == len(hit) > 0
    far = {
        key: overall.sub(share, fill_value=0).abs().sum() / 2 if key not in hit else gains[key]
        for key, share in shares.items()
    }
    order = sorted(groups, key=lambda key: (key not in hit, -far[key]))
    for worst, wanted in zip(column.worst, order, strict=False):
        key = (worst.published["age"], worst.published["city"])
        assert far[key] == pytest.approx(far[wanted])
        assert bool(worst.attacks) == (key in hit)
        assert worst.rows == worst.people == len(groups[key])
        for value, share in zip(column.values, worst.shares, strict=True):
            assert share == pytest.approx(100 * (groups[key] == value).mean())


def test_with_persons():
    known = facts(shoal.anonymize(people(), plan(patient="person")))
    assert (known.people, known.published, known.has_persons) == (30, 60, True)
    seen = check_safe(render(page(known)))
    assert "all 60 records of the original, which are of 30 people, in" in seen.text
    assert "The records of a person have the same number" in seen.text
    assert "fewer than 4 people with the same class and number" in seen.text
    assert "The number of records per person" not in render(page(replace(known, record_count=None)))


def test_with_one_class():
    asked = plan().changed(models=[{"name": "k-anonymity", "k": 60}])
    seen = check_safe(html_of(shoal.anonymize(people(), asked)))
    assert "there is one class" in seen.text
    assert "contains almost no information" in seen.text
    assert "the same distribution in every class as in the whole table" in seen.text


def test_missing_values_and_notes_are_reported():
    table = people().to_pandas()
    table.loc[:9, "city"] = "?"
    table.loc[:9, "disease"] = None
    table.loc[:4, "patient"] = None
    asked = plan(patient="person").changed(missing_values=["", "?", "Hamlet was here"])
    own = {"disease": asked.columns["disease"].changed(missing_values=["n/a", "Hamlet is here"])}
    asked = asked.changed(columns={**asked.columns, **own})
    release = shoal.anonymize(table, asked)
    html = html_of(release)
    seen = check_safe(html)
    assert "is a value of its own" in seen.text
    assert "“?” means missing too, and is published as written" in seen.text
    assert "“n/a” means missing" in seen.text
    empty = Seen(html_of(shoal.anonymize(table, asked.changed(missing="empty")))).text
    assert "Cells with “?” count as empty" in empty
    assert "Hamlet" not in html
    for note in release.notes:
        assert note in seen.text


def test_the_original_order_and_the_seed_are_warned_of():
    seeded = Seen(html_of(shoal.anonymize(people(), plan()))).text
    assert "Keep this page with the original" in seeded
    asked = plan().changed(seed=None, keep_order=True)
    kept = Seen(html_of(shoal.anonymize(people(), asked))).text
    assert "Keep this page" not in kept
    assert "No random seed was set" in kept
    assert "are in the order of the original" in kept


def test_hostile_names_and_values_are_only_words():
    hostile = [HOSTILE + "a", HOSTILE + "b", "\"'><svg onload=alert(1)>", "{{ 7*7 }} {% raw %}"]
    n = 40
    table = pa.table(
        {
            HOSTILE: [hostile[i % 2] for i in range(n)],
            '" onmouseover="alert(1)': [hostile[i % 4] for i in range(n)],
            "a`b`\n\x00\u202ec" + "d" * 3000: [hostile[i % 4] for i in range(n)],
            "<!--": ["]]>"] * n,
        }
    )
    roles = ["quasi", "quasi", "sensitive", "other"]
    asked = Plan(
        columns=dict(zip(table.column_names, roles, strict=True)),
        models=[
            {"name": "k-anonymity", "k": 5},
            {"name": "t-closeness", "column": table.column_names[2], "t": 0.9},
        ],
    )
    html = html_of(shoal.anonymize(table, asked))
    seen = check_safe(html)
    assert "<script" not in html
    assert "<!--" not in html
    assert "]]>" not in html
    assert "\u202e" not in html.partition("<pre")[0]
    assert "{{ 7*7 }}" in unescape(html)
    assert "</text></svg><script>" in seen.text  # as words
    for drawn in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ElementTree.fromstring(drawn)


WORDS = st.text("qxzjkvw", min_size=9, max_size=12)


@settings(max_examples=examples(10))
@given(
    st.lists(WORDS, min_size=9, max_size=14, unique=True),
    st.integers(2, 4),
    st.sampled_from(["tree", "levels", "parents", "flat"]),
    st.randoms(use_true_random=False),
)
def test_no_value_that_is_not_published_appears(values, k, kind, chance):
    groups = [f"group{i % 3}" for i in range(len(values))]
    hierarchy = {
        "tree": lambda: Hierarchy.from_tree(
            {g: [v for v, of in zip(values, groups, strict=True) if of == g] for g in set(groups)}
        ),
        "levels": lambda: Hierarchy.from_levels(
            [[v, g, "*"] for v, g in zip(values, groups, strict=True)]
        ),
        "parents": lambda: Hierarchy.from_parents(
            {**dict(zip(values, groups, strict=True)), **dict.fromkeys(groups, "*")}
        ),
        "flat": Hierarchy.flat,
    }[kind]()
    n = 24
    quasi = [chance.choice(values) for _ in range(n)]
    other = [chance.choice(values)[::-1] + "y" for _ in range(n)]
    secret = [f"{chance.choice(values)}gg" for _ in range(n)]
    names = [f"{chance.choice(values)}yy{i}" for i in range(n)]
    table = pa.table({"who": names, "p": names, "a": quasi, "b": other, "s": secret})
    weights = dict.fromkeys(hierarchy.tree(sorted({*quasi} - {values[0]})).labels[1:], 1.0)
    weights_b = dict.fromkeys(sorted(set(other)), 1.0)
    asked = Plan(
        columns={
            "who": "identifier",
            "p": "person",
            "a": {"role": "quasi", "hierarchy": hierarchy},
            "b": "quasi",
            "s": "sensitive",
        },
        models=[
            {"name": "k-anonymity", "k": k},
            {
                "name": "t-closeness",
                "column": "s",
                "t": 1.0,
                "distance": "ordered",
                "order": sorted(set(secret)),
            },
        ],
        loss={"name": "weights", "edge_weights": {"a": weights, "b": weights_b}},
        missing_values=["", values[0]],
    )
    release = shoal.anonymize(table, asked)
    html = unescape(html_of(release))
    told = {str(value) for column in release.frame.to_pydict().values() for value in column}
    for value in {*values, *quasi, *other, *names} - told:
        assert not re.search(rf"(?<![qxzjkvwy]){value}(?![qxzjkvwyg])", html), value


class Tomorrow(Attack):
    """An attack with nothing but a name and results."""

    name: ClassVar[str] = "an-attack-of-tomorrow"

    def run(self, published, linkage=None, progress=None, unchanged=None):
        return {"people_found": 3, "sure": True}


def test_an_attack_without_words_of_its_own_is_shown(monkeypatch):
    catalog.attacks.get("linkage")  # the folder is scanned
    monkeypatch.setitem(catalog.attacks._found, Tomorrow.name, Tomorrow)
    html = html_of(shoal.anonymize(people(), plan()))
    for piece in ("an attack of tomorrow", "people found", "yes", "An attack with nothing but"):
        assert piece in html


def test_a_word_found_in_the_original_is_shown_only_if_published():
    release = shoal.anonymize(people(), plan())
    release.before.attacks["skewness"]["disease"]["value"] = "Leprosy"
    release.before.attacks["skewness"]["disease"]["odd"] = ["Leprosy"]
    release.after.attacks["skewness"]["disease"]["odd"] = ["list"]
    html = html_of(release)
    assert "Leprosy" not in html
    assert NOT_PUBLISHED in html


def test_a_release_writes_its_own_report(tmp_path):
    release = shoal.anonymize(people(), plan(), keep_order=True)
    release.report(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html == html_of(release)
    assert f"{release.made:%Y-%m-%d}" in html
    assert "order" in Seen(html).text  # that the rows were not shuffled is a limit of the release


def test_a_value_that_stays_at_home_is_not_in_the_json():
    release = shoal.anonymize(people(), plan())
    seen = read_published(open_frame(release.frame), release.plan.columns)
    other = replace(seen, sensitive=tuple(replace(one, values=["gone"]) for one in seen.sensitive))
    before = release.before.attacks["skewness"]["disease"]
    assert before["value"] in ("flu", "cold", "gout")
    assert release.before.showing(seen).attacks == release.before.attacks
    withheld = release.before.showing(other).attacks["skewness"]["disease"]
    assert withheld == before | {"value": NOT_PUBLISHED}


def test_the_plan_is_one_that_can_be_run_again(tmp_path):
    asked = plan(city="quasi")
    shown = plan_file(asked)
    assert shown.withheld == []
    (tmp_path / "plan.toml").write_text(shown.toml)
    again = Plan.load(tmp_path / "plan.toml")
    assert again.to_toml() == asked.to_toml()
    first, second = (shoal.anonymize(people(), one).frame for one in (asked, again))
    assert first.equals(second)


def test_the_checksum_of_the_plan_is_that_of_its_file(tmp_path, monkeypatch):
    """An officer runs sha256sum on the file that was used, comments and hierarchies included."""
    file = tmp_path / "our plan.toml"
    text = "# Decided by the board\r\n" + plan().to_toml().replace("\n", "\r\n")
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    wanted = hashlib.sha256(file.read_bytes()).hexdigest()
    assert "Aalborg" in text  # what the report does not show counts too
    release = shoal.anonymize(people(), file)
    known = facts(release)
    assert (known.plan_sha256, known.plan_name, known.plan_changed) == (wanted, file.name, [])
    html = html_of(release)
    assert html.count(wanted) == 2  # next to the signature, and where it is explained
    assert "SHA-256 of the file our plan.toml" in Seen(html).text
    assert "set for this run" not in html
    seeded = shoal.anonymize(people(), Plan.load(file).changed(seed=8, threads=1))
    known = facts(seeded)
    assert (known.plan_sha256, known.plan_changed) == (wanted, ["seed", "threads"])
    text = Seen(html_of(seeded)).text
    assert "SHA-256 of the file our plan.toml; set for this run: seed and threads" in text

    # A plan without a file: of what it is saved as, also with level tables in files.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "city.csv").write_text("Aalborg,*\nBergen,*\nCadiz,*\nDelphi,*\n")
    made = shoal.anonymize(people(), plan(city={"role": "quasi", "hierarchy": "city.csv"}))
    made.plan.save("saved.toml")
    wanted = hashlib.sha256((tmp_path / "saved.toml").read_bytes()).hexdigest()
    assert (facts(made).plan_sha256, facts(made).plan_name) == (wanted, None)
    assert "SHA-256 of the file that release.plan.save writes" in Seen(html_of(made)).text.replace(
        "`", ""
    )
    # Where a plan is from is no part of it.
    same = Plan(columns={"age": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    same.save("same.toml")
    assert Plan.load("same.toml") == same


def test_hierarchies_within_the_plan_are_not_listed(tmp_path):
    (tmp_path / "city.csv").write_text("Aalborg,*\nBergen,*\nCadiz,*\nDelphi,*\n")
    asked = plan(income={"role": "quasi", "hierarchy": str(tmp_path / "city.csv")}).changed(
        loss={"name": "weights", "edge_weights": {"city": {"Aalborg": 2.0, "north": 1.0}}}
    )
    shown = plan_file(asked)
    content = tomllib.loads(shown.toml)
    assert content["columns"]["city"]["hierarchy"] == {"tree": "… 4 values, see the plan file"}
    assert content["columns"]["age"]["hierarchy"] == {"ranges": [10, 20]}
    assert content["columns"]["income"]["hierarchy"] == "city.csv"  # not where it lies
    assert content["loss"]["edge_weights"] == "… 2 values, see the plan file"
    assert shown.withheld == ["the hierarchy of city", "edge weights"]
    assert "Aalborg" not in shown.toml
    html = html_of(shoal.anonymize(people(), plan()))
    assert "Not shown, because it may contain original values" in html
    assert "by the plan's own hierarchy of 4 values" in unescape(html)


def test_what_attackers_know_is_shown_as_these_are_names_of_columns():
    attackers = [{"who": "boss", "knows": ["age"]}, {"who": "clerk", "knows": ["age", "city"]}]
    shown = plan_file(plan(city="quasi").changed(attackers=attackers))
    assert tomllib.loads(shown.toml)["attackers"] == attackers
    assert shown.withheld == []
    release = shoal.anonymize(people(), plan().changed(attackers=attackers))
    text = Seen(html_of(release)).text
    assert "it may contain original values: the hierarchy of city. The plan file" in text
    assert "Without what is not shown it cannot be run: use the plan file." in text
    assert "Saved as plan.toml" not in text
    assert "those of the attacker with the highest risk, clerk." in text
    assert "It is that of the attacker clerk; others may find more." in text


def test_each_limit_that_is_exceeded_is_a_point_of_its_own():
    """A way out is in the same point as the limit that it is about."""
    limits = {"highest_risk": 0.1, "average_risk": 0.05, "suppressed": 0.5}
    with pytest.raises(NotHeld) as caught:
        shoal.anonymize(people(), plan().changed(limits=limits))
    found = why(facts(caught.value.refused._outcome))
    assert [one.split(" ")[0] for one in found] == ["highest_risk", "average_risk"]
    assert all("; " in one and one.endswith(".") for one in found)


def test_it_is_written_whole_or_not_at_all(tmp_path):
    release = shoal.anonymize(people(), plan())
    target = tmp_path / "report.html"
    write_report(release, target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(BadFile, match="no directory"):
        write_report(release, tmp_path / "nowhere" / "report.html")


def test_the_demo_has_a_report():
    table = hospital(400)
    html = html_of(shoal.anonymize(table, edited(shoal.draft(table)).with_seed(1)))
    check_safe(html)
    assert len(html) < 200_000
    for name in {*table["name"].to_pylist()} if isinstance(table, pa.Table) else {*table["name"]}:
        assert name not in html


def test_a_wide_table_stays_readable():
    table = pd.DataFrame({f"q{i}": [f"v{j % 2}" for j in range(20)] for i in range(60)})
    asked = Plan(
        columns=dict.fromkeys(table.columns, "quasi"), models=[{"name": "k-anonymity", "k": 2}]
    )
    html = html_of(shoal.anonymize(table, asked))
    assert "30 columns with smaller losses are not drawn" in html
    assert len(html) < 300_000


def test_of_many_sensitive_columns_those_that_attackers_find_most_in_are_shown():
    """A column of which nearly everybody has the same value comes last, and the annex is short."""
    rng = np.random.default_rng(1)
    rows = 400
    age = rng.integers(20, 60, rows)
    pay = np.where(age < 40, age // 4, rng.integers(0, 9, rows))  # half of it follows from the age
    table = {"age": age, "pay": [f"p{one}" for one in pay]}
    for i in range(12):
        table[f"drug{i}"] = np.where(rng.random(rows) < 0.01, "yes", "no")
    roles = {"age": {"role": "quasi", "hierarchy": {"ranges": [4, 8]}}}
    roles |= {name: {"role": "sensitive"} for name in table if name != "age"}
    asked = Plan(columns=roles, models=[{"name": "k-anonymity", "k": 5}], seed=1)
    release = shoal.anonymize(pa.table(table), asked)
    known = facts(release)
    assert known.findings[0].column == "pay"
    drug = next(one for one in known.findings if one.column != "pay")
    assert drug.percent > known.findings[0].percent
    assert "have the most frequent value" in drug.words
    text = Seen(render(page(known))).text
    section = text.split("Sensitive values")[-1]
    assert "Not shown, as attackers find less in them: drug" in section
    shown = set(re.findall(r"homogeneity, on (\w+)", text.split("attacks in detail")[-1]))
    assert "pay" in shown
    assert len(shown) == 8
    assert all(f"drug{i}" in text for i in range(12))


def test_numbers_that_are_coded_are_not_said_to_be_unchanged():
    table = {"age": [20, 21, 40, 44], "gain": [3, 0, 7, 200], "other": list("abcd")}
    roles = {
        "age": {"role": "quasi", "microaggregate": "mean"},
        "gain": {"role": "other", "top": 90, "round": 5},
        "other": "other",
    }
    asked = Plan(
        columns=roles, models=[{"name": "k-anonymity", "k": 2}], seed=1, accept=["gain", "other"]
    )
    known = facts(shoal.anonymize(pa.table(table), asked))
    assert {one.name: one.how for one in known.columns} == {
        "age": "the mean of each class",
        "gain": "numbers rounded to multiples of 5, and at most 90",
        "other": "unchanged",
    }
    text = Seen(render(page(known))).text
    assert "columns gain and other are not generalized, because the plan assumes" in text
