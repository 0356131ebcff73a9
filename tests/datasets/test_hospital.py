from __future__ import annotations

import re
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal import datasets
from shoal.base.errors import BadInput
from shoal.datasets.hospital import BANDS, ILLNESSES, JOBS, NAMES, RISKS, _draw, _leaves
from shoal.datasets.hospital import hospital_hierarchies as hierarchies

SCHEMA = pa.schema(
    {
        "name": pa.string(),
        "patient": pa.string(),
        "birth date": pa.date32(),
        "sex": pa.string(),
        "postcode": pa.string(),
        "job": pa.string(),
        "diagnosis": pa.string(),
        "admission": pa.date32(),
        "length-of-stay": pa.int64(),
        "smoker": pa.string(),
    }
)


@pytest.fixture(scope="module")
def stays() -> pd.DataFrame:
    frame = datasets.hospital(50_000, seed=3).to_pandas(date_as_object=False)
    frame["age"] = (frame["admission"] - frame["birth date"]).dt.days / 365.2425
    frame["year"] = frame["birth date"].dt.year
    return frame


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 10, 997, 1000])
def test_as_many_rows_as_asked_for(rows: int) -> None:
    table = datasets.hospital(rows)
    assert table.num_rows == rows
    assert table.schema.equals(SCHEMA)


def test_rows_may_be_a_number_of_numpy() -> None:
    assert datasets.hospital(np.int64(5)).num_rows == 5


def test_fewer_rows_than_none() -> None:
    with pytest.raises(BadInput, match="got rows=-1"):
        datasets.hospital(-1)


def test_a_seed_gives_one_table() -> None:
    assert datasets.hospital(500, seed=1).equals(datasets.hospital(500, seed=1))
    assert datasets.hospital(500).equals(datasets.hospital(500, seed=0))
    assert not datasets.hospital(500, seed=1).equals(datasets.hospital(500, seed=2))


def test_what_is_missing(stays: pd.DataFrame) -> None:
    missing = stays.isna().mean()
    assert set(missing[missing > 0].index) == {"job", "smoker"}
    assert 0.01 < missing["job"] < 0.1
    assert 0.01 < missing["smoker"] < 0.2
    assert set(stays["smoker"].dropna()) == {"yes", "no"}


def test_people_stay_who_they_are(stays: pd.DataFrame) -> None:
    person = stays.groupby("patient")
    for column in ("name", "birth date", "sex", "job", "smoker"):
        assert person[column].nunique().max() == 1  # a missing value does not count
    moves = person["postcode"].nunique()
    assert 0.001 < (moves > 1).mean() < 0.1
    assert stays["patient"].str.fullmatch(r"P\d{7}").all()


def test_most_people_come_once_and_some_often(stays: pd.DataFrame) -> None:
    visits = stays.groupby("patient").size()
    assert 0.6 < (visits == 1).mean() < 0.9
    assert visits.max() > 6
    often = stays[stays["patient"].isin(visits[visits > 4].index)]["diagnosis"]
    chronic = [name for name, illness in _leaves(ILLNESSES).items() if illness.back >= 0.8]
    assert often.isin(chronic).mean() > 2 * stays["diagnosis"].isin(chronic).mean()


def test_nobody_is_admitted_before_birth_or_before_going_home(stays: pd.DataFrame) -> None:
    assert (stays["age"] >= 0).all()
    assert stays["age"].max() < 112
    assert stays["length-of-stay"].between(0, 365).all()
    ordered = stays.sort_values(["patient", "admission"], kind="stable")
    home = ordered["admission"] + pd.to_timedelta(ordered["length-of-stay"], unit="D")
    same = ordered["patient"].eq(ordered["patient"].shift(-1))
    assert (home < ordered["admission"].shift(-1))[same].all()
    assert stays["admission"].is_monotonic_increasing


def test_postcodes_are_text_and_skewed(stays: pd.DataFrame) -> None:
    assert stays["postcode"].str.fullmatch(r"\d{5}").all()
    assert 0.05 < stays["postcode"].str.startswith("0").mean() < 0.5
    towns = stays["postcode"].str[:3].value_counts(normalize=True)
    assert towns.iloc[0] > 0.05
    assert towns.iloc[-1] < 0.002


def test_households_share_a_postcode_and_a_name(stays: pd.DataFrame) -> None:
    people = stays.drop_duplicates("patient")
    family = people["name"].str.split(" ", n=1).str[1]
    homes = people.groupby([people["postcode"], family]).size()
    chance = people.groupby([people["postcode"].sample(frac=1, random_state=0).values, family])
    assert (homes > 1).sum() > 1.1 * (chance.size() > 1).sum()


def test_sexes_and_what_goes_with_them(stays: pd.DataFrame) -> None:
    share = stays["sex"].value_counts(normalize=True)
    assert set(share.index) == {"F", "M", "X"}
    assert 0.001 < share["X"] < 0.01
    assert 0.4 < share["F"] < 0.6
    assert set(stays[stays["diagnosis"].str.startswith("O")]["sex"]) <= {"F", "X"}
    assert set(stays[stays["diagnosis"] == "C61 prostate cancer"]["sex"]) <= {"M", "X"}
    assert (stays[stays["job"] == "nurse"]["sex"] == "F").mean() > 0.7
    assert (stays[stays["job"] == "builder"]["sex"] == "F").mean() < 0.1


