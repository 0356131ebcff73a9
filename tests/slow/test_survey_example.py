"""The worked example of docs/samples.md, on the public file that it is about."""

from __future__ import annotations

import csv
import lzma
from pathlib import Path

import pytest

import shoal

DOCS = Path(__file__).parents[2] / "docs" / "samples.md"
# Columns of Census-Income, by their place.
PLACES = {
    "age": 0, "sex": 12, "race": 10, "marital": 7, "education": 4, "born": 34, "weight": 24,
    "income": 41,
}  # fmt: skip


def survey(folder: Path, out: Path) -> None:
    """The people of 1994."""
    with out.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file).writerow
        write(PLACES)
        for part in ("train", "test"):
            with lzma.open(folder / f"census-income.{part}.csv.xz", "rt") as source:
                for row in csv.reader(source, skipinitialspace=True):
                    if row[40] == "94":
                        write([row[place] for place in PLACES.values()])


@pytest.mark.slow
def test_the_survey_has_the_figures_of_the_docs(shared, tmp_path):
    folder = shared / "census_income"
    if not folder.exists():
        pytest.skip("Census-Income is not here")
    text = DOCS.read_text(encoding="utf-8")
    plan = text.split("```toml\n# plan.toml\n")[1].split("```")[0]
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    survey(folder, tmp_path / "survey.csv")
    plan = shoal.Plan.load(tmp_path / "plan.toml")
    found = shoal.audit(tmp_path / "survey.csv", plan, special_uniques=3)
    sample = found.sample.as_dict()
    assert f"{sample['population']:,.0f}" in text
    risk = sample["individual_risk"]
    assert f"{risk['expected_reidentifications']:.2f}" in text
    assert (
        f"average individual risk in the population                {100 * risk['mean']:.2f} %"
        in text
    )
    uniques = found.uniques.as_dict()
    assert f"records that are unique on 3 columns or fewer   {uniques['records']:,} (" in text
    first = next(one for one in uniques["sets"] if one["columns"] == ["age", "education", "born"])
    numbers = f"{first['minimal_uniques']:,}            {first['unique']:,}"
    assert f"age, education, born             {numbers}" in text
