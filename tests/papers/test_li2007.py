"""The page on the slides of t-closeness, checked against sums done here by hand."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shoal.base.errors import BadFile
from shoal.base.progress import silent
from shoal.datasets.adult import hierarchies
from shoal.hierarchies.base import Hierarchy
from shoal.papers import _adult, papers, reproduce
from shoal.papers.li2007 import adult, slides
from shoal.papers.li2007.audit import Judged, covers, judge, judge_all
from shoal.papers.li2007.claims import of_attacks, of_distances
from shoal.papers.li2007.experiment import gaps
from shoal.papers.li2007.own import PartitionSearch, Request, partitions, publish, requests, search

STOMACH = {"gastric ulcer", "stomach cancer", "gastritis"}
LUNG = {"flu", "pneumonia", "bronchitis"}
FIGURES = {
    f"figure-{panel}.{kind}" for panel in ("3a", "3b", "4a", "4b") for kind in ("csv", "svg")
}
FILES = {"audits.csv", "distances.csv", "published.csv"} | {
    f"{column}.{kind}" for column in ("salary", "disease") for kind in ("csv", "svg")
}


@pytest.fixture(scope="module", autouse=True)
def few() -> Iterator[None]:
    """Few rows with the hierarchies of Adult in its place, and few runs."""
    rng = np.random.default_rng(0)
    trees = {name: Hierarchy.from_tree(tree) for name, tree in hierarchies().items()}
    columns = {}
    for name, hierarchy in trees.items():
        tree = hierarchy.tree()
        leaves = [tree.labels[v] for v in range(tree.size) if tree.end[v] == v + 1]
        columns[name] = rng.choice(leaves[:14], 150).tolist()
    rows = _adult.Adult(pa.table(columns), trees, False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_adult, "load", lambda *_: rows)
        patch.setattr(adult, "QUICK_KS", (2, 4))
        patch.setattr(adult, "QUICK_SIZES", (3,))
        patch.setattr(adult, "FIXED", 2)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reproduce("li2007", None, tmp_path_factory.mktemp("li2007"), quick=True).parent


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    html = (folder / "index.html").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", html)))


@pytest.fixture(scope="module")
def tables() -> dict[str, Judged]:
    return judge_all()


@pytest.fixture(scope="module")
def searched(tables: dict[str, Judged]) -> list[PartitionSearch]:
    """For each request, what a search through all tables finds."""
    return [search(tables["table 3"].slide, request) for request in requests(tables)]


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by_rank(part: list[int], whole: list[int]) -> float:
    """The slides' sum over the ranks."""
    order, sums, total = sorted(set(whole)), 0.0, 0.0
    for value in order[:-1]:
        sums += part.count(value) / len(part) - whole.count(value) / len(whole)
        total += abs(sums)
    return total / (len(order) - 1)


def by_tree(part: list[str], whole: list[str]) -> float:
    """The slides' sum over the tree: 1/3 within stomach or lung, 1 between them."""
    extra = {
        value: part.count(value) / len(part) - whole.count(value) / len(whole)
        for value in STOMACH | LUNG
    }
    work = 0.0
    for group in (STOMACH, LUNG):
        more = sum(extra[value] for value in group if extra[value] > 0)
        less = -sum(extra[value] for value in group if extra[value] < 0)
        work += min(more, less) / 3
    return work + abs(sum(extra[value] for value in STOMACH))


def classes(content: dict[str, list[Any]]) -> list[list[int]]:
    """The rows of each class."""
    found: dict[tuple[Any, Any], list[int]] = {}
    for row, key in enumerate(zip(content[slides.ZIP], content[slides.AGE], strict=True)):
        found.setdefault(key, []).append(row)
    return list(found.values())


def closeness(content: dict[str, list[Any]]) -> tuple[float, float]:
    """t by salary and by disease, from the rows."""
    salary, disease = content[slides.SALARY], content[slides.DISEASE]
    parts = classes(content)
    return (
        max(by_rank([salary[row] for row in part], salary) for part in parts),
        max(by_tree([disease[row] for row in part], disease) for part in parts),
    )


def test_it_is_one_of_the_papers() -> None:
    assert papers()["li2007"].startswith("Li, Li, Venkatasubramanian 2007")


