"""Jobs: stages in plain words, and how they end."""

from __future__ import annotations

from shoal.studio.jobs import Job


def test_stages_are_named_once_and_in_their_order() -> None:
    job = Job()
    job.begin()
    for stage in ("read", "encode", "peeling", "exchanging", "peeling", "verify"):
        job.report(stage, 0.0)
    assert job.stage == "checking the result"
    assert list(job.steps) == ["reading", "encoding", "finding groups", "improving groups"]
    job.finish("done")
    assert list(job.steps)[-1] == "checking the result"
    assert job.is_over
    took = job.seconds
    assert job.seconds == took


def test_a_report_that_comes_too_late_does_not_bring_a_job_back() -> None:
    job = Job()
    job.report("read", 0.5)
    assert (job.status, job.share) == ("running", 0.5)
    job.finish("cancelled")
    job.report("encode", 0.0)
    assert job.status == "cancelled"
    assert job.stage == "reading"


def test_a_job_that_is_begun_again_starts_anew() -> None:
    job = Job()
    job.report("read", 0.5)
    job.finish("failed", "no such file")
    job.begin()
    assert (job.status, job.stage, job.steps) == ("running", "", {})
    assert job.share is None
