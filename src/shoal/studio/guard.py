"""Guard: who may talk to the server, and what a browser may do with its answers.

The server listens on this machine only, but every page that the user has open in a browser could
send requests there. So each request needs the cookie that the first address gives, the host must be
ours (a name that an attacker points to 127.0.0.1 is not), and requests of other pages are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# Reports are pages of their own with their styles inside, and without scripts.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-popups"
)
HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",  # with no-referrer, forms have no origin
    b"cache-control": b"no-store",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}
READS = ("GET", "HEAD")
# The link of the terminal may be opened from another page, and a cookie that is `Strict` would not
# come along with a redirect. The page that this one goes to is asked for by ourselves.
WELCOME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>shoal studio</title>'
    '<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=/">'
    '<p><a href="/">Open the studio</a></p></html>'
)
CLOSED = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>shoal studio</title>'
    '<link rel="icon" href="data:,">'
    "<h1>This address needs its key</h1><p>Open the whole address that <code>shoal studio</code> "
    "printed in the terminal. It ends in <code>?token=…</code></p>"
    "<p>If you have done that, this browser has not kept the cookie that the address gives. Allow "
    "cookies for this address, and open it again; the studio needs no other storage.</p></html>"
)


class Guard:
    """Lets requests through that come from the user's own page."""

    def __init__(self, app: ASGIApp, origins: Iterable[str], token: str) -> None:
        """`origins` are the addresses of the server, as in http://127.0.0.1:8000."""
        self._app, self._token = app, token
        self._origins = frozenset(origins)
        self._hosts = frozenset(one.partition("://")[2] for one in self._origins)
        first = next(iter(sorted(self._origins)))
        self._secure = first.startswith("https")
        # Cookies are shared by all ports of a machine.
        self._cookie = f"shoal-studio-{first.rpartition(':')[2]}"
        self._secret = token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on and add headers to the answer."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks another protocol
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {key.decode("latin-1"): one.decode("latin-1") for key, one in scope["headers"]}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _guarded(message["headers"])
            await send(message)

        if refusal := self._refusal(scope, headers):
            await refusal(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """The answer to a request that is not let through; None: it is."""
        if headers.get("host", "").lower() not in self._hosts:
            return _plain("This server answers to its own address only.", 421)
        reads = scope["method"] in READS
        enters = reads and scope["path"] == "/" and self._has_token(scope)
        if not self._is_own(headers, reads, enters):
            return _plain("Requests of other pages are refused.", 403)
        if enters:
            answer = HTMLResponse(WELCOME)
            answer.set_cookie(
                self._cookie, self._secret, httponly=True, samesite="strict", secure=self._secure
            )
            return answer
        if not self._has_cookie(headers):
            return HTMLResponse(CLOSED, 401)
        return None

    def _is_own(self, headers: dict[str, str], reads: bool, enters: bool) -> bool:
        """Whether a request comes from our own page, or was typed by the user."""
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return False
        if origin is None and not reads:
            return False
        site = headers.get("sec-fetch-site", "none")
        return site in ("same-origin", "none") or (
            enters and headers.get("sec-fetch-mode") == "navigate"
        )

    def _has_token(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return compare_digest(given.encode(), self._token.encode())

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        jar = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return False
        found = jar.get(self._cookie)
        return found is not None and compare_digest(found.value.encode(), self._secret.encode())


def _plain(text: str, status: int) -> PlainTextResponse:
    return PlainTextResponse(text, status)


def _guarded(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, with those that every answer has."""
    given = {key.lower(): one for key, one in headers if key.lower() != b"set-cookie"}
    cookies = [(key, one) for key, one in headers if key.lower() == b"set-cookie"]
    added = {**HEADERS, b"content-security-policy": POLICY.encode(), **given}
    return [*added.items(), *cookies]
