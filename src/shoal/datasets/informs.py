"""INFORMS 2008 contest, the year 2005: diagnoses of people in a US survey."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile
from shoal.datasets._find import File, given, parse, unpack

PEOPLE = File(
    folder="informs",
    names=("demographics05.csv", "demographics05test.csv"),
    columns=(
        "duid",
        "pid",
        "dupersid",
        "dobmm",
        "dobyy",
        "sex",
        "racex",
        "raceax",
        "racebx",
        "racewx",
        "racethnx",
        "hispanx",
        "hispcat",
        "educyear",
        "year",
        "marry",
        "income",
        "poverty",
    ),
    numbers=frozenset({"dobmm", "dobyy", "educyear"}),
    rows=33_961,
    sha256="4427129f7f4d939190dc659a66afed2d0fd4a5128bd3cb05ef987b0fd1371111",
    copies=(),
)
DIAGNOSES = File(
    folder="informs",
    names=("conditions05.csv",),
    columns=("duid", "dupersid", "icd9codx", "year"),
    numbers=frozenset(),
    rows=104_855,
    sha256="46e39a90eeb355bb31c0002c3282f374d16badd3542c0fe81374408f0dea6880",
    copies=(),
)
FILES = (PEOPLE, DIAGNOSES)
# As the files name them, and as the table does; the quasi-identifiers in the order of table 5,
# Wang 2018.
NAMES = {
    "dupersid": "person",
    "dobmm": "month of birth",
    "dobyy": "year of birth",
    "sex": "sex",
    "racex": "race",
    "educyear": "education",
    "marry": "marital status",
    "poverty": "poverty",
    "hispanx": "hispanic",
    "icd9codx": "diagnosis",
}


def informs(path: str | Path) -> pa.Table:
    """Load the diagnoses of the year 2005: 98,703 rows of 26,854 people, most of whom have several.

    `path` is a folder that contains `demographics05.csv` and `conditions05.csv` (or these files
    compressed with gzip), or has a folder `informs` with them; no package contains them. A
    diagnosis that the file has twice for a person is one row, and people without a diagnosis have
    none. Months and years of birth and years of school (`education`) are numbers; everything else
    is a code, as text. Negative codes mean missing (-1 not applicable, -7 refused, -8 unknown, -9
    not ascertained); here they are values like any other.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise BadFile(f"no folder {str(path)!r}; give a folder that contains {_both()}")
    people, diagnoses = (_read(file, folder) for file in FILES)
    found = diagnoses.select(["dupersid", "icd9codx"])
    found = found.group_by(["dupersid", "icd9codx"], use_threads=False).aggregate([])
    strangers = pc.invert(pc.is_in(found["dupersid"], people["dupersid"].combine_chunks()))
    if pc.any(strangers).as_py():
        many = len(found.filter(strangers)["dupersid"].unique())
        raise BadFile(
            f"{DIAGNOSES.names[0]} names {many:,} people who are not in {PEOPLE.names[0]}; "
            "give files that belong together"
        )
    place = pc.index_in(found["dupersid"], people["dupersid"].combine_chunks())
    table = people.take(place).append_column("icd9codx", found["icd9codx"])
    return table.select(list(NAMES)).rename_columns(list(NAMES.values())).combine_chunks()


def holds_informs(folder: Path) -> bool:
    """Whether a folder contains both files.

    >>> holds_informs(Path("nowhere"))
    False
    """
    try:
        return all(given(file, folder).is_file() for file in FILES)
    except BadFile:
        return False


def _read(file: File, folder: Path) -> pa.Table:
    found = given(file, folder)
    return parse(file, unpack(found), found.name)


def _both() -> str:
    return " and ".join(file.names[0] for file in FILES)
