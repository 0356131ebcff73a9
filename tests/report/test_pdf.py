"""PDF: a report is printed where a browser or WeasyPrint is, offline, and the same again."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import shoal
from shoal.base.errors import BadFile, ShoalError
from shoal.measures.findings import Finding
from shoal.measures.verdicts.verdict import Verdict
from shoal.report import pdf
from shoal.report.limit_facts import limit_facts
from shoal.report.page import Page, Section, Text, render
from shoal.report.release_report import facts, page
from tests.command_line import HEADER, PLAN, left
from tests.report.test_front import ABOUT, LIMITS, crowded
from tests.report.test_release_report import people, plan

browser = pytest.mark.skipif(
    pdf._browser() is None, reason="no Chromium, Chrome or Edge here: a PDF cannot be printed"
)
weasyprint = pytest.mark.skipif(
    not pdf._has_weasyprint(), reason="WeasyPrint is not installed: pip install 'shoal[pdf]'"
)


def text_of(content: bytes) -> bytes:
    """All that is in a PDF, also in its compressed parts."""
    found = [content]
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        try:
            found.append(zlib.decompressobj().decompress(stream))
        except zlib.error:
            continue
    return b"\n".join(found)


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(people(), plan().changed(about=ABOUT, limits=LIMITS))


@browser
def test_a_browser_prints_the_same_file_twice(release, tmp_path):
    before = set(Path(pdf.tempfile.gettempdir()).iterdir())
    release.report(tmp_path / "a.pdf")
    release.report(tmp_path / "b.PDF")
    first = (tmp_path / "a.pdf").read_bytes()
    assert first.startswith(b"%PDF-")
    assert first == (tmp_path / "b.PDF").read_bytes()
    assert left(tmp_path) == ["a.pdf", "b.PDF"]
    assert (tmp_path / "a.pdf").stat().st_mode & 0o077 == 0
    after = set(Path(pdf.tempfile.gettempdir()).iterdir()) - before
    mine = f"-{os.getpid()}-"  # others may be printing too
    assert not [path for path in after if path.name.startswith(".shoal") and mine in path.name]


@browser
def test_nothing_about_this_machine_is_in_it(release, tmp_path):
    release.report(tmp_path / "a.pdf")
    content = text_of((tmp_path / "a.pdf").read_bytes())
    time = release.made.astimezone(pdf.UTC).strftime("D:%Y%m%d%H%M%S").encode()
    assert content.count(time) == 2  # created and changed
    for word in (b"file:", b"/tmp", str(Path.home()).encode(), b"Linux", b"HeadlessChrome"):
        assert word == b"/" or word not in content, word
    for name in people()["name"].to_pylist():
        assert name.encode() not in content


@browser
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext here")
def test_the_signature_is_on_page_two(release, tmp_path):
    release.report(tmp_path / "a.pdf")

    def words(page: int) -> str:
        command = ["pdftotext", "-f", str(page), "-l", str(page), str(tmp_path / "a.pdf"), "-"]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout

    assert "Stays & visits" in words(1)
    assert "What remains possible" in words(1)
    assert "Signature" in words(2)
    assert "Dr. Ann Lee" in words(2)
    assert words(3).lstrip().startswith("Annex")
    assert "1 / " in words(1)
    assert "Release report: Stays & visits" in words(4)


@browser
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext here")
def test_with_many_limits_too(release, tmp_path):
    """Ten lines of what is asked, all reasons long, and the summary is still one page."""
    names = ["highest_risk", "average_risk", "loss", "suppressed"]
    names += [f"attacks.{name}" for name in ("homogeneity", "skewness", "similarity", "linkage")]
    given = [Verdict(name, 0.1, 0.099, "disease" if "." in name else None) for name in names]
    given.append(Verdict("share_at_risk", 0.1, 0.2, threshold=0.05))
    known = replace(facts(release), limits=limit_facts(given, "nllm"))
    pdf.write_pdf(render(page(known), pdf.PAPER), tmp_path / "a.pdf", release.made)
    command = ["pdftotext", "-l", "3", str(tmp_path / "a.pdf"), "-"]
    found = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    first, second, third, *_ = found.split("\f")
    assert "What remains possible" in first
    assert second.lstrip().startswith("What is published")
    assert "Signature" in second
    assert third.lstrip().startswith("Annex")


@browser
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext here")
def test_a_release_of_which_much_must_be_said_is_signed_on_page_two(release, tmp_path):
    """As that of a hospital: ten lines, five long findings, a warning, three signers."""
    columns = ["medical_specialty", "diag_1", "insulin", "diabetesMed", "readmitted"]
    said = "22.1 % of the people (24.2 % of the records) are in classes in which everybody has a "
    said += "value of readmitted in common: an attacker who knows such a person's class knows it."
    counted = Finding("record-count", None, 7.0, "if_more_is_known", said)
    found = [Finding("homogeneity", name, 22.0, "certain", said) for name in columns]
    names = ["highest_risk", "average_risk", "loss", "suppressed", "attacks.homogeneity"]
    limits = [Verdict(name, 0.1, 0.099, "disease" if "." in name else None) for name in names]
    limits.append(Verdict("share_at_risk", 0.1, 0.099, threshold=0.05))
    known = facts(release)
    known = replace(
        known,
        limits=limit_facts(limits, "nllm"),
        requirements=known.requirements * 3,
        findings=[counted, *found],
        has_persons=True,
        persons_published=True,
        suppressed=12,
        about=known.about.model_copy(
            update={
                "recipient": "University of Springfield, department of research, under contract",
                "signers": ["Dr. Ann Lee, data-protection officer", "Bo Ek, head", "Cy Roe"],
            }
        ),
    )
    pdf.write_pdf(render(page(known), pdf.PAPER), tmp_path / "a.pdf", release.made)
    command = ["pdftotext", "-l", "3", str(tmp_path / "a.pdf"), "-"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    first, second, third, *_ = printed.split("\f")
    assert "No requirement protects the sensitive values" in first
    assert second.lstrip().startswith("What is published")
    assert second.count("Signature") == 3
    assert third.lstrip().startswith("Annex")


@browser
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext here")
@pytest.mark.parametrize("much", ["limits", "all"])
def test_however_much_is_said_the_signature_is_on_page_two(release, much, tmp_path):
    known = crowded(facts(release))[much]
    pdf.write_pdf(render(page(known), pdf.PAPER), tmp_path / "a.pdf", release.made)
    command = ["pdftotext", "-l", "3", str(tmp_path / "a.pdf"), "-"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    _, second, third, *_ = printed.split("\f")
    assert "Signature" in second
    assert third.lstrip().startswith("Annex")


@browser
def test_a_page_that_asks_for_more_gets_nothing(tmp_path):
    """Neither a script nor a file of this machine."""
    (tmp_path / "secret.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    html = render(Page("t", "a", "s", [], [Section("x", [Text("words")])]), "A4")
    more = (
        "<script>document.title = 'script ran'; document.write('script ran')</script>"
        f"<img src='{(tmp_path / 'secret.svg').as_uri()}'>"
    )
    content = text_of(pdf._printed_by(pdf._browser(), html.replace("</body>", f"{more}</body>")))
    assert b"script ran" not in content


@weasyprint
def test_weasyprint_prints_it_too(release, tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "_browser", lambda: None)
    release.report(tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"file:" not in text_of(content)


def test_without_any_printer_it_is_refused_before_the_work(run, people, monkeypatch):
    monkeypatch.setattr(pdf, "_browser", lambda: None)
    monkeypatch.setattr(pdf, "_has_weasyprint", lambda: False)
    command = ("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    status, _, err = run(*command, "--report", "report.pdf")
    assert status == 2
    said = " ".join(err.split())
    assert "a PDF is printed by a browser (Chromium, Chrome or Edge) or by WeasyPrint" in said
    assert "pip install 'shoal[pdf]'" in said
    assert "print it from a browser" in said
    assert left(people) == ["people.csv", "plan.toml"]
    assert run(*command, "--report", "report.html")[0] == 0
    pdf.check_report(None)
    pdf.check_report(Path("report.html"))
    with pytest.raises(BadFile, match="neither was found"):
        pdf.check_report(Path("report.PDF"))


def script(folder: Path, text: str) -> str:
    path = folder / "browser"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(sys.platform == "win32", reason="scripts are programs on POSIX only")
def test_a_browser_that_fails_or_hangs(tmp_path, monkeypatch):
    """Real processes: what they start ends with them."""
    monkeypatch.setattr(pdf, "_has_weasyprint", lambda: False)
    failing = script(tmp_path, "import sys; sys.exit('no display')")
    with pytest.raises(ShoalError, match=r"did not print the report.*It said: no display"):
        pdf._printed_by(failing, "<p>")
    monkeypatch.setattr(pdf, "SECONDS", 2)
    children = tmp_path / "child"
    hanging = script(
        tmp_path,
        "import subprocess, sys, time\n"
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(children)!r}, 'w').write(str(one.pid))\n"
        "time.sleep(600)",
    )
    with pytest.raises(ShoalError, match="within 2 seconds"):
        pdf._printed_by(hanging, "<p>")
    assert has_ended(children.read_text())


def has_ended(process: str) -> bool:
    """Whether a process that was killed is gone, at once or as soon as the machine gets to it."""
    for _ in range(200):
        try:
            if Path(f"/proc/{process}/stat").read_text().split()[2] in "ZX":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are seen in /proc")
def test_ctrl_c_ends_the_browser_and_leaves_no_file(tmp_path):
    (tmp_path / "people.csv").write_text(HEADER + "".join(f"n{i},30,f,d\n" for i in range(9)))
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "bin").mkdir()
    started = tmp_path / "bin" / "started"
    program = (
        f"import os, time\nopen({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    Path(script(tmp_path / "bin", program)).rename(tmp_path / "bin" / "chromium")
    command = "anonymize people.csv --plan plan.toml --out r.csv --report r.pdf".split()
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", *command],
        cwd=tmp_path,
        env={**os.environ, "PATH": str(tmp_path / "bin")},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not started.exists() or not started.read_text():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert has_ended(started.read_text())
    assert "the release is written: r.csv; not written: the report" in " ".join(said.split())
    assert left(tmp_path) == ["bin", "people.csv", "plan.toml", "r.csv"]
