"""The data dictionary: a table with a row per column, in which the user says what it is."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple, get_args

from shoal.base.errors import BadFile, did_you_mean, preview
from shoal.hierarchies.values import text
from shoal.io.frames import open_frame
from shoal.table.roles import ROLES, Role

FIELDS = ("column", "label", "role", "codes")


class Entry(NamedTuple):
    """What a dictionary says about one column; what it does not say is empty."""

    label: str = ""
    role: str = ""
    codes: Mapping[str, str] = {}


Dictionary = Mapping[str, Entry]


def read_dictionary(path: str | Path) -> dict[str, Entry]:
    """Read a dictionary: a table with the columns column, label, role and codes.

    All but the first may be lacking or empty. Codes are written as in `1=male; 2=female`.
    """
    frame = open_frame(path)
    names = {name.strip().lower(): name for name in frame.names}
    if "column" not in names:
        raise BadFile(
            f"the dictionary {path} has no column 'column'; it needs {', '.join(FIELDS)}, and has "
            f"{preview(frame.names)}"
        )
    cells = {
        field: [
            "" if cell is None else text(cell).strip()
            for cell in frame.column(names[field]).to_pylist()
        ]
        for field in FIELDS
        if field in names
    }
    found: dict[str, Entry] = {}
    for row, column in enumerate(cells["column"]):
        if not column:
            continue
        if column in found:
            raise BadFile(f"the dictionary {path} describes the column {column!r} twice")
        given = {field: cells[field][row] if field in cells else "" for field in FIELDS}
        role = given["role"].lower()
        if role and role not in get_args(Role):
            hint = did_you_mean(role, get_args(Role))
            raise BadFile(
                f"the dictionary {path} gives the column {column!r} the role {role!r}{hint or ';'} "
                f"roles are {ROLES}"
            )
        found[column] = Entry(given["label"], role, codes_in(given["codes"], column, path))
    return found


def check_described(dictionary: Dictionary, names: Collection[str]) -> None:
    """Raise an error if the dictionary describes a column that the table lacks."""
    if lacking := [name for name in dictionary if name not in names]:
        raise BadFile(
            f"the dictionary describes columns that the table lacks: {preview(lacking)}"
            f"{did_you_mean(lacking[0], names)}"
        )


def codes_in(written: str, column: str, path: str | Path) -> dict[str, str]:
    """What codes stand for.

    >>> codes_in("1=male; 2 = female", "sex", "d.csv")
    {'1': 'male', '2': 'female'}
    """
    codes = {}
    for part in re.split(r"[;|\n]", written):
        code, sign, label = (one.strip() for one in part.partition("="))
        if not part.strip():
            continue
        if not sign or not code:
            raise BadFile(
                f"the dictionary {path} describes codes of the column {column!r} in another form; "
                "write them as 1=male; 2=female"
            )
        codes[code] = label
    return codes
