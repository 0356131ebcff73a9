"""A synthetic list of voters: invented people of an invented state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Floats, Longs
from shoal.base.errors import BadInput

ROWS = 30_162  # of florida_30162, Sec. 3.3.1, Mauger 2023
TODAY = 2020
YEARS = range(1915, TODAY - 17)  # of birth
POSTCODES = 900
GENDERS = ("F", "M", "U")
RACES = {
    "majority": ("white",),
    "minority": ("black", "hispanic", "asian", "native", "multiracial"),
    "not told": ("other", "unknown"),
}
PARTIES = {
    "large": ("democrat", "republican"),
    "none": ("no party",),
    "small": ("green", "libertarian", "independent", "reform", "constitution"),
}
RACE = tuple(race for group in RACES.values() for race in group)
PARTY = tuple(party for group in PARTIES.values() for party in group)


class Places(NamedTuple):
    """Where people live; one entry per postcode in every array."""

    code: Longs  # five digits
    people: Floats  # share of all people
    town: Floats  # from 0, the country, to 1, the centre of a town
    age: Floats  # years by which people are older than elsewhere
    leaning: Floats  # below 0 democrat, above 0 republican
    races: Floats  # float64[postcodes, races], shares


def voters(rows: int = ROWS, seed: int = 0) -> pa.Table:
    """Generate a list of voters with any number of rows; the same seed gives the same rows.

    All five columns may identify: `postcode`, `year of birth`, `gender`, `race`, and
    `affiliation`, which may also be used as sensitive. They are correlated as in real lists: towns
    are younger and more mixed than the country, and affiliation depends on place, age, race and
    gender.

    >>> voters(2).column_names
    ['postcode', 'year of birth', 'gender', 'race', 'affiliation']
    """
    if rows < 0:
        raise BadInput(f"a table has 0 rows or more, got rows={rows}")
    rng = np.random.default_rng(seed)
    places = _places(rng)
    home = rng.choice(POSTCODES, size=rows, p=places.people)  # int64[rows]
    race = _draw(rng, places.races[home])
    year = _years(rng, places, home, race)
    age = TODAY - year
    women = 0.51 + 0.0015 * (age - 45) + 0.03 * (race == RACE.index("black"))
    gender = np.where(rng.random(rows) < women, 0, 1)
    gender[rng.random(rows) < 0.025] = 2
    party = _draw(rng, _party_chances(places.leaning[home], age, gender, race))
    return pa.table(
        {
            "postcode": pa.array(places.code[home].astype(str), pa.string()),
            "year of birth": pa.array(year),
            "gender": _words(gender, GENDERS),
            "race": _words(race, RACE),
            "affiliation": _words(party, PARTY),
        }
    )


def hierarchies() -> dict[str, object]:
    """Build the trees of the five columns, as nested mappings from `*` to the leaves.

    Postcodes are the same whatever the seed, so one set of trees fits every table.

    >>> list(hierarchies()["affiliation"]["*"])
    ['large', 'none', 'small']
    """
    return {
        "postcode": {"*": _prefixes(sorted(map(str, _codes())), 2)},
        "year of birth": {"*": _spans(list(YEARS), (20, 10, 5))},
        "gender": {"*": dict.fromkeys(GENDERS)},
        "race": {"*": _groups(RACES)},
        "affiliation": {"*": _groups(PARTIES)},
    }


def _codes() -> Longs:
    """Postcodes that begin with 51 to 59, close together, as if assigned area by area."""
    rng = np.random.default_rng(51_000)
    areas = rng.choice(np.arange(510, 600), size=36, replace=False)
    weight = rng.gamma(2.0, size=len(areas))
    free = [area * 100 + np.arange(100) for area in areas]
    often = np.minimum(np.ceil(POSTCODES * weight / weight.sum()).astype(int), 80) + 4
    drawn = [rng.choice(some, size=n, replace=False) for some, n in zip(free, often, strict=True)]
    every = np.concatenate(drawn)
    return np.sort(rng.permutation(every)[:POSTCODES]).astype(np.int64)


def _places(rng: np.random.Generator) -> Places:
    """Generate the postcodes; neighbours are similar, as they share an area."""
    code = _codes()
    area = code // 100 - 510  # int64[postcodes]
    town = np.clip(rng.beta(1.2, 1.2, 90)[area] + rng.normal(0, 0.15, POSTCODES), 0, 1)
    people = rng.gamma(1.6, size=POSTCODES) * (0.3 + town)
    age = rng.normal(0, 4, 90)[area] + rng.normal(0, 3, POSTCODES) - 5 * town
    leaning = rng.normal(0, 0.35, 90)[area] + rng.normal(0, 0.25, POSTCODES) + 0.9 * (0.5 - town)
    # white black hispanic asian native multiracial other unknown
    country = np.array([78.0, 8, 6, 1, 0.7, 0.5, 1.2, 2.5])
    middle = np.array([48.0, 20, 21, 3, 0.3, 0.9, 2.2, 3.5])
    races = country + town[:, None] * (middle - country)
    races[:, 1] *= rng.gamma(1.5, size=90)[area] + 0.1
    races[:, 2] *= rng.gamma(1.2, size=90)[area] + 0.1
    races /= races.sum(axis=1, keepdims=True)
    return Places(code, people / people.sum(), town, age, leaning, races)


def _years(rng: np.random.Generator, places: Places, home: Longs, race: Longs) -> Longs:
    """Years of birth: few of the oldest, a bulge between 40 and 65, fewer of the youngest."""
    n = len(home)
    bulge = rng.normal(56, 13, n)
    flat = rng.uniform(18, 80, n)
    age = np.where(rng.random(n) < 0.45, bulge, flat) + 0.6 * places.age[home]
    age -= np.array([0, 5, 6, 4, 1, 12, 8, 10])[race]
    youngest = TODAY - YEARS[-1]
    age = np.where(age < youngest, youngest + rng.exponential(6, n), age)
    year = TODAY - np.floor(age).astype(np.int64)
    return np.clip(year, YEARS[0], YEARS[-1])


def _party_chances(leaning: Floats, age: Longs, gender: Longs, race: Longs) -> Floats:
    """The share of each affiliation among people like these, float64[n, parties]."""
    right = leaning + 0.008 * (age - 55) + 0.12 * (gender == 1)
    right = right + np.array([0.45, -1.9, -0.35, -0.3, -0.1, -0.6, -0.3, -0.1])[race]
    alone = 0.25 - 0.014 * (age - 55) + 0.35 * (gender == 2)
    alone = alone + np.array([0, -0.5, 0.45, 0.6, 0, 0.3, 0.4, 0.5])[race]
    small = np.log([0.004, 0.012, 0.02, 0.0008, 0.0006]) - 0.012 * (age[:, None] - 55)
    score = np.column_stack([-right, right, alone - 0.35, small])
    chance = np.exp(score)
    shares: Floats = chance / chance.sum(axis=1, keepdims=True)
    return shares


def _draw(rng: np.random.Generator, chances: Floats) -> Longs:
    """One of the columns for each row, by its probabilities."""
    edges = np.cumsum(chances, axis=1)
    point = rng.random(len(chances)) * edges[:, -1]
    drawn: Longs = (point[:, None] >= edges[:, :-1]).sum(axis=1)
    return drawn


def _words(codes: Longs, words: Sequence[str]) -> pa.Array:
    return pa.array(words, pa.string()).take(pa.array(codes))


def _prefixes(codes: list[str], digits: int) -> dict[str, object]:
    """A tree of codes by their first digits, one more at every step: 51***, 514**, 5147*."""
    found: dict[str, list[str]] = {}
    for code in codes:
        found.setdefault(code[:digits].ljust(5, "*"), []).append(code)
    if digits == 5:
        return dict.fromkeys(codes)
    return {label: _prefixes(inside, digits + 1) for label, inside in found.items()}


def _spans(years: list[int], widths: tuple[int, ...]) -> dict[str, object]:
    """A tree of years by spans, narrower at every step."""
    if not widths:
        return {str(year): None for year in years}
    found: dict[str, list[int]] = {}
    for year in years:
        first = year - year % widths[0]
        found.setdefault(f"{first}-{first + widths[0] - 1}", []).append(year)
    return {label: _spans(inside, widths[1:]) for label, inside in found.items()}


def _groups(groups: dict[str, tuple[str, ...]]) -> dict[str, object]:
    return {label: dict.fromkeys(inside) for label, inside in groups.items()}
