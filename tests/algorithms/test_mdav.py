"""MDAV, by hand; tests/algorithms/test_pooled.py compares it with a scan."""

from __future__ import annotations

import numpy as np

from shoal.algorithms.mdav import MDAV
from shoal.hierarchies.base import Hierarchy
from shoal.losses.lm import LM
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table


def test_by_hand():
    """The centre is a; the far ends are c and d together, and a."""
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "C": ["c", "d"]}}).tree()
    codes = np.array([[tree.node(v)] for v in "aaacbdb"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    got = MDAV().recode(table, [KAnonymity(k=2)], LM(), np.random.default_rng(0))
    assert "".join(tree.labels[v] for (v,) in got.codes().tolist()) == "aaACACA"
