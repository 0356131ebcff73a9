"""Where the server listens: on this machine only, unless its user knows what that means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.base.errors import BadFile, BadPlan
from shoal.studio.server import Address, is_loopback, listening, serve

FILE = Path("server.pem")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "clinic.example", ""])
@pytest.mark.parametrize(
    "given",
    [{}, {"known": True}, {"certificate": FILE, "key": FILE}, {"known": True, "certificate": FILE}],
)
def test_other_machines_need_everything_that_protects_them(
    host: str, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.studio.server.listening", lambda _: pytest.fail("it listens"))
    studio: Any = None  # it is refused before anything is read
    with pytest.raises(BadPlan, match="--i-know, --certificate and --key"):
        serve(studio, Address(host, **given), False, pytest.fail)


def test_with_all_of_it_an_address_is_served_by_tls() -> None:
    address = Address("192.168.1.5", 0, True, FILE, FILE)
    address.check()
    assert address.scheme == "https"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_nothing(host: str) -> None:
    assert is_loopback(host)
    Address(host).check()
    assert Address(host).scheme == "http"


def test_by_default_only_this_machine_reaches_it() -> None:
    with listening(Address()) as one:
        host, port = one.getsockname()
        assert host == "127.0.0.1"
        one.listen()
        with pytest.raises(BadFile, match=f"127.0.0.1:{port} .*name another --port"):
            listening(Address(port=port))
