"""Tables of the slides on t-closeness (Li, Li and Venkatasubramanian 2007), and random ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.hierarchies.base import Hierarchy
from shoal.io.frames import open_frame
from shoal.table.published_table import Published, read_published
from shoal.table.roles import Column
from shoal.table.sensitive import Sensitive

DISEASES = Hierarchy.from_tree(
    {
        "respiratory and digestive": {
            "respiratory": {
                "respiratory infection": ["flu", "pneumonia", "bronchitis"],
                "vascular lung": ["pulmonary edema", "pulmonary embolism"],
            },
            "digestive": {
                "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
                "colon": ["colitis", "colon cancer"],
            },
        }
    }
)
COLUMNS = {
    "zip": Column(role="quasi"),
    "age": Column(role="quasi"),
    "salary": Column(role="sensitive"),
    "disease": Column(role="sensitive", hierarchy=DISEASES),
}
FIRST, SECOND, THIRD = ("476**", "2*"), ("4790*", "≥ 40"), ("476**", "3*")


def published(rows, columns=COLUMNS):
    """Rows of a class, and then one value for each sensitive column."""
    names = [name for name, column in columns.items() if column.role == "sensitive"]
    table = pa.table(
        {
            "zip": [row[0][0] for row in rows],
            "age": [row[0][1] for row in rows],
            **{name: [row[i] for row in rows] for i, name in enumerate(names, 1)},
        }
    )
    return read_published(open_frame(table), columns)


HEART = {name: column for name, column in COLUMNS.items() if name != "salary"} | {
    "disease": Column(role="sensitive")
}
TABLE_2 = published(
    [(FIRST, "Heart Disease")] * 3
    + [(SECOND, disease) for disease in ("Flu", "Heart Disease", "Cancer")]
    + [(THIRD, disease) for disease in ("Heart Disease", "Cancer", "Cancer")],
    HEART,
)

ROWS_4 = [
    (FIRST, 3, "gastric ulcer"),
    (FIRST, 4, "gastritis"),
    (FIRST, 5, "stomach cancer"),
    (SECOND, 6, "gastritis"),
    (SECOND, 11, "flu"),
    (SECOND, 8, "bronchitis"),
    (THIRD, 7, "bronchitis"),
    (THIRD, 9, "pneumonia"),
    (THIRD, 10, "stomach cancer"),
]
TABLE_4 = published(ROWS_4)

LOW, OLD, CITY = ("4767*", "≤ 40"), ("4790*", "≥ 40"), ("4760*", "≤ 40")
TABLE_5 = published(
    [
        (LOW, 3, "gastric ulcer"),
        (LOW, 5, "stomach cancer"),
        (LOW, 9, "pneumonia"),
        (OLD, 6, "gastritis"),
        (OLD, 11, "flu"),
        (OLD, 8, "bronchitis"),
        (CITY, 4, "gastritis"),
        (CITY, 7, "bronchitis"),
        (CITY, 10, "stomach cancer"),
    ]
)


def virus():
    """10,000 records, 1 % positive: the three classes of the slide, the others like the table."""
    rows = [(FIRST, "negative")] * 4
    rows += [(SECOND, "negative"), (SECOND, "positive")] * 2
    rows += [(THIRD, "positive")] * 3 + [(THIRD, "negative")]
    for i in range(10_000 - len(rows)):
        rows.append(((f"{i % 95:02}***", "*"), "positive" if i < 95 else "negative"))
    return published(rows, HEART)


VIRUS = virus()


@st.composite
def columns(draw, values=("0", "1", "2", "3", "4", "5", None)):
    """Two columns of published values, and a sensitive one with its rows."""
    rows = draw(st.integers(1, 24))
    codes = draw(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=rows, max_size=rows))
    sensitive = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
    return codes, sensitive


def look(codes, values, hierarchy=None):
    known = sorted({value for value in values if value is not None}, key=str)
    places = np.array([-1 if v is None else known.index(v) for v in values], np.int32)
    column = Sensitive.of("s", places, known, hierarchy)
    names = list("xyz")
    return Published(("p", "q"), np.array(codes, np.int32), (names, names), None, (column,))
