"""The README is true: its commands exist, its examples run."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal import Plan
from shoal.cli import main as cli
from shoal.comparing import isolated_run as trial

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    first = blocks("")[0]
    commands = re.findall(r"^make (\S+)", first, re.MULTILINE)
    assert commands == ["demo", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_python_examples_run(capsys):
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), {})
    assert "476**" in capsys.readouterr().out


def test_commands_run_on_a_table(tmp_path, monkeypatch, capsys):
    """The four lines of «Your own table», the editor left out, with the plan that is shown."""
    monkeypatch.chdir(tmp_path)
    rows = 24
    pd.DataFrame(
        {
            "name": [f"N{i}" for i in range(rows)],
            "patient": [f"P{i // 2}" for i in range(rows)],
            "age": [30 + i // 2 for i in range(rows)],
            "zip": [f"476{i // 2:02}" for i in range(rows)],
            "sex": ["f", "f", "m", "m"] * (rows // 4),
            "disease": ["flu", "cold"] * (rows // 2),
            "visit": list(range(rows)),
        }
    ).to_csv("people.csv", index=False)
    lines = [line.split("#")[0].split() for line in blocks("")[1].strip().splitlines()]
    assert [line[0] for line in lines] == ["shoal", "$EDITOR", "shoal", "shoal"]
    for line in lines:
        if line[0] == "$EDITOR":
            assert Plan.load(line[1]).columns["name"].role == "identifier"
            Path(line[1]).write_text(blocks("toml")[0], encoding="utf-8")
            continue
        monkeypatch.setattr(sys, "argv", line)
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert not end.value.code, line
    assert Path("release.csv").exists()


def test_comparing_is_true(tmp_path, monkeypatch, capsys):
    """The command and the example of docs/comparing.md run, in one process for speed."""
    page = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("shoal.comparing.compare"), "Apart", trial.Here)
    (example,) = blocks("python", page)
    names: dict[str, object] = {}
    exec(compile(example, "comparing.md", "exec"), names)
    assert "Comparison of 4 runs on 8 records" in capsys.readouterr().out
    names["people"].to_csv("people.csv", index=False)
    Plan(**names["plan"]).save("plan.toml")
    command = blocks("", page)[0].split()
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    for name in ("runs.csv", "runs.json", "runs.svg"):
        assert Path(name).exists()
    (asked,) = blocks("toml", page)
    release = shoal.anonymize(names["people"], Plan(**tomllib.loads(asked)))
    assert release.notes[0].startswith("auto chose")
    described = page.split("| option |")[1].split("\n\n")[0]
    options = set(re.findall(r"`(--[a-z]+)`", described)) | {"--plan", "--help"}
    monkeypatch.setattr(sys, "argv", ["shoal", "compare", "--help"])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        cli.main()
    assert set(re.findall(r"(--[a-z]+)", capsys.readouterr().out)) == options


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_every_name_of_the_catalog_is_explained():
    from shoal import catalog

    docs = README + "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md"))
    for shelf in catalog.registries.values():
        for name in shelf:
            assert f"`{name}`" in docs, name


def test_no_placeholder_is_left():
    assert not re.search(r"\bFIGURES\b|TODO|XXX", README)


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def anchors(page: Path) -> set[str]:
    """The headings of a page as links have them."""
    titles = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_point_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)]+)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        other = page.parent / name if name else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


@pytest.mark.parametrize("page", [one for one in PAGES if one.name != "CONTRIBUTING.md"])
def test_files_of_the_repository_are_there(page):
    """Those that a page names in code: as the repository has them, or as src/shoal does."""
    for name in re.findall(r"`((?:\w+/)+\w+\.(?:py|toml))`", page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists() or (ROOT / "src" / "shoal" / name).exists(), name
