"""Look, by its links and forms alone, as a browser without scripts would use it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from random import Random

import pytest

from tests.studio.served import Served, serving

ROWS = 120
PLAN = """
seed = 5
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { ranges = [5, 10] } }
sex = { role = "quasi" }
ill = { role = "sensitive" }

[[models]]
name = "k-anonymity"
k = 4

[algorithm]
name = "full-domain"
suppression = 0.4

[write]
ranges = "bounds"
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A table with names, ages with few neighbours, and markup; and its plan."""
    folder, random = tmp_path_factory.mktemp("look"), Random(3)
    rows = [
        f"Zoe{i},{min(int(random.gauss(40, 9)), 89)},{random.choice(['f', 'm', '<b>x'])},"
        f"{random.choice(['flu', 'flu', 'gout'])}"
        for i in range(ROWS)
    ]
    table, plan = folder / "people.csv", folder / "plan.toml"
    table.write_text("\n".join(["name,age,sex,ill", *rows]) + "\n", encoding="utf-8")
    plan.write_text(PLAN, encoding="utf-8")
    return table, plan


@pytest.fixture(scope="module")
def looked(
    files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, str]]:
    """A studio with a finished run, and the address of the page about it."""
    table, plan = files
    folder = tmp_path_factory.mktemp("served") / "kept"
    with serving(folder, "--keep", str(table), "--plan", str(plan)) as served:
        project = served.get("/").headers["location"].rpartition("/")[0]
        served.until(f"{project}/columns", 'class="columns"')
        assert "no finished run" in served.get(f"{project}/look").text
        assert served.ask("POST", f"{project}/run/start", "").status == 303
        page = served.until(f"{project}/run", "report.html|role=.alert")
        link = re.search(r'href="([^"]+/look/\w+)"', page.text)
        assert link is not None, page.text
        served.until(f"{link[1]}?row=1", "requires at least 4")  # the report comes first
        yield served, link[1]


def pane(text: str, name: str) -> str:
    """One of the two tables."""
    return text.partition(f'id="pane-{name}"')[2].partition("</table>")[0]


def followed(served: Served, pattern: str, text: str) -> str:
    """The page of a link; what is after # stays in the browser."""
    link = re.search(pattern, text)
    assert link is not None
    return served.get(unescape(link[1]).partition("#")[0]).text


def numbers(text: str) -> list[int]:
    """The rows that are shown."""
    return [int(one) for one in re.findall(r'<tr data-row="(\d+)"', pane(text, "before"))]


def test_both_tables_are_paged(looked: tuple[Served, str], files: tuple[Path, Path]) -> None:
    served, address = looked
    answer = served.get(address)
    assert answer.status == 200
    assert numbers(answer.text) == list(range(1, 51))
    last = served.get(f"{address}?page=3").text
    assert numbers(last) == list(range(101, ROWS + 1))
    assert "Page 3 of 3" in last
    assert served.get(f"{address}?page=99").text == last
    following = followed(served, r'rel="next" href="([^"]+)"', answer.text)
    assert numbers(following) == list(range(51, 101))
    assert len(answer.content) < 150_000  # a page, never the table


def test_identifiers_are_in_the_original_only(looked: tuple[Served, str]) -> None:
    served, address = looked
    text = served.get(address).text
    assert "Zoe3<" in pane(text, "before")
    assert "Zoe" not in pane(text, "after")
    assert "it stays on this machine" in text
    whole = text.partition('id="losses"')[2]
    assert whole
    assert "Zoe" not in whole


def test_markup_is_text(looked: tuple[Served, str]) -> None:
    served, address = looked
    for query in ("", "?column=sex&value=<b>x", "?row=5"):
        text = served.get(f"{address}{query.replace('<', '%3C').replace('>', '%3E')}").text
        assert "<b>x" not in text
    assert "&lt;b&gt;x" in pane(text, "before")


def test_cells_say_how_much_was_lost(looked: tuple[Served, str]) -> None:
    """By a colour, a number that is seen, and words that are heard."""
    served, address = looked
    text = served.get(f"{address}?only=generalized").text
    cells = re.findall(
        r'<td title="[^"]+: (\d+)% of its information is lost" class="l([1-5])">.*?'
        r'>(\d+)%<span class="visually-hidden"> lost',
        pane(text, "after"),
    )
    assert cells
    for title, shade, shown in cells:
        assert title == shown
        assert int(shade) == sum(int(shown) >= one for one in (1, 26, 51, 76, 100))
    assert all(f'class="l{shade}"' in text.partition('class="legend"')[2] for shade in range(6))


def test_filters_are_forms_and_links(looked: tuple[Served, str]) -> None:
    served, address = looked
    text = served.get(f"{address}?only=suppressed").text
    hidden = numbers(text)
    assert hidden
    assert pane(text, "after").count("nothing of this record is published") == len(hidden)
    assert "Show all rows" in text
    text = followed(served, r'href="([^"]+)" title="Show class \d+ only"', served.get(address).text)
    shown = re.findall(r'<td title="([^":]*)[":]', pane(text, "after").partition("</thead>")[2])
    assert len(numbers(text)) >= 4
    assert len({tuple(shown[i : i + 2]) for i in range(0, len(shown), 3)}) == 1
    text = served.get(f"{address}?column=ill&value=gout").text
    assert set(re.findall(r"(gout|flu)<", pane(text, "after").partition("</thead>")[2])) == {"gout"}
    text = served.get(f"{address}?order=most").text
    assert hidden[0] in numbers(text)[: len(hidden)]


