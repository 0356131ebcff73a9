"""Li, Li, Venkatasubramanian 2007: the worked examples of the slides on t-closeness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shoal.attacks.similarity import Similarity
from shoal.attacks.skewness import Skewness
from shoal.base.progress import Progress
from shoal.base.version import __version__
from shoal.base.wording import many, percent
from shoal.papers import _adult, _compare
from shoal.papers._compare import Claim, mean_difference
from shoal.papers._result import Result, Row
from shoal.papers.li2007 import adult
from shoal.papers.li2007.audit import ATTACKS, Counted, Judged, distance, judge_all
from shoal.papers.li2007.claims import of_attacks, of_distances, statements
from shoal.papers.li2007.distances import (
    agreeing,
    distances,
    distribution,
    draw,
    numbers,
    plots,
    tree_distances,
    why,
)
from shoal.papers.li2007.own import Own, PartitionSearch, publish, requests, search
from shoal.papers.li2007.show import attacks, audits, levels, measures, of_own, row_by_row
from shoal.papers.li2007.slides import DISEASE, SALARY, SOURCE, STATED
from shoal.report.page import Block, Bullets, Numbers, Page, Section, Text

Tables = Mapping[str, Judged]


def run(data: Path | None, quick: bool, progress: Progress) -> Result:
    """Audit the slides' tables and compare our results with theirs; then their figures on Adult.

    The tables are all in the slides and small; only for the figures Adult is needed, of which a
    quick run takes a sample.
    """
    progress("auditing the tables of the slides", 0.0)
    tables = judge_all()
    original = tables["table 3"].slide
    owns: list[Own] = []
    searches: list[PartitionSearch] = []
    asked = requests(tables)
    for done, request in enumerate(asked):
        progress(f"anonymizing table 3: {request.text}", 0.1 + 0.1 * done / len(asked))
        owns.append(publish(original, request))
        searches.append(search(original, request))
    on_adult = adult.run(data, quick, progress, 0.2, 0.95)
    progress("drawing", 0.95)
    result = compare(tables, owns, searches, on_adult)
    progress("drawing", 1.0)
    return result


def compare(
    tables: Tables,
    owns: Sequence[Own],
    searches: Sequence[PartitionSearch],
    on_adult: adult.Found | None = None,
) -> Result:
    """Build page, tables and plots."""
    found, measured = of_attacks(tables), of_distances(tables)
    of_adult = [] if on_adult is None else adult.claims(on_adult)
    files: dict[str, Sequence[Row]] = {
        "audits.csv": audits(tables),
        "distances.csv": distances(tables),
        "published.csv": of_own(owns),
    }
    drawn = {}
    for column in (SALARY, DISEASE):
        files[f"{column.lower()}.csv"] = distribution(tables["table 4"], column)
        drawn[f"{column.lower()}.svg"] = draw(tables["table 4"], column)
    panels = {} if on_adult is None else adult.draw(on_adult)
    figures = adult.blocks(on_adult, panels)
    if on_adult is not None:
        files |= adult.rows(on_adult)
        drawn |= panels
        figures.append(statements(of_adult))
    page = Page(
        title="From k-anonymity to t-closeness: the slides' examples, audited",
        about="`shoal reproduce li2007`",
        source=SOURCE,
        warning=_quick(on_adult),
        summary=_summary(tables, [*found, *measured, *of_adult], owns, searches),
        sections=[
            Section("What the attacks find", _attacks(tables, found)),
            Section("Levels", [levels(tables)]),
            Section(
                "Distances of classes from the table",
                [numbers(tables), *why(tables), *plots(drawn), tree_distances()],
            ),
            Section("What the slides say about distances", [statements(measured)]),
            Section("What shoal would publish", _publishing(tables, owns, searches)),
            Section("Figures 3 and 4: five measures on Adult", figures),
            Section("What we assumed and omitted", [_assumed()]),
        ],
        foot=f"Made by shoal {__version__}. {_again(on_adult)}",
    )
    return Result(page, files, drawn)


def _again(on_adult: adult.Found | None) -> str:
    if on_adult is None:
        return "To repeat this run: `shoal reproduce li2007`"
    return _adult.again("li2007", on_adult.adult, _is_quick(on_adult))


def _is_quick(on_adult: adult.Found) -> bool:
    return bool(on_adult.adult.table.num_rows <= _adult.SAMPLE)


def _quick(on_adult: adult.Found | None) -> str:
    """The warning of a quick run, for the figures on Adult."""
    if on_adult is None or not _is_quick(on_adult):
        return ""
    return (
        f"Quick run: figures 3 and 4 are made from a sample of {_adult.SAMPLE:,} rows and few "
        "values of k; omit `--quick` to get all. Everything else is complete."
    )


def gaps(tables: Tables, counted: Counted) -> float:
    """The mean absolute difference from the six distances that the slides state."""
    return mean_difference([(distance(tables, one, counted), one.theirs) for one in STATED])


def _summary(
    tables: Tables,
    claims: Sequence[Claim],
    owns: Sequence[Own],
    searches: Sequence[PartitionSearch],
) -> list[Block]:
    count = _compare.verdicts(claims)
    table_5 = tables["table 5"]
    victims = {
        (attack, column): table_5.audit.attacks[attack][column]["records"]
        for attack in ATTACKS
        for column in table_5.sensitive
    }
    most = max(victims.values())
    nearest = tables["table 5"].level("t-closeness", DISEASE)
    stated = {one.column: one.theirs for one in STATED if one.table == "table 5"}
    return [
        Text(
            "We audited the six tables of the slides with `shoal.audit` and computed every "
            f"distance that they state. For salaries, {agreeing(tables, SALARY, 'rows')} agree "
            f"with the slides. For diseases it is {agreeing(tables, DISEASE, 'rows')} if Q "
            f"counts rows, as the definition has it, and {agreeing(tables, DISEASE, 'once')} if Q "
            "counts each disease once, however many rows have it. By the definition table 5 has "
            f"{nearest:.3f}-closeness with respect to disease; the slides say {stated[DISEASE]}."
        ),
        Numbers(
            [
                (
                    f"{gaps(tables, 'rows'):.4f}",
                    "mean difference of six distances, Q as the rows are",
                ),
                (f"{gaps(tables, 'once'):.4f}", "the same if each value counts once in Q"),
                (
                    f"{count['agrees']} of {len(claims)}",
                    f"statements hold; {count['in part']} in part, {count['differs']} not",
                ),
                (f"{most} of {table_5.audit.rows}", "rows of table 5 that some attack finds"),
            ]
        ),
        Text(_in_short(tables, owns, searches)),
    ]


def _in_short(tables: Tables, owns: Sequence[Own], searches: Sequence[PartitionSearch]) -> str:
    """How shoal's own tables compare, in a few sentences."""
    words = []
    for own, tried in zip(owns, searches, strict=True):
        same, best = own.same_as(tables), tried.cheapest.same_as(tables)
        became = f"publishes the slides' {same}" if same else _loses(own)
        if tried.cheapest.loss < own.loss - 1e-9:
            became += f", while {percent(tried.cheapest.loss)} is possible"
            became += f" (the slides' {best})" if best else ""
        words.append(f"Asked for {own.request.text}, shoal {became}.")
    return " ".join(words)


