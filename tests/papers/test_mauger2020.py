"""Mauger 2020: the linear program that shows which printed cells cannot be."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.papers import _adult
from shoal.papers._adult import METRICS, SHAPES
from shoal.papers.mauger2020.possible import LEAVES, Polytope, contradictions
from shoal.table.encode import Domain
from tests.strategies import examples, tables


def test_four_columns_of_figure_8_cannot_be():
    """Found by an independent look as well: 56.6-66.1, 70.9-73.3, 57.7-69.3 and 64.8-67.6."""
    found = {
        (k, guide, cell.metric): (cell.printed, round(cell.low, 1), round(cell.high, 1))
        for (k, guide), cells in contradictions().items()
        for cell in cells
    }
    assert found == {
        (1500, "distortion", "distortion"): (72, 56.6, 66.1),
        (1500, "ncp", "ncp"): (82, 70.9, 73.3),
        (1500, "total", "total"): (73, 57.7, 69.3),
        (1500, "total", "nllm"): (59, 63.4, 68.5),  # one of these two
        (1500, "wnllm", "wnllm"): (75, 64.8, 67.6),
    }


def test_two_of_them_contradict_the_metrics_that_count_leaves():
    found = {
        key: [(cell.metric, round(cell.low, 1), round(cell.high, 1)) for cell in cells]
        for key, cells in contradictions(LEAVES).items()
    }
    assert found == {
        (1500, "ncp"): [("ncp", 70.6, 73.3)],
        (1500, "wnllm"): [("wnllm", 64.8, 67.7)],
    }


def test_not_even_with_percentages_that_were_cut_instead_of_rounded():
    assert list(contradictions(METRICS, 1.0)) == [
        (1500, guide) for guide in ("distortion", "ncp", "total", "wnllm")
    ]


@settings(max_examples=examples(40))
@given(table=tables(), data=st.data())
def test_every_release_is_possible(table, data):
    """The percentages of any release, by any trees, lie in the span that the others allow."""
    trees = table.trees
    assume(all(tree.height > 1 and tree.leaves[0] > 1 for tree in trees))
    domains = [Domain("", tree, np.zeros(tree.size, np.int64)) for tree in trees]
    published = []  # by record and column: the leaf and one of its ancestors
    for _ in range(data.draw(st.integers(1, 4))):
        row = []
        for tree in trees:
            leaves = np.flatnonzero(tree.end == np.arange(tree.size) + 1).tolist()
            leaf = node = data.draw(st.sampled_from(leaves))
            for _ in range(data.draw(st.integers(0, tree.height - 1))):
                node = int(tree.parent[node]) if node else 0
            row.append((leaf, node))
        published.append(row)
    percent = {}
    for metric in METRICS:
        costs = catalog.losses[metric]().costs(domains)
        lost = sum(c[a] - c[b] for row in published for c, (a, b) in zip(costs, row, strict=True))
        percent[metric] = (
            100.0
            * lost
            / sum(c[a] for row in published for c, (a, _) in zip(costs, row, strict=True))
        )
    polytope = Polytope.of(domains)
    metric = data.draw(st.sampled_from(METRICS))
    known = {name: value for name, value in percent.items() if name != metric}
    span = polytope.span(metric, known, slack=1e-6)
    assert span is not None
    assert span[0] - 1e-4 <= percent[metric] <= span[1] + 1e-4


def test_the_hierarchies_of_the_page_have_the_shapes_of_figure_5(tmp_path):
    """Level tables with an eighth workclass and more ages are cut to the values that occur."""
    own = _adult.load(None, quick=True).hierarchies
    for name, hierarchy in own.items():
        tree = hierarchy.tree()
        lines = []
        for leaf in np.flatnonzero(tree.end == np.arange(tree.size) + 1):
            line, node = [str(tree.labels[leaf])], int(leaf)
            while node:
                node = int(tree.parent[node])
                line.append(str(tree.labels[node]))
            lines.append(";".join(line))
        if name == "workclass":
            lines.append(lines[-1].replace(lines[-1].split(";")[0], "Never-worked"))
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    cut = _adult.load(tmp_path, quick=True)
    assert cut.given
    for name, shape in SHAPES.items():
        tree = cut.hierarchies[name].tree()
        assert [int(tree.leaves[0]), tree.height] == shape, name
