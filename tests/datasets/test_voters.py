from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal import Hierarchy, datasets
from shoal.base.errors import BadInput
from shoal.datasets.voters import PARTY, POSTCODES, RACE, YEARS, hierarchies

SCHEMA = pa.schema(
    {
        "postcode": pa.string(),
        "year of birth": pa.int64(),
        "gender": pa.string(),
        "race": pa.string(),
        "affiliation": pa.string(),
    }
)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return datasets.voters(seed=3).to_pandas()


@pytest.mark.parametrize("rows", [0, 1, 10, 997])
def test_as_many_rows_as_asked_for(rows: int) -> None:
    table = datasets.voters(rows)
    assert table.num_rows == rows
    assert table.schema.equals(SCHEMA)


def test_fewer_rows_than_none() -> None:
    with pytest.raises(BadInput, match="got rows=-1"):
        datasets.voters(-1)


def test_a_seed_gives_one_table() -> None:
    assert datasets.voters(500, seed=1).equals(datasets.voters(500, seed=1))
    assert not datasets.voters(500, seed=1).equals(datasets.voters(500, seed=2))


def test_the_size_of_the_papers_table(people: pd.DataFrame) -> None:
    assert len(people) == 30_162
    shares = people["affiliation"].value_counts(normalize=True).to_numpy()
    diversity = np.exp(-(shares * np.log(shares)).sum())
    assert diversity == pytest.approx(3.16, abs=0.1)  # of florida_30162, Sec. 4.3.2, Mauger 2023


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_every_value_is_in_its_tree(seed: int) -> None:
    table = datasets.voters(5_000, seed)
    for name, nested in hierarchies().items():
        tree = Hierarchy.from_tree(nested).tree()  # type: ignore[arg-type]
        for value in table[name].unique().to_pylist():
            node = tree.node(str(value))
            assert node >= 0
            assert tree.leaves[node] == 1


def test_the_shapes_of_the_trees() -> None:
    shapes = {}
    for name, nested in hierarchies().items():
        tree = Hierarchy.from_tree(nested).tree()  # type: ignore[arg-type]
        shapes[name] = (int(tree.leaves[0]), tree.height)
    assert shapes == {
        "postcode": (POSTCODES, 5),
        "year of birth": (len(YEARS), 5),
        "gender": (3, 2),
        "race": (len(RACE), 3),
        "affiliation": (len(PARTY), 3),
    }


def test_columns_hang_together(people: pd.DataFrame) -> None:
    share = people.groupby("race")["affiliation"].value_counts(normalize=True)
    assert share["black", "democrat"] > 2 * share["white", "democrat"]
    old = people["year of birth"] < 1955
    by_age = people.groupby(old)["affiliation"].value_counts(normalize=True)
    assert by_age[True, "republican"] > by_age[False, "republican"]
    assert by_age[False, "no party"] > by_age[True, "no party"]
    assert (people.loc[old, "gender"] == "F").mean() > (people.loc[~old, "gender"] == "F").mean()
    area = people["postcode"].str[:3]
    black = (people["race"] == "black").groupby(area).mean()
    assert black.max() > 3 * black.min()
