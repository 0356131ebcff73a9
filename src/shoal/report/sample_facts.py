"""Risks in the population, in the words of both the report and the screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shoal.base.arrays import Floats
from shoal.base.wording import number, percent, precise_percent
from shoal.measures.samples.sample_risks import SampleRisks
from shoal.report.exposure_facts import Row

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


def sample_rows(*tables: SampleRisks | None) -> list[Row]:
    """What is estimated for the population of a sample, per table."""
    known = [one for one in tables if one is not None]
    if not known:
        return []
    rows = [
        (f"people in the population ({BASIS[known[-1].basis]})", _people),
        ("sampling fraction", lambda one: precise_percent(100 * one.fraction)),
        ("highest individual risk in the population", _share(lambda one: _each(one).max())),
        ("average individual risk in the population", _share(lambda one: _each(one).mean())),
        ("expected re-identifications in the population", lambda one: number(_each(one).sum())),
    ]
    if known[-1].individual.households is not None:
        rows += [
            ("highest risk of a household in the population", _share(lambda o: _homes(o).max())),
            ("average risk of a household in the population", _share(lambda o: _homes(o).mean())),
        ]
    rows.append((f"unique in the population ({_how(known)})", _share(_unique)))
    return [
        (label, *("–" if one is None else words(one) for one in tables)) for label, words in rows
    ]


def _people(sample: SampleRisks) -> str:
    return number(round(sample.population))


def _each(sample: SampleRisks) -> Floats:
    return sample.individual.people


def _homes(sample: SampleRisks) -> Floats:
    assert sample.individual.households is not None
    return sample.individual.households


def _share(of: Callable[[SampleRisks], float]) -> Callable[[SampleRisks], str]:
    return lambda sample: percent(100 * float(of(sample)))


def _unique(sample: SampleRisks) -> float:
    return sample.uniqueness.uniqueness


def _how(samples: Sequence[SampleRisks]) -> str:
    """How the share of the population that is unique was found."""
    found = [one.uniqueness.chosen for one in samples if one.uniqueness.sample]
    if not found:
        return "no record is unique here"
    return f"estimated: {', '.join(ESTIMATORS[one] for one in dict.fromkeys(found))}"
