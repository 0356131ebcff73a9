"""The walk of CONTRIBUTING.md: its files alone add a model, loss, attack, algorithm and format."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(?:python|toml)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEW = ("wrong-guesses", "edge-count", "majority", "sorted-runs", "arrows")
PEOPLE = "age,sex,disease\n" + "".join(
    f"{20 + i % 37},{'fm'[i % 2]},{('flu', 'cold', 'none')[i % 3]}\n" for i in range(60)
)


def blocks() -> dict[str, str]:
    """The files of the walk, by path."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return dict(BLOCK.findall(text))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with the new files."""
    copy = tmp_path_factory.mktemp("walk")
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    for name, content in blocks().items():
        assert not (copy / name).exists()
        (copy / name).write_text(content, encoding="utf-8")
    (copy / "people.csv").write_text(PEOPLE, encoding="utf-8")
    return copy


def run(tree: Path, *words: str, **variables: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), **variables}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=tree, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_walk_is_one_file_each_with_the_twins_that_the_laws_ask_for() -> None:
    sources = [name for name in blocks() if name.startswith("src/")]
    rest = set(blocks()) - set(sources)
    assert [name.split("/")[-2] for name in sources] == [
        "models", "losses", "attacks", "algorithms", "formats",
    ]  # fmt: skip
    assert rest == {
        "tests/naive/model_wrong_guesses.py",
        "tests/naive/loss_edge_count.py",
        "tests/naive/attack_majority.py",
        "plan.toml",
    }


@pytest.mark.slow
def test_the_laws_hold_for_the_new_entries(tree: Path) -> None:
    """With few random examples: what matters is that every law finds the entries."""
    words = ("-v", "-p", "no:cacheprovider", "-m", "not slow", "-k", " or ".join(NEW))
    shown = run(tree, "pytest", *words, "tests/laws", SHOAL_EXAMPLES="0.1")
    for name in NEW:
        assert f"[{name}" in shown, f"no law is about {name}"


def test_they_are_listed(tree: Path) -> None:
    listed = run(tree, "shoal", "list")
    for name in NEW[:4]:  # formats: `shoal list formats`
        assert name in listed


@pytest.mark.slow
def test_one_plan_with_all_of_them(tree: Path) -> None:
    plan = ("people.csv", "--plan", "plan.toml")
    made = json.loads(
        run(tree, "shoal", "anonymize", *plan, "--out", "release.arrows", "--json", "-")
    )
    assert {check["model"]: check["holds"] for check in made["checks"]} == {
        "k-anonymity": True,
        "wrong-guesses": True,
    }
    assert "edge-count" in made["losses"]
    audit = ("audit", "release.arrows", *plan[1:], "--original", plan[0])
    found = json.loads(run(tree, "shoal", *audit, "--json", "-"))
    assert found["rows"] == 60
    assert found["levels"]["wrong-guesses[disease]"] >= 2
    assert found["attacks"]["majority"]["disease"]["records"] >= 0
