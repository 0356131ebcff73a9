"""Messages about PostgreSQL: what happened and what to do, without any value of a table."""

from __future__ import annotations

import re

from shoal.base.errors import BadFile, BadTable, ShoalError

READ_ONLY = "25006"  # the state of a statement that would write in a transaction that reads only
LOCKED = "55P03"  # the state of a statement that has not got a lock in time


def explained(error: BaseException, connected: bool, write: bool, patience: str) -> ShoalError:
    """Errors of the driver, which may contain values and addresses, as messages without them.

    `patience` is the time that a lock was waited for.
    """
    said, state = str(error), _state(error)
    if not connected:
        return BadFile(f"cannot connect to PostgreSQL: {_connecting(said)}")
    if is_lost(error):
        return BadFile(
            "the connection to PostgreSQL was lost: the server ended or the network failed; "
            "nothing in the database was changed, and nothing is released. Run again when the "
            "server answers"
        )
    if state == "42501":
        return BadFile(f"PostgreSQL: {_first_line(said)}; ask for the permission")
    if state == LOCKED:
        return BadFile(
            f"somebody else uses the table{' that would be replaced' if write else ''}, for "
            f"{patience} and longer; nothing in the database was changed. Run again when they have "
            "finished"
        )
    if state == "2BP01":
        return BadFile(
            "other objects, such as a view, depend on the table that would be replaced; nothing in "
            "the database was changed. Drop them first, or write to a table of another name"
        )
    if state in ("53100", "53200", "53300"):
        lacking = {"53100": "disk space", "53200": "memory", "53300": "free connections"}[state]
        return BadFile(
            f"PostgreSQL has no {lacking} left; nothing in the database was changed. Run again "
            "when there is some"
        )
    if state == READ_ONLY or "in a read-only transaction" in said:
        if not write:
            return BadTable("the query would change the database; a query can only read")
        return BadFile(
            "PostgreSQL lets this user only read: the server is a standby, or the database or the "
            "user is set to read only (default_transaction_read_only); nothing in the database was "
            "changed. Write to the primary server, or ask for the permission"
        )
    if state == "3F000":
        return BadFile(f"PostgreSQL: {_first_line(said)}; create it first, or name another one")
    if state.startswith("42"):  # about names and syntax, not about cells
        return BadTable(f"PostgreSQL cannot run the query: {_first_line(said)}")
    number = f"SQLSTATE {state}" if state else type(error).__name__
    return BadFile(
        f"PostgreSQL could not read or write the rows ({number}); nothing in the database was "
        "changed. Its log has the reason, perhaps with values of the table"
    )


def _connecting(said: str) -> str:
    """Why there is no connection, without anything from the address."""
    reasons = {
        "password authentication failed": "the user or the password is wrong",
        "no password supplied": "it asks for a password; set PGPASSWORD, or use ~/.pgpass",
        "no pg_hba.conf entry": "the server does not let this user in from here (pg_hba.conf)",
        "Peer authentication failed": "the server does not let this user in (pg_hba.conf)",
        "does not exist": "the server has no database or user of this name",
        "Connection refused": "no server answers at this address",
        "No such file or directory": "no server answers at this address",
        "could not translate host name": "there is no host of this name",
        "timeout expired": "the server did not answer in time",
        "too many clients": "the server has no free connections",
        "starting up": "the server is starting; run again when it is ready",
        "recovery mode": "the server recovers after a crash; run again when it is ready",
        "shutting down": "the server is being stopped; run again when it has started",
        "SSL": "the encryption that was asked for is not possible",
        "invalid URI": "the address is not a valid one, as in postgresql://user@host:5432/database",
        "missing \"=\"": "the address is not a valid one, as in postgresql://user@host:5432/database",
    }  # fmt: skip
    for words, reason in reasons.items():
        if words in said:
            return reason
    return "the server does not accept the connection"


def is_lost(error: BaseException) -> bool:
    """Whether there is no connection to the server any more."""
    lost = ("server closed the connection", "no connection to the server", "terminating connection",
            "could not receive data", "could not send data", "connection not open")  # fmt: skip
    return _state(error).startswith(("08", "57P")) or any(words in str(error) for words in lost)


def unknown_outcome(transaction: int) -> str:
    """What to say if there is no answer to COMMIT: both outcomes are possible."""
    return (
        "it is not known whether the release was written, as PostgreSQL has not answered COMMIT: "
        "the database has all of it, verified, or what it had before. Ask the server: SELECT "
        f"txid_status({transaction}) says 'committed' or 'aborted'; if it says 'in progress', ask "
        "again later"
    )


def _state(error: BaseException) -> str:
    return getattr(error, "sqlstate", None) or ""


def _first_line(said: str) -> str:
    """The message of the server itself, which is between words of the driver."""
    found = re.search(r"ERROR:\s*([^\n]*)", said)
    return found[1].strip()[:200] if found else "it is not valid"
