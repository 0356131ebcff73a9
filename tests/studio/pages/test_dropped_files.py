"""Files that are dropped on a page: any format, limits, two at once, and a lost connection."""

from __future__ import annotations

import http.client
import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

import pyarrow as pa
import pytest

from shoal.io.files import write_table
from tests.studio.served import Answer, Served, serving

PEOPLE = pa.table(
    {
        "age": [20 + i % 40 for i in range(80)],
        "sex": ["fm"[i % 2] for i in range(80)],
        "disease": [("flu", "gout")[i % 3 % 2] for i in range(80)],
    }
)
CSV = b"age,sex\n" + b"31,f\n47,m\n" * 30


def put(served: Served, path: str, content: bytes, name: str) -> Answer:
    return served.ask("PUT", path, content, {"x-file-name": quote(name)})


def address(answer: Answer) -> str:
    assert answer.status == 200, answer.text
    found: str = json.loads(answer.text)["address"]
    return found


def uploads(served: Served) -> list[Path]:
    return sorted((served.folder / "uploads").iterdir())


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ".xlsx", ".jsonl", ".sav"])
def test_every_format_can_be_dropped(studio: Served, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    write_table(PEOPLE, path)
    found = address(put(studio, "/upload", path.read_bytes(), f"My people{ending}"))
    page = studio.until(found, 'class="columns"|role="alert"').text
    assert 'class="columns"' in page
    assert f"My people{ending}" in page


def test_names_are_text_and_never_markup(studio: Served) -> None:
    name = "<script>alert(1)</script>.csv"
    found = address(put(studio, "/upload", CSV, name))
    page = studio.until(found, 'class="columns"').text
    assert "<script>alert" not in page
    assert "alert(1)" not in studio.get("/").text.replace("&lt;script&gt;alert(1)", "")


@pytest.mark.parametrize("name", ["people.exe", "people", "", "../../x"])
def test_files_of_other_kinds_are_refused(studio: Served, name: str) -> None:
    before = uploads(studio)
    answer = put(studio, "/upload", CSV, name)
    assert answer.status == 422
    assert "cannot tell the format" in json.loads(answer.text)["error"]
    assert uploads(studio) == before


def test_a_copy_is_private(studio: Served) -> None:
    before = uploads(studio)
    put(studio, "/upload", CSV, "Ann Smith.csv")
    (new,) = set(uploads(studio)) - set(before)
    assert new.stat().st_mode & 0o777 == 0o600
    assert "Ann" not in new.name


def test_a_file_that_is_too_large_is_refused(studio: Served) -> None:
    """Before it is sent, if its size is announced."""
    before = uploads(studio)
    with socket.create_connection(("127.0.0.1", studio.port), timeout=30) as raw:
        raw.sendall(
            f"PUT /upload HTTP/1.1\r\nhost: 127.0.0.1:{studio.port}\r\norigin: {studio.origin}\r\n"
            f"cookie: {studio.cookie}\r\nx-file-name: big.csv\r\ncontent-length: 600000000\r\n\r\n"
            "age,sex\n".encode()
        )
        answer = b""
        while b"error" not in answer and (part := raw.recv(4000)):
            answer += part
    assert b" 413 " in answer
    assert b"big.csv has more than 500 MB" in answer
    assert uploads(studio) == before


def test_a_lost_connection_leaves_nothing(studio: Served) -> None:
    before = uploads(studio)
    with socket.create_connection(("127.0.0.1", studio.port), timeout=30) as raw:
        raw.sendall(
            f"PUT /upload HTTP/1.1\r\nhost: 127.0.0.1:{studio.port}\r\norigin: {studio.origin}\r\n"
            f"cookie: {studio.cookie}\r\nx-file-name: lost.csv\r\ncontent-length: 100000\r\n\r\n"
            "age,sex\n".encode()
        )
        until(lambda: len(uploads(studio)) > len(before))  # it has begun
    until(lambda: uploads(studio) == before)
    assert "lost.csv" not in studio.get("/").text


def until(holds, seconds: float = 30) -> None:
    end = monotonic() + seconds
    while not holds():
        assert monotonic() < end
        sleep(0.02)


def test_two_files_at_once_are_two_tables(studio: Served) -> None:
    """Their parts come in turns."""
    opened = [Sender(studio, "/upload", f"{name}.csv", len(CSV)) for name in ("one", "two")]
    for start in range(0, len(CSV), 100):
        for one in opened:
            one.send(CSV[start : start + 100])
    found = [one.address() for one in opened]
    assert found[0] != found[1]
    for page, name in zip(found, ("one", "two"), strict=True):
        assert f"{name}.csv" in studio.until(page, 'class="columns"').text


class Sender:
    """A file that is on its way."""

    def __init__(self, served: Served, path: str, name: str, size: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        self.connection.putrequest("PUT", path)
        for key, value in {"cookie": served.cookie, "origin": served.origin, "x-file-name": name,
                           "content-length": str(size)}.items():  # fmt: skip
            self.connection.putheader(key, value)
        self.connection.endheaders()

    def send(self, part: bytes) -> None:
        self.connection.send(part)

    def answer(self) -> tuple[int, dict[str, str]]:
        response = self.connection.getresponse()
        found = response.status, json.loads(response.read())
        self.connection.close()
        return found

    def address(self) -> str:
        return self.answer()[1]["address"]


def test_many_files_at_once(studio: Served) -> None:
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(put, studio, "/upload", CSV, f"many{i}.csv") for i in range(8)]
        assert len({address(job.result()) for job in jobs}) == 8
    for one in re.findall(r'action="(/p/\w+/remove)"', studio.get("/").text):
        if "many" in studio.get(one.replace("remove", "columns")).text:
            studio.ask("POST", one, "")


def test_a_copy_that_was_removed_is_dropped_again_and_the_plan_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "kept") as first:
        project = address(put(first, "/upload", CSV, "people.csv")).rpartition("/")[0]
        first.until(f"{project}/columns", 'class="columns"')
        assert first.ask("POST", f"{project}/columns/1/role", "role=other").status == 303
        plan = first.get(f"{project}/plan.toml").text
        demo = first.opened()
        first.interrupt()
    assert not list((tmp_path / "kept" / "uploads").glob("*"))
    with serving(tmp_path / "kept") as again:
        assert "drop the file again" in again.get("/").text
        page = again.until(f"{project}/columns", "data-drop").text
        assert f'data-drop="{project}/upload"' in page
        assert "Your plan and your runs are still here" in page
        # An older file that arrives later does not count.
        late = Sender(again, f"{project}/upload", "old.csv", len(CSV))
        late.send(CSV[:50])
        newer = again.ask("PUT", f"{project}/upload", CSV, {"x-file-name": "people.csv"})
        assert json.loads(newer.text)["address"] == f"{project}/columns"
        late.send(CSV[50:])
        assert late.answer()[0] == 409
        again.until(f"{project}/columns", 'class="columns"')
        assert again.get(f"{project}/plan.toml").text == plan
        assert len(uploads(again)) == 1
        # The invented table can be made again.
        again.until(f"{demo}/columns", 'class="columns"')


