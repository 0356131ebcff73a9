"""The section about risks in the population that the table is a sample of."""

from __future__ import annotations

from shoal.base.wording import percent
from shoal.report.facts import Facts
from shoal.report.page import Block, HtmlTable, Text
from shoal.report.sample_facts import ESTIMATORS, sample_rows
from shoal.report.sections.samples.special_uniques import special_uniques


def population(facts: Facts) -> list[Block]:
    """What is estimated for the population; nothing if the plan is about none."""
    sample = facts.sample
    if sample is None:
        return []
    each = [
        [
            ESTIMATORS[one.estimator],
            one.reason if one.uniqueness is None else percent(100 * one.uniqueness),
        ]
        for one in sample.uniqueness.estimates
    ]
    return [
        Text(
            "The table is a sample. An attacker who does not know who is in it has to find a "
            "person among all people of the population with the same values. How many these are "
            "is estimated, so that these numbers hold on average, and not for each person. The "
            "individual risk of a record is the expected value of 1 / F, if F people of the "
            "population look like it (Benedetti and Franconi 1998). That of a household is the "
            "probability that at least one of its members is found. Both are too low for small "
            "samples of tables in which many combinations of values are rare. Requirements such as "
            "k-anonymity count people of the table alone, and do not rely on these estimates."
        ),
        HtmlTable(
            ["in the population", "original", "release"],
            sample_rows(facts.sample_before, sample),
            widths=(60, 20, 20),
        ),
        HtmlTable(
            ["estimator of population uniqueness", "release"],
            each,
            "The share of the population that is unique. The rule of Dankar et al. (2012) takes "
            "Pitman's model up to a sampling fraction of 0.1, and the smaller one of the others "
            "above it, but never more than the share of the sample that is unique "
            f"({percent(100 * sample.uniqueness.sample)}).",
            widths=(70, 30),
        ),
        *special_uniques(facts),
    ]
