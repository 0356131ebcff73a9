"""Sections 5.1 and 5.2 of Tassa 2012: what an attacker who knows all originals finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.base.wording import many, percent
from shoal.papers._compare import Claim
from shoal.papers._result import Row
from shoal.papers.tassa2012.runs import METHODS, Case, Measured, Results
from shoal.report.page import Block, Cell, HtmlTable, Text

ATTACKED = ("(k,k)", "concealment", "randomized")


def releases(
    results: Results, methods: Sequence[str] = ATTACKED
) -> Iterator[tuple[Case, Measured]]:
    """The releases to attack: those with a k at which (k,k)-anonymity was tried."""
    for tried in results:
        if tried.method == "(k,k)":
            for method in methods:
                case = tried._replace(method=method)
                if case in results:
                    yield case, results[case]


def blocks(results: Results) -> list[Block]:
    """The section about the attacks."""
    words = [
        "An attacker who knows the public attributes of all people can build the graph of "
        "originals and matching published records, and rule out every pair that is in no perfect "
        "matching (Sec. 5.1). (k,k)-anonymity counts all matching records and does not resist "
        "this; k-concealment counts the records that remain."
    ]
    if weighed(results):
        words.append(
            "The remaining records need not be equally likely: the probability that a record "
            "belongs to a person is the share of perfect matchings that pair them (Sec. 5.2). The "
            "paper considers such counts infeasible; the attack `matching` samples matchings "
            "instead. Its best guess is compared with 1/k, the most that k-anonymity would allow."
        )
    return [*map(Text, words), found(results)]


def weighed(results: Results) -> bool:
    """Whether the attack `matching` was run."""
    return any(measured.attacks.get("matching") for _, measured in releases(results))


def found(results: Results) -> HtmlTable:
    """What the attacks on the graph find in each release."""
    both = weighed(results)
    lines: list[list[Cell | str]] = []
    for case, measured in releases(results):
        graph = measured.attacks["graph"]
        lines.append(
            [
                f"{case.subject}, k = {case.k}",
                METHODS[case.method].shown.replace("k-concealment, ", ""),
                _below(case, graph),
                f"{graph['fewest_left']:,}",
                percent(graph["pairs_ruled_out_percent_of_all"]),
                *([_guess(case, measured.attacks.get("matching", {}))] if both else []),
                f"{measured.lost:.2f}",
            ]
        )
    return HtmlTable(
        head=[
            "table",
            "model",
            "people below k",
            "fewest left",
            "pairs ruled out",
            *(["best guess"] if both else []),
            "LM, % lost",
        ],
        rows=lines,
        caption="Releases guided by LM. By the attack `graph`: people with fewer than k remaining "
        "records, the fewest remaining records of any person, and the share of all matching pairs "
        "of a person and a record that are ruled out."
        + (
            " By the attack `matching`: the greatest probability that a record belongs to a "
            "person, with its error, and below it 1/k and the people with a record that is more "
            "likely than not."
            if both
            else ""
        ),
        widths=(18, 15, 13, 10, 13, 19, 12) if both else (20, 20, 16, 14, 16, 14),
        files=("attacks.csv",),
    )


def _below(case: Case, graph: Mapping[str, Any]) -> Cell:
    """People with fewer than k; where more than k fit, the attack counts against those."""
    if graph["fewest_left"] >= case.k:
        return Cell("0")
    against = graph["fewest_that_fit"]
    note = "" if against == case.k else f", against {against}"
    return Cell(f"{graph['people_below']:,}", percent(graph["percent"]) + note, "strong")


def _guess(case: Case, matching: Mapping[str, Any]) -> Cell:
    if not matching:
        return Cell("–", tone="unknown")
    chance, error = 100 * matching["largest_probability"], 100 * matching["error"]
    spread = f" ± {error:.1f}" if error else ""
    return Cell(
        f"{chance:.1f}{spread}\xa0%",
        f"1/k = {percent(100 / case.k)}; {many(matching['people'], 'person', 'people')}",
    )


def rows(results: Results) -> list[Row]:
    """The findings on the graph, line by line."""
    return [
        Row("section 5.1", case.k, case.method, f"{case.subject}: {attack}, {what}", float(value))
        for case, measured in releases(results)
        for attack, finding in measured.attacks.items()
        for what, value in finding.items()
        if isinstance(value, int | float)
    ]


def claims(results: Results) -> list[Claim]:
    """What section 5.1 says of (k,k)-anonymity, and 5.2 of k-concealment."""
    open_ = {case: measured.attacks["graph"] for case, measured in releases(results, ["(k,k)"])}
    safe = {case: measured.attacks["graph"] for case, measured in releases(results, ATTACKED[1:])}
    return [
        Claim(
            "In a (k,k)-anonymous table, an attacker who knows all originals may be left with "
            "fewer than k records for some person (Sec. 5.1).",
            "the attack `graph` leaves some person with fewer in some release",
            [any(graph["people_below"] for graph in open_.values())] if open_ else [],
            "of the people in "
            + "; ".join(
                f"{case.subject}, k = {case.k}: {percent(graph['percent'])}"
                for case, graph in open_.items()
            ),
        ),
        Claim(
            "In a k-concealed table every person has at least k remaining records (Sec. 5.2).",
            "so in each table at each k tried, randomized or not",
            [graph["fewest_left"] >= case.k for case, graph in safe.items()],
            "measured on each release",
        ),
        _alike(results),
    ]


def _alike(results: Results) -> Claim:
    """Whether the candidate records of a person can be distinguished."""
    weighed = {
        case: matching
        for case, measured in releases(results, ATTACKED[1:])
        if (matching := measured.attacks.get("matching"))
    }
    held, told = [], []
    for case, matching in weighed.items():
        chance, error = matching["largest_probability"], matching["error"]
        held.append(chance - 3 * error <= 1 / case.k + 1e-9)
        name = f"{case.subject}, k = {case.k}, {case.method}"
        told.append((case.k * chance, f"{name}: {percent(100 * chance)}"))
    worst = "; ".join(words for _, words in sorted(told, reverse=True)[:3])
    return Claim(
        "An adversary cannot distinguish between the possible records of a person: counting "
        "matchings is infeasible (Sec. 5.2).",
        "sampling matchings finds no record likelier than 1/k for any person, by three errors",
        held,
        f"in {sum(held)} of {len(held)} releases; farthest from it: {worst}" if held else "",
    )
