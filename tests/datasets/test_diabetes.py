from __future__ import annotations

import gzip
import importlib
import lzma
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shoal import datasets
from shoal.base.errors import BadFile
from shoal.cli import main as cli
from shoal.datasets import _find
from shoal.datasets.diabetes import COLUMNS, DIABETES, NUMBERS, hierarchies

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
PAGE = (ROOT / "docs" / "people.md").read_text(encoding="utf-8")
needs_shared = pytest.mark.skipif(
    not (SHARED / "diabetes130").is_dir(), reason="the original files are not in ../shared/data"
)
HEADER = ",".join(COLUMNS) + "\n"


def line(**values: object) -> str:
    """A row as UCI writes it."""
    known = {"race": "?", "gender": "Female", "age": "[70-80)", "A1Cresult": "None"} | values
    return ",".join(str(known.get(name, 1)) for name in COLUMNS) + "\n"


CONTENT = (HEADER + line(patient_nbr=17, diag_1="250.83") + line(diag_1="?")).encode()


@pytest.fixture(scope="module")
def stays() -> pa.Table:
    if not SHARED.is_dir():
        pytest.skip("the original files are not in ../shared/data")
    return datasets.diabetes(SHARED)


def test_the_facts(stays: pa.Table) -> None:
    assert stays.num_rows == DIABETES.rows == 101_766
    assert stays.column_names == list(COLUMNS)
    assert len(COLUMNS) == 50
    assert pc.count_distinct(stays["patient_nbr"]).as_py() == 71_518
    for field in stays.schema:
        assert field.type == (pa.int64() if field.name in NUMBERS else pa.string())
    missing = {name: stays[name].null_count for name in COLUMNS if stays[name].null_count}
    assert missing == {
        "race": 2_273, "weight": 98_569, "payer_code": 40_256, "medical_specialty": 49_949,
        "diag_1": 21, "diag_2": 358, "diag_3": 1_423,
    }  # fmt: skip
    readmitted = stays["readmitted"].value_counts().to_pylist()
    counts = {each["values"]: each["counts"] for each in readmitted}
    assert counts == {"NO": 54_864, ">30": 35_545, "<30": 11_357}
    assert "None" in stays["A1Cresult"].unique().to_pylist()  # not measured, and not missing
    known = ["race", "gender", "age", "admission_type_id", "discharge_disposition_id"]
    classes = stays.group_by([*known, "time_in_hospital"]).aggregate([])
    assert classes.num_rows == 12_668


@needs_shared
def test_the_sum_is_that_of_the_original_file() -> None:
    packed = (SHARED / "diabetes130" / "diabetic_data.csv.xz").read_bytes()
    assert _find.sha256(lzma.decompress(packed)) == DIABETES.sha256


def leaves(tree: object) -> Iterator[str]:
    assert isinstance(tree, dict)
    for label, below in tree.items():
        if below is None:
            yield label
        else:
            yield from leaves(below)


@pytest.mark.parametrize("column", hierarchies())
def test_every_value_is_a_leaf_once(stays: pa.Table, column: str) -> None:
    found = list(leaves(hierarchies()[column]))
    assert len(found) == len(set(found))
    assert {value for value in stays[column].unique().to_pylist() if value} <= set(found)


# Files


def packed(form: str) -> bytes:
    if form == "zip":
        from io import BytesIO

        target = BytesIO()
        with ZipFile(target, "w") as file:
            file.writestr("dataset_diabetes/IDs_mapping.csv", "admission_type_id,description\n")
            file.writestr("dataset_diabetes/diabetic_data.csv", CONTENT)
        return target.getvalue()
    return {"csv": bytes, "xz": lzma.compress, "gz": gzip.compress}[form](CONTENT)


FORMS = {
    "diabetic_data.csv": "csv",
    "diabetic_data.csv.xz": "xz",
    "diabetic_data.csv.gz": "gz",
    "dataset_diabetes.zip": "zip",
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("below", ["", "diabetes130"])
def test_a_folder_or_a_file_of_any_packing(tmp_path: Path, name: str, below: str) -> None:
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(packed(FORMS[name]))
    table = datasets.diabetes(tmp_path)
    assert table["patient_nbr"].to_pylist() == [17, 1]
    assert table["diag_1"].to_pylist() == ["250.83", None]
    assert table.equals(datasets.diabetes(folder / name))


def test_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "diabetic_data.csv").write_bytes(CONTENT.partition(b"\n")[2])
    assert datasets.diabetes(tmp_path)["patient_nbr"].to_pylist() == [17, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no rows"),
        (HEADER.encode(), "has no rows"),
        (b"a,b\n1,2\n", "is not a table of the 50 columns encounter_id, patient_nbr"),
        (HEADER.encode() + line(patient_nbr="x17").encode(), "'patient_nbr' .* but has 'x17'"),
        (packed("xz")[:40], "cannot read"),
        (packed("zip")[:60], "cannot read"),
    ],
    ids=["nothing", "header", "columns", "number", "xz", "zip"],  # a zip has the time of day in it
)
def test_what_is_no_such_table_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "diabetic_data.csv").write_bytes(content)
    with pytest.raises(BadFile, match=message) as got:
        datasets.diabetes(tmp_path)
    assert "diabetic_data.csv" in str(got.value)


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "dataset_diabetes.zip", "w") as file:
        file.writestr("other.csv", "a\n")
    with pytest.raises(BadFile, match=r"does not contain diabetic_data\.csv"):
        datasets.diabetes(tmp_path)


