"""The page of runs: what a card says while its run waits, and about limits when it is done."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest

from shoal.base.errors import ShoalError, WayOut
from shoal.plan import Plan
from shoal.studio.jobs import Job
from shoal.studio.page import environment
from shoal.studio.requirements import words
from shoal.studio.requirements.mistakes import buttons_of
from shoal.studio.wording import Wording
from tests.studio.served import Served


def run(number: int, **given: Any) -> SimpleNamespace:
    """A run as its card reads it."""
    return SimpleNamespace(
        name=f"r{number}", number=number, started="", seconds=1.0, details=Job(),
        **{"job": Job(), "facts": None, "ways": (), **given},
    )  # fmt: skip


def card(one: SimpleNamespace, runs: list[SimpleNamespace], language: str = "en") -> str:
    return environment().get_template("run_card.html.jinja").render(
        t=Wording(language), run=one, runs=runs, words=words, project=SimpleNamespace(name="p"),
        ways_of=lambda run: run.ways, version="3-x",
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


def test_a_refused_run_offers_the_best_k_as_a_button() -> None:
    plan = Plan(columns={"age": "quasi"}, models=[{"name": "k-anonymity", "k": 50}])
    error = ShoalError("k = 50 cannot be reached").offering(WayOut("set", "k-anonymity", {"k": 40}))
    job = Job("failed", str(error))
    page = card(one := run(1, job=job, ways=buttons_of(error, plan)), [one])
    assert 'action="/p/p/requirements/way"' in page
    assert "&#34;k&#34;: 40" in page
    assert 'name="version" value="3-x"' in page


def test_only_a_step_that_a_release_does_not_need_can_be_skipped() -> None:
    one = run(1, job=Job("running"))
    for stage, offered in (("recode", False), ("bounding", True), ("analyzing", False)):
        one.job.report(stage, 0.5)
        assert ("/run/r1/skip" in card(one, [one])) is offered
    one.job.report("bounding", 0.9)
    one.job.finish("cancelled")
    assert "/run/r1/skip" not in card(one, [one])


@pytest.mark.parametrize("step", ["look", "export"])
def test_a_page_about_results_says_that_one_is_being_made(step: str) -> None:
    def part(awaited: Any, go: bool) -> str:
        return environment().get_template("awaited.html.jinja").render(
            t=Wording("en"), project=SimpleNamespace(name="p"), step=step, awaited=awaited, go=go
        )  # fmt: skip

    one = run(2, job=Job("running"))
    one.job.report("bounding", 0.5)
    page = part(one, False)
    assert "Run 2 is under way: proving a lower bound on the loss." in page
    assert f'data-live="/p/p/run/awaited?step={step}"' in page
    assert f'data-go="/p/p/{step}"' in part(None, True)
    assert "There is no finished run yet." in part(None, False)


@pytest.mark.parametrize("packing", ["gz", "xz"])
def test_a_compressed_table_is_run_and_its_release_has_the_same_ending(
    studio: Served, tmp_path: Path, packing: str
) -> None:
    table = tmp_path / f"people.v2.CSV.{packing}"
    text = "age,job\n" + "".join(
        f"{20 + i % 10},{'cook' if i % 2 else 'nurse'}\n" for i in range(60)
    )
    pack = gzip.compress if packing == "gz" else lzma.compress
    table.write_bytes(pack(text.encode()))
    packed = studio.opened(urlencode({"data": str(table)}))
    studio.ask("POST", f"{packed}/run/start", "")
    page = studio.until(f"{packed}/run", "report.html|role=.alert").text
    assert "cannot tell the format" not in page
    assert f"release.csv.{packing}" in studio.get(f"{packed}/export").text
