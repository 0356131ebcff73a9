"""What the slides on Li, Li and Venkatasubramanian 2007 show: their tables and their numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from shoal.hierarchies.base import Hierarchy
from shoal.papers._printed import printed
from shoal.table.roles import Column

SOURCE = (
    "C. Lustig: slides for CS 295D on N. Li, T. Li, S. Venkatasubramanian: t-Closeness: Privacy "
    "beyond k-Anonymity and l-Diversity. ICDE 2007."
)
ZIP, AGE, SALARY, DISEASE = "ZIP Code", "Age", "Salary", "Disease"

# Figure 1 is a picture, which the text of the slides lacks. The groups are those of the example
# that ARX has of the same table; the text states three distances in the tree (TREE_DISTANCES).
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
PRINTED = printed("li2007")
ORIGINAL: Content = PRINTED["original"]
THREE_ANONYMOUS: Content = PRINTED["three_anonymous"]
T_CLOSE: Content = PRINTED["t_close"]
HEART: Content = PRINTED["heart"]
STOMACH: Content = PRINTED["stomach"]
VIRUS_ROWS: int = PRINTED["virus"]["records"]
VIRUS_SHARE: float = PRINTED["virus"]["share"]


def _virus() -> Content:
    """The twelve rows of three whole classes, and two classes of which one row each is shown.

    What is not shown is made up: the rest of the rows halved between those two classes, with as
    many positive ones as are lacking.
    """
    virus = PRINTED["virus"]
    shown = [(place, age, value) for place, age, values in virus["classes"] for value in values]
    lacking = round(VIRUS_ROWS * VIRUS_SHARE) - sum(row[2] == "positive" for row in shown)
    rest = VIRUS_ROWS - len(shown)
    ill = range(1, 1 + lacking)  # neither the first nor the last: these two are shown as negative
    made_up = [
        (*virus["others"][i % 2], "positive" if i in ill else "negative") for i in range(rest)
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
    """A person whose ZIP code and age an attacker knows."""

    name: str
    zip: str
    age: int


BOB, CARL = Person("Bob", "47678", 27), Person("Carl", "47622", 32)
OTHER_BOB = Person("Bob", "47623", 32)  # of the virus slide


class Stated(NamedTuple):
    """A distance that the slides state: of one class, or of the farthest class of the table."""

    table: str
    column: str
    name: str
    theirs: float
    of_class: str | None = None


FIRST, SECOND = "476**, 2*", "4790*, ≥ 40"
STATED = tuple(Stated(**one) for one in PRINTED["distances"])
TREE_DISTANCES = tuple((*one["values"], one["theirs"]) for one in PRINTED["tree_distances"])
LEVELS = {(one["table"], one["level"]): one["theirs"] for one in PRINTED["levels"]}
