"""Models about the whole table go through every verb."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import CannotReach
from shoal.cli.audit_tables import show_audit
from shoal.cli.release_tables import show_release
from tests.cli.test_console import printed

RISK = {"name": "average-risk", "r": 0.2}
SHARE = {"name": "share-at-risk", "share": 0.1, "threshold": 0.34}
COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
    "sex": "quasi",
    "disease": "sensitive",
}


def people(rows=90, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["f", "m"], rows),
            "disease": rng.choice(["flu", "cold", "gout"], rows),
        }
    )


def plan(*models, **options):
    return Plan(columns=COLUMNS, models=list(models), **{"seed": 3, **options})


@pytest.mark.parametrize("algorithm", ["gaa", "mondrian", "full-domain", "auto"])
def test_a_release_satisfies_them_and_says_so(algorithm, tmp_path):
    asked = plan({"name": "k-anonymity", "k": 2}, RISK, SHARE, algorithm=algorithm)
    release = shoal.anonymize(people(), asked)
    assert [check.holds for check in release.checks] == [True] * 3
    numbers = release.as_dict()
    # ARX: the average risk over records is the number of classes by the number of records.
    assert release.checks[1].reached == pytest.approx(numbers["classes"] / numbers["published"])
    assert release.checks[1].reached == pytest.approx(numbers["risks"]["average"])
    assert numbers["bound"]["does_not_cover"] == ["average-risk", "share-at-risk"]
    assert numbers["bound"]["k"] == 2
    release.report(tmp_path / "report.html", explain=True)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "is right in at most 20\xa0% of all cases on average" in page
    found = shoal.audit(release.frame, asked)
    assert found.levels["average-risk"] == pytest.approx(release.checks[1].reached)
    assert found.levels["share-at-risk"] <= 0.1


def test_without_models_about_classes_there_is_no_bound():
    release = shoal.anonymize(people(), plan(RISK, algorithm="gaa"))
    assert release.checks[0].holds
    assert release.bound is None
    reasons = release.explain(0)
    assert reasons.models[0].reached == pytest.approx(release.checks[0].reached)


def test_json_and_screen_show_the_direction_and_all_options():
    release = shoal.anonymize(people(), plan({"name": "k-anonymity", "k": 2}, RISK, SHARE))
    small, risk, share = release.as_dict()["checks"]
    assert (small["direction"], risk["direction"], share["direction"]) == (
        "at least",
        "at most",
        "at most",
    )
    assert share["options"] == {"share": 0.1, "threshold": 0.34}
    words = printed(show_release, release)
    assert "share-at-risk (threshold = 0.34)" in words
    assert "at most 0.1" in words
    assert "at least 2" in words
    audit = printed(show_audit, shoal.audit(release.frame, release.plan))
    assert "share-at-risk (threshold = 0.34)" in audit
    assert "at most 0.1" in audit


@pytest.mark.parametrize("k", [(), ({"name": "k-anonymity", "k": 2},)])
def test_the_report_shows_their_levels_and_that_no_k_is_required(k, tmp_path):
    path = tmp_path / "report.html"
    shoal.anonymize(people(), plan(*k, RISK, SHARE)).report(path)
    page = path.read_text(encoding="utf-8")
    assert ("the re-identification risk is at most" in page) == bool(k)
    assert ("No k-anonymity is required" in page) == (not k)
    assert "average re-identification risk" in page
    assert "of the people have a risk above 34\xa0%" in page


def test_a_recoding_is_applied_to_other_people():
    release = shoal.anonymize(people(), plan({"name": "k-anonymity", "k": 2}, RISK, SHARE))
    applied = release.recoding.apply(people(60, seed=1))
    assert all(check.holds for check in applied.checks)


def test_what_cannot_be_reached_names_the_best_level():
    with pytest.raises(CannotReach, match=r"ask for 0\.1, or for another model") as error:
        shoal.anonymize(people(10), plan({"name": "average-risk", "r": 0.05}, algorithm="gaa"))
    assert error.value.best == pytest.approx(0.1)


def test_people_are_counted_where_there_is_a_person_column():
    table = people(60).append_column("who", pa.array([i // 3 for i in range(60)]))
    asked = Plan(columns={**COLUMNS, "who": "person"}, models=[RISK], algorithm="gaa", seed=1)
    release = shoal.anonymize(table, asked)
    risks = release.as_dict()["risks"]
    assert release.checks[0].reached == pytest.approx(risks["average_over_people"])
    assert release.checks[0].holds


def test_compare_runs_them():
    asked = plan({"name": "k-anonymity", "k": 2}, RISK)
    found = shoal.compare(people(60), asked, k=[2, 3], algorithms=["gaa"], apart=False)
    assert all(line.found is not None for line in found.lines)
