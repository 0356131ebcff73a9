"""The screen and the report show the same numbers as the same text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.cli.release_tables import show_release
from shoal.report.page import render
from shoal.report.release_report import facts, page
from tests.algorithms.test_concealment import people as somebody
from tests.algorithms.test_concealment import plan as concealed
from tests.attacks.test_attacks_on_people import hospital
from tests.cli.test_console import printed
from tests.report.test_people_report import PLAN as PEOPLE


class Tables(HTMLParser):
    """The rows of all tables of a page: the text of each cell, without its small print."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        cell = {"th", "td"} & set(self.inside)
        if cell and "small" not in self.inside:
            self.rows[-1][-1] += data.replace("\xa0", " ").strip()


def numbers(cells):
    """The cells with a number, without words around it, such as “at least”."""
    found = [re.search(r"[<>]? ?\d[\d,.]*( %)?$", cell) for cell in cells]
    return [one.group().strip() for one in found if one]


def on_screen(release):
    """What the screen shows: a label, and its numbers."""
    rows = {}
    for line in printed(show_release, release, width=200).splitlines():
        cells = [cell.strip() for cell in re.split(r" {2,}", line.strip())]
        if len(cells) > 1 and numbers(cells[1:]):
            label = " ".join(cell for cell in cells if not numbers([cell]) and cell != "satisfied")
            rows[label.rstrip(" █–")] = numbers(cells[1:])
    return rows


def in_report(release):
    rows = {}
    for first, *rest in Tables(render(page(facts(release)))).rows:
        if numbers(rest):
            name = first.replace(", on ", " ")
            rows.setdefault(name, numbers(rest))
            rows.setdefault(name.replace(" ", "-", 1), numbers(rest))  # background knowledge
            rows.setdefault(re.sub(r"-(\S+) (\S+)$", r"-\1 [\2]", name), numbers(rest))
    return rows


def rounded(seed):
    """A table with shares that are nearly all, nearly none, and not round."""
    rng = np.random.default_rng(seed)
    n = 3_000
    return pa.table(
        {
            "age": rng.integers(18, 90, n),
            "city": rng.choice(["a", "b", "c", "d"], n, p=[0.9, 0.09, 0.009, 0.001]),
            "disease": rng.choice(["flu", "gout", "mumps"], n, p=[0.6, 0.3999, 0.0001]),
        }
    )


def asked(*models, **more):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
        "city": "quasi",
        "disease": "sensitive",
    }
    return Plan(columns=columns, models=list(models), seed=1, **more)


K = {"name": "k-anonymity", "k": 5}
RELEASES = {
    "classes": lambda: shoal.anonymize(rounded(0), asked(K)),
    "fractions": lambda: shoal.anonymize(
        rounded(1), asked(K, {"name": "t-closeness", "column": "disease", "t": 0.39999})
    ),
    "suppression": lambda: shoal.anonymize(
        rounded(2), asked(K, algorithm={"name": "full-domain", "suppression": 0.1})
    ),
    "people": lambda: shoal.anonymize(hospital(), PEOPLE),
    "linked": lambda: shoal.anonymize(somebody(60), concealed()),
}


@pytest.mark.parametrize("kind", RELEASES)
def test_the_same_number_is_the_same_text(kind):
    release = RELEASES[kind]()
    screen, report = on_screen(release), in_report(release)
    columns = set(release.plan.columns)  # the loss of each is in a plot, not in a table
    both = (screen.keys() & report.keys()) - columns
    assert len(both) >= 8, (sorted(screen), sorted(report))
    assert {label: screen[label] for label in both} == {label: report[label] for label in both}
    # Numbers that the report shows in sentences and plots.
    text = render(page(facts(release))).replace("\xa0", " ")
    for label, shown in screen.items():
        if "loss" in label or label in columns | {"generalized values", "suppressed values"}:
            assert shown[-1] in text, label
