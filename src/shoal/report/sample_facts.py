"""Risks in the population, in the words of both the report and the screen."""

from __future__ import annotations

from shoal.base.wording import number, percent
from shoal.measures.samples.sample_risks import SampleRisks

BASIS = {
    "weights": "the sum of the weights",
    "size": "as the plan says",
    "fraction": "by the sampling fraction of the plan",
}
ESTIMATORS = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "slide-negative-binomial": "slide negative binomial",
    "sample": "the sample itself",
}


def sample_rows(sample: SampleRisks | None) -> list[tuple[str, str]]:
    """What is estimated for the population of a sample."""
    if sample is None:
        return []
    risks = sample.individual
    rows = [
        (f"people in the population ({BASIS[sample.basis]})", number(round(sample.population))),
        ("sampling fraction", percent(100 * sample.fraction)),
        ("highest individual risk in the population", percent(100 * float(risks.people.max()))),
        ("average individual risk in the population", percent(100 * float(risks.people.mean()))),
        ("expected re-identifications in the population", number(float(risks.people.sum()))),
    ]
    if risks.households is not None:
        highest, mean = float(risks.households.max()), float(risks.households.mean())
        rows.append(("highest risk of a household in the population", percent(100 * highest)))
        rows.append(("average risk of a household in the population", percent(100 * mean)))
    found = sample.uniqueness
    how = f"estimated: {ESTIMATORS[found.chosen]}" if found.sample else "no record is unique here"
    rows.append((f"unique in the population ({how})", percent(100 * found.uniqueness)))
    return rows
