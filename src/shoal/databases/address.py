"""Addresses of databases: which kind they are of, and that they contain no password.

An address is shown by process lists, histories of shells, messages and reports. A password in it
is refused, also from Python, and no message repeats an address that has one.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from shoal.base.errors import BadFile, did_you_mean
from shoal.io.sources import FOREIGN

# A scheme has two letters or more: `c:/people.csv` is a file. Pasted addresses may lack a slash.
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)
SECRETS = ("password", "sslpassword", "passwd", "pwd", "secret", "token")
NO_PASSWORD = (
    "the address of a database must not contain a password, as process lists and histories of "
    "shells show it; remove it and change it. PostgreSQL takes passwords from ~/.pgpass, from the "
    "file that ?passfile=… or PGPASSFILE names, from a service file (PGSERVICEFILE), or from "
    "PGPASSWORD"
)


def scheme_of(source: object) -> str:
    """The scheme of an address, in lower case; "" if it is none.

    >>> scheme_of("postgresql://ann@host/clinic"), scheme_of("people.csv"), scheme_of("c:/a.csv")
    ('postgresql', '', '')
    """
    found = SCHEME.fullmatch(source) if isinstance(source, str) else None
    return found[1].lower() if found else ""


def is_foreign(source: object) -> bool:
    """Whether it is a connection string of another program, which may contain a password.

    >>> is_foreign("host=a password=b"), is_foreign("jdbc:postgresql://a/b"), is_foreign("a.csv")
    (True, True, False)
    """
    return isinstance(source, str) and FOREIGN.fullmatch(source) is not None


def check_address(address: str, known: list[str]) -> None:
    """Raise an error for an unknown kind, and for a password; the message does not repeat it."""
    found = SCHEME.fullmatch(address)
    assert found, "the caller has found a scheme"
    scheme, rest = found[1].lower(), found[2]
    if _has_secret(rest):
        raise BadFile(NO_PASSWORD)
    if scheme not in known:
        hint = did_you_mean(scheme, known) or f"; there are {', '.join(f'{x}://' for x in known)}"
        raise BadFile(f"cannot read addresses that begin with {scheme}:{hint}")
    if not rest.startswith("//"):
        raise BadFile(f"an address begins with {scheme}://, got {scheme}:/ with one slash only")


def _has_secret(rest: str) -> bool:
    """Whether a password is in front of the host, or among the settings."""
    before, _, settings = rest.partition("?")
    user, at, _ = before.rpartition("@")
    if at and user.lstrip("/").partition(":")[2]:
        return True
    # A password may contain ? or #, which then should have been escaped.
    if re.match(r"/+[^/:@]*:[^/@]*[^/0-9@,][^/@]*@", rest):
        return True
    return any(
        any(secret in name.lower() for secret in SECRETS)
        for name, _ in parse_qsl(settings, keep_blank_values=True)
    )


def path_of(address: str) -> Path:
    """The file of an address such as sqlite:///people.db; four slashes begin an absolute path.

    >>> path_of("sqlite:///people.db").as_posix(), path_of("duckdb:////data/a%20b").as_posix()
    ('people.db', '/data/a b')
    """
    scheme, _, rest = address.partition("://")
    rest, question, _ = rest.partition("?")
    if question or not rest.startswith("/") or not rest[1:]:
        raise BadFile(
            f"an address of this kind is {scheme}:///people.db, or {scheme}:////data/people.db for "
            f"an absolute path, without settings"
        )
    return Path(unquote(rest[1:]))