def _loses(own: Own) -> str:
    return f"forms {many(own.audit.classes, 'class', 'classes')} and loses {percent(own.loss)}"


def _attacks(tables: Tables, claims: list[Claim]) -> list[Block]:
    virus = tables["virus table"].audit.attacks["background-knowledge"][DISEASE]
    return [
        Text(
            "Tables 1 and 3 are the originals: each person is a class of their own and is found. "
            "The slides describe, case by case, who is found in the others:"
        ),
        statements(claims),
        attacks(tables),
        Bullets(
            [
                "Background knowledge means one value that can be ruled out. In the virus table "
                f"there are only two, so this attack finds {virus['records']:,} of "
                f"{tables['virus table'].audit.rows:,} rows: that is a fact about two values "
                "rather than about the table.",
                f"Skewness and similarity have limits (a belief that grows by more than "
                f"{Skewness().gain:g} and reaches {Skewness().belief:g}; numbers within "
                f"{Similarity().narrow:g} of the range), which are shoal's defaults, not values "
                "from the slides. That nobody is found in a table means only: not by these four "
                "attacks, with these limits.",
                "The diseases of tables 1 and 2 and of the virus table have no hierarchy, so "
                "similarity has nothing to compare. Classes with a single value are left to "
                "homogeneity, so similarity finds nobody in table 3.",
            ]
        ),
    ]


def _publishing(
    tables: Tables, owns: Sequence[Own], searches: Sequence[PartitionSearch]
) -> list[Block]:
    return [
        Text(
            "We gave table 3 to `shoal.anonymize` with the values that the slides publish as "
            "hierarchies (ZIP codes 4767* and 4760* below 476**, next to 4790*; ages 2* and 3* "
            "below ≤ 40, next to ≥ 40) and made three requests: k alone; with the two distances "
            "that table 5 is said to have; and with those that it has. Nothing else was "
            "required. Records keep their order here for comparison; by default shoal shuffles "
            "them."
        ),
        row_by_row(tables, owns),
        measures(tables, owns, searches),
        *(_tried(tables, own, tried) for own, tried in zip(owns, searches, strict=True)),
        Text(
            "Where shoal loses more than the cheapest table, the reason is its algorithm: "
            "GAA merges the cheapest classes step by step and never splits them again, so one "
            "early merge of records that a better table separates is enough to miss it. Trying "
            "everything, as we did here, is possible only with a handful of records."
        ),
    ]


def _tried(tables: Tables, own: Own, tried: PartitionSearch) -> Text:
    cheapest = tried.cheapest
    same = cheapest.same_as(tables)
    alone = "the only one" if tried.as_cheap == 1 else f"one of {tried.as_cheap}"
    named = f"; the slides' {same} is {alone} that cheap" if same else ""
    cheap = own.loss <= cheapest.loss + 1e-9
    verdict = "no more than that" if cheap else percent(own.loss)
    return Text(
        f"Asked for {own.request.text}: of the {tried.tables} different tables with classes of "
        f"three or more records that the hierarchies allow, {tried.keep} satisfy this, with "
        f"{tried.most_classes} classes at most. The cheapest loses "
        f"{percent(cheapest.loss)}{named}. What shoal publishes loses {verdict}."
    )


def _assumed() -> Bullets:
    return Bullets(
        [
            "We worked from the text of the slides, not from the paper. Figure 1, the tree of "
            "diseases, is a picture that is missing from the text; the groups used here are "
            "those of ARX's example of the same table. The text states three distances in the "
            "tree, which are compared with ours above.",
            "Of the virus table the slides show 14 rows of 10,000. We took the three classes "
            "that are shown completely and made up the rest: the two classes of which one row is "
            "shown share what is left, with as many positive rows as make 1 % of the table. Its "
            "salaries are omitted; the slides do not use them.",
            f"{SALARY} is taken in thousands, as a number: 11K is above 3K.",
            "Ages ≤ 40 and ≥ 40 overlap at 40 in the slides; nobody in the tables is 40.",
            "The properties of t-closeness that the slides list without an example are not "
            "tested here.",
        ]
    )
