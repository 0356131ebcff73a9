"""Names of files that a browser saves: safe on every system, whatever the table is called."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath
from urllib.parse import quote

LONGEST = 120  # bytes of the part that comes from the table; systems allow 255 for a name
FORBIDDEN = set('/\\:*?"<>|%;')


def stem_of(title: str) -> str:
    """What files of a table begin with.

    >>> stem_of("people.csv"), stem_of('Ärzte "v1.2" .sav'), stem_of("../../etc/passwd")
    ('people', 'Ärzte v1.2', 'passwd')
    """
    name = PurePosixPath(title.replace("\\", "/")).name
    shown = "".join(one if _is_plain(one) else " " for one in unicodedata.normalize("NFC", name))
    base = " ".join(shown.split())
    while "." in base.strip(" .") and _is_ending(base.rpartition(".")[2]):
        base = base.rpartition(".")[0]
    cut = base.strip(" .-").encode()[:LONGEST].decode(errors="ignore")
    return cut.strip(" .-") or "table"


def _is_plain(sign: str) -> bool:
    """Whether a sign can be seen and may be in the name of a file."""
    return sign not in FORBIDDEN and (sign == " " or unicodedata.category(sign)[0] not in "CZ")


def _is_ending(text: str) -> bool:
    return 0 < len(text.strip()) <= 8 and not text.strip()[0].isdigit()


def disposition(name: str, attached: bool = True) -> str:
    """The header that says what a file is called, also in letters that headers cannot have.

    >>> disposition("people-release.csv")
    'attachment; filename="people-release.csv"'
    """
    kind = "attachment" if attached else "inline"
    plain = "".join(one if " " <= one <= "~" and one not in '"\\' else "_" for one in name)
    if plain == name:
        return f'{kind}; filename="{name}"'
    return f"{kind}; filename*=utf-8''{quote(name, safe='')}; filename=\"{plain}\""
