"""Wang, Du, Luo, Li 2018: people with several records, IR against EIR (figures 2 to 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from shoal.base.progress import Progress
from shoal.base.version import __version__
from shoal.papers._compare import Claim, statements, verdicts
from shoal.papers._result import Result
from shoal.papers.wang2018 import claims as claiming
from shoal.papers.wang2018 import measures as measuring
from shoal.papers.wang2018 import runs, sizes
from shoal.papers.wang2018.data import (
    HOSPITAL,
    INFORMS,
    Loaded,
    Subject,
    differences,
    load,
    prevalent,
    shapes,
)
from shoal.papers.wang2018.figures import Drawing
from shoal.papers.wang2018.runs import AB, KL, Results
from shoal.report.page import Block, Bullets, Numbers, Page, Section, Text

Claims = Mapping[str, Sequence[Claim]]  # by table


def run(data: Path | None, quick: bool, progress: Progress) -> Result:
    """Run the experiments of section 5."""
    progress("loading the tables", 0.0)
    loaded = load(data, quick)
    grid = runs.QUICK if quick else runs.FULL
    wanted = [case for subject in loaded.subjects for case in runs.cases(subject, grid)]
    results = runs.run(loaded.subjects, wanted, quick, progress, 0.01, 0.75)
    by_size = sizes.run(loaded.subjects, quick, progress, 0.75, 0.97)
    progress("drawing", 0.97)
    result = compare(loaded, results, quick, by_size)
    progress("drawing", 1.0)
    return result


def compare(loaded: Loaded, results: Results, quick: bool, by_size: sizes.Found) -> Result:
    """Build page, tables and plots."""
    subjects = list(loaded.subjects)
    drawing = Drawing(results, subjects)
    sections = drawing.sections()
    claims = {subject: claiming.of_table(results, subject) for subject in subjects}
    page = Page(
        title="People with several records: IR against EIR, danonyir against geneir",
        about="`shoal reproduce wang2018`",
        source="J. Wang, K. Du, X. Luo, X. Li: Two privacy-preserving approaches for data "
        "publishing with identity reservation. Knowledge and Information Systems, 2018. Section 5.",
        warning=_warning(loaded, quick),
        summary=_summary(results, claims),
        sections=[
            Section("Ratios of losses", [measuring.ratio_table(results, subjects)]),
            *(
                Section(
                    f"What the paper says, and what {_called(subject)} says", [statements(said)]
                )
                for subject, said in claims.items()
            ),
            Section("50 draws, and the size of the table", sizes.blocks(by_size)),
            *sections,
            Section("What was run, and why we may differ", _how(loaded, results, quick)),
        ],
        foot=f"Made by shoal {__version__}. {_again(loaded, quick)}",
    )
    tables = {
        **drawing.files,
        "ratios.csv": measuring.ratio_rows(results, subjects),
        "sizes.csv": sizes.csv_rows(by_size),
    }
    return Result(page, tables, drawing.plots)


def _called(subject: str) -> str:
    return {INFORMS: "INFORMS", HOSPITAL: "the synthetic hospital"}[subject]


def _warning(loaded: Loaded, quick: bool) -> str:
    """What a reader must know first."""
    said = []
    if quick:
        people = max(subject.people for subject in loaded.subjects.values())
        said.append(
            f"Quick run on samples of {people:,} people, few settings and one release for each, to "
            "see whether everything works. Its numbers cannot be compared with the paper's; omit "
            "`--quick` to get numbers that can."
        )
    if INFORMS not in loaded.subjects:
        said.append(
            "The paper's table was not given, so this page shows only a synthetic hospital; "
            "`--data DIR` adds the INFORMS files in that folder."
        )
    return " ".join(said)


def _summary(results: Results, claims: Claims) -> list[Block]:
    numbers = []
    for subject, said in claims.items():
        count = verdicts(said)
        not_run = f", {count['not run']} not run" if count["not run"] else ""
        numbers.append(
            (
                f"{count['agrees']} of {len(said)}",
                f"statements hold on {_called(subject)}; {count['in part']} in part, "
                f"{count['differs']} not{not_run}",
            )
        )
    made = sum(int(found.draws) for found in results.values())
    numbers.append((f"{made:,}", "releases made, each requirement verified on the published table"))
    return [
        Text(
            "The paper's figures are missing from our text of it. In words it states ratios and "
            "directions, so we compare these. "
            + " ".join(_in_short(results, subject) for subject in claims)
        ),
        Numbers(numbers),
    ]


def _in_short(results: Results, subject: str) -> str:
    """The three main findings on a table, in sentences."""
    geneir = _span(results, subject, measuring.GENEIR, measuring.PLAIN)
    eir = _span(results, subject, measuring.ENHANCED, measuring.PLAIN)
    exposed = [
        found.vulnerable
        for case, found in results.items()
        if case.subject == subject and case.method in measuring.PLAIN.values()
    ]
    name = _called(subject)
    low, high = measuring.stated(measuring.GENEIR, measuring.PLAIN)
    least, most = measuring.stated(measuring.ENHANCED, measuring.PLAIN)
    return (
        f"{name[0].upper()}{name[1:]}: with IR geneir loses {geneir} as much as danonyir, where "
        f"the paper says {low:.1f} to {high:.1f}; EIR costs {eir} as much as IR, where it says "
        f"{least:.2f} to {most:.2f}; "
        f"with IR {min(exposed):.0f} to {max(exposed):.0f}\xa0% of danonyir's classes are "
        "vulnerable."
    )


def _span(results: Results, subject: str, top: Mapping[str, str], bottom: Mapping[str, str]) -> str:
    """The least, greatest and middle ratio of losses over both families."""
    found = [
        ratio
        for family in (KL, AB)
        for ratio in measuring.ratios(
            results, subject, top[family], bottom[family], measuring.LOSS
        ).values()
    ]
    span = measuring.least_to_greatest(found, measuring.times)
    return f"{span} times (median {measuring.times(median(found))})"


def _how(loaded: Loaded, results: Results, quick: bool) -> list[Block]:
    return [
        shapes(loaded),
        Bullets(
            [
                *differences(loaded),
                FREELY,
                "The paper does not print its taxonomy trees. Ours: quarters and halves of a year; "
                "5, 10 and 50 years; 3 and 9 years of school; for what has few values suppression "
                "alone. Where the paper's trees are lower or higher, geneir loses more or less.",
                "The text says that k = l, that the fixed values are l = 6, α = 0.6, β = 0.4 and "
                "|QI| = 6, and that |QI| goes from 3 to 8. It does not say which l, α and β "
                "the figures use; the values here are our choice.",
                "Queries: the text does not say how wide they are. Ours ask for spans of "
                "neighbouring values, such that a tenth of the records is selected if values are "
                "spread evenly; queries that count nothing are drawn again.",
                *(_why(one) for name, one in loaded.subjects.items() if name == INFORMS),
                *(_by_means(results, subject) for subject in loaded.subjects),
                ALL_PATIENTS,
                _drawn(quick),
                "Statements about times are tested on one machine that may run other programs at "
                "the same time; danonyir finds the nearest person by an index where the paper "
                "scans.",
                "Every release went through `shoal.anonymize`, which verifies each requirement on "
                "the published table and stops if one is violated.",
            ]
        ),
    ]


FREELY = (
    "danonyir publishes any range of numbers and any set of categories, as in the paper; geneir "
    "climbs trees. Numbers are months and years (of birth, of school, of a first stay)."
)
ALL_PATIENTS = (
    "The hospital was first run with all patients of 12,000 stays and every stay a record, 1.4 "
    "per person, on trees. Then geneir lost 1.67 to 9.58 times as much as danonyir with IR, EIR l "
    "1.01 to 1.09 times as much as IR (k, l), and EIR (α, β) 0.91 to 1.02 times as much as IR (α, "
    "β), likely because a person with one diagnosis in many records weighs more in IR than in EIR. "
    "In the paper's examples no person has a disease twice, and it is about people with several; "
    "so we changed the table after seeing that run."
)


def _why(subject: Subject) -> str:
    """A likely reason why EIR (α, β) costs so much more than IR (α, β)."""
    found = prevalent(subject, runs.BETA)
    return (
        f"A likely reason why EIR (α, β) costs so much on {_called(subject.name)}: in "
        f"{found.decades} of {found.all_decades} decades of birth, those of "
        f"{found.people:.0f}\xa0% of the people, one diagnosis is shared by more than "
        f"β = {runs.BETA:g} of them (by up to {found.most:.0f}\xa0%), so that people of other ages "
        "must join their classes; and in a class of three or four people no diagnosis may be "
        "shared at all. IR (α, β) looks at shares of records, which are smaller the more records "
        "people have. Which of the two weighs more was not tested."
    )


def _by_means(results: Results, subject: str) -> str:
    """Which statements about queries depend on how errors are summed up."""
    by_median = claiming.of_error(results, subject)
    by_mean = claiming.of_error(results, subject, measuring.MEANS)
    changed = [
        f"{one.says} {one.verdict} → {other.verdict}"
        for one, other in zip(by_median, by_mean, strict=True)
        if one.verdict != other.verdict
    ]
    words = f": {'; '.join(changed)}" if changed else ""
    return (
        f"Errors of queries on {_called(subject)} are medians, which we decided after seeing the "
        f"means. By means {len(changed)} of {len(by_median)} statements have another "
        f"verdict{words}."
    )


def _drawn(quick: bool) -> str:
    if quick:
        return "Every point is a single release; the paper shows means of 50."
    return (
        "Both algorithms are randomized. The paper's points are means of 50 releases, ours of "
        f"{runs.DRAWS}; samples of people were drawn {sizes.FIFTY} times."
    )


def _again(loaded: Loaded, quick: bool) -> str:
    options = (" --data DIR" if loaded.given else "") + (" --quick" if quick else "")
    return f"To repeat this run: `shoal reproduce wang2018{options}`"
