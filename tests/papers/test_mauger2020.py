"""Mauger 2020: the linear program that shows which printed cells cannot be."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.papers import _adult
from shoal.papers._adult import METRICS, SHAPES
from shoal.papers.mauger2020 import variants
from shoal.papers.mauger2020.paper import TABLES
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
    assert cut.uncut is not None
    assert list(variants.trees(cut)) == ["7 values", "8 values"]
    uncut = variants.trees(cut)["8 values"].hierarchies
    assert int(uncut["workclass"].tree().leaves[0]) == 8
    assert {name for name in SHAPES if uncut[name] is not cut.hierarchies[name]} == {"workclass"}
    assert list(variants.trees(_adult.load(None, quick=True))) == ["7 values"]


def test_another_order_of_the_columns_is_the_same_table():
    adult = _adult.load(None, quick=True)
    other = variants.rotated(adult, 2)
    names = list(adult.hierarchies)
    assert list(other.hierarchies) == other.table.column_names == names[2:] + names[:2]
    assert other.table.select(names).equals(adult.table)
    assert all(other.hierarchies[name] is adult.hierarchies[name] for name in names)


def test_variants_show_the_mean_over_the_orders_and_its_ends():
    near, far = dict.fromkeys(TABLES, 1.0), dict.fromkeys(TABLES, 2.0)
    ways = {
        ("smallest", "7 values"): [near, near],
        ("first", "7 values"): [far, far],
        ("arbitrary", "7 values"): [near, far],
        ("smallest", "8 values"): [near, far],
    }
    starts, trees = variants.sections(variants.Tried(ways, "7 values"))
    table = starts.blocks[-1]
    assert [row[0] for row in table.rows] == ["smallest", "first", "arbitrary"]
    assert [(cell.text, cell.note) for cell in table.rows[2][1:]] == [("1.50", "1.00 to 2.00")] * 3
    assert "smallest 1.00, arbitrary 1.50, first 2.00 points" in starts.blocks[0].text
    assert [row[0] for row in trees.blocks[-1].rows] == ["7 values", "8 values"]
    assert "differ by up to 1.00 points" in trees.blocks[0].text
    alone = variants.Tried(
        {key: one for key, one in ways.items() if key[1] == "7 values"}, "7 values"
    )
    assert len(variants.sections(alone)) == 1
    assert len(variants.csv_rows(variants.Tried(ways, "7 values"))) == 4 * 2 * len(TABLES)
