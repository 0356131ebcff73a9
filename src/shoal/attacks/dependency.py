"""Dependency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field

from shoal.attacks import Attack
from shoal.attacks._read_back import ReadBack
from shoal.attacks._relations import Limits
from shoal.attacks._unchanged import Unchanged
from shoal.attacks._words import Label
from shoal.base.progress import Progress, silent
from shoal.base.settings import ProperShare, Share
from shoal.base.wording import many, short
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published

NOT_MEASURED = {"people_below": None, "percent": None}
SHOWN = 10  # pairs of columns, the worst ones, and before all those of the role other
DETAILS = ("columns", "pairs", "refused_columns")


class Dependency(Attack):
    """Which quasi-identifiers can be read back from other columns, and who is found then?

    The attacker looks at the class of a person and rules out records whose other values do not go
    with the person's quasi-identifiers. Which values go together is learned from the records of the
    release in which the quasi-identifier is published exactly (attacks/_relations.py): from its
    classes and, if the original tells who is misled, from each record. The attack succeeds on
    people who were among k people or more and are among fewer then. A second number,
    *if known*, is for an attacker who knows from elsewhere, such as a code book or a census table,
    what the whole original shows of values that at least k people have.

    k-anonymity under functional dependencies: Wang and Liu 2011.
    """

    name: ClassVar[str] = "dependency"
    in_short: ClassVar[str] = "unchanged columns narrow them down to fewer people than required"
    count_key: ClassVar[str] = "people_below"
    people_share_key: ClassVar[str] = "percent"  # it counts people, not records
    labels: ClassVar[Mapping[str, Label]] = {
        "k": Label("people among whom each person should be"),
        "reading": Label("the person's quasi-identifiers are taken from"),
        "people_below": Label("people with fewer left than that"),
        "percent": Label("… as a share of all people", unit="percent"),
        "alone": Label("people who are the only one left"),
        "fewest_left": Label("fewest people left, up to what is required"),
        "by_other": Label("people with fewer left by columns of the role other"),
        "refused": Label("people with fewer left by columns that are not accepted"),
        "refused_alone": Label("people who are the only one left by those columns"),
        "people_below_if_known": Label("the same if the dependency is known from elsewhere"),
        "percent_if_known": Label("… as a share of all people", unit="percent"),
        "alone_if_known": Label("people who are the only one left then"),
        "fewest_left_if_known": Label("fewest people left then, up to what is required"),
    }
    rare: Share = Field(
        default=0.05,
        description="share of the number expected by chance up to which a value is ruled out",
    )
    chance: ProperShare = Field(
        default=0.01,
        description="probability that values of independent columns are ruled out by accident",
    )

    def run(
        self,
        published: Published,
        linkage: MatchGraph | None = None,
        progress: Progress = silent,  # noqa: ARG002
        unchanged: Unchanged | None = None,
    ) -> dict[str, Any]:
        """How many people fall below k, by which columns; null if it was not measured."""
        if unchanged is None or linkage is not None:
            return dict(NOT_MEASURED)
        k = unchanged.k or published.classes.smallest
        release = ReadBack.by_release(published, unchanged, k, Limits(self.rare, self.chance))
        known = None
        if unchanged.known:
            limits = Limits(self.rare, self.chance, k)
            known = ReadBack.by_original(published, unchanged, k, limits)
        return _found(published, unchanged, release, known)

    def about(self, linked: bool = False) -> str:
        """What the attacker knows and does."""
        among = "possible records" if linked else "records of the class"
        return (
            "The attacker learns, from records that show a quasi-identifier exactly, which values "
            f"of other columns go with it, and rules out {among} that cannot be the person's."
        )

    def success(self, linked: bool = False, people: bool = False) -> str:  # noqa: ARG002
        """When the attack succeeds."""
        return "It succeeds where fewer people are left than required."

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:  # noqa: ARG002
        """The share of the people who are among fewer than k."""
        source = "the columns that are published unchanged" if column is None else short(column)
        k = found.get("k")
        fewer = "too few" if k is None else f"fewer than {k:,}"
        return (
            f"For {self.share(found)} of the people {fewer} people are left to an attacker who "
            f"reads quasi-identifiers back from {source}."
        )

    def detail(self, found: Mapping[str, Any]) -> str:
        """The fewest people left."""
        fewest = found.get("fewest_left")
        return "" if fewest is None else f"at least {many(fewest, 'person', 'people')} left"

    def advice(self, column: str | None) -> str:  # noqa: ARG002
        """What a refused release offers as well; a larger k would only require more people."""
        return "generalize the columns that reveal quasi-identifiers (role quasi), or drop them"

    def judged(self, found: Mapping[str, Any]) -> bool:
        """Whether it was measured."""
        return found.get("people_below") is not None

    def parts(self, results: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
        """All columns together, and each column that brings people below k by itself."""
        yield None, {key: one for key, one in results.items() if key not in DETAILS}
        for name, found in results.get("columns", {}).items():
            if found is not None and found["people_below"]:
                yield name, found


def _found(
    published: Published, unchanged: Unchanged, release: ReadBack, known: ReadBack | None
) -> dict[str, Any]:
    """The findings of the attack, by the names of the JSON file."""
    names, people = list(unchanged.roles), published.person_count
    every = range(len(names))
    others = [c for c, name in enumerate(names) if unchanged.roles[name] == "other"]
    enforced = [c for c, name in enumerate(names) if unchanged.enforces(name)]
    refused = release.by(enforced).finding(people)
    found = {
        "k": release.k,
        "reading": "original" if unchanged.known else "release",
        **release.by(every).finding(people),
        "by_other": release.by(others).below,
        "refused": refused["people_below"],
        "refused_alone": refused["alone"],
        "refused_columns": [names[c] for c in release.to_accept(enforced)],
        **_if_known(known.by(every).finding(people) if known else {}),
    }
    columns: dict[str, Any] = dict.fromkeys(unchanged.left_out)
    for c, name in enumerate(names):
        way = release.by([c])
        columns[name] = {
            **way.finding(people),
            "reads": [published.names[j] for j in way.reads],
            **_if_known(known.by([c]).finding(people) if known else {}),
        }

    def enforceable(pair: Mapping[str, Any]) -> bool:
        return all(unchanged.roles[name] == "other" for name in pair["columns"])

    pairs: list[dict[str, Any]] = [
        {
            "columns": [names[c] for c in some],
            **way.finding(people),
            "reads": [published.names[j] for j in way.reads],
        }
        for some, way in release.each.items()
        if len(some) == 2
    ]
    telling = [one for one in pairs if one["people_below"]]
    telling.sort(key=lambda one: (not enforceable(one), -one["people_below"]))
    worst = sorted(telling[:SHOWN], key=lambda one: -one["people_below"])
    return {**found, "columns": columns, "pairs": worst}


def _if_known(finding: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers for an attacker who knows the dependency; null without an original."""
    keys = ("people_below", "percent", "alone", "fewest_left")
    return {f"{key}_if_known": finding.get(key) for key in keys}