# Downloads, from a folder that stands for UCI


@pytest.fixture
def uci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_find, "UCI", (tmp_path / "uci").as_uri())
    module = importlib.import_module("shoal.datasets.diabetes")
    monkeypatch.setattr(module, "DIABETES", DIABETES._replace(sha256=_find.sha256(CONTENT)))
    (tmp_path / "uci" / "00296").mkdir(parents=True)
    return tmp_path / "uci" / "00296" / "dataset_diabetes.zip"


def test_a_download_is_unpacked_and_kept(uci: Path, tmp_path: Path) -> None:
    uci.write_bytes(packed("zip"))
    table = datasets.diabetes()
    assert table["patient_nbr"].to_pylist() == [17, 1]
    kept = tmp_path / "cache" / "diabetes130" / "diabetic_data.csv"
    assert kept.read_bytes() == CONTENT
    uci.unlink()
    assert datasets.diabetes().equals(table)
    kept.write_bytes(CONTENT[:-5])  # a broken cache is not used
    with pytest.raises(BadFile, match="cannot download"):
        datasets.diabetes()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (None, r"cannot download .*dataset_diabetes\.zip"),
        (b"<html>", r"is not diabetic_data\.csv: its SHA-256 is .* expected"),
        (b"PK\3\4 half a file", "cannot read"),
    ],
)
def test_a_failed_download_names_a_way_out(
    uci: Path, tmp_path: Path, sent: bytes | None, message: str
) -> None:
    if sent is not None:
        uci.write_bytes(sent)
    with pytest.raises(BadFile, match=message) as got:
        datasets.diabetes()
    assert "give the path of a copy of diabetic_data.csv or dataset_diabetes.zip" in str(got.value)
    assert not (tmp_path / "cache").exists()


# The example, and the page that shows what it prints


def example(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["diabetes.py", *words])
    runpy.run_path(str(ROOT / "examples" / "diabetes.py"), run_name="__main__")


def consoles() -> list[list[str]]:
    """The console blocks of the page: commands begin with a dollar sign."""
    return [block.splitlines() for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)]


def test_the_example_on_a_small_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    rows = [
        line(
            patient_nbr=i // 2,
            age=f"[{10 * (i // 2 % 10)}-{10 * (i // 2 % 10) + 10})",
            race="Asian",
            medical_specialty="Cardiology",
            payer_code="MC",
            diag_1=250 + int(rng.integers(9)),
        )
        for i in range(400)
    ]
    (tmp_path / "diabetic_data.csv").write_text(HEADER + "".join(rows))
    example(monkeypatch, "--data", str(tmp_path), "--out", str(tmp_path / "out"))
    out = capsys.readouterr().out
    assert "400 stays of 200 patients" in out
    assert re.search(r"k = 5 over people .*\n  records .*\n  people of a class +20 +0 +0\n", out)
    assert len(list((tmp_path / "out").iterdir())) == 4


def test_the_example_without_data_says_how_to_get_it(
    uci: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example(monkeypatch)
    assert "give the path of a copy of diabetic_data.csv" in capsys.readouterr().out


def test_the_python_of_the_page_prints_what_stands_below_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ((code, shown),) = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "people.md", "exec"), {})
    assert capsys.readouterr().out == shown


@needs_shared
@pytest.mark.slow
def test_the_commands_of_the_page_give_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (first, *shown), commands = consoles()
    assert first.split()[:3] == ["$", "python", "examples/diabetes.py"]
    example(monkeypatch, *first.replace("DATA", str(SHARED)).split()[3:])
    assert capsys.readouterr().out.splitlines() == shown
    assert len(commands) == 4
    for command in commands:
        words, expected = command.removeprefix("$ ").split("#")
        level, verdict = expected.removeprefix(" k-anonymity").split(":")
        monkeypatch.setattr(sys, "argv", words.split())
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert (end.value.code or 0) == {"satisfied": 0, "violated": 1}[verdict.strip()]
        said = capsys.readouterr().out
        assert re.search(rf"k-anonymity +5 +{int(level)} +{verdict.strip()}", said)
