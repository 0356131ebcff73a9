"""What notebooks show of releases, audits and plans."""

from __future__ import annotations

from html.parser import HTMLParser

import pyarrow as pa

import shoal
from shoal import Plan

ODD = "<script>alert(1)</script>&\"'"


class Shown(HTMLParser):
    """The tags and the words of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def test_everything_is_escaped_and_nothing_is_computed_for_it() -> None:
    plan = Plan(
        columns={ODD: {"role": "quasi", "hierarchy": {"ranges": [10]}}, "s": "sensitive"},
        models=[{"name": "k-anonymity", "k": 2},
                {"name": "distinct-l-diversity", "column": "s", "l": 2}],
    )  # fmt: skip
    table = pa.table({ODD: [31, 38, 52, 57], "s": ["flu", "cold", "flu", "cold"]})
    release = shoal.anonymize(table, plan)
    found = {
        "release": Shown(release._repr_html_()),
        "audit": Shown(shoal.audit(release.frame, plan, original=table)._repr_html_()),
        "plan": Shown(plan._repr_html_()),
    }
    for one in found.values():
        assert "script" not in one.tags
        assert "k-anonymity" in one.text
    assert "Release of 4 records in 2 classes" in found["release"].text
    assert found["release"].text.count("satisfied") == 2
    assert "Audit of 4 records" in found["audit"].text
    assert ODD in found["plan"].text
    assert "in ranges of 10" in found["plan"].text
    assert not release.bound_known  # it takes seconds on a large table


def test_violated_requirements_and_audits_without_any() -> None:
    table = pa.table({"q": ["a", "b"]})
    plan = Plan(columns={"q": "quasi"}, models=[{"name": "k-anonymity", "k": 2}])
    assert "violated" in shoal.audit(table, plan)._repr_html_()
    bare = shoal.audit(table, plan.changed(models=[]))
    assert "k-anonymity" in bare._repr_html_()
    assert repr(bare) == "Audit of 2 records: k-anonymity 1"
