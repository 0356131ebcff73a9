"""A synthetic hospital: stays of invented people, with skewed distributions as in real data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Bools, Floats, Longs
from shoal.base.errors import BadInput

T = TypeVar("T", bound=tuple[object, ...])
Nested: TypeAlias = "Mapping[str, T | Nested[T]]"

# Ages fall into eight bands; a profile such as "00012469" has the weight of each as a digit.
BANDS = np.array([0, 0.1, 5, 15, 25, 45, 65, 80, 105])  # the first are newborns
PATIENTS = "21237994"  # how many patients are in each band
SMOKERS = np.array([0, 0, 0, 0.2, 0.28, 0.25, 0.13, 0.05])  # share in each band
F, M, X = 0, 1, 2
YEAR = 365.2425
MONDAY = np.datetime64("2015-01-05")  # first day of the first week
WEEKS = 208


class Job(NamedTuple):
    """How common a job is, at which ages, and the share of women in it."""

    weight: float
    ages: str
    women: float = 0.5


class Illness(NamedTuple):
    """How common a diagnosis is, at which ages and for which sex, and the stays that follow."""

    weight: float
    ages: str
    women: float  # share of women
    stay: float  # mean length of a stay in days
    back: float = 0.0  # mean number of further stays


def hospital(rows: int = 1000, seed: int = 0) -> pa.Table:
    """Generate hospital stays, any number of rows; the same seed gives the same rows.

    `name` identifies, `patient` is the person (who may have several stays), `birth date`, `sex`,
    `postcode` and `job` are quasi-identifiers, `diagnosis` and `smoker` are sensitive.

    >>> hospital(3).column_names[:5]
    ['name', 'patient', 'birth date', 'sex', 'postcode']
    """
    if rows < 0:
        raise BadInput(f"a table has 0 rows or more, got rows={rows}")
    rng = np.random.default_rng(seed)
    people = _people(rng, rows)  # everybody has at least one stay, so these are enough
    stays = _stays(rng, people, rows)
    order = np.argsort(stays.admission, kind="stable")
    stays = Stays(*(column[order] for column in stays))
    who = stays.person
    return pa.table(
        {
            "name": _words(people.name[who], _full_names()),
            "patient": _keys(rng, rows).take(pa.array(who)),
            "birth date": _dates(stays.birth),
            "sex": _words(people.sex[who], ["F", "M", "X"]),
            "postcode": _words(stays.postcode, _postcodes()[0]),
            "job": _words(people.job[who], list(_leaves(JOBS)), rng.random(rows) < 0.03),
            "diagnosis": _words(stays.diagnosis, list(_leaves(ILLNESSES))),
            "admission": _dates(stays.admission),
            "length-of-stay": pa.array(stays.days),
            "smoker": _words(people.smoker[who], ["no", "yes"], rng.random(rows) < 0.07),
        }
    )


def hospital_hierarchies() -> dict[str, object]:
    """Build the trees of diagnosis and job, as nested mappings from `*` to the leaves.

    >>> list(hospital_hierarchies()["job"]["*"])
    ['not at work', 'at work']
    """
    return {"diagnosis": {"*": _bare(ILLNESSES)}, "job": {"*": _bare(JOBS)}}


class People(NamedTuple):
    """What stays the same for a person; one entry per person in every array."""

    age: Floats  # years, at the first admission
    sex: Longs
    job: Longs
    diagnosis: Longs  # the main one
    smoker: Longs
    name: Longs
    postcode: Longs  # at the first admission


class Stays(NamedTuple):
    """What differs from stay to stay; one entry per row in every array."""

    person: Longs
    birth: Longs  # days since 1970, as is admission
    postcode: Longs
    diagnosis: Longs
    admission: Longs
    days: Longs


def _people(rng: np.random.Generator, n: int) -> People:
    """Generate n people who live in households, most of which have one patient."""
    size = 1 + _draw(rng, [72, 18, 7, 3], n)
    home = np.repeat(np.arange(n), size)[:n]  # int64[n]
    first = (np.cumsum(size) - size)[home]  # int64[n], who comes first in the household
    place = np.arange(n) - first

    band = _draw(rng, _digits(PATIENTS), n)
    head = BANDS[band] + rng.random(n) * np.diff(BANDS)[band]
    head = np.where(band == 7, 80 + 25 * (1 - np.sqrt(rng.random(n))), head)[home]
    child = head < 20
    near = np.abs(head + rng.normal(0, 4, n))  # partners, brothers and sisters
    apart = np.clip(rng.normal(30, 5, n), 18, 45)
    second = np.where(child, head + apart, np.maximum(near, 18))
    third = np.where(child, near, np.where(head > apart, head - apart, head + apart))
    age = np.choose(np.minimum(place, 2), [head, second, third]).clip(0, 104)

    women = 0.5 + 0.004 * (age - 65).clip(0)
    sex = np.where(rng.random(n) < women, F, M)
    couple = (place == 1) & ~child & (rng.random(n) < 0.95)
    sex = np.where(couple, 1 - sex[first], sex)
    sex[rng.random(n) < 0.004] = X

    kind = _band(age) * 3 + sex
    job = _draw(rng, _chances(list(_leaves(JOBS).values())), kind)
    at_school = (age >= 15) & (age < 18) & (rng.random(n) < 0.85)  # within a band
    job[at_school] = list(_leaves(JOBS)).index("pupil")
    diagnosis = _draw_diagnosis(rng, age, sex, job)
    risky = np.isin(diagnosis, [list(_leaves(ILLNESSES)).index(name) for name in OF_SMOKERS])
    smoker = rng.random(n) < np.where(risky, 0.85, SMOKERS[_band(age)])

    culture = _draw(rng, [names[0] for names in NAMES], n)[home]
    called = _draw(rng, 1 / (4 + np.arange(16)), n)
    family = _draw(rng, 1 / (4 + np.arange(16)), n)
    family = np.where(rng.random(n) < 0.85, family[home], family)
    listed = np.where(sex == X, rng.integers(0, 2, n), sex)  # with the women or with the men
    name = ((culture * 2 + listed) * 16 + called) * 16 + family
    postcode = _draw(rng, _postcodes()[1], n)[home]
    return People(age, sex, job, diagnosis, smoker.astype(np.int64), name, postcode)


def _stays(rng: np.random.Generator, people: People, rows: int) -> Stays:
    """Simulate hospital stays, repeated ones for the chronically ill, until there are `rows`."""
    illnesses = list(_leaves(ILLNESSES).values())
    back = np.array([illness.back for illness in illnesses])[people.diagnosis]
    count = rng.geometric(1 / (1 + back)).clip(max=25)
    count = np.diff(np.minimum(np.cumsum(count), rows), prepend=0)
    person = np.repeat(np.arange(rows), count)  # int64[rows]
    again = np.diff(person, prepend=-1) == 0  # bool[rows], not the first stay

    week = 7 * rng.integers(0, WEEKS, rows) + _draw(rng, [18, 17, 16, 15, 14, 9, 11], rows)
    arrival = MONDAY.astype(np.int64) + week  # int64[people]
    birth = np.floor(arrival - people.age * YEAR).astype(np.int64)[person]
    gap = np.where(again, 3 + rng.exponential(60, rows).astype(np.int64), 0)
    later = np.cumsum(gap)
    since = later - later[_last(~again)]
    admission = arrival[person] + since

    age = (admission - birth) / YEAR
    other = np.flatnonzero(again & (rng.random(rows) < 0.25))  # comes back with something else
    diagnosis = people.diagnosis[person]
    diagnosis[other] = _draw_diagnosis(
        rng, age[other], people.sex[person[other]], people.job[person[other]]
    )

    moved = again & (rng.random(rows) < 0.04)
    postcode = np.where(moved, _draw(rng, _postcodes()[1], rows), people.postcode[person])
    postcode = postcode[_last(moved | ~again)]

    mean = np.array([illness.stay for illness in illnesses])[diagnosis]
    mean = mean * (1 + 0.006 * (age - 50))  # old people stay longer
    days = np.floor(rng.lognormal(np.log(mean) - 0.32, 0.8)).astype(np.int64)  # preserves the mean
    room = np.append(np.where(again, gap - 1, 365)[1:], 365)  # home before the next admission
    return Stays(person, birth, postcode, diagnosis, admission, np.minimum(days, room[:rows]))


def _draw(rng: np.random.Generator, weights: npt.ArrayLike, groups: int | Longs) -> Longs:
    """Draw a column of `weights` for each entry of `groups`, which name rows of `weights`.

    With a number in place of groups, draw so many from one row of weights.
    """
    table = np.atleast_2d(np.asarray(weights, float))  # float64[groups, values]
    group = groups if isinstance(groups, np.ndarray) else np.zeros(groups, np.int64)
    sums = np.cumsum(table, axis=1)
    upto = sums / sums[:, -1:] + np.arange(len(table))[:, None]  # group g goes from g to g + 1
    found = np.searchsorted(upto.ravel(), group + rng.random(len(group)), side="right")
    drawn: Longs = np.minimum(found - group * table.shape[1], table.shape[1] - 1)  # if rounded up
    return drawn


def _draw_diagnosis(rng: np.random.Generator, age: Floats, sex: Longs, job: Longs) -> Longs:
    """Draw a diagnosis by age, sex and job."""
    jobs, illnesses = list(_leaves(JOBS)), _leaves(ILLNESSES)
    risk = np.ones((len(jobs), len(illnesses)))
    for name, risks in RISKS.items():
        for illness, factor in risks.items():
            risk[jobs.index(name), list(illnesses).index(illness)] = factor
    chances = _chances(list(illnesses.values()))[:, None] * risk  # float64[band·sex, job, illness]
    kind = (_band(age) * 3 + sex) * len(jobs) + job
    return _draw(rng, chances.reshape(-1, len(illnesses)), kind)


def _chances(things: list[Job] | list[Illness]) -> Floats:
    """Weigh things by band of age and by sex: one row for each pair of them."""
    ages = np.array([_digits(thing.ages) for thing in things]).T  # float64[8, things]
    women = np.array([thing.women for thing in things])
    sexes = np.array([women, 1 - women, np.full(len(things), 0.5)])  # float64[3, things]
    weight = np.array([thing.weight for thing in things])
    chances: Floats = weight * ages[:, None] * sexes  # float64[8, 3, things]
    return chances.reshape(-1, len(things))


def _leaves(tree: Nested[T]) -> dict[str, T]:
    """List the leaves of a tree, in its order."""
    found: dict[str, T] = {}
    for name, below in tree.items():
        if isinstance(below, Mapping):
            found |= _leaves(below)
        else:
            found[name] = below
    return found


def _bare(tree: Nested[T]) -> dict[str, object]:
    """The same tree with nothing but the names of its leaves."""
    return {
        name: _bare(below) if isinstance(below, Mapping) else None for name, below in tree.items()
    }


def _band(age: Floats) -> Longs:
    return np.searchsorted(BANDS[1:-1], age, side="right")


def _digits(profile: str) -> list[int]:
    return [int(digit) for digit in profile]


def _last(marked: Bools) -> Longs:
    """Point from each row to the last marked one up to it.

    >>> _last(np.array([True, False, True, False])).tolist()
    [0, 0, 2, 2]
    """
    return np.maximum.accumulate(np.where(marked, np.arange(len(marked)), 0))


def _postcodes() -> tuple[list[str], Floats]:
    """List the postcodes and how many people live there: large towns have several."""
    people = 1 / (1 + np.arange(300)) ** 0.9  # float64[towns]
    codes, weights = [], []
    for town, size in enumerate(people):
        districts = max(1, round(60 * size))
        share = 1 / (3 + np.arange(districts))
        prefix = f"{(town * 377 + 10) % 1000:03}"  # all differ: 377 and 1000 share no factor
        codes += [f"{prefix}{district * 7 % 100:02}" for district in range(districts)]
        weights += list(size * share / share.sum())
    return codes, np.array(weights)


def _full_names() -> list[str]:
    return [
        f"{first} {last}"
        for _, *firsts, lasts in NAMES
        for names in firsts
        for first in names.split()
        for last in lasts.split()
    ]


def _keys(rng: np.random.Generator, n: int) -> pa.Array:
    """Write n different person keys in random order."""
    width = max(7, len(str(n)))
    start = rng.integers(10**width)
    numbers = (start + np.arange(n, dtype=np.int64) * 6_700_417) % 10**width  # prime: no repeats
    padded = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")
    return pc.binary_join_element_wise("P", padded, "")


def _words(codes: Longs, words: list[str], missing: Bools | None = None) -> pa.Array:
    return pa.array(words).take(pa.array(codes, mask=missing))


def _dates(days: Longs) -> pa.Array:
    return pa.array(days.astype(np.int32)).cast(pa.date32())


# The data from which people and illnesses are generated.

JOBS: Nested[Job] = {
    "not at work": {
        "learning": {
            "small child": Job(50, "99000000"),
            "pupil": Job(50, "00900000"),
            "student": Job(40, "00041000", 0.55),
            "apprentice": Job(20, "00030000", 0.4),
        },
        "retired": Job(90, "00000189", 0.53),
        "homemaker": Job(8, "00012331", 0.93),
        "unemployed": Job(9, "00034400", 0.45),
        "unable to work": Job(4, "00012500"),
    },
    "at work": {
        "care": {
            "nurse": Job(7, "00024300", 0.86),
            "doctor": Job(2, "00003410", 0.47),
            "care assistant": Job(5, "00023300", 0.84),
            "midwife": Job(0.4, "00013300", 0.99),
        },
        "school": {
            "teacher": Job(7, "00004400", 0.72),
            "nursery teacher": Job(4, "00034300", 0.94),
        },
        "office": {
            "clerk": Job(14, "00024400", 0.68),
            "accountant": Job(4, "00013400", 0.55),
            "engineer": Job(6, "00013300", 0.18),
            "programmer": Job(5, "00024200", 0.17),
            "manager": Job(6, "00002510", 0.31),
            "lawyer": Job(1.5, "00003410", 0.45),
        },
        "building and making": {
            "builder": Job(7, "00034300", 0.02),
            "electrician": Job(4, "00034300", 0.03),
            "mechanic": Job(5, "00034300", 0.04),
            "machine operator": Job(7, "00023400", 0.25),
            "miner": Job(0.5, "00002300", 0.02),
        },
        "moving things": {
            "driver": Job(7, "00013400", 0.08),
            "warehouse worker": Job(7, "00034300", 0.28),
        },
        "serving": {
            "shop assistant": Job(11, "00044300", 0.73),
            "cook": Job(4, "00034300", 0.41),
            "cleaner": Job(7, "00013400", 0.8),
            "hairdresser": Job(2, "00034200", 0.88),
        },
        "land and sea": {"farmer": Job(3, "00012431", 0.27), "fisher": Job(0.3, "00012310", 0.05)},
        "police officer": Job(2, "00024300", 0.29),
        "musician": Job(0.6, "00013310", 0.39),
    },
}

ILLNESSES: Nested[Illness] = {
    "A-B infections": {
        "A09 stomach flu": Illness(16, "39422234", 0.52, 3),
        "A15 tuberculosis": Illness(0.5, "00123322", 0.36, 17, 0.4),
        "A41 blood poisoning": Illness(9, "31001358", 0.46, 12, 0.1),
        "A46 erysipelas": Illness(6, "00002466", 0.44, 8, 0.1),
        "B20 HIV": Illness(0.4, "00024410", 0.22, 9, 0.8),
    },
    "C-D tumours": {
        "C00-C75 solid tumours": {
            "C18-C25 belly": {
                "C18 bowel cancer": Illness(6, "00001499", 0.45, 10, 1.4),
                "C25 cancer of the pancreas": Illness(2, "00000499", 0.49, 11, 1.5),
            },
            "C34 lung cancer": Illness(6, "00000598", 0.38, 8, 1.8),
            "C43 melanoma": Illness(1.5, "00013455", 0.47, 4, 0.4),
            "C50 breast cancer": Illness(8, "00003654", 0.99, 5, 1.6),
            "C61 prostate cancer": Illness(6, "00000376", 0.0, 6, 0.8),
        },
        "C81-C96 blood and lymph": {
            "C90 myeloma": Illness(0.7, "00000376", 0.45, 11, 2.5),
            "C91 lymphatic leukaemia": Illness(0.6, "04420234", 0.41, 13, 3.0),
        },
        "D25 fibroids": Illness(3, "00003500", 1.0, 4),
    },
    "E hormones and metabolism": {
        "E10-E14 diabetes": {
            "E10 diabetes type 1": Illness(2.5, "02564321", 0.47, 6, 0.9),
            "E11 diabetes type 2": Illness(9, "00001576", 0.44, 9, 0.8),
        },
        "E05 overactive thyroid": Illness(1.2, "00013433", 0.81, 3, 0.1),
        "E66 obesity": Illness(1.5, "00013520", 0.7, 4, 0.1),
        "E84 cystic fibrosis": Illness(0.15, "14555000", 0.5, 11, 4.0),
        "E86 lack of water": Illness(6, "24101248", 0.57, 5, 0.1),
    },
    "F mind": {
        "F03 dementia": Illness(3, "00000029", 0.62, 16, 0.3),
        "F10 alcohol dependence": Illness(10, "00036720", 0.27, 8, 1.0),
        "F20 schizophrenia": Illness(4, "00056421", 0.44, 24, 1.4),
        "F32 depression": Illness(7, "00157532", 0.61, 28, 0.6),
        "F50 eating disorder": Illness(0.5, "00390000", 0.92, 34, 0.5),
    },
    "G nerves": {
        "G20 Parkinson": Illness(2, "00000167", 0.42, 13, 0.6),
        "G35 multiple sclerosis": Illness(1, "00036500", 0.71, 6, 1.1),
        "G40 epilepsy": Illness(5, "46433345", 0.46, 5, 0.6),
        "G47 sleep apnoea": Illness(5, "00012530", 0.23, 2, 0.2),
    },
    "H eyes and ears": {
        "H25 cataract": Illness(5, "00000178", 0.57, 1, 0.5),
        "H66 infection of the middle ear": Illness(2, "29411111", 0.47, 3),
        "H91 sudden deafness": Illness(1, "00013431", 0.49, 5),
    },
    "I blood circulation": {
        "I20-I52 heart": {
            "I20-I25 arteries of the heart": {
                "I20 angina": Illness(11, "00001576", 0.35, 4, 0.4),
                "I21 heart attack": Illness(10, "00001578", 0.34, 8, 0.3),
            },
            "I48 irregular heartbeat": Illness(12, "00001478", 0.45, 4, 0.5),
            "I50 heart failure": Illness(18, "00000269", 0.52, 11, 1.0),
        },
        "I60-I69 brain": {
            "I61 bleeding in the brain": Illness(1.5, "10001356", 0.48, 14, 0.1),
            "I63 stroke": Illness(12, "00001368", 0.48, 12, 0.2),
        },
        "I10 high blood pressure": Illness(11, "00002467", 0.66, 4, 0.2),
        "I83 varicose veins": Illness(3, "00003520", 0.67, 2),
    },
    "J breathing": {
        "J12-J22 lung infections": {
            "J18 pneumonia": Illness(13, "35211358", 0.45, 9, 0.1),
            "J20 bronchitis": Illness(7, "89210123", 0.5, 5),
        },
        "J35 tonsils": Illness(4, "08663100", 0.51, 4),
        "J44 COPD": Illness(9, "00000497", 0.45, 8, 1.4),
        "J45 asthma": Illness(3, "16422221", 0.54, 5, 0.5),
        "J60 dust lung": Illness(0.05, "00000264", 0.03, 8, 1.0),
    },
    "K digestion": {
        "K29 inflamed stomach": Illness(6, "00233333", 0.57, 3),
        "K35 appendicitis": Illness(7, "01785210", 0.48, 5),
        "K40 hernia of the groin": Illness(8, "62112441", 0.1, 2),
        "K50 Crohn": Illness(1.2, "00265321", 0.55, 7, 1.2),
        "K70 liver damage by alcohol": Illness(2.5, "00002620", 0.29, 12, 0.9),
        "K80 gallstones": Illness(10, "00024554", 0.62, 6, 0.1),
    },
    "L40 psoriasis": Illness(0.8, "00123421", 0.42, 9, 0.5),
    "M bones and joints": {
        "M05 rheumatism": Illness(1, "00012453", 0.72, 8, 0.7),
        "M16 worn hip": Illness(8, "00000376", 0.59, 11, 0.3),
        "M17 worn knee": Illness(9, "00000485", 0.64, 10, 0.3),
        "M51 slipped disc": Illness(9, "00026531", 0.46, 7, 0.2),
        "M54 back pain": Illness(9, "00124555", 0.59, 6, 0.3),
    },
    "N kidneys and below": {
        "N18 weak kidneys": Illness(2.5, "01112466", 0.41, 9, 2.5),
        "N20 kidney stones": Illness(6, "00025531", 0.33, 3, 0.3),
        "N39 infection of the bladder": Illness(5, "43122246", 0.69, 6, 0.2),
        "N40 large prostate": Illness(5, "00000276", 0.0, 6, 0.1),
    },
    "O pregnancy and birth": {
        "O03 miscarriage": Illness(5, "00024000", 1.0, 1),
        "O20 bleeding": Illness(4, "00024000", 1.0, 3, 0.3),
        "O60 labour too early": Illness(7, "00035000", 1.0, 7, 0.3),
        "O80 birth": Illness(50, "00049000", 1.0, 3, 0.15),
    },
    "P newborns": {
        "P07 born too early": Illness(40, "90000000", 0.47, 24),
        "P22 breathless newborn": Illness(25, "90000000", 0.42, 9),
        "P59 jaundice": Illness(40, "90000000", 0.46, 4),
    },
    "S-T injuries": {
        "S02-S82 broken bones": {
            "S02 broken nose or jaw": Illness(3, "01286211", 0.27, 3),
            "S52 broken forearm": Illness(6, "02822344", 0.58, 3),
            "S72 broken hip": Illness(7, "01110139", 0.72, 15, 0.1),
            "S82 broken lower leg": Illness(7, "01244432", 0.5, 8, 0.1),
        },
        "S06 concussion": Illness(12, "69742223", 0.46, 2),
        "T42 overdose": Illness(3, "01186310", 0.6, 3, 0.3),
        "T78 allergic shock": Illness(0.6, "12222210", 0.5, 1),
    },
}
# Illnesses that some jobs cause: how many times as often as in other people.
RISKS = {
    "miner": {"J60 dust lung": 90.0, "M51 slipped disc": 3.0},
    "builder": {"M51 slipped disc": 2.5, "S82 broken lower leg": 3.0, "J60 dust lung": 8.0},
    "electrician": {"S52 broken forearm": 2.0},
    "machine operator": {"H91 sudden deafness": 3.0, "M54 back pain": 1.6},
    "driver": {"M54 back pain": 2.0, "E66 obesity": 2.0, "G47 sleep apnoea": 2.0},
    "warehouse worker": {"M51 slipped disc": 2.2, "K40 hernia of the groin": 2.0},
    "farmer": {"S06 concussion": 2.0, "M16 worn hip": 2.0, "S82 broken lower leg": 2.0},
    "nurse": {"M54 back pain": 2.0, "A15 tuberculosis": 3.0},
    "cook": {"F10 alcohol dependence": 1.8, "E66 obesity": 1.5},
    "manager": {"I21 heart attack": 1.6, "I10 high blood pressure": 1.5},
    "musician": {"H91 sudden deafness": 5.0, "F32 depression": 1.5},
    "unemployed": {"F10 alcohol dependence": 2.5, "F32 depression": 2.0, "T42 overdose": 2.0},
    "unable to work": {
        "F20 schizophrenia": 8.0,
        "G35 multiple sclerosis": 6.0,
        "F32 depression": 2.5,
        "N18 weak kidneys": 4.0,
    },
}
OF_SMOKERS = ("C34 lung cancer", "J44 COPD")

# Weight, first names of women, first names of men, last names; sixteen of each.
NAMES = (
    (
        30,
        "Anna Lena Greta Ursula Sabine Heike Mia Katharina Zoë Brigitte Jana Frieda Ilse Nele "
        "Käthe Birgit",
        "Jonas Lukas Peter Uwe Jürgen Matthias Paul Karl Emil Stefan Günter Felix Moritz Heinz "
        "Björn Anton",
        "Weber Köhler Brandt Vogt Lindner Hübner Seidel Jäger Groß Pohl Kühn Arnold Busch Krämer "
        "Winkler Dietz",
    ),
    (
        12,
        "Chloé Léa Manon Camille Élodie Inès Margaux Noémie Solène Aurélie Hélène Océane Brigitte "
        "Françoise Sylvie Maëlle",
        "Hugo Théo Louis Mathis Rémi Benoît Étienne Jérôme Loïc Gaël Pascal Thierry Baptiste Noël "
        "Antoine Yann",
        "Moreau Lefèvre Garnier Chevalier Fontaine Roussel Mercier Blanchard Guérin Boyer Perrin "
        "Dufour Renaud Barbier Lacroix Bénard",
    ),
    (
        9,
        "Alice Emma Grace Hannah Olivia Ruby Maeve Siobhán Fiona Edith Joan Margaret Holly Niamh "
        "Ruth Imogen",
        "Oliver Jack Harry Callum Liam Seán Ewan Rhys Alan Keith Graham Dylan Owen Cormac Stuart "
        "Miles",
        "Hughes Marsh Barker Doyle Fletcher Pryce Harding O'Connor Lowe Burgess Kerr Nolan Whelan "
        "Pritchard Sutton Fry",
    ),
    (
        8,
        "Astrid Freja Ingrid Linnéa Maja Saga Elin Åsa Sigrid Tuva Hanne Kirsten Aino Solveig "
        "Päivi Zoë",
        "Lars Nils Erik Søren Mikkel Åke Jørgen Oskar Håkon Rasmus Eino Gustav Sven Anders Jens "
        "Mads",
        "Åkesson Lindqvist Nyström Østergaard Dahl Sørensen Hagen Berglund Solberg Niemelä "
        "Ekström Bakke Wikström Holm Ødegård Sjöberg",
    ),
    (
        9,
        "Lucía Carmen Inés Sofía Begoña Marisol Beatriz Catarina Joana Nuria Pilar Rocío Concha "
        "Fátima Iria Leonor",
        "Javier Diego Álvaro Íñigo João Rui Miguel Tiago Andrés Ramón Sergio Nuno Rafael Joaquín "
        "Vasco Iker",
        "Ibáñez Castaño Quiroga Peña Carvalho Nogueira Serrano Ferreira Méndez Salgado Vidal "
        "Figueiredo Moya Lozano Tavares Ordóñez",
    ),
    (
        10,
        "Agnieszka Zofia Małgorzata Jadwiga Oksana Iryna Tereza Hana Milena Jelena Snežana Ewa "
        "Halina Ludmila Dorota Vesna",
        "Paweł Łukasz Krzysztof Jakub Ondřej Tomáš Mykola Andriy Goran Dragan Zbigniew Marek "
        "Bohdan Vojtěch Nikola Stanisław",
        "Wójcik Zieliński Kaczmarek Dvořák Horák Shevchuk Bondar Jović Marković Wrona Sikora "
        "Kravets Procházka Babić Michalak Čermák",
    ),
    (
        8,
        "Ayşe Elif Zeynep Emine Gülay Hatice Şule Nergis Leyla Shirin Parisa Dilan Özlem Sevgi "
        "Yasemin Pınar",
        "Mehmet Emre Kerem İsmail Ömer Hüseyin Baran Yusuf Cem Reza Farhad Serkan Tolga Uğur Deniz "
        "Volkan",
        "Yıldız Aydın Öztürk Korkmaz Çelik Şimşek Güneş Polat Karimi Rostami Aksoy Doğan Tekin "
        "Erdem Bulut Koç",
    ),
    (
        5,
        "Amina Layla Noura Samira Yasmin Rania Hiba Salma Zainab Khadija Dalia Farida Maryam Asma "
        "Ikram Widad",
        "Omar Karim Tariq Samir Nabil Hassan Ilyas Rachid Bilal Walid Anwar Jamal Idris Munir Sami "
        "Adel",
        "Haddad Mansouri Benali Nasser Khoury Rahmani Saleh El-Amrani Darwish Farouk Bakri Ziani "
        "Hamdan Chahine Sabbagh Jaziri",
    ),
    (
        5,
        "Linh Mai Hương Thảo Mei Xiuying Yuki Haruka Ji-woo Soo-ah Lan Ngọc Aiko Jing Min-seo "
        "Phương",
        "Minh Dũng Tuấn Wei Jun Hiroshi Kenta Min-jun Ji-ho Long Quang Tao Bo Daichi Hùng Sang-woo",
        "Trần Phạm Đặng Bùi Zhou Liang Xu Tanaka Mori Kang Yoon Hồ Lâm Fujii Shin Guo",
    ),
    (
        4,
        "Adaeze Ngozi Abena Wanjiru Thandiwe Fatou Aïssatou Makena Priya Ananya Lakshmi Meera "
        "Nasreen Kavita Chidera Zuri",
        "Chinedu Kwame Kofi Thabo Mamadou Ousmane Babajide Kamau Arjun Rohan Vikram Sanjay Imran "
        "Tendai Emeka Ravi",
        "Okafor Mensah Diallo Adeyemi Mwangi Ndlovu Sow Achieng Nair Iyer Chaudhary Banerjee Joshi "
        "Owusu Traoré Pillai",
    ),
)
