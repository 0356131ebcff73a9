"""Pages of rows, compared with the release that they were kept of; and what explains them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import Hierarchy
from shoal.base.errors import ShoalError
from shoal.flow.release import Release
from shoal.hierarchies.values import text
from shoal.studio.tasks.look._files import BEFORE, SUMMARY, read_summary
from shoal.studio.tasks.look._kept import WORST, keep_look
from shoal.studio.tasks.look._reasons import Reasons
from shoal.studio.tasks.look._view import PAGE, Asked, LookView

ROWS = 130
FULL = {"name": "full-domain", "suppression": 0.4}


def original(seed: int) -> pa.Table:
    random = Random(seed)
    people = [random.randrange(60) for _ in range(ROWS)]
    ages = {one: random.randrange(20, 50) for one in people}
    return pa.table(
        {
            "name": [f"Ann {i}" for i in range(ROWS)],
            "who": [f"p{one}" for one in people],
            "age": [ages[one] for one in people],
            "town": random.choices(["a", "b", "c", None], [5, 3, 2, 1], k=ROWS),
            "note": [None if i % 9 == 0 else i / 2 for i in range(ROWS)],
            "ill": random.choices(["flu", "gout", None], [6, 3, 1], k=ROWS),
        }
    )


def planned(seed: int, person: bool, **changed: Any) -> dict[str, Any]:
    return {
        "columns": {
            "name": {"role": "identifier"},
            "who": {"role": "person"} if person else {"role": "drop"},
            "age": {"role": "quasi", "hierarchy": Hierarchy.ranges([5, 10])},
            "town": {"role": "quasi"},
            "note": {"role": "other"},
            "ill": {"role": "sensitive"},
        },
        "models": [{"name": "k-anonymity", "k": 4}],
        "seed": seed,
        **changed,
    }


def made(seed: int = 1, person: bool = False, **changed: Any) -> Release:
    return shoal.anonymize(original(seed), planned(seed, person, **changed))


def free() -> Release:
    release = made(3)
    columns = dict(release.plan.columns)
    columns["age"] = {"role": "quasi", "hierarchy": Hierarchy.free_ranges()}
    columns["town"] = {"role": "quasi", "hierarchy": Hierarchy.free_sets()}
    return made(3, columns=columns)


CASES = {
    "usual": made,
    "suppressed": lambda: made(2, algorithm=FULL),
    "people": lambda: made(3, person=True, models=[{"name": "k-anonymity", "k": 3}]),
    "concealed": lambda: made(4, models=[{"name": "k-concealment", "k": 3}],
                              algorithm={"name": "concealment"}),
    "attackers": lambda: made(5, attackers=[{"knows": ["age"], "who": "boss"},
                                            {"knows": ["town", "age"], "who": "neighbour"}]),
    "free": free,
    "two models": lambda: made(6, models=[{"name": "k-anonymity", "k": 3},
                                          {"name": "distinct-l-diversity", "l": 2,
                                           "column": "ill"}]),
    "bounds": lambda: made(7, write={"ranges": "bounds"}),
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def kept(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Release, Path]:
    release = CASES[request.param]()
    folder = tmp_path_factory.mktemp("look") / "look"
    keep_look(release, folder)
    return release, folder


def originals(release: Release) -> list[dict[str, Any]]:
    assert release.tables is not None
    assert release.tables.before is not None
    found: list[dict[str, Any]] = release.tables.before.native.to_pylist()
    return found


def became(release: Release) -> dict[int, dict[str, Any]]:
    """What was published of each row of the original."""
    assert release.tables is not None
    assert release.tables.taken is not None
    return dict(zip(release.tables.taken.tolist(), release.frame.to_pylist(), strict=True))


def written(value: Any) -> str | None:
    return None if value is None else text(value)


def test_pages_have_all_rows_of_both_tables(kept: tuple[Release, Path]) -> None:
    release, folder = kept
    view = LookView(folder)
    names = [one["name"] for one in view.columns]
    published = [one["name"] for one in view.columns if one["published"]]
    assert "name" not in published
    assert set(published) == set(release.frame.column_names)
    after, numbers = became(release), []
    for page in range(1, 4):
        found = view.page(Asked(page=page))
        assert (found.found, found.pages, found.page) == (ROWS, 3, page)
        assert len(found.rows) <= PAGE
        for row in found.rows:
            numbers.append(row.number)
            before = originals(release)[row.number - 1]
            assert row.before == tuple(written(before[name]) for name in names)
            now = after.get(row.number - 1)
            assert row.after == (() if now is None else tuple(written(now[n]) for n in published))
            assert (row.loss == 100) or now is not None
            for one, lost in zip(view.columns, row.lost, strict=True):
                assert (lost is None) == (one["quasi"] is None)
                if lost is not None and now is not None:
                    assert (lost == 0) == (
                        written(before[one["name"]]) == written(now[one["name"]])
                    )
    assert numbers == list(range(1, ROWS + 1))


def test_rows_of_a_class_are_those_with_its_published_values(kept: tuple[Release, Path]) -> None:
    release, folder = kept
    view, after = LookView(folder), became(release)
    if release.after.linked:
        assert view.summary["attackers"] == []
        assert view.page(Asked(class_=1)).found == 0
        return
    for i, attacker in enumerate(view.summary["attackers"]):
        knows = release.plan.attackers[i].knows if release.plan.attackers else ["age", "town"]
        sizes = []
        for class_ in range(1, attacker["classes"] + 1):
            found = view.page(Asked(class_=class_, attacker=i, only="generalized"))
            every = view.page(Asked(class_=class_, attacker=i))
            seen = {tuple(after[row.number - 1][name] for name in knows) for row in every.rows}
            assert len(seen) == 1
            same = [r for r in after.values() if tuple(r[name] for name in knows) in seen]
            assert every.found == len(same) >= found.found
            sizes.append(every.found)
        assert sum(sizes) == release.published
        worst = attacker["worst"][0]
        assert view.page(Asked(class_=worst["number"], attacker=i)).found == worst["records"]


def test_filters_and_orders(kept: tuple[Release, Path]) -> None:
    release, folder = kept
    view, after = LookView(folder), became(release)
    assert view.page(Asked(only="suppressed")).found == release.suppressed
    parts = [view.page(Asked(only=one)).found for one in ("suppressed", "generalized", "unchanged")]
    assert sum(parts) == ROWS
    for name in ("age", "town", "note", "ill"):
        value = written(next(one[name] for one in after.values() if one[name] is not None))
        assert value is not None
        expected = sum(written(one[name]) == value for one in after.values())
        found = view.page(Asked(column=name, value=value))
        assert found.found == expected > 0
        assert value in found.values
    losses = [
        row.loss for page in (1, 2, 3) for row in view.page(Asked(page=page, order="most")).rows
    ]
    assert losses == sorted(losses, reverse=True)
    assert view.page(Asked(order="least")).rows[0].loss == losses[-1]
    by_class = view.page(Asked(order="class")).rows
    if not release.after.linked:
        assert [row.class_ for row in by_class] == sorted(row.class_ or 10**9 for row in by_class)


def test_a_row_is_found_on_its_page(kept: tuple[Release, Path]) -> None:
    _, folder = kept
    view = LookView(folder)
    found = view.page(Asked(row=77, order="most"))
    assert 77 in [row.number for row in found.rows]
    assert view.page(Asked(row=77)).page == 2
    assert view.page(Asked(page=99)).page == 3
    with pytest.raises(ShoalError, match="there is no row 131"):
        view.row(131)


def test_reasons_are_the_same_from_files(kept: tuple[Release, Path]) -> None:
    """A process that was started later explains rows as the one that made the release."""
    release, folder = kept
    now, later = Reasons.of_release(release), Reasons.of_files(folder)
    assert now is not None
    assert later is not None
    after = became(release)
    rows = [0, 1, 2, *[row for row in range(ROWS) if row not in after][:1]]
    for row in rows:
        expected = release.explain(row)
        assert now.explainer.row(row) == replace(expected, attacker=None)
        assert later.explainer.row(row) == now.explainer.row(row)
        if row in after and not release.after.linked:
            views = [one.asked(row, None, False) for one in now.sources]
            assert [one.asked(row, None, False) for one in later.sources] == views
            assert expected.attacker in views
            assert len(views) == max(len(release.plan.attackers), 1)


def test_the_summary_says_what_becomes_of_columns(kept: tuple[Release, Path]) -> None:
    release, folder = kept
    found = read_summary(folder)
    assert found is not None
    assert found["losses"] == release.quality.columns
    written_as = {one["name"]: one["written"] for one in found["columns"]}
    bounds = release.plan.write.ranges == "bounds"
    assert written_as["age"] == (["age_low", "age_high"] if bounds else [])
    assert written_as["town"] == []


def test_files_that_are_gone(tmp_path: Path) -> None:
    keep_look(made(), tmp_path / "look")
    assert {one.stat().st_mode & 0o777 for one in (tmp_path / "look").iterdir()} == {0o600}
    (tmp_path / "look" / BEFORE).write_bytes(b"half")
    with pytest.raises(ShoalError, match="run its plan again"):
        LookView(tmp_path / "look")
    (tmp_path / "look" / SUMMARY).unlink()
    with pytest.raises(ShoalError, match="not kept any more"):
        LookView(tmp_path / "look")
    assert read_summary(tmp_path / "look") is None


@pytest.mark.parametrize("person", [False, True])
def test_a_table_larger_than_memory_has_no_rows(tmp_path: Path, person: bool) -> None:
    """What was lost as a whole is the same as that of the same table in memory."""
    pytest.importorskip("duckdb")
    frame, plan = original(1), planned(1, person, algorithm={"name": "gaa"})
    path = tmp_path / "people.parquet"
    pq.write_table(frame, path)
    found = {}
    for engine in ("memory", "duckdb"):
        keep_look(shoal.anonymize(path, {**plan, "engine": engine}), tmp_path / engine)
        found[engine] = read_summary(tmp_path / engine)
    large, small = found["duckdb"], found["memory"]
    assert large is not None
    assert small is not None
    assert (large["has_rows"], small["has_rows"]) == (False, True)
    for key in ("rows", "losses", "columns"):
        assert large[key] == small[key], key
    (mine,), (other,) = large["attackers"], small["attackers"]
    assert mine["classes"] == other["classes"] <= WORST
    both = [sorted(one["worst"], key=lambda one: one["number"]) for one in (mine, other)]
    for one, same in zip(*both, strict=True):
        assert one["loss"] == pytest.approx(same["loss"], abs=1e-4)
        assert all(one[key] == same[key] for key in ("number", "published", "records", "people"))
    for one, other in zip(large["distributions"], small["distributions"], strict=True):
        assert one["labels"] == other["labels"]
        for key in ("before", "exact", "general", "hidden"):
            assert one[key] == pytest.approx(other[key])
    with pytest.raises(ShoalError, match="run its plan again"):
        LookView(tmp_path / "duckdb")
