"""The server: it listens on this machine only, for one user."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from threading import Event, Thread
from typing import Any

from shoal.base import interrupt
from shoal.base.errors import BadFile, BadPlan
from shoal.studio.studio import Studio

HOST = "127.0.0.1"
POLL = 0.2  # seconds between two looks whether the user wants to end
ENDING = 5.0  # seconds that the server gets to end


@dataclass(frozen=True)
class Address:
    """Where the server listens, and what protects the connection."""

    host: str = HOST
    port: int = 0  # 0: any that is free
    known: bool = False  # whether the user knows that others may reach it
    certificate: Path | None = None
    key: Path | None = None

    def check(self) -> None:
        """Raise an error if others could reach the server without protection."""
        if is_loopback(self.host):
            return
        if not (self.known and self.certificate and self.key):
            raise BadPlan(
                f"--host {self.host} lets other machines reach the studio and your data; it "
                "listens on this machine only, unless you give --i-know, --certificate and --key"
            )

    @property
    def scheme(self) -> str:
        """The protocol that a browser uses."""
        return "https" if self.certificate else "http"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def listening(address: Address) -> socket.socket:
    """The socket of the server; raise an error if the port is in use."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    found = socket.socket(family)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((address.host, address.port))
    except (OSError, OverflowError) as error:
        found.close()
        why = getattr(error, "strerror", None) or error
        raise BadFile(
            f"cannot listen on {address.host}:{address.port} ({why}); name another --port"
        ) from None
    return found


def serve(
    studio: Studio,
    address: Address,
    browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve the studio until it is interrupted."""
    import uvicorn

    from shoal.studio.app import application

    address.check()
    with listening(address) as listener:
        port = listener.getsockname()[1]
        host = f"[{address.host}]" if ":" in address.host else address.host
        names = {host, "localhost"} if is_loopback(address.host) else {host}
        origins = [f"{address.scheme}://{name}:{port}" for name in sorted(names)]
        token = token_urlsafe(24)
        page = f"{address.scheme}://{host}:{port}/?token={token}"
        config = uvicorn.Config(
            application(studio, origins, token),
            log_level="critical",  # requests have names of columns and values
            access_log=False,
            server_header=False,
            ssl_certfile=address.certificate,
            ssl_keyfile=address.key,
            timeout_graceful_shutdown=1,
            lifespan="on",
        )
        say(page)
        if browser:
            Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        _run(uvicorn.Server(config), listener)


def _run(server: Any, listener: socket.socket) -> None:
    """Serve in a thread: the main one waits for an interrupt, which ends the server.

    A `join` that is interrupted takes the thread for ended (Python 3.11), so that an event says
    when it has.
    """
    over = Event()

    def work() -> None:
        try:
            server.run(sockets=[listener])
        finally:
            over.set()

    Thread(target=work, daemon=True).start()
    try:
        while not over.wait(POLL):
            interrupt.check()
    except KeyboardInterrupt:
        interrupt.settle()
    finally:
        server.should_exit = True
        over.wait(ENDING)
    interrupt.dismiss()
