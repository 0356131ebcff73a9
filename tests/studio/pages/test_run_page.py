"""The page of runs: what a card says while its run waits, and about limits when it is done."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from shoal.studio.jobs import Job
from shoal.studio.page import environment
from shoal.studio.requirements import words
from shoal.studio.wording import Wording


def run(number: int, **given: Any) -> SimpleNamespace:
    """A run as its card reads it."""
    return SimpleNamespace(
        name=f"r{number}", number=number, started="", seconds=1.0, details=Job(),
        **{"job": Job(), "facts": None, **given},
    )  # fmt: skip


def card(one: SimpleNamespace, runs: list[SimpleNamespace], language: str = "en") -> str:
    return environment().get_template("run_card.html.jinja").render(
        t=Wording(language), run=one, runs=runs, words=words, project=SimpleNamespace(name="p")
    )  # fmt: skip


def test_a_run_waits_only_if_there_is_one_before_it() -> None:
    first, second = run(1, job=Job("running")), run(2)
    assert Wording("en")("run.waiting") in card(second, [second, first])
    first.job.finish("cancelled")
    assert Wording("en")("run.waiting") not in card(second, [second, first])
    assert "starting …" in card(second, [second, first])


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Close: Highest re-identification risk: 8.3%, within the limit of 9%"),
        (
            "de",
            "Knapp: Höchstes Re-Identifikationsrisiko: 8,3\xa0%, innerhalb der Grenze von 9\xa0%",
        ),
    ],
)
def test_a_verdict_says_why_in_the_language_of_the_page(language: str, said: str) -> None:
    limit = {"name": "highest_risk", "limit": 0.09, "reached": 1 / 12, "verdict": "amber"}
    facts = {
        "highest_risk": 1 / 12, "loss": 31.5, "published": 5000, "suppressed": 0, "linked": True,
        "limits": [limit],
    }  # fmt: skip
    one = run(1, job=Job("done"), facts=facts)
    assert said in card(one, [one], language)


def test_why_nothing_was_published_is_said_in_german() -> None:
    job = Job("failed")
    job.error = (
        "the table that would be published is beyond a limit: highest_risk is 20 %, and the limit "
        "is 9 %; k-anonymity with k = 12 keeps to it"
    )
    one = run(1, job=job)
    assert "Die Tabelle, die veröffentlicht würde, ist jenseits einer Grenze" in card(
        one, [one], "de"
    )
