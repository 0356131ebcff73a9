"""The person column of a release: what the number of rows tells, and how to leave it out."""

from __future__ import annotations

import json

import pyarrow as pa

import shoal
from shoal import Plan
from shoal.screen import show_audit, show_release
from tests.test_screen import printed

# Two classes of three people each; in one of them somebody has three rows, the others one.
ROWS = [("a", 30, "flu"), ("a", 30, "gout"), ("a", 30, "cold"), ("b", 30, "flu"), ("c", 30, "cold")]
ROWS += [(who, 50, disease) for who, disease in zip("def", ("flu", "gout", "cold"), strict=True)]
K = {"name": "k-anonymity", "k": 3}


def table(rows=ROWS):
    names = ("who", "age", "disease")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def asked(*models, who="person", **change):
    columns = {"who": who, "age": "quasi", "disease": "sensitive"}
    return Plan(columns=columns, models=list(models) or [K], **change)


# The number of rows


def test_whom_the_number_of_rows_tells_is_counted():
    release = shoal.anonymize(table(), asked())
    told = release.as_dict()
    assert told["risks"]["row_count"] == {"alone": 1, "fewer_than_k": 3}
    assert told["before"]["risks"]["row_count"] == {"alone": 1, "fewer_than_k": 3}
    audit = shoal.audit(release.frame, asked())
    assert audit.as_dict()["risks"]["row_count"] == {"alone": 1, "fewer_than_k": 3}
    json.dumps(told, allow_nan=False)
    for out in (printed(show_release, release), printed(show_audit, audit)):
        assert "Warning: highest chance to find a person, 33.3 %: this holds for" in out
        assert "finds 1 of 6 people for certain" in " ".join(out.split())


def test_where_nobody_has_several_rows_nothing_is_said_of_them():
    for who, rows in (("person", ROWS[2:]), ("identifier", ROWS)):
        release = shoal.anonymize(table(rows), asked(who=who))
        assert release.as_dict()["risks"]["row_count"] is None
        assert "how many rows a person has" not in printed(show_release, release)


def test_people_with_as_many_rows_hide_each_other():
    rows = [(who, 30, disease) for who in "abc" for disease in ("flu", "cold")]
    release = shoal.anonymize(table(rows), asked())
    assert release.as_dict()["risks"]["row_count"] == {"alone": 0, "fewer_than_k": 0}
    assert "how many rows a person has" not in printed(show_release, release)
