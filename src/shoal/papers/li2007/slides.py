"""What the slides on Li, Li and Venkatasubramanian 2007 show: their tables and their numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from shoal.hierarchies.base import Hierarchy
from shoal.table.roles import Column

SOURCE = (
    "C. Lustig: slides for CS 295D on N. Li, T. Li, S. Venkatasubramanian: t-Closeness: Privacy "
    "beyond k-Anonymity and l-Diversity. ICDE 2007."
)
ZIP, AGE, SALARY, DISEASE = "ZIP Code", "Age", "Salary", "Disease"

# Figure 1 is a picture, which the text of the slides lacks. The groups are those of the example
# that ARX has of the same table; the text tells three distances in the tree (TREE_DISTANCES).
DISEASES = Hierarchy.from_tree(
    {
        "respiratory and digestive system diseases": {
            "respiratory system diseases": {
                "respiratory infection": ["flu", "pneumonia", "bronchitis"],
                "vascular lung diseases": ["pulmonary edema", "pulmonary embolism"],
            },
            "digestive system diseases": {
                "stomach diseases": ["gastric ulcer", "stomach cancer", "gastritis"],
                "colon diseases": ["colitis", "colon cancer"],
            },
        }
    }
)
# The slides draw no trees for these two; every value here is published in table 2, 4 or 5.
ZIPS = Hierarchy.from_tree(
    {
        "*": {
            "476**": {
                "4767*": ["47673", "47677", "47678"],
                "4760*": ["47602", "47605", "47607"],
            },
            "4790*": ["47905", "47906", "47909"],
        }
    }
)
AGES = Hierarchy.from_tree(
    {
        "*": {
            "≤ 40": {"2*": ["22", "27", "29"], "3*": ["30", "32", "36"]},
            "≥ 40": ["43", "47", "52"],
        }
    }
)
QUASI = {
    ZIP: Column(role="quasi", hierarchy=ZIPS),
    AGE: Column(role="quasi", hierarchy=AGES),
}
PATIENTS = {**QUASI, DISEASE: Column(role="sensitive")}
SALARIES = {
    **QUASI,
    SALARY: Column(role="sensitive"),
    DISEASE: Column(role="sensitive", hierarchy=DISEASES),
}
INFECTED = {name: Column(role="quasi") for name in QUASI} | {DISEASE: Column(role="sensitive")}

Content = dict[str, list[Any]]  # a table by its columns
ORIGINAL: Content = {
    ZIP: ["47677", "47602", "47678", "47905", "47909", "47906", "47605", "47673", "47607"],
    AGE: [29, 22, 27, 43, 52, 47, 30, 36, 32],
}
THREE_ANONYMOUS: Content = {
    ZIP: ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
    AGE: ["2*"] * 3 + ["≥ 40"] * 3 + ["3*"] * 3,
}
T_CLOSE: Content = {  # in the order of table 3; the slide lists it class by class
    ZIP: ["4767*", "4760*", "4767*", "4790*", "4790*", "4790*", "4760*", "4767*", "4760*"],
    AGE: ["≤ 40"] * 3 + ["≥ 40"] * 3 + ["≤ 40"] * 3,
}
HEART: Content = {
    DISEASE: ["Heart Disease"] * 3
    + ["Flu", "Heart Disease", "Cancer"]
    + ["Heart Disease", "Cancer", "Cancer"]
}
STOMACH: Content = {
    SALARY: [3, 4, 5, 6, 11, 8, 7, 9, 10],  # in thousands
    DISEASE: [
        "gastric ulcer",
        "gastritis",
        "stomach cancer",
        "gastritis",
        "flu",
        "bronchitis",
        "bronchitis",
        "pneumonia",
        "stomach cancer",
    ],
}
VIRUS_ROWS, VIRUS_SHARE = 10_000, 0.01


def _virus() -> Content:
    """The twelve rows of three whole classes, and two classes of which one row each is shown.

    What is not shown is made up: the rest of the rows halved between those two classes, with as
    many positive ones as are lacking.
    """
    shown = [("476**", "2*", value) for value in ["negative"] * 4]
    shown += [("4790*", "≥ 40", value) for value in ["negative", "positive"] * 2]
    shown += [("476**", "3*", value) for value in ["positive"] * 3 + ["negative"]]
    lacking = round(VIRUS_ROWS * VIRUS_SHARE) - sum(row[2] == "positive" for row in shown)
    rest = VIRUS_ROWS - len(shown)
    ill = range(1, 1 + lacking)  # neither the first nor the last: these two are shown as negative
    made_up = [
        (*(("4770*", "4*"), ("488**", "≥ 60"))[i % 2], "positive" if i in ill else "negative")
        for i in range(rest)
    ]
    rows = zip(*shown, *made_up, strict=True)
    return {name: list(values) for name, values in zip((ZIP, AGE, DISEASE), rows, strict=True)}


class Slide(NamedTuple):
    """A table of the slides."""

    name: str
    title: str
    content: Content
    columns: dict[str, Column]
    original: Content | None = None

    @property
    def frame(self) -> pa.Table:
        """The table as a frame."""
        return pa.table(self.content)


TABLE_1, TABLE_3 = ORIGINAL | HEART, ORIGINAL | STOMACH
SLIDES = (
    Slide("table 1", "Original patients table", TABLE_1, PATIENTS),
    Slide(
        "table 2", "A 3-anonymous version of table 1", THREE_ANONYMOUS | HEART, PATIENTS, TABLE_1
    ),
    Slide("table 3", "Original salary/disease table", TABLE_3, SALARIES),
    Slide(
        "table 4", "A 3-diverse version of table 3", THREE_ANONYMOUS | STOMACH, SALARIES, TABLE_3
    ),
    Slide("virus table", "10,000 records, 1 % with a virus", _virus(), INFECTED),
    Slide("table 5", "A t-close version of table 3", T_CLOSE | STOMACH, SALARIES, TABLE_3),
)


class Person(NamedTuple):
    """Somebody of whom an attacker knows where they live and how old they are."""

    name: str
    zip: str
    age: int


BOB, CARL = Person("Bob", "47678", 27), Person("Carl", "47622", 32)
OTHER_BOB = Person("Bob", "47623", 32)  # of the virus slide


class Stated(NamedTuple):
    """A distance that the slides state: of one class, or of the farthest class of the table."""

    table: str
    column: str
    of_class: str | None
    name: str
    theirs: float


FIRST, SECOND = "476**, 2*", "4790*, ≥ 40"
STATED = (
    Stated("table 4", SALARY, FIRST, "D[P₁, Q]", 0.375),
    Stated("table 4", SALARY, SECOND, "D[P₂, Q]", 0.167),
    Stated("table 4", DISEASE, FIRST, "D[P₁, Q]", 0.5),
    Stated("table 4", DISEASE, SECOND, "D[P₂, Q]", 0.278),
    Stated("table 5", SALARY, None, "t", 0.167),
    Stated("table 5", DISEASE, None, "t", 0.278),
)
TREE_DISTANCES = (
    ("gastric ulcer", "gastritis", "1/3"),
    ("gastric ulcer", "colitis", "2/3"),
    ("gastric ulcer", "flu", "3/3"),
)