def test_copies_that_nobody_uses_are_swept_away(tmp_path: Path) -> None:
    left = tmp_path / "kept" / "uploads"
    left.mkdir(parents=True)
    (left / "orphan.csv").write_bytes(CSV)
    with serving(tmp_path / "kept"):
        assert uploads_of(left) == []


def uploads_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def test_a_dictionary_is_handed_in(studio: Served) -> None:
    rows = "".join(f"{20 + i % 40},{1 + i % 2},{i % 3}\n" for i in range(120))
    found = address(put(studio, "/upload", f"age,sex,x1\n{rows}".encode(), "coded.csv"))
    project = found.rpartition("/")[0]
    studio.until(found, 'class="columns"')
    words = b"column,label,role,codes\nsex,Sex of the person,other,1=male; 2=female\nx1,,drop,\n"
    address(put(studio, f"{project}/dictionary", words, "dictionary.csv"))
    page = studio.until(found, "Sex of the person").text
    plan = studio.get(f"{project}/plan.toml").text
    assert 'x1 = { role = "drop" }' in plan
    assert 'sex = { role = "other" }' in plan
    assert "A dictionary is in use" in page
    more = studio.get(f"{found}?more=1").text
    assert "female" in more
    wrong = b"column,role\nnose,quasi\n"
    address(put(studio, f"{project}/dictionary", wrong, "dictionary.csv"))
    page = studio.until(found, 'role="alert"').text
    assert "columns that the table lacks" in page
    assert "Sex of the person" in page  # as it was
    studio.ask("POST", f"{project}/dictionary/remove", "")
    until(lambda: "Sex of the person" not in studio.get(found).text)
    assert 'class="columns"' in studio.until(found, 'class="columns"').text
