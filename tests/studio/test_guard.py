"""The guard: requests that do not come from the user's own page are refused."""

from __future__ import annotations

import socket

import pytest

from tests.studio.served import Served


def test_without_the_token_nothing_is_shown(studio: Served) -> None:
    for path in ("/", "/static/studio.js", "/p/x/columns", "/?token=", "/?token=wrong"):
        answer = studio.bare("GET", path)
        assert answer.status == 401
        assert "hospital" not in answer.text


def test_the_cookie_is_for_this_page_only(studio: Served) -> None:
    answer = studio.bare("GET", f"/?token={studio.token}")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert studio.token not in cookie
    assert studio.bare("GET", "/", headers={"cookie": studio.cookie}).status == 200
    assert studio.bare("GET", "/", headers={"cookie": studio.cookie + "x"}).status == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80"])
def test_other_hosts_are_refused(studio: Served, host: str) -> None:
    """A name that an attacker points to this machine, so that a page of theirs may read it."""
    assert studio.ask("GET", "/", headers={"host": host}).status == 421


def test_no_host_is_refused(studio: Served) -> None:
    with socket.create_connection(("127.0.0.1", studio.port)) as raw:
        raw.sendall(f"GET / HTTP/1.0\r\ncookie: {studio.cookie}\r\n\r\n".encode())
        assert b" 421 " in raw.recv(200) or raw.recv(200) == b""


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_other_origins_are_refused(studio: Served, origin: str, method: str) -> None:
    answer = studio.ask(method, "/wipe", headers={"origin": origin})
    assert answer.status == 403


def test_a_change_needs_an_origin(studio: Served) -> None:
    headers = {"cookie": studio.cookie}
    assert studio.bare("POST", "/wipe", headers=headers).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_pages_are_refused(studio: Served, site: str) -> None:
    for path in ("/", "/static/studio.js"):
        assert studio.ask("GET", path, headers={"sec-fetch-site": site}).status == 403


def test_the_first_address_may_be_opened_from_another_page(studio: Served) -> None:
    """As from a chat: it is the token that counts. The cookie does not come along then."""
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert studio.bare("GET", f"/?token={studio.token}", headers=headers).status == 200
    headers["sec-fetch-mode"] = "no-cors"
    assert studio.bare("GET", f"/?token={studio.token}", headers=headers).status == 403


def test_websockets_are_refused(studio: Served) -> None:
    headers = {
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
    }
    assert studio.ask("GET", "/", headers=headers).status in (200, 403, 426)  # never 101


def test_answers_tell_the_browser_what_is_allowed(studio: Served) -> None:
    for path in ("/", "/static/studio.css", "/nothing"):
        headers = studio.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py",
     "/static//etc/passwd", "/static/%2fetc/passwd", "/p/../../etc/columns"],
)  # fmt: skip
def test_no_path_leads_out(studio: Served, path: str) -> None:
    answer = studio.get(path)
    assert answer.status == 404
    assert "root:" not in answer.text
    assert "def serve" not in answer.text
