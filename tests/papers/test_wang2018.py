from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal.base.errors import BadFile
from shoal.hierarchies.tree import Tree
from shoal.papers import papers, reproduce
from shoal.papers._compare import Claim
from shoal.papers.wang2018 import claims as claiming
from shoal.papers.wang2018 import data, figures, runs, sizes
from shoal.papers.wang2018 import experiment as wang2018
from shoal.papers.wang2018 import measures as measuring
from shoal.papers.wang2018.data import HOSPITAL, INFORMS, PERSON, SENSITIVE
from shoal.papers.wang2018.runs import AB, FULL, KL, METHODS, QUICK, Case, Measured

HEAD = (
    '"DUID","PID","DUPERSID","DOBMM","DOBYY","SEX","RACEX","RACEAX","RACEBX","RACEWX",'
    '"RACETHNX","HISPANX","HISPCAT","EDUCYEAR","Year","marry","income","poverty"\n'
)


@pytest.fixture(scope="module")
def tiny() -> pytest.MonkeyPatch:
    """Fewer people than even a quick run has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "STAYS", 6_000)
        patch.setattr(data, "SAMPLE", 150)
        patch.setattr(runs, "QUICK_ASKED", 20)
        patch.setattr(sizes, "QUICK", (40,))
        yield patch  # type: ignore[misc]


@pytest.fixture(scope="module")
def quick(tiny: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproduced")
    assert reproduce("wang2018", None, out, quick=True) == out / "wang2018" / "index.html"
    return out / "wang2018"


def informs_files(folder: Path, people: int = 200) -> Path:
    """Files of the shape of INFORMS, made up."""
    demographics = HEAD + "".join(
        f'1,1,"{i}",{1 + i % 12},{1920 + i % 80},{1 + i % 2},{1 + i % 6},3,3,1,4,{1 + i % 2},6,'
        f"{i % 18},2005,{1 + i % 6},100,{1 + i % 5}\n"
        for i in range(people)
    )
    conditions = '"DUID","DUPERSID","ICD9CODX","year"\n' + "".join(
        f'1,"{i}","{400 + (i * i + 7 * j * i + j) % 90}",2005\n'
        for i in range(people)
        for j in range(1 + i % 4)
    )
    (folder / "demographics05.csv").write_text(demographics)
    (folder / "conditions05.csv").write_text(conditions)
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def made_up(losses: Mapping[str, float], grid: runs.Grid = QUICK) -> dict[Case, Measured]:
    """Results in which everything goes as the paper says, given how much each method loses."""
    results = {}
    for case in runs.cases(INFORMS, grid):
        method = METHODS[case.method]
        hard = case.l - 3 * case.alpha - case.beta if method.family == KL else 0.0
        if method.family == AB:
            hard = 3.0 - case.alpha - case.beta
        geneir = method.algorithm == "geneir"
        exposed = 30 + case.l + 10 * case.alpha - 10 * case.beta + 5 * (not geneir)
        error = (10.0 + hard) * (2 if geneir else 1) - case.qi
        results[case] = Measured(
            lost=losses[case.method] * (1 + hard / 100) * (0.6 + case.qi / 15),
            classes=100.0,
            people=5 + hard + 2 * geneir + 0.1 * method.enhanced,
            vulnerable=0.0 if method.enhanced else exposed,
            error=error,
            error_all=error,
            mean_error=error,
            mean_error_all=error,
            seconds=(1 + hard / 10 + case.qi / 10) * (1 if geneir else 10 + 0.1 * method.enhanced),
            suppressed=0.0,
            draws=1.0,
        )
    return results


AS_STATED = {
    "geneir-kl": 25.0,
    "danonyir-kl": 10.0,
    "danonyir-el": 10.2,
    "geneir-ab": 25.0,
    "danonyir-ab": 10.0,
    "danonyir-eab": 10.2,
}


def verdicts(claims: list[Claim]) -> dict[str, str]:
    return {claim.says: claim.verdict for claim in claims}


def test_it_is_one_of_the_papers() -> None:
    assert papers()["wang2018"].startswith("Wang, Du, Luo, Li 2018")


@pytest.mark.slow
def test_the_page(quick: Path) -> None:
    page = (quick / "index.html").read_text(encoding="utf-8")
    for two in ("2 and 3", "4 and 5", "6 and 7", "8 and 9"):
        assert f"Figures {two}:" in page
    assert "Quick run on samples of 150 people" in page
    assert "The paper's table was not given" in page.replace("&#39;", "'")
    assert page.count("<svg") == 8
    assert "INFORMS says" not in page
    assert not re.search(r"https?://", page)
    assert not re.search(r"<(script|link|img|iframe)", page)
    for linked in re.findall(r'href="([^"#]+)"', page):
        assert (quick / linked).is_file()
    assert str(quick) not in page


@pytest.mark.slow
def test_the_tables(quick: Path) -> None:
    files = {file.name for file in quick.iterdir()}
    assert files == {"index.html", "points.json", "ratios.csv", "sizes.csv"} | {
        f"figure-{i}-hospital.{kind}" for i in range(2, 10) for kind in ("csv", "svg")
    }
    for file in quick.glob("*.csv"):
        for row in rows(file):
            assert " ".join(row) == "paper figure k optimization metric ours theirs"
            assert row["paper"] == "wang2018"
            assert float(row["ours"]) >= 0
    assert len(rows(quick / "figure-2-hospital.csv")) == 2 * (2 + 3)  # two lines, two panels
    assert len(rows(quick / "figure-9-hospital.csv")) == 3 * (2 + 2 + 3)
    ratios = rows(quick / "ratios.csv")
    assert len(ratios) == 3 * len(measuring.RATIOS)
    assert {row["theirs"] for row in ratios} >= {"1.923", "2.683", "1.0519", ""}


def test_ratios_by_size_are_those_of_the_means() -> None:
    """By hand: means 30 and 10; the standard deviation of 20, 30, 40 is 10, a third of 30."""
    found = {
        ("INFORMS", 500, method): sizes.Drawn([10.0, 10.0, 10.0]) for method in runs.METHODS
    } | {("INFORMS", 500, "geneir-kl"): sizes.Drawn([20.0, 30.0, 40.0])}
    assert sizes.ratio(found, "INFORMS", 500, "geneir-kl", "danonyir-kl") == 3.0
    assert found["INFORMS", 500, "geneir-kl"].spread == pytest.approx(100 / 3)
    text, ratios, means = sizes.blocks(found)
    assert "up to 33" in str(text)
    assert len(ratios.rows) == 4  # type: ignore[union-attr]
    assert len(means.rows) == 6  # type: ignore[union-attr]
    assert len(sizes.csv_rows(found)) == 3 * 6
    assert "enough people" in str(sizes.blocks({}))


def test_draws_on_samples_differ_by_their_seed_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "QUICK", (40, 10**6))
    shares: list[float] = []
    hospital = data.of_hospital(3_000)
    found = sizes.run(
        {hospital.name: hospital}, True, lambda _, share: shares.append(share), 0.2, 0.9
    )
    assert {people for _, people, _ in found} == {40}  # the table has no million people
    assert shares == sorted(shares)
    assert 0.2 <= shares[0] < shares[-1] < 0.9
    one = runs.make(hospital.sample(40), Case(hospital.name, "danonyir-kl"), 1, 5)
    assert found[hospital.name, 40, "danonyir-kl"].losses[1] == one.lost


@pytest.mark.slow
def test_every_point_is_in_the_file(quick: Path) -> None:
    points = json.loads((quick / "points.json").read_text(encoding="utf-8"))
    assert len(points) == len(runs.cases(HOSPITAL, QUICK))
    for point in points:
        assert 0 < point["lost"] <= 100
        assert point["people"] >= 1
        assert point["classes"] >= 1
        if point["model"].startswith("EIR"):
            assert point["vulnerable"] == 0
        assert (point["error"] is not None) == (point["quasi_identifiers"] == runs.QI)


def width(label: str, tree: Tree, values: list[object], number: bool) -> tuple[set[str], int, int]:
    """What a published label covers of the values, how much that is, and how much all would be."""
    every = {str(value) for value in values}
    if number and label.startswith("[") and label.endswith("]"):
        low, high = (int(end) for end in label[1:-1].split(", "))
        inside = {value for value in every if low <= int(value) <= high}
        return inside, high - low, max(map(int, every)) - min(map(int, every))
    if label.startswith("{"):
        members = set(label[1:-1].split(", "))
        return members, len(members) - 1, int(tree.leaves[0]) - 1
    node = tree.node(label)
    below = {str(tree.labels[i]) for i in range(node, tree.end[node])}
    return below & every, int(tree.leaves[node]) - 1, int(tree.leaves[0]) - 1


@pytest.mark.parametrize("method", ["geneir-kl", "danonyir-kl"])
@pytest.mark.slow
def test_one_point_counted_by_hand(quick: Path, method: str) -> None:
    """Person by person, with strings: loss (eq. 11 to 15), classes, and vulnerable classes."""
    subject = data.load(None, quick=True).subjects[HOSPITAL]
    case = Case(HOSPITAL, method, l=3)
    plan = runs.plan(subject, case, seed=0)
    release = shoal.anonymize(subject.part(case.qi), plan, keep_order=True)
    lost = 0.0
    for name in subject.first(case.qi):
        before, after = subject.table[name].to_pylist(), release.frame[name].to_pylist()
        tree = subject.trees[name].tree(sorted(set(before)))
        for old, new in zip(before, after, strict=True):
            covered, wide, whole = width(str(new), tree, before, name in subject.numbers)
            assert str(old) in covered
            lost += wide / whole
    assert release.published == subject.rows
    classes: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for row, who in zip(release.frame.to_pylist(), subject.table[PERSON].to_pylist(), strict=True):
        key = tuple(str(row[name]) for name in subject.first(case.qi))
        classes.setdefault(key, {}).setdefault(who, set()).add(row[SENSITIVE])
    exposed = 0
    for people in classes.values():
        values = set().union(*people.values())
        assert len(people) >= 3
        assert len(values) >= 3
        hit_by_two = any(
            all(held & {a, b} for held in people.values()) for a in values for b in values
        )
        exposed += hit_by_two
    found = runs.measure(subject, case, release, asked=5)
    assert found.lost == pytest.approx(100 * lost / subject.rows / case.qi)
    assert found.classes == len(classes)
    assert found.people == pytest.approx(subject.people / len(classes))
    assert found.vulnerable == pytest.approx(100 * exposed / len(classes))
    (point,) = [
        row
        for row in rows(quick / "figure-4-hospital.csv")
        if row["optimization"] == method and ", l = 3:" in row["metric"]
    ]
    assert float(point["ours"]) == pytest.approx(lost / subject.rows, abs=1e-5)


def test_the_models_that_are_required() -> None:
    asked = {name: runs.model(Case(INFORMS, name, l=4, alpha=0.5, beta=0.3)) for name in METHODS}
    assert asked["geneir-kl"] == asked["danonyir-kl"]
    assert asked["danonyir-kl"].key == "ir-kl-anonymity[diagnosis]"
    assert (asked["danonyir-kl"].k, asked["danonyir-kl"].l) == (4, 4)  # type: ignore[attr-defined]
    assert asked["danonyir-el"].key == "eir-l-diversity[diagnosis]"
    assert asked["geneir-ab"].key == "ir-alpha-beta-anonymity[diagnosis]"
    assert asked["danonyir-eab"].key == "eir-alpha-beta-anonymity[diagnosis]"
    assert asked["danonyir-eab"].required == 0.3


def test_all_cases() -> None:
    wanted = runs.cases(INFORMS, FULL)
    assert len(wanted) == len(set(wanted)) == 3 * (5 + 5) + 3 * (4 + 4 + 5)
    for grid in (FULL, QUICK):  # the fixed values of the text are among those that vary
        assert runs.L in grid.l
        assert runs.ALPHA in grid.alpha
        assert runs.BETA in grid.beta
        assert runs.QI in grid.qi
    assert tuple(FULL.qi) == (3, 4, 5, 6, 7, 8)


def test_the_mean_of_releases() -> None:
    one = Measured(10, 4, 2.5, 50, None, 7, None, 70, 1, 0, 1)
    two = Measured(20, 6, 3.5, 0, None, 8, None, 80, 3, 2, 1)
    assert runs.mean([one, two]) == Measured(15, 5, 3, 25, None, 7.5, None, 75, 2, 1, 2)


def test_everything_agrees_when_all_is_as_said() -> None:
    for grid in (QUICK, FULL):
        claims = claiming.of_table(made_up(AS_STATED, grid), INFORMS)
        assert {says for says, verdict in verdicts(claims).items() if verdict != "agrees"} == set()
        assert all(claim.found for claim in claims)
        assert len(verdicts(claims)) == len(claims)  # nothing is said twice


def test_what_differs_is_said() -> None:
    claims = claiming.of_table(
        made_up(AS_STATED | {"danonyir-el": 15.0, "geneir-ab": 9.0}), INFORMS
    )
    by = verdicts(claims)
    (eir,) = [claim for claim in claims if claim.says.startswith("danonyir EIR loses 1.0148")]
    assert eir.verdict == "differs"
    assert eir.found == "1.50 times"
    assert by["geneir loses more than danonyir with IR and with EIR (figure 4)."] == "agrees"
    assert by["geneir loses more than danonyir with IR and with EIR (figure 5)."] == "differs"
    assert [v for says, v in by.items() if says.startswith("geneir loses 2.018")] == ["differs"]


def test_a_trend_that_turns() -> None:
    results = made_up(AS_STATED)
    turned = Case(INFORMS, "danonyir-kl", l=6)
    results[turned] = results[turned]._replace(vulnerable=1.0)
    (claim,) = [
        one for one in claiming.of_table(results, INFORMS) if one.says.endswith("(figure 2a).")
    ]
    assert claim.verdict == "in part"  # with geneir it still grows
    assert "danonyir IR 40.0 → 1.0\xa0% (0 of 1 steps)" in claim.found


def test_nothing_run_is_nothing_reported() -> None:
    claims = claiming.of_table(made_up(AS_STATED), HOSPITAL)
    assert {claim.verdict for claim in claims} == {"not run"}
    table = measuring.ratio_table(made_up(AS_STATED), [INFORMS, HOSPITAL])
    assert [cell.text for row in table.rows for cell in row[3:]] == ["–"] * 6  # type: ignore[union-attr]
    assert {cell.tone for row in table.rows for cell in row[2:3]} == {"good"}  # type: ignore[union-attr]


def test_where_the_paper_puts_geneir() -> None:
    assert figures._band(AB, {3: 2.0}) == {3: (2 * 2.018, 2 * 3.039)}


def test_with_files_like_informs(tiny: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    loaded = data.load(informs_files(folder), quick=True)
    assert list(loaded.subjects) == [INFORMS, HOSPITAL]
    subject = loaded.subjects[INFORMS]
    assert (subject.people, subject.whole) == (150, 200)
    assert subject.first(3) == ["month of birth", "year of birth", "sex"]
    case = Case(INFORMS, "danonyir-eab", alpha=0.6, beta=0.6, qi=8)
    found = runs.make(subject, case, seed=0, asked=5)
    assert found.vulnerable == 0
    assert "--data DIR" in wang2018._again(loaded, quick=True)
    assert not wang2018._warning(loaded, quick=False)
    assert "(paper 9.25)" in str(data.shapes(loaded).rows[0][3])


def test_a_folder_without_the_files(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no folder"):
        data.load(tmp_path / "nowhere", quick=True)
    with pytest.raises(BadFile, match=r"not contain demographics05\.csv and conditions05\.csv"):
        data.load(tmp_path, quick=True)


def test_one_value_for_each_person() -> None:
    subject = data.of_hospital(3_000)
    held = subject.table.group_by([PERSON, SENSITIVE]).aggregate([])
    assert held.num_rows == subject.rows >= 2 * subject.people  # several, none twice
    assert len(subject.trees) == 8
    assert subject.numbers < set(subject.trees)
    people = subject.table.group_by(PERSON).aggregate(
        [(name, "count_distinct") for name in subject.trees]
    )
    for name in subject.trees:
        assert set(people[f"{name}_count_distinct"].to_pylist()) == {1}
        assert subject.table[name].null_count == 0
        assert subject.table[name].type in (pa.string(), pa.int64())


def test_both_algorithms_are_asked_the_same_queries() -> None:
    """Queries ask for neighbouring leaves, and losses are shares of all leaves."""
    subject = data.of_hospital(3_000)
    on_trees, free = (data.hierarchies(subject, name) for name in ("geneir", "danonyir"))
    for name in subject.trees:
        values = subject.table[name].unique().to_pylist()
        trees = [ways[name].tree(values) for ways in (on_trees, free)]
        assert data.leaves(trees[0]) == data.leaves(trees[1])


def test_diagnoses_that_many_of_an_age_share() -> None:
    rows = [
        ("a", 1921, "x"),
        ("a", 1921, "y"),
        ("b", 1929, "x"),
        ("c", 1930, "x"),
        ("d", 1935, "y"),
    ]
    columns = dict(zip((PERSON, "year of birth", SENSITIVE), zip(*rows, strict=True), strict=True))
    table = pa.table({name: list(values) for name, values in columns.items()})
    subject = data.Subject("made up", table, {}, frozenset(), 4)
    assert data.prevalent(subject, 0.6) == (1, 2, 50.0, 100.0)
    assert data.prevalent(subject, 0.4) == (2, 2, 100.0, 100.0)


def test_every_value_of_informs_is_in_its_tree(shared: Path) -> None:
    subject = data.load(shared, quick=False).subjects[INFORMS]
    for name, hierarchy in subject.trees.items():
        values = [value for value in subject.table[name].unique().to_pylist() if value is not None]
        tree = hierarchy.tree(values)
        for value in values:
            assert tree.leaves[tree.node(str(value))] == 1
    assert min(filter(None, subject.table["education"].to_pylist())) > 0  # codes are missing


def test_an_interrupted_run_leaves_nothing(tiny: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(step: str, _: float) -> None:
        if "clustering" in step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce("wang2018", None, tmp_path, True, stop)
    assert not list(tmp_path.iterdir())
