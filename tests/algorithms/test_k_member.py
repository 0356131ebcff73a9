"""The k-member algorithm, by hand; tests/algorithms/test_pooled.py compares it with a scan."""

from __future__ import annotations

import numpy as np

from shoal.algorithms.k_member import KMember
from shoal.hierarchies.base import Hierarchy
from shoal.losses.lm import LM
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table


def test_by_hand():
    """From any first person: two a and two c are the clusters, and d joins the nearer one."""
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "C": ["c", "d"]}}).tree()
    codes = np.array([[tree.node(v)] for v in "aaccd"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    for seed in range(5):
        got = KMember().recode(table, [KAnonymity(k=2)], LM(), np.random.default_rng(seed))
        labels = "".join(tree.labels[v] for (v,) in got.codes().tolist())
        assert labels == "aaCCC"