def test_files(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {"index.html", *FILES, *FIGURES}
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert html.count("<svg") == 6
    assert not re.search(r"https?://|<(script|link|img|iframe)", html)
    linked = set(re.findall(r'href="([^"#]+)"', html))
    assert linked == FILES | FIGURES


def test_the_figures_on_adult(folder: Path, page: str) -> None:
    """Six measures; each table is the best by its objective, and one that is stricter is worse."""
    assert "Figures 3 and 4: five measures on Adult" in page
    for panel in "ab":
        found = {
            (row["optimization"], row["k"]): float(row["ours"])
            for row in lines(folder / f"figure-4{panel}.csv")
        }
        assert len(found) == len(adult.MEASURES) * 2
        for (name, k), value in found.items():
            if name.startswith("k-anonymity,"):
                assert value >= found["k-anonymity", k]
            if name == "entropy l-diversity":
                assert value >= found["distinct l-diversity", k]
            assert value >= found[name, "2"]


def test_a_point_of_figure_4_counted_by_hand() -> None:
    """2-anonymity by age and workclass: every combination of levels, with strings."""
    rows = _adult.load(None, True)
    trees = [rows.hierarchies[name].tree() for name in adult.QUASI[:2]]
    values = [rows.table[name].to_pylist() for name in adult.QUASI[:2]]
    least = []
    for levels in product(*(range(tree.height) for tree in trees)):
        shown = []
        for tree, column, level in zip(trees, values, levels, strict=True):
            nodes = [tree.node(value) for value in column]
            for _ in range(level):
                nodes = [int(tree.parent[v]) if tree.level[v] < level else v for v in nodes]
            shown.append(nodes)
        sizes = Counter(zip(*shown, strict=True)).values()
        if min(sizes) >= 2:
            least.append((sum(size * size for size in sizes) / 1e6, len(values[0]) / len(sizes)))
    for i, objective in enumerate(adult.QUALITY):
        measured = adult.make(rows, adult.MEASURES["k-anonymity"](2), 2, objective)
        assert measured[1 + i] == pytest.approx(min(point[i] for point in least))


def test_slightly_is_not_any_factor() -> None:
    """Made-up tables: 0.15-closeness costs 1.5 times as much as k-anonymity, then three times."""
    for factor, verdict in ((1.5, "agrees"), (3.0, "differs"), (0.5, "differs")):
        by_k = {
            (name, 2, objective): adult.Measured(1.0, value, value)
            for name in adult.MEASURES
            for objective in adult.QUALITY
            for value in [factor if name == adult.CLOSE else 1.0]
        }
        found = adult.Found(_adult.load(None, True), {}, by_k)
        assert adult.claims(found)[2].verdict == verdict


def test_without_adult_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise BadFile("not here")

    monkeypatch.setattr(_adult, "load", lacking)
    assert adult.run(None, True, silent, 0.0, 1.0) is None
    (text,) = adult.blocks(None, {})
    assert "not on this machine" in str(text)


def test_the_page_says_how_to_make_it_again(page: str) -> None:
    assert "shoal reproduce li2007 --quick" in page
    assert "--data" not in page.rsplit("To repeat this run", 1)[1]


def test_the_same_bytes_and_progress_rises(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adult, "run", lambda *_: None)  # its figures have times
    shares: list[float] = []
    reproduce("li2007", None, tmp_path, True, lambda _, share: shares.append(share))
    assert {file.name for file in (tmp_path / "li2007").iterdir()} == {"index.html", *FILES}
    for name in FILES:
        assert (folder / name).read_bytes() == (tmp_path / "li2007" / name).read_bytes()
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_versions_cover_their_originals() -> None:
    for slide in slides.SLIDES:
        if slide.original is None:
            continue
        for name in (slides.ZIP, slides.AGE):
            pairs = zip(slide.content[name], slide.original[name], strict=True)
            assert all(covers(shown, str(hidden)) for shown, hidden in pairs), (slide.name, name)
        assert slide.content[slides.DISEASE] == slide.original[slides.DISEASE]


def test_the_virus_table_is_the_slide_and_what_it_says() -> None:
    (virus,) = [slide.content for slide in slides.SLIDES if slide.name == "virus table"]
    assert Counter(virus[slides.DISEASE]) == {"positive": 100, "negative": 9900}
    shown = list(zip(*virus.values(), strict=True))
    ill = [row for row in range(13) if shown[row][2] == "positive"]
    assert ill == [5, 7, 8, 9, 10]  # rows 6 and 8 to 11 of the slide
    assert shown[12] == ("4770*", "4*", "negative")
    assert shown[-1] == ("488**", "≥ 60", "negative")


def test_distances_by_hand(folder: Path, tables: dict[str, Judged]) -> None:
    """The CSV beside the slides' formulas, written out here."""
    four, five = (tables[name].slide.content for name in ("table 4", "table 5"))
    salary, disease = four[slides.SALARY], four[slides.DISEASE]
    once = sorted(set(disease))
    t_five = closeness(five)
    parts = [disease[row : row + 3] for row in range(0, 9, 3)]
    of_five = [[five[slides.DISEASE][row] for row in part] for part in classes(five)]
    rows = [by_rank(salary[:3], salary), by_rank(salary[3:6], salary)]
    expected = {
        "Q as the rows are": [
            *rows,
            by_tree(parts[0], disease),
            by_tree(parts[1], disease),
            *t_five,
        ],
        "each value once in Q": [
            *rows,
            by_tree(parts[0], once),
            by_tree(parts[1], once),
            t_five[0],
            max(by_tree(part, once) for part in of_five),
        ],
    }
    theirs = [0.375, 0.167, 0.5, 0.278, 0.167, 0.278]
    for words, ours in expected.items():
        found = [line for line in lines(folder / "distances.csv") if line["optimization"] == words]
        assert [float(line["ours"]) for line in found] == pytest.approx(ours, abs=1e-6)
        assert [float(line["theirs"]) for line in found] == theirs
    assert expected["Q as the rows are"][2:4] == pytest.approx([4 / 9, 8 / 27])
    assert expected["each value once in Q"][2:4] == pytest.approx([1 / 2, 5 / 18])


def test_mean_differences(tables: dict[str, Judged], page: str) -> None:
    salaries = 2 * (0.167 - 1 / 6)  # rounding; 0.375 is exact
    diseases = (1 / 2 - 4 / 9) + 2 * (8 / 27 - 0.278)
    assert gaps(tables, "rows") == pytest.approx((salaries + diseases) / 6)
    assert gaps(tables, "once") == pytest.approx((salaries + 2 * (0.278 - 5 / 18)) / 6)
    assert f"{gaps(tables, 'rows'):.4f}" in page
    assert f"{gaps(tables, 'once'):.4f}" in page


def test_both_readings_are_on_the_page(page: str) -> None:
    for shown in ("0.444", "0.500", "0.296", "0.278", "0.375", "0.167", "4/9 = 0.444", "3/6 = 0.5"):
        assert shown in page
    assert "For salaries, 3 of 3 agree" in page
    assert "For diseases it is 0 of 3 if Q counts rows" in page
    assert "3 of 3 if Q counts each disease once" in page


def test_statements(tables: dict[str, Judged]) -> None:
    assert [claim.verdict for claim in of_attacks(tables)] == ["agrees"] * 8
    verdicts = {claim.says: claim.verdict for claim in of_distances(tables)}
    (differs,) = [says for says, verdict in verdicts.items() if verdict != "agrees"]
    assert differs == "Table 5 has 0.278-closeness with respect to Disease."
    assert verdicts[differs] == "differs"


@pytest.mark.parametrize(
    ("table", "column", "row", "value", "said"),
    [
        ("table 2", slides.AGE, 0, "3*", "3-anonymous"),
        ("table 2", slides.DISEASE, 0, "Flu", "must have heart disease"),
        ("table 2", slides.DISEASE, 7, "Flu", "probably has cancer"),
        ("table 4", slides.DISEASE, 1, "gastric ulcer", "3-diverse"),
        ("table 4", slides.DISEASE, 1, "flu", "a stomach disease"),
        ("table 4", slides.SALARY, 1, 11, "a low salary"),
        ("virus table", slides.DISEASE, 5, "negative", "probability of 50 %"),
        ("virus table", slides.DISEASE, 8, "negative", "even higher risk"),
        ("virus table", slides.DISEASE, 0, "positive", "hardly needs protection"),
    ],
)
def test_a_statement_fails_where_the_table_is_another(
    tables: dict[str, Judged], table: str, column: str, row: int, value: object, said: str
) -> None:
    slide = tables[table].slide
    content = {name: list(values) for name, values in slide.content.items()}
    content[column][row] = value
    changed = judge(slide._replace(content=content, original=None))
    (claim,) = [one for one in of_attacks({**tables, table: changed}) if said in one.says]
    assert claim.verdict != "agrees"


def test_who_is_found(folder: Path, page: str) -> None:
    found = {
        (line["figure"], line["metric"].removesuffix(", rows")): float(line["ours"])
        for line in lines(folder / "audits.csv")
        if line["metric"].endswith(", rows")
    }
    assert found["table 2", "homogeneity[Disease]"] == 3
    assert found["table 2", "background-knowledge[Disease]"] == 6
    assert found["table 4", "similarity[Salary]"] == 3
    assert found["table 4", "similarity[Disease]"] == 3
    assert found["virus table", "skewness[Disease]"] == 8
    assert ("virus table", "similarity[Disease]") not in found  # not judged is not nobody
    five = {metric: rows for (table, metric), rows in found.items() if table == "table 5"}
    assert len(five) == 8
    assert set(five.values()) == {0}
    assert "0.01 → 0.75" in page
    assert "rows of table 5 that some attack finds 0 of 9" in page


def test_levels_that_the_titles_state(folder: Path) -> None:
    said = [line for line in lines(folder / "audits.csv") if line["theirs"]]
    assert {(line["figure"], line["metric"], line["theirs"]) for line in said} == {
        ("table 2", "k-anonymity", "3.0"),
        ("table 4", "distinct-l-diversity[Salary]", "3.0"),
        ("table 4", "distinct-l-diversity[Disease]", "3.0"),
        ("table 5", "t-closeness[Salary]", "0.167"),
        ("table 5", "t-closeness[Disease]", "0.278"),
    }
    assert {line["metric"] for line in said if float(line["ours"]) - float(line["theirs"]) > 0} == {
        "t-closeness[Disease]"
    }


def test_shares_behind_the_plots_add_up(folder: Path) -> None:
    for column, distributions in (("salary", 3), ("disease", 4)):
        sums: dict[str, float] = {}
        for line in lines(folder / f"{column}.csv"):
            name = line["optimization"]
            sums[name] = sums.get(name, 0.0) + float(line["ours"])
        assert len(sums) == distributions
        assert list(sums.values()) == pytest.approx([1.0] * distributions, abs=1e-5)


def test_shoal_satisfies_each_request_and_everything_was_tried(
    tables: dict[str, Judged], searched: list[PartitionSearch]
) -> None:
    original = tables["table 3"].slide
    asked = requests(tables)
    assert [request.text for request in asked] == [
        "k = 3",
        "k = 3, t = 0.167 and 0.278",
        "k = 3, t = 0.167 and 0.296",
    ]
    for request, tried in zip(asked, searched, strict=True):
        for own in (publish(original, request), tried.cheapest):
            assert min(map(len, classes(own.content))) >= 3
            t_salary, t_disease = closeness(own.content)
            assert t_salary <= (request.salary or 1) + 1e-9
            assert t_disease <= (request.disease or 1) + 1e-9
            assert own.loss >= tried.cheapest.loss - 1e-9


def test_table_5_is_what_shoal_publishes_and_the_cheapest(
    tables: dict[str, Judged], searched: list[PartitionSearch]
) -> None:
    original = tables["table 3"].slide
    assert publish(original, requests(tables)[0]).same_as(tables) == "table 5"
    _, stated, reached = searched
    assert reached.cheapest.same_as(tables) == "table 5"
    assert reached.as_cheap == 1
    assert stated.most_classes == 2  # never three, as table 5 has


def test_no_three_classes_reach_what_the_slides_say_of_diseases() -> None:
    disease = slides.TABLE_3[slides.DISEASE]
    found = []
    for first in combinations(range(1, 9), 2):
        rest = [row for row in range(1, 9) if row not in first]
        for second in combinations(rest[1:], 2):
            third = [row for row in rest[1:] if row not in second]
            parts = [(0, *first), (rest[0], *second), third]
            found.append(max(by_tree([disease[row] for row in part], disease) for part in parts))
    assert len(found) == 280
    assert min(found) == pytest.approx(8 / 27)
    assert len(list(partitions(tuple(range(9))))) == 280 + 84 + 126 + 1  # 3·3, 3+6, 4+5, 9


def test_a_request_in_words() -> None:
    assert Request(0.167, 0.278).text == "k = 3, t = 0.167 and 0.278"
