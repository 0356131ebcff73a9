"""The whole way through the studio by its forms, as a browser without scripts would go it."""

from __future__ import annotations

import re
from pathlib import Path

import shoal
from shoal import Plan
from tests.studio.served import Served


def version(served: Served, project: str, step: str) -> str:
    found = re.search(r'name="version" value="([^"]+)"', served.get(f"{project}/{step}").text)
    assert found is not None
    return found[1]


def test_from_a_file_to_a_release_with_the_same_bytes(studio: Served, tmp_path: Path) -> None:
    """The plan that the studio saves gives the same release on the command line."""
    table = tmp_path / "people.csv"
    rows = [f"{20 + i % 50},{'fm'[i % 2]},{1000 + i % 7},{'flu' if i % 3 else 'gout'}"
            for i in range(300)]  # fmt: skip
    table.write_text("\n".join(["age,sex,zip,disease", *rows]) + "\n", encoding="utf-8")
    project = studio.opened(f"data={table}")
    now = version(studio, project, "requirements")
    answer = studio.ask("POST", f"{project}/requirements/models/0", f"version={now}&k=7")
    assert answer.status == 303
    assert 'name="k" value="7"' in studio.get(f"{project}/requirements").text
    preview = studio.get(f"{project}/preview").text
    assert 'role="alert"' not in preview
    assert studio.ask("POST", f"{project}/run/start", "").status == 303
    page = studio.until(f"{project}/run", "report.html|role=.alert")
    link = re.search(r'href="([^"]+)/report.html"', page.text)
    assert link is not None, page.text
    plan = tmp_path / "plan.toml"
    plan.write_bytes(studio.get(f"{link[1]}/plan.toml").content)
    assert Plan.load(plan).models[0].options()["k"] == 7
    release = studio.get(f"{link[1]}/release.csv").content
    again = shoal.anonymize(table, plan)
    again.save(tmp_path / "again.csv")
    assert sorted(release.splitlines()) == sorted(
        (tmp_path / "again.csv").read_bytes().splitlines()
    )
    report = studio.get(f"{link[1]}/report.html")
    assert report.status == 200
    assert "sandbox" in report.headers["content-security-policy"]


def test_a_form_of_another_tab_changes_nothing(studio: Served, project: str) -> None:
    old = version(studio, project, "requirements")
    answer = studio.ask("POST", f"{project}/requirements/models/0", f"version={old}&k=9")
    assert answer.status == 303
    late = studio.ask("POST", f"{project}/requirements/models/0", f"version={old}&k=11")
    assert late.status == 409
    assert "another tab" in late.text
    assert 'name="k" value="9"' in studio.get(f"{project}/requirements").text


def test_a_step_can_be_undone(studio: Served, project: str) -> None:
    before = studio.get(f"{project}/plan.toml").text
    studio.ask("POST", f"{project}/requirements/models/0", "k=13")
    assert studio.get(f"{project}/plan.toml").text != before
    studio.ask("POST", f"{project}/undo", "step=columns")
    assert studio.get(f"{project}/plan.toml").text == before


def test_bad_values_are_refused_where_they_are(studio: Served, project: str) -> None:
    for k in ("1", "x", "-5", "2.5", "nan", ""):
        answer = studio.ask("POST", f"{project}/requirements/models/0", f"k={k}")
        assert answer.status == 409
        assert 'role="alert"' in answer.text
    answer = studio.ask("POST", f"{project}/columns/0/role", "role=king")
    assert answer.status == 409
    assert studio.ask("POST", f"{project}/columns/99/role", "role=quasi").status in (404, 409)


def test_a_file_that_is_not_there(studio: Served) -> None:
    answer = studio.ask("POST", "/open", "data=no-such-file.csv")
    assert answer.status == 422
    assert "no-such-file.csv" in answer.text
