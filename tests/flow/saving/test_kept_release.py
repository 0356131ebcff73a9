"""A kept release gives the same files as the release itself, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, Database, Plan
from shoal.flow.saving.kept_release import PEOPLE, PLAN, RECORDS, keep, load_kept
from shoal.io.written.settings import Writing

ENDINGS = [".csv", ".tsv.gz", ".jsonl", ".parquet", ".feather", ".xlsx", ".sav", ".dta", ".xpt"]
MODELS = [{"name": "k-anonymity", "k": 5}]


def table(path: Path) -> Path:
    rows = [f"{20 + 7 * i % 60};{'fm'[i % 2]};{i // 3};{'flu' if i % 3 else 'gout'}"
            for i in range(240)]  # fmt: skip
    path.write_text("\n".join(["age;sex;who;disease", *rows]) + "\n", encoding="utf-8")
    return path


def plan(**other: object) -> Plan:
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20, 40]}},
        "sex": "quasi",
        "who": "drop",
        "disease": "sensitive",
    }
    return Plan(**{"columns": columns, "models": MODELS, "seed": 7, **other})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[shoal.Release, Path]:
    folder = tmp_path_factory.mktemp("kept")
    release = shoal.anonymize(table(folder.parent / "people.csv"), plan())
    keep(release, folder)
    return release, folder


@pytest.fixture
def copied(made, tmp_path: Path) -> Path:
    """A copy of the folder, which may be changed."""
    return Path(shutil.copytree(made[1], tmp_path / "copied"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_have_the_same_bytes(made, tmp_path: Path, ending: str) -> None:
    release, folder = made
    one, other = tmp_path / f"one{ending}", tmp_path / f"other{ending}"
    release.save(one)
    assert load_kept(folder).save(other) == release.written.sha256
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("ranges", ["bounds", "midpoint"])
def test_it_can_be_written_in_another_way(made, tmp_path: Path, ranges: str) -> None:
    _, folder = made
    asked = plan(write={"ranges": ranges, "formulas": "escape"})
    shoal.anonymize(folder.parent / "people.csv", asked).save(tmp_path / "one.csv")
    load_kept(folder).written_as(Writing(ranges=ranges, formulas="escape")).save(
        tmp_path / "other.csv"
    )
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


@pytest.mark.parametrize("ending", [".html", ".csv", ".json"])
def test_codebooks_are_the_same(made, tmp_path: Path, ending: str) -> None:
    release, folder = made
    one, other = tmp_path / f"one{ending}", tmp_path / f"other{ending}"
    release.codebook(one)
    load_kept(folder).codebook(other)
    assert one.read_bytes() == other.read_bytes()


def test_a_table_of_a_database(made, tmp_path: Path) -> None:
    release, folder = made
    target = Database(tmp_path / "open.db", "release")
    load_kept(folder).save(target)
    assert target.read().num_rows == release.published
    with pytest.raises(BadFile, match="release"):
        load_kept(folder).save(target)
    load_kept(folder).save(target, replace=True)


def test_labels_and_types_are_kept(tmp_path: Path) -> None:
    pytest.importorskip("pyreadstat")
    release = shoal.anonymize(
        pa.table({"age": [31, 38, 52, 57] * 3, "paid": [1.5, 2.5, None, 4.5] * 3}),
        Plan(columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "paid": "other"},
             models=[{"name": "k-anonymity", "k": 2}], accept=["paid"], seed=1),
    )  # fmt: skip
    keep(release, tmp_path)
    assert load_kept(tmp_path).frame.equals(release.frame)


def test_people_that_are_not_published_are_counted_still(tmp_path: Path) -> None:
    """With two records each, six records are three people: too few for k = 4."""
    columns = {"who": {"role": "person", "publish": False},
               "age": {"role": "quasi", "hierarchy": {"ranges": [10]}}}  # fmt: skip
    people = pa.table({"who": [i // 2 for i in range(24)], "age": [31 + i % 3 for i in range(24)]})
    release = shoal.anonymize(
        people, Plan(columns=columns, models=[{"name": "k-anonymity", "k": 4}])
    )
    assert release.person_of_record is not None
    keep(release, tmp_path)
    kept = load_kept(tmp_path)
    again = np.asarray(kept.person_of_record)
    assert len(np.unique(again)) == 12
    pairs = set(zip(release.person_of_record.tolist(), again.tolist(), strict=True))
    assert len(pairs) == 12  # the same people, under other numbers
    assert list(dict.fromkeys(again.tolist())) == list(range(12))  # in the order of the release
    kept.save(tmp_path / "release.csv")


def test_models_about_the_original_are_not_asked_again(tmp_path: Path) -> None:
    asked = plan(models=[{"name": "k-k-anonymity", "k": 3}], algorithm={"name": "concealment"})
    release = shoal.anonymize(table(tmp_path / "people.csv"), asked)
    release.save(tmp_path / "one.csv")
    keep(release, tmp_path)
    load_kept(tmp_path).save(tmp_path / "other.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def test_it_has_neither_a_seed_nor_what_is_not_published(made) -> None:
    _, folder = made
    assert Plan.load(folder / PLAN).seed is None
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600
    assert load_kept(folder).frame.column_names == ["age", "sex", "disease"]


@pytest.mark.parametrize("name", [RECORDS, PLAN])
def test_one_that_was_changed_is_refused(copied: Path, name: str) -> None:
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content + b"\n")
    with pytest.raises(BadFile, match="anonymize the table again"):
        load_kept(copied)


def test_one_that_is_not_complete_is_refused(copied: Path) -> None:
    (copied / "kept.json").unlink()
    with pytest.raises(BadFile, match="not kept"):
        load_kept(copied)
    assert not (copied / PEOPLE).exists()