@pytest.mark.parametrize(
    "query",
    ["?page=-1", "?page=x", "?class=zz", "?order=no", "?only=no", "?attacker=9", "?column=no",
     "?row=0", "?page=99999999999999", "?class=5000"],
)  # fmt: skip
def test_addresses_that_make_no_sense(looked: tuple[Served, str], query: str) -> None:
    served, address = looked
    answer = served.get(f"{address}{query}")
    assert answer.status == 200
    assert "internal error" not in answer.text


def test_a_row_and_a_column_that_are_not_there(looked: tuple[Served, str]) -> None:
    served, address = looked
    assert (
        "there is no row 999: the rows of the original are 1 to 120"
        in served.get(f"{address}?row=999").text
    )
    text = unescape(served.get(f"{address}?column=name&value=Zoe1").text)
    assert "no published column is called 'name'" in text
    assert served.get(f"{address}x").status == 404


def test_a_row_says_why_and_what_an_attacker_sees(looked: tuple[Served, str]) -> None:
    served, address = looked
    number = numbers(served.get(f"{address}?only=generalized").text)[0]
    text = served.get(f"{address}?row={number}").text
    why = text.partition('id="why"')[2].partition("</section>")[0]
    assert "It forced the generalization: without it, 0% would be lost." in why
    assert "requires at least 4" in why
    assert "look like this" in why
    assert "What an attacker sees" in why
    assert re.search(r"Known exactly, .*single this person out", why)
    assert f'<tr data-row="{number}" class="chosen">' in text
    hidden = numbers(served.get(f"{address}?only=suppressed").text)[0]
    text = served.get(f"{address}?row={hidden}").text
    why = text.partition('id="why"')[2].partition("</section>")[0]
    assert "would violate k-anonymity" in why
    assert "What an attacker sees" not in why


def test_reasons_can_be_asked_for_in_the_background(looked: tuple[Served, str]) -> None:
    """As for a table of which they take long; the page shows rows meanwhile."""
    served, address = looked
    answer = served.ask("POST", f"{address}/why", "row=2&order=most")
    assert answer.status == 303
    assert answer.headers["location"] == f"{address}?order=most&row=2#why"
    assert numbers(served.get(f"{address}?row=2").text)
    served.until(f"{address}?row=2", "requires at least 4")
    part = served.ask("POST", f"{address}/why", "row=3", {"x-studio": "1"})
    assert '<tr data-row="3" class="chosen">' in part.text


def test_the_table_as_a_whole(looked: tuple[Served, str]) -> None:
    served, address = looked
    text = served.get(address).text
    assert "In the file, age is two columns: age_low and age_high." in text
    assert text.count('class="before-after"') == 3
    worst = text.partition('id="worst"')[2].partition("</table>")[0]
    assert worst.count("<tr>") > 1
    assert "gout" in worst or "flu" in worst
    assert re.search(r'<th scope="row">age</th><td class="number">[\d.]+%', text)


def test_a_script_gets_the_parts_and_german_has_its_own_words(looked: tuple[Served, str]) -> None:
    served, address = looked
    part = served.ask("GET", f"{address}?row=2", headers={"x-studio": "1"}).text
    assert "<html" not in part
    assert 'id="rows"' in part
    assert 'id="why"' in part
    german = served.ask("GET", f"{address}?row=2", headers={"accept-language": "de"}).text
    assert "das Original; es bleibt auf diesem Rechner" in german
    assert "Was ein Angreifer sieht" in german or "Unterdrückt" in german


def test_a_restart_shows_the_same(looked: tuple[Served, str], files: tuple[Path, Path]) -> None:
    """The files hold the rows and the reasons; without them, the plan can be run again."""
    served, address = looked
    addresses = [address, f"{address}?row=2", f"{address}?row=9&order=most&page=2"]
    before = [served.get(one).text.partition("<main")[2] for one in addresses]
    assert served.interrupt() == 0
    with serving(served.folder) as again:
        assert [again.get(one).text.partition("<main")[2] for one in addresses] == before
        project = address.partition("/look/")[0]
        again.until(f"{project}/columns", 'class="columns"')
        (look,) = served.folder.glob("projects/*/runs/*/look")
        shutil.rmtree(look)
        text = again.get(address).text
        assert "removed when the studio ended" in text
        assert "Zoe" not in text
        assert again.ask("POST", f"{address}/again", "").status == 303
        again.until(f"{project}/run", "(?s)report.html.*report.html|role=.alert")
        assert numbers(again.get(f"{project}/look").text)
        assert again.interrupt() == 0
    # This one was not asked to keep copies of original records.
    assert not list(served.folder.glob("projects/*/runs/*/look"))
