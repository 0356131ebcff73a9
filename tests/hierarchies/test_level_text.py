"""Level tables as text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.level_text import rows_of_file, rows_of_tree, text_of_rows
from tests.strategies import examples, hierarchies

SIGNS = "ab;,|\t\"' \n=é"


@settings(max_examples=examples(100))
@given(hierarchy=hierarchies(), data=st.data())
def test_a_written_table_is_read_as_the_same_tree(
    hierarchy: Hierarchy, data: st.DataObject
) -> None:
    """Whatever is in its labels."""
    tree = hierarchy.tree()
    names = data.draw(
        st.lists(st.text(SIGNS, min_size=1).map(str.strip).filter(bool), unique=True,
                 min_size=tree.size, max_size=tree.size)
    )  # fmt: skip
    new = dict(zip(tree.labels, names, strict=True))
    rows = [[new[label] for label in row] for row in rows_of_tree(tree)]
    text = text_of_rows(rows)
    again = Hierarchy.from_levels(rows_of_file(text.encode(), "levels.csv", ";")).tree()
    assert again.labels == tuple(new[label] for label in tree.labels)
    assert again.parent.tolist() == tree.parent.tolist()


def test_all_rows_have_one_length_without_missing_values() -> None:
    tree = Hierarchy.borders([[18, 65], [65]]).tree([3, 20, 70]).with_missing(["?"])
    assert rows_of_tree(tree) == [
        ["3", "<18", "<65", "*"],
        ["20", "[18, 65)", "<65", "*"],
        ["70", ">=65", "*", "*"],
    ]