def test_ages_and_what_goes_with_them(stays: pd.DataFrame) -> None:
    first = stays.drop_duplicates("patient")
    age = first.groupby("job")["age"]
    assert age.max()["small child"] <= 5
    assert age.min()["pupil"] >= 5
    assert age.max()["pupil"] < 18
    assert age.min()["retired"] >= 45
    assert (first[first["age"] > 80]["job"].dropna() == "retired").mean() > 0.8
    assert stays[stays["diagnosis"].str.startswith("P")]["age"].max() < 3
    assert stays[stays["diagnosis"] == "F03 dementia"]["age"].median() > 75


def test_jobs_and_smoking_make_ill(stays: pd.DataFrame) -> None:
    back = stays["diagnosis"].isin(["M51 slipped disc", "M54 back pain"])
    adults = stays["age"].between(25, 65)
    assert back[adults & (stays["job"] == "driver")].mean() > 1.2 * back[adults].mean()
    lung = stays["diagnosis"].isin(["C34 lung cancer", "J44 COPD"])
    smokes = stays["smoker"] == "yes"
    assert smokes[lung].mean() > 2 * smokes[~lung].mean()


def test_diagnoses_have_a_long_tail_and_stays_too(stays: pd.DataFrame) -> None:
    share = stays["diagnosis"].value_counts(normalize=True)
    assert len(share) > 60
    assert share.iloc[0] > 0.04
    assert share.iloc[-5:].max() < 0.002
    days = stays["length-of-stay"]
    assert days.mean() > 1.2 * days.median()
    mean = days.groupby(stays["diagnosis"]).mean()
    assert mean["F32 depression"] > 4 * mean["S06 concussion"]


def test_names_are_mixed(stays: pd.DataFrame) -> None:
    assert stays["name"].str.fullmatch(r"\S+ \S+").all()
    assert 0.1 < (~stays["name"].map(str.isascii)).mean() < 0.9
    assert stays["name"].nunique() > 3_000
    for _, women, men, last in NAMES:
        for words in (women, men, last):
            assert len(words.split()) == len(set(words.split())) == 16


@pytest.mark.parametrize("seed", range(3))
def test_nearly_everybody_can_be_picked_out(seed: int) -> None:
    frame = datasets.hospital(1000, seed).to_pandas(date_as_object=False)
    size = frame.groupby([frame["birth date"].dt.year, "sex", "postcode"]).size()
    assert (size == 1).mean() > 0.7
    assert size[size == 1].sum() > 500
    assert size.max() > 1


def walk(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Go through the paths from the root to the leaves."""
    if tree is None:
        yield path
        return
    assert isinstance(tree, dict)
    for label, below in tree.items():
        yield from walk(below, (*path, label))


@pytest.mark.parametrize(("column", "least"), [("diagnosis", 40), ("job", 30)])
def test_hierarchies_cover_every_value(stays: pd.DataFrame, column: str, least: int) -> None:
    paths = list(walk(hierarchies()[column]))
    leaves = {path[-1] for path in paths}
    assert set(stays[column].dropna()) <= leaves
    assert len(paths) == len(leaves) >= least
    assert len({len(path) for path in paths}) > 1  # unbalanced
    parents = {label: path[:i] for path in paths for i, label in enumerate(path)}
    assert all(parents[label] == path[:i] for path in paths for i, label in enumerate(path))


def test_diagnoses_look_like_icd() -> None:
    paths = list(walk(hierarchies()["diagnosis"]))
    assert max(map(len, paths)) == 5
    assert min(map(len, paths)) == 2
    assert all(re.match(r"[A-Z]\d\d \w", path[-1]) for path in paths)


def test_what_the_tables_say_fits_together() -> None:
    assert set(RISKS) <= set(_leaves(JOBS))
    assert {name for risks in RISKS.values() for name in risks} <= set(_leaves(ILLNESSES))
    for thing in (*_leaves(JOBS).values(), *_leaves(ILLNESSES).values()):
        assert len(thing.ages) == len(BANDS) - 1
        assert 0 <= thing.women <= 1


def test_draws_follow_the_weights_of_their_group() -> None:
    groups = np.repeat([0, 1], 20_000)
    drawn = _draw(np.random.default_rng(0), [[1, 0, 3], [0, 1, 0]], groups)
    assert np.bincount(drawn[:20_000], minlength=3) / 20_000 == pytest.approx(
        [0.25, 0, 0.75], abs=0.02
    )
    assert set(drawn[20_000:]) == {1}


@pytest.mark.slow
def test_a_million_rows_take_seconds() -> None:
    start = time.perf_counter()
    assert datasets.hospital(1_000_000).num_rows == 1_000_000
    assert time.perf_counter() - start < 30
