"""A check as people read it: the model, and the options that are not its level."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import catalog
from shoal.table.equivalence_classes import tally
from shoal.table.sensitive import Sensitive


@pytest.mark.parametrize(
    ("name", "options", "key"),
    [
        ("recursive-cl-diversity", {"column": "d", "c": 3.0, "l": 3},
         "recursive-cl-diversity [d] (c = 3)"),
        ("ir-kl-anonymity", {"column": "d", "k": 3, "l": 3}, "ir-kl-anonymity [d] (k = 3)"),
        ("share-at-risk", {"share": 0.5, "threshold": 0.5}, "share-at-risk (threshold = 0.5)"),
        ("ir-alpha-beta-anonymity", {"column": "d", "alpha": 0.5, "beta": 0.5},
         "ir-alpha-beta-anonymity [d] (alpha = 0.5)"),
        ("k-anonymity", {"k": 2}, "k-anonymity"),
    ],
)  # fmt: skip
def test_the_options_besides_the_level_are_shown(name: str, options: dict, key: str) -> None:
    model = catalog.models[name](**options)
    codes = np.array([0, 1, 2, 0, 1, 2], np.int32)
    secret = Sensitive("d", codes, ("a", "b", "c"))
    classes = tally(np.zeros((6, 1), np.int32), np.arange(6), [secret])
    check = model.check(classes)
    assert check.key == key
    assert check.as_dict()["options"] == {n: v for n, v in options.items() if n != "column"}
    assert "besides" not in check.as_dict()
