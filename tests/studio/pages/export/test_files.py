"""Files of a run: the same bytes as on the command line, also after a restart."""

from __future__ import annotations

import errno
import html
import json
import os
import re
import resource
import select
import shlex
import signal
import socket
import struct
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from time import sleep
from urllib.parse import quote, unquote

import pytest

from shoal import Database, Plan
from shoal.io.files import read_table
from shoal.studio.processes import descendants
from tests.postgresql_server import PASSWORD, Server
from tests.studio.pages.export.exported import STEM, Exported, exported, in_shell
from tests.studio.served import serving


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exported]:
    with exported(tmp_path_factory.mktemp("own people")) as found:
        yield found


def test_the_shown_command_gives_the_same_bytes(made: Exported, tmp_path: Path) -> None:
    """In a shell, with the plan of the page, in another folder, whatever the names are."""
    release = made.served.get(made.file("release.csv"))
    assert release.status == 200
    (tmp_path / f"{STEM}-plan.toml").write_bytes(made.served.get(made.file("plan.toml")).content)
    done = in_shell(made.commands()[0], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{STEM}-release.csv").read_bytes() == release.content
    for name in ("codebook.html", "recoding.json"):
        own = (tmp_path / f"{STEM}-{name}").read_bytes()
        assert own == made.served.get(made.file(name)).content
    assert (tmp_path / f"{STEM}-report.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("ending", "ranges", "formulas"),
    [(".csv", "bounds", "escape"), (".parquet", "label", ""), (".xlsx", "midpoint", ""),
     (".jsonl.gz", "bounds", "keep"), (".sav", "label", "")],
)  # fmt: skip
def test_every_format_is_the_same(
    made: Exported, run, tmp_path: Path, ending: str, ranges: str, formulas: str
) -> None:
    """How the release is written is part of the plan, and of the address of each file."""
    assert made.choose(ending=ending, ranges=ranges, formulas=formulas, types="keep") == 303
    assert made.choose(ending=ending, ranges="wide") == 409
    links = {link.rpartition("/")[2].partition("?")[0]: link for link in made.links()}
    (tmp_path / f"{STEM}-plan.toml").write_bytes(made.served.get(links["plan.toml"]).content)
    assert Plan.load(tmp_path / f"{STEM}-plan.toml").write.ranges == ranges
    words = shlex.split(made.commands()[0])
    status, _, said = run(*words[1 : words.index("--report")])
    assert status == 0, said
    content = made.served.get(links[f"release{ending}"]).content
    assert (tmp_path / f"{STEM}-release{ending}").read_bytes() == content
    if ending == ".csv":
        assert content.startswith(b"age_low,age_high,")
        assert b",'=1+1\n" in content
    assert made.choose(ending=".csv", ranges="label", formulas="", types="keep") == 303


def test_the_plan_needs_no_other_file(made: Exported, tmp_path: Path) -> None:
    for address in (made.file("plan.toml"), f"{made.project}/plan.toml"):
        (tmp_path / "plan.toml").write_bytes(made.served.get(address).content)
        assert Plan.load(tmp_path / "plan.toml").files() == []


def test_names_are_safe(made: Exported) -> None:
    answer = made.served.get(made.file("report.html?download"))
    said = answer.headers["content-disposition"]
    assert said == f'attachment; filename="{STEM}-report.html"'
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for name in (
        "..%2Frun.json",
        "run.json",
        "kept",
        "report-paper.html",
        "release.exe",
        "plan.zip",
    ):
        assert made.served.get(made.file(name)).status in (404, 422), name
    assert "person 1" not in unquote(made.served.get(made.file("release.csv")).text)


@pytest.mark.parametrize("name", ["report.html", "codebook.html"])
def test_pages_are_shown_without_scripts(made: Exported, name: str) -> None:
    page = made.served.get(made.file(name))
    assert page.status == 200
    policy = page.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert "content-disposition" not in page.headers
    assert "<script" not in page.text


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_codebooks_are_saved(made: Exported, ending: str) -> None:
    answer = made.served.get(made.file(f"codebook.{ending}"))
    assert answer.headers["content-disposition"].endswith(f'-codebook.{ending}"')
    assert "disease" in answer.text


def test_a_dictionary_goes_with_the_plan(made: Exported) -> None:
    names = {"x-file-name": "words.csv", "content-type": "application/octet-stream"}
    content = "column,label,role,codes\nage,Age in years,,\n"
    answer = made.served.ask("PUT", f"{made.project}/dictionary", content, names)
    assert answer.status == 200, answer.text
    made.served.until(made.page, "plan.zip")
    packed = zipfile.ZipFile(BytesIO(made.served.get(made.file("plan.zip")).content))
    assert packed.namelist() == [f"{STEM}-plan.toml", f"{STEM}-dictionary.csv"]
    assert packed.read(packed.namelist()[1]).decode() == content


def test_numbers_are_json(made: Exported) -> None:
    assert json.loads(made.served.get(made.file("release.json")).content)["published"] == 240


@pytest.mark.slow
def test_the_report_is_printed(made: Exported) -> None:
    answer = made.served.get(made.file("report.pdf"))
    if answer.status == 409:
        assert "neither was found" in answer.text
        pytest.skip("neither a browser nor WeasyPrint is here")
    assert answer.content.startswith(b"%PDF-")
    assert answer.headers["content-disposition"].endswith('-report.pdf"')


def written(made: Exported, address: str, table: str, more: str = "") -> str:
    """Write a table of a database; what the page says in the end."""
    body = f"address={quote(address)}&table={quote(table)}{more}"
    answer = made.served.ask("POST", f"{made.page}/database", body)
    assert answer.status in (303, 409), answer.text
    if answer.status == 409:
        return answer.text
    done = "was written, read back|id=.database.*role=.alert"
    return made.served.until(made.page, f"(?s){done}").text


def test_a_table_of_postgresql(made: Exported, postgresql: Server, tmp_path: Path) -> None:
    """The same records as in the file; the password is in a file, and nowhere else."""
    postgresql.run("DROP TABLE IF EXISTS exported", "GRANT ALL ON SCHEMA public TO guarded")
    secret = tmp_path / "pass"
    secret.write_text(f"*:*:*:guarded:{PASSWORD}\n")
    secret.chmod(0o600)
    address = f"{postgresql.address('guarded')}&passfile={secret}"
    page = written(made, address, "exported")
    assert "was written, read back and verified" in page, page
    assert PASSWORD not in page
    (tmp_path / "release.csv").write_bytes(made.served.get(made.file("release.csv")).content)
    file = read_table(tmp_path / "release.csv")
    read = Database(postgresql.address(), "exported").read()
    assert read.column_names == file.column_names
    assert read.to_pylist() == file.to_pylist()
    again = written(made, address, "exported")
    assert "tick the box below to replace it" in again
    assert "--replace" not in again.partition('id="commands"')[0]
    assert "was written" in written(made, address, "exported", "&replace=1")
    assert "--replace" in made.commands()[1]
    for file in made.served.folder.rglob("*"):
        assert not file.is_file() or PASSWORD.encode() not in file.read_bytes()


def test_files_of_databases(made: Exported, run, tmp_path: Path) -> None:
    """Also by the command that the page shows then."""
    made.choose(ending=".csv", ranges="bounds", formulas="", types="keep")
    links = {link.rpartition("/")[2].partition("?")[0]: link for link in made.links()}
    (tmp_path / f"{STEM}-plan.toml").write_bytes(made.served.get(links["plan.toml"]).content)
    for ending in ("db", "duckdb"):
        file = tmp_path / f"open data.{ending}"
        assert "was written, read back" in written(made, str(file), "release", "&ranges=bounds")
        own = Database(file, "release").read()
        assert "age_low" in own.column_names
        file.unlink()
        status, _, said = run(*shlex.split(made.commands()[1])[1:])
        assert status == 0, said
        assert Database(file, "release").read().equals(own)
    made.choose(ending=".csv", ranges="label", formulas="", types="keep")


@pytest.mark.parametrize(
    ("address", "table", "said"),
    [("postgresql://ann:marker-secret@h/b", "r", "must not contain a password"),
     ("host=a password=marker-secret", "r", "must not contain a password"),
     ("people.csv", "r", "no address of a database"),
     ("open.db", "", "name the table"), ("open.db", "a.b.c", "SCHEMA.NAME"),
     ("no-such-folder/open.db", "r", "there is no directory"),
     ("postgresql://a@127.0.0.1:1/b", "r", "PostgreSQL")],
)  # fmt: skip
def test_tables_that_cannot_be_written(made: Exported, address: str, table: str, said: str) -> None:
    page = html.unescape(written(made, address, table))
    assert said in page
    assert "marker-secret" not in page
    assert "<h1>Report and export</h1>" in page


def leftovers(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.name.startswith(".shoal-")]


def request_of(made: Exported, name: str) -> bytes:
    lines = [f"GET {made.file(name)} HTTP/1.1", f"Host: 127.0.0.1:{made.served.port}",
             f"Cookie: {made.served.cookie}", "", ""]  # fmt: skip
    return "\r\n".join(lines).encode()


def test_a_client_that_goes_away(made: Exported) -> None:
    """While a file is being made, and while it is being sent."""
    for name, read in (("release.feather", 0), ("report.html", 500)):
        with socket.create_connection(("127.0.0.1", made.served.port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.sendall(request_of(made, name))
            assert not read or client.recv(read).startswith(b"HTTP/1.1 200")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        answer = made.served.get(made.file(name))
        assert answer.status == 200
        assert len(answer.content) == int(answer.headers["content-length"])
    part = made.served.ask("GET", made.file("release.csv"), None, {"range": "bytes=10-19"})
    assert part.status == 206  # a download that broke off goes on
    assert part.content == made.served.get(made.file("release.csv")).content[10:20]
    assert leftovers(made.served.folder) == []


def test_there_is_nothing_to_stop(made: Exported) -> None:
    assert made.served.ask("POST", f"{made.page}/stop").headers["location"] == made.page
    assert 'id="stop-file"' not in made.served.get(made.page).text


def test_a_disk_that_is_full(made: Exported) -> None:
    limits = resource.RLIMIT_FSIZE
    pid = made.served.process.pid
    _, hard = resource.prlimit(pid, limits)
    for one in [pid, *descendants(pid)]:
        resource.prlimit(one, limits, (1000, hard))
    answer = made.served.get(made.file("release.ndjson"))
    assert answer.status == 409
    assert os.strerror(errno.EFBIG) in answer.text
    assert leftovers(made.served.folder) == []
    for one in [pid, *descendants(pid)]:
        resource.prlimit(one, limits, (hard, hard))
    assert made.served.get(made.file("release.ndjson")).status == 200


def killed_while_writing(made: Exported, endings: list[str]) -> str:
    """Kill the studio in the middle of an export; returns the ending of its file.

    Its processes go on for two milliseconds at a time, and stand still while the folder is looked
    at: what was seen then is still so when they are killed, however busy the machine is.
    """
    projects = made.served.folder / "projects"
    for ending in endings:
        with socket.create_connection(("127.0.0.1", made.served.port)) as client:
            client.sendall(request_of(made, f"release{ending}"))
            while not select.select([client], [], [], 0)[0]:
                made.served.signal(signal.SIGSTOP)
                if leftovers(projects):
                    made.served.process.kill()
                    made.served.process.wait()
                    return ending
                made.served.signal(signal.SIGCONT)
                sleep(0.002)
            assert client.recv(20).startswith(b"HTTP/1.1 200")  # it was over too soon
    raise AssertionError("no export was caught in the middle")


def test_everything_is_there_after_a_kill_and_a_restart(made: Exported) -> None:
    """Also with the original gone: nothing but what was kept is needed. The last test here."""
    wanted = ("release.csv", "release.parquet", "release.csv?ranges=midpoint", "plan.toml",
              "recoding.json", "release.json", "codebook.json", "report.html")  # fmt: skip
    before = {name: made.served.get(made.file(name)) for name in wanted}
    assert {one.status for one in before.values()} == {200}
    made.choose(ending=".xlsx", ranges="label", formulas="keep", types="keep")
    folder = made.served.folder
    ending = killed_while_writing(made, [".zsav", ".dta", ".tab"])
    made.table.unlink()
    assert leftovers(folder)
    for path in folder.glob("projects/*/runs/*/exports/[!.]*"):
        assert path.suffix != ending, "a file that was not complete had got its name"
        path.unlink()
    with serving(folder) as again:
        assert leftovers(folder) == []
        for name in wanted:
            answer = again.get(made.file(name))
            assert answer.status == 200, (name, answer.text)
            assert answer.content == before[name].content, name
        page = again.get(made.page).text
        assert "Open the report" in page
        assert 'value=".xlsx" selected' in page
        assert re.search('name="formulas".*?value="keep" selected', page, re.DOTALL)
        for path in folder.glob("projects/*/runs/*/report.html"):
            path.unlink()  # as if the studio had been killed before the report was finished
        assert "was not finished" in again.get(made.page).text
        late = again.get(made.file("report.html"))
        assert late.status == 409
        assert "start a run of the same plan" in late.text
