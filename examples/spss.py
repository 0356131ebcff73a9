"""From an SPSS file to a release that keeps the labels of what is published."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyreadstat

import shoal

# A survey with codes, as a statistics program stores it.
rng = np.random.default_rng(7)
survey = pd.DataFrame(
    {
        "age": rng.integers(18, 90, 500),
        "sex": rng.integers(1, 3, 500),
        "health": rng.choice([1, 2, 3, 9], 500),
    }
)
plan = shoal.Plan(
    columns={
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "sex": {"role": "quasi"},
        "health": {"role": "sensitive"},
    },
    models=[{"name": "k-anonymity", "k": 5}],
)

with TemporaryDirectory() as folder:
    data, out = Path(folder, "survey.sav"), Path(folder, "release.sav")
    pyreadstat.write_sav(
        survey,
        data,
        column_labels={"age": "Age in years", "sex": "Sex", "health": "Health"},
        variable_value_labels={
            "sex": {1: "male", 2: "female", 3: "other"},
            "health": {1: "good", 2: "fair", 3: "bad", 9: "refused"},
        },
        missing_ranges={"health": [9]},
    )
    shoal.anonymize(data, plan).save(out)
    frame, about = pyreadstat.read_sav(out, user_missing=True)
    print(frame.head())
    print(about.column_names_to_labels)
    print(about.variable_value_labels)  # nobody answered 3 to the question about sex
