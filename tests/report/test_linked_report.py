"""The report of a release without classes: rows that could be a person's."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from html import unescape
from io import StringIO
from types import SimpleNamespace
from typing import ClassVar

import pyarrow as pa
import pytest
from rich.console import Console

import shoal
from shoal.attacks import LinkageAttack
from shoal.cli.release_tables import show_release
from shoal.measures import exposure
from shoal.report.guarantees import two_attackers
from shoal.report.page import render
from shoal.report.release_report import facts, page
from tests.algorithms.test_concealment import people, plan

MATCHING = {
    "largest_probability": 0.6,
    "mean_largest_probability": 0.31,
    "error": 0.02,
    "samples": 60,
    "percent": 40.0,
}


def without(release):
    """The release as it is where rows were not weighed."""
    left = {name: found for name, found in release.attacks.items() if name != "matching"}
    return replace(release, after=replace(release.after, attacks=left))


def weighed(release, **found):
    """The release as it is where the attack `matching` found this."""
    matching = MATCHING | found
    counted = without(release).after
    after = replace(
        counted,
        attacks=counted.attacks | {"matching": matching},
        risks=exposure._weighed(
            replace(counted.risks, prosecutor=0.2, average=0.1, marketer=0.1), matching
        ),
    )
    return replace(release, after=after)


@pytest.fixture(scope="module")
def release():
    models = (
        {"name": "k-concealment", "k": 5},
        {"name": "p-sensitivity", "column": "disease", "p": 2},
    )
    return shoal.anonymize(people(200), plan(*models))


def words(release):
    html = render(page(facts(release)))
    body = html.partition("<body>")[2]
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", body).replace("\xa0", " ").split()))


def test_it_speaks_of_rows_and_not_of_classes(release):
    told = words(without(release))
    assert "records need not form classes" in told
    assert not re.search(
        r"class [ABC]\b|a class|each class|every class|its class|244 classes", told
    )
    for piece in (
        "Both requirements are satisfied.",
        "which need not form classes. It was measured together with its original.",
        "a complete assignment of people to records",
        "published table and its original together",
        "At least 5 published records could be each person's",
        "Among the records that could be a person's there are at least 2",
        "Possible records per person",
        "a second run gives other values",
        "possible records of a person need not be equally likely",
        "knows the quasi-identifiers of all people",
        "It succeeds where fewer records remain",
        "fewest records that remain for a person",
    ):
        assert piece in told, piece
    assert "Sensitive values" not in told


def test_without_weights_no_risk_is_reported(release):
    bare = without(release)
    told = words(bare)
    assert " at most" not in told.partition("Requirements")[0]
    assert "need not be equally likely" in told
    assert "highest re-identification risk" not in told
    chances = bare.as_dict()["risks"]
    assert chances["prosecutor"] is chances["average"] is chances["marketer"] is None
    assert chances["unique"] == 0


def test_the_likeliest_record_is_the_risk(release):
    known = weighed(release)
    worst = min(1.0, MATCHING["largest_probability"] + 3 * MATCHING["error"])
    assert known.risks.prosecutor == known.as_dict()["risks"]["prosecutor"] == worst
    assert known.risks.average == known.risks.marketer == 0.31
    told = words(known)
    assert "re-identification risk of the most exposed person is about 66 %" in told
    assert "31 % on average" in told
    assert "60 % at most" not in told
    assert "(sampled)" in told
    assert "sampled" not in words(weighed(release, samples=0)).partition("Annex")[0]
    assert "probability of the best guess, for the most exposed person" in told
    assert re.search(r"a probability of 6[06] %", told.rpartition("What is not guaranteed")[2])


def test_a_single_row_is_found_for_sure(release):
    bare = without(release)
    one = replace(bare, after=replace(bare.after, smallest_class=1))
    assert one.as_dict()["risks"]["prosecutor"] == one.risks.prosecutor
    assert one.as_dict()["risks"]["average"] is None
    told = words(one)
    assert "For at least one person only one record is possible: the risk is 100 %" in told
    assert "None" not in told


def test_a_sample_never_lowers_the_risk(release):
    low = weighed(release, largest_probability=0.0, mean_largest_probability=None, error=0.0)
    assert (low.risks.prosecutor, low.risks.average, low.risks.marketer) == (0.2, 0.1, 0.1)


def test_the_risk_is_what_the_attack_finds(monkeypatch):
    class Matching(LinkageAttack):
        """Finds always the same."""

        name: ClassVar[str] = "matching"

        def run_on(self, linkage, progress=None):
            return dict(MATCHING)

    attacks = {"linkage": exposure.catalog.attacks["linkage"], "matching": Matching}
    monkeypatch.setattr(exposure, "catalog", SimpleNamespace(attacks=attacks))
    release = shoal.anonymize(people(40), plan())
    assert release.after.weighed
    assert release.before.linked is False
    assert "matching" not in release.before.attacks
    assert release.risks.prosecutor == pytest.approx(0.6 + 3 * MATCHING["error"])
    assert release.risks.average == 0.31


def test_no_original_value_appears_that_is_not_published():
    table = people(80)
    towns = [f"zqx{i % 40:02d}kv" for i in range(80)]
    table = table.append_column("town", pa.array(towns))
    asked = plan(columns={**plan().columns, "town": "quasi"})
    release = shoal.anonymize(table, asked)
    html = render(page(facts(release)))
    left = set(towns) - set(release.frame["town"].to_pylist())
    assert left
    assert not [town for town in left if town in html]


def test_the_candidates_count_everybody_once(release):
    known = facts(release)
    assert sum(size.classes for size in known.sizes) == 200
    assert known.sizes[0].fewest == known.smallest == release.smallest_class
    counts = dict(release.after.candidates)
    assert sum(counts.values()) == 200
    assert min(counts) == release.smallest_class


def test_a_fixed_random_seed_is_reported():
    seeded = words(shoal.anonymize(people(60), plan(seed=3)))
    assert "attacker who knows the seed and the quasi-identifiers of all people" in seeded
    assert "repeat its random choices" in seeded
    fixed = plan(algorithm={"name": "concealment", "randomized": False})
    told = words(shoal.anonymize(people(60), fixed))
    assert "made without random choices" in told
    assert "a second run gives the same records in another order" in told
    assert "No requirement protects the sensitive values of disease" in told


def test_what_is_signed(release, tmp_path):
    known = facts(release)
    release.plan.save(tmp_path / "plan.toml")
    saved = (tmp_path / "plan.toml").read_bytes()
    assert known.plan_sha256 == hashlib.sha256(saved).hexdigest()
    html = render(page(known))
    assert known.plan_sha256 in html
    assert known.sha256 in html
    assert '<dl class="form">' in html
    told = words(release)
    for piece in ("Signature", "Name", "Place and date", "200 records, 200 people"):
        assert piece in told
    assert told.index("The attacks in detail") > told.index("Place and date")


@pytest.mark.parametrize(
    ("model", "algorithm"), [("k-belief", "freeform"), ("k-concealment", "concealment")]
)
def test_a_belief_is_said_to_be_about_another_attacker(model, algorithm):
    """k-belief is satisfied next to a higher risk: report and screen say whose risk that is."""
    one = weighed(shoal.anonymize(people(60), plan({"name": model, "k": 3}, algorithm=algorithm)))
    screen = Console(file=StringIO(), width=500)
    show_release(screen, one)
    expected = two_attackers(["k-belief"])
    assert (expected in words(one)) == (model == "k-belief")
    assert (expected in screen.file.getvalue()) == (model == "k-belief")


def test_only_models_about_a_draw_are_named():
    assert two_attackers(["k-anonymity", "matching-belief"]) == ""
    assert two_attackers(["k-belief", "max-belief"]).startswith("k-belief and max-belief limits")
