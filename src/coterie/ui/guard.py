"""What every request must pass before a route is looked for, decided on the raw scope.

The page holds data about people and listens on a port that every program on this machine, and every web site that is
open in a browser on it, can try to reach. So a request must name this server as its host (a foreign name that leads
here is DNS rebinding), must hold the cookie, must not come from another site, and must be small. A route that somebody
adds later is behind the same wall.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from html import escape
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl

from ..errors import UnexpectedError, told_of
from .access import Access

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 1 << 20  # bytes of a form
MOST_FIELDS = 25_000  # of a form: a file of 5,000 columns has pages with so many
SLOWEST_BODY = 10.0  # seconds
_MOST_TARGET = 4_096  # bytes of a path with its query
_MOST_HEADERS = 32_768  # bytes; browsers send some cookies of other servers on this machine too

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}  # of every answer; one that frames or styles differently says so itself


@dataclass(frozen=True)
class Refusal:
    """What a request gets that may not pass."""

    status: int
    words: str
    headers: tuple[tuple[str, str], ...] = ()
    refresh: bool = False  # whether the page asks again by itself, as one of ours


class Guard:
    """The wall around the pages: host, origin, cookie, size; and the headers of every answer."""

    def __init__(self, app: App, access: Access, port: int) -> None:
        self._app, self._access = app, access
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it pass."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        sending = _Sending(send)
        try:
            refusal = self._refusal(scope)
            if refusal is None and scope["method"] == "POST":
                body = await _body(scope, receive)
                if isinstance(body, Refusal):
                    refusal = body
                else:
                    receive = _again(body, receive)
            if refusal is None:
                await self._app(scope, receive, sending)
                return
        except Exception as error:
            if sending.started:
                return  # a stream that broke off; there is nothing left to say
            refusal = Refusal(500, str(_told(error)))
        await _answer(refusal, sending)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(bytes(name).lower(), []).append(bytes(value))
        return (
            self._about_address(scope, headers)
            or self._about_origin(scope, headers)
            or self._about_size(scope, headers)
            or self._about_access(scope, headers)
        )

    def _about_address(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> Refusal | None:
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(400, "This server answers to 127.0.0.1 and localhost alone.")
        client = scope.get("client")
        if client is not None and not _is_loopback(client[0]):
            return Refusal(400, "This server answers requests of this machine alone.")
        target = bytes(scope.get("raw_path") or b"")
        odd = any(byte < 0x21 or byte > 0x7E for byte in target) or b"\\" in target
        if not target.startswith(b"/") or target.startswith(b"//") or odd or not scope["path"].startswith("/"):
            return Refusal(400, "The path must be one of this server.")
        return None

    def _about_origin(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> Refusal | None:
        """Refuse what another site asks for: changes always, and all else but a link that somebody follows."""
        foreign = Refusal(403, "This request comes from another site.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return Refusal(405, "There is no such method here.", (("allow", "GET, HEAD, POST"),))
        sites = headers.get(b"sec-fetch-site", [])
        if scope["method"] != "POST":
            from_elsewhere = any(site not in (b"same-origin", b"none") for site in sites)
            followed = headers.get(b"sec-fetch-mode") == [b"navigate"] and headers.get(b"sec-fetch-dest") == [
                b"document"
            ]
            return foreign if from_elsewhere and not followed else None
        if any(site != b"same-origin" for site in sites):
            return foreign
        origins, own = headers.get(b"origin", []), b"http://" + headers[b"host"][0]
        # under "no-referrer", browsers call a form's origin null; that it is ours, another header says, which no
        # script can set
        if origins == [own] or (origins == [b"null"] and sites == [b"same-origin"]):
            return None
        return foreign

    def _about_size(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> Refusal | None:
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > _MOST_TARGET:
            return Refusal(414, "The address is too long.")
        if sum(len(name) + sum(map(len, values)) for name, values in headers.items()) > _MOST_HEADERS:
            return Refusal(431, "The request says too much about itself.")
        if b"range" in headers:
            return Refusal(416, "Answers are given as a whole.")
        if b"transfer-encoding" in headers and scope["method"] != "POST":
            return Refusal(400, "Only forms have a body.")
        lengths = headers.get(b"content-length", [])
        if len(lengths) > 1 or any(not length.isdigit() for length in lengths):
            return Refusal(400, "The length of the request must be clear.")
        if lengths and int(lengths[0][:20]) > (MOST_BODY if scope["method"] == "POST" else 0):
            return _TOO_LARGE
        return None

    def _about_access(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> Refusal | None:
        query = bytes(scope.get("query_string") or b"")
        if scope["path"] == "/" and b"token=" in query:
            cookie = self._access.exchange(_token(query)) if scope["method"] == "GET" else None
            if cookie is None:
                return Refusal(403, "This link has been used, or is not valid.")
            return Refusal(303, "", (("location", "/"), ("set-cookie", cookie)))
        if self._access.knows("; ".join(c.decode("latin-1") for c in headers.get(b"cookie", []))):
            return None
        # Whoever follows a link from another site's page comes without the cookie, which is for this site alone. The
        # answer asks once more, from here, and with it.
        return Refusal(401, _NO_COOKIE, refresh=headers.get(b"sec-fetch-site") == [b"cross-site"])


def _token(query: bytes) -> str:
    """What stands in a link as its token."""
    try:
        return dict(parse_qsl(query.decode("latin-1"), max_num_fields=8)).get("token", "")
    except ValueError:  # more than our link has
        return ""


_NO_COOKIE = (
    "This page is for the person who started it. Open the link that stands in the terminal; it works once. "
    "Press Enter there for a new one."
)
_TOO_LARGE = Refusal(413, "The request is too large.")


async def _body(scope: Scope, receive: Receive) -> bytes | Refusal:
    """The body of a form, if it is small and comes in time."""
    kinds = [bytes(value) for name, value in scope["headers"] if bytes(name).lower() == b"content-type"]
    if [kind.split(b";")[0].strip().lower() for kind in kinds] not in ([], [b"application/x-www-form-urlencoded"]):
        return Refusal(415, "Forms alone are read here.")
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Refusal(400, "The request broke off.")
                piece = message.get("body", b"")
                size += len(piece)
                if size > MOST_BODY:
                    return _TOO_LARGE
                pieces.append(piece)
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        return Refusal(408, "The request takes too long.")
    body = b"".join(pieces)
    if body.count(b"&") >= MOST_FIELDS:
        return _TOO_LARGE
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """What was read, for whoever reads next."""
    pieces = [body]

    async def read() -> Message:
        if pieces:
            return {"type": "http.request", "body": pieces.pop(), "more_body": False}
        return await receive()

    return read


class _Sending:
    """Adds the headers that every answer has, and knows whether one has begun."""

    def __init__(self, send: Send) -> None:
        self._send, self.started = send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
            there = {name for name, _ in headers}
            headers += [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in there]
            message = {**message, "headers": headers}
        await self._send(message)


async def _answer(refusal: Refusal, send: Send) -> None:
    again = '<meta http-equiv="refresh" content="0">' if refusal.refresh else ""
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Coterie</title>{again}</head>'
        f'<body><h1>Coterie</h1><p>{escape(refusal.words)}</p><p><a href="/">To the page</a></p></body></html>'
    )
    body = b"" if refusal.status == 303 else page.encode()
    headers = [("content-type", "text/html; charset=utf-8"), ("content-length", str(len(body))), *refusal.headers]
    if refusal.status != 303:
        headers.append(("connection", "close"))  # what is left of a body is not read, and nobody holds a place
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def _told(error: Exception) -> Exception:
    told = told_of(error)
    return told if isinstance(told, UnexpectedError) else UnexpectedError.of(error)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
