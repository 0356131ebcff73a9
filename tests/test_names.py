"""Item 8 of issue 12: what docs, README, CHANGELOG and docstrings name is there.

Dotted names are resolved after `import shoal` alone, in a process of their own. `release.x` and the
like stand for objects: for each such word there is a class, and x must be one of its attributes.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
import typer

import shoal
from shoal import Audit, Comparison, Fitted, Hierarchy, Plan, Release
from shoal.cli import main as cli
from tests.sources import statements, tree

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
# What a word in front of a dot stands for.
OBJECTS = {
    "Audit": Audit, "Comparison": Comparison, "Fitted": Fitted, "Hierarchy": Hierarchy,
    "Plan": Plan, "Release": Release,
    "audit": Audit, "applied": Release, "comparison": Comparison, "fitted": Fitted,
    "plan": Plan, "recoding": Fitted, "release": Release,
}  # fmt: skip
FILES = {
    "arrows",
    "cli",
    "csv",
    "feather",
    "gz",
    "html",
    "json",
    "md",
    "py",
    "sav",
    "svg",
    "toml",
    "xlsx",
    "zip",
}  # endings
IMPORT = re.compile(r"^ *(?:>>> )?(?:from|import) shoal\b.*$", re.MULTILINE)
SENTENCE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


@cache
def docstrings() -> dict[str, str]:
    """All docstrings of the package, by file and line."""
    found = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        module = tree(path)
        for node in (module, *statements(module)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node)
                if text:
                    where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
                    found[where] = text
    return found


@cache
def texts() -> dict[str, str]:
    pages = {path.name: path.read_text(encoding="utf-8") for path in PAGES}
    return {**pages, **docstrings()}


def dotted(text: str, word: str) -> list[str]:
    """Names that begin with a word and a dot; a file such as plan.toml is none."""
    text = IMPORT.sub("", text)  # an import in an example finds its module by itself
    names = re.findall(rf"(?<![\w./-]){word}((?:\.[A-Za-z_]\w*)+)", text)
    return [name[1:] for name in names if name.rsplit(".", 1)[-1] not in FILES]


def test_item_8_every_dotted_name_of_the_pages_is_public():
    names = sorted(
        {f"shoal.{name}" for page in PAGES for name in dotted(texts()[page.name], "shoal")}
    )
    assert {"shoal.datasets", "shoal.distances.kl", "shoal.bound.lower_bound"} <= {*names}
    # In a fresh process; what the name before made an attribute of the package is taken away.
    code = """
import sys, json, types, shoal
for name in json.load(sys.stdin):
    for known, thing in list(vars(shoal).items()):
        if known not in ("sys", "__spec__") and isinstance(thing, types.ModuleType):
            delattr(shoal, known)
    thing = shoal
    try:
        for part in name.split(".")[1:]:
            thing = getattr(thing, part)
    except AttributeError as error:
        print(name, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(names), capture_output=True, text=True,
        timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout == ""


def test_item_8_every_dotted_name_of_the_docstrings_is_there():
    names = {f"shoal.{name}" for text in docstrings().values() for name in dotted(text, "shoal")}
    assert len(names) >= 5
    for name in sorted(names):
        pkgutil.resolve_name(name)


def test_item_8_public_modules_are_attributes_of_the_package():
    for name in ("bound", "catalog", "comparison", "datasets", "distances", "errors", "plan"):
        assert getattr(shoal, name) is importlib.import_module(f"shoal.{name}")


@pytest.mark.parametrize("name", ["nonsense", "_mend", "__wrapped__", "data.sets"])
def test_item_8_other_names_are_no_attributes(name):
    with pytest.raises(AttributeError, match="shoal"):
        getattr(shoal, name)


def test_item_8_import_stays_light():
    code = "import sys, shoal; print(sorted(m for m in sys.modules if m.split('.')[0] in BIG))"
    code = f"BIG = {{'numpy', 'numba', 'pyarrow', 'pydantic', 'rich', 'scipy'}}\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def attributes(kind: type) -> set[str]:
    names = set(dir(kind)) | set(getattr(kind, "model_fields", ()))
    return names | ({field.name for field in fields(kind)} if is_dataclass(kind) else set())


def test_item_8_attributes_of_objects_are_there():
    wrong, count = [], 0
    for where, text in texts().items():
        for word, kind in OBJECTS.items():
            for name in dotted(text, word):
                count += 1
                if name.split(".")[0] not in attributes(kind):
                    wrong.append(f"{where}: {word}.{name}")
    assert not wrong
    assert count > 15


def commands() -> dict[str, set[str]]:
    """The commands, each with its options."""
    group = typer.main.get_command(cli.app)
    return {
        name: {option for p in command.params for option in [*p.opts, *p.secondary_opts]}
        for name, command in group.commands.items()
    }


def code_in(text: str) -> str:
    """What is written as code."""
    return "\n".join(SENTENCE.findall(text))


def test_item_8_commands_and_options_are_there():
    known = commands()
    every = {option for options in known.values() for option in options}
    every |= {"--help", "--version"}
    wrong, count = [], 0
    for where, text in texts().items():
        code = code_in(text)
        for command, rest in re.findall(r"(?:^\$ |^|`)shoal ([a-z_]+)\b([^\n`]*)", code, re.M):
            count += 1
            if command not in known:
                wrong.append(f"{where}: shoal {command}")
                continue
            rest = rest.split("#")[0]
            for option in re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", rest):
                if option not in known[command] | {"--help"}:
                    wrong.append(f"{where}: shoal {command} {option}")
        # Options that are named by themselves, but not those of other programs.
        for option in re.findall(r"`(--[a-z][a-z-]+)[^`]*`", text):
            count += 1
            if option not in every:
                wrong.append(f"{where}: {option}")
    assert not wrong
    assert count > 40


def test_item_8_targets_of_make_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M):
            assert target in targets, (path.name, target)


def test_item_8_the_default_algorithm_is_named_correctly():
    default = Plan(columns={"a": "quasi"}).algorithm.name
    for path in PAGES:
        text = " ".join(path.read_text(encoding="utf-8").split())
        for named in re.findall(r"\bthe default algorithm,? `([a-z-]+)`", text):
            assert named == default, path.name
        for named in re.findall(r"`([a-z-]+)`(?: is|,|, which is) the default\b", text):
            assert named in (default, "nllm"), (path.name, named)
