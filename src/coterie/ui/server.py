"""The server of the page: on the loopback interface alone, for one person, until it is stopped."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
import webbrowser
from asyncio import BaseTransport
from collections.abc import Callable
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import CoterieError, boundary
from .access import Access
from .app import make_app
from .guard import HEADERS, Guard
from .locations import Locations
from .session import Session

_REDIRECT = (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Coterie</title>'
    '<meta http-equiv="refresh" content="0;url={0}"><p><a href="{0}">Open Coterie</a></p>'
)


@boundary
def serve(
    file: str | Path | None = None,
    *,
    root: str | Path | None = None,
    port: int = 0,
    browser: bool = True,
    memory: str | None = None,
    host: str = "127.0.0.1",
    ready: Callable[[str], None] | None = None,
) -> None:
    """Show the page until it is stopped.

    Parameters
    ----------
    file : path, optional
        A file to open at once. It must lie below the root.
    root : path, optional
        What can be opened and written lies below this folder; the working folder unless given.
    port : int
        Where to listen; 0 takes a free port.
    browser : bool
        Open the page in a browser.
    memory : str, optional
        About how much memory may be used, such as "2GB".
    host : str
        127.0.0.1, the address of the loopback interface; anything else is refused.
    ready : function, optional
        Is told the link once the server listens; else it is printed on stderr.
    """
    locations = Locations(root or Path.cwd())
    session = Session(locations, memory)
    path = None if file is None else locations.file(os.path.realpath(file))
    listening = _listen(host, port)
    private = tempfile.TemporaryDirectory(prefix="coterie-ui-", ignore_cleanup_errors=True)
    session.jobs.beside = (private.name,)
    number = listening.getsockname()[1]
    access = Access(number)
    config = uvicorn.Config(
        Guard(make_app(session, lambda: _stop(server)), access, number),
        http=_Connection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="critical",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=32_768,
    )
    server = _Server(config, lambda: _begun(access, number, Path(private.name) if browser else None, ready))
    try:
        session.jobs.prepare()
        if path is not None:
            session.open(path, {})
        server.run(sockets=[listening])
    finally:
        session.close()
        listening.close()
        private.cleanup()


def _listen(host: str, port: int) -> socket.socket:
    if host != "127.0.0.1":
        raise CoterieError("The page is for this machine alone: the address must be 127.0.0.1.", f"'{host}'")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "no such port"
        hint = "--port takes another number; without it, a free one is taken."
    else:
        return listening
    raise CoterieError(f"Port {port} must be free.", reason, hint)


def _stop(server: uvicorn.Server) -> None:
    server.should_exit = True


class _Begun:
    """The link, told once the server listens: on stderr, and to a browser."""

    def __init__(self, access: Access, port: int) -> None:
        self._access, self._port = access, port

    def link(self) -> str:
        """A link that works once."""
        return f"http://127.0.0.1:{self._port}/?token={self._access.new_token()}"

    def browse(self, link: str, private: Path) -> None:
        """Open it. Whoever lists the processes of this machine sees the name of a file, not the token."""
        place = private / "open.html"
        place.write_text(_REDIRECT.format(link), encoding="utf-8", newline="\n")
        webbrowser.open(place.as_uri())


def _begun(access: Access, port: int, browse: Path | None, ready: Callable[[str], None] | None) -> None:
    begun = _Begun(access, port)
    link = begun.link()
    if ready is not None:
        ready(link)
    else:
        _tell(link)
    if browse is not None:
        begun.browse(link, browse)
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=_on_enter, args=(begun,), daemon=True).start()


def _tell(link: str) -> None:
    words = "Open this link, which works once. Enter: a new link. Ctrl-C: stop."
    print(f"coterie: the page listens on this machine alone.\n{words}\n{link}", file=sys.stderr, flush=True)


def _on_enter(begun: _Begun) -> None:
    for _ in sys.stdin:
        _tell(begun.link())


class _Server(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config, begin: Callable[[], None]) -> None:
        super().__init__(config)
        self._begin = begin

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets=sockets)
        self._begin()


_MOST_CONNECTIONS = 128
_SLOWEST_REQUEST = 20.0  # seconds until the first one is there


class _Connection(H11Protocol):
    """A connection that must come to the point, and whose refusals are as guarded as all answers.

    One that was refused is closed by the guard; so whoever has no cookie can't hold a place for long.
    """

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin, if there are not too many."""
        super().connection_made(transport)  # type: ignore[arg-type]
        if len(self.connections) > _MOST_CONNECTIONS:
            self.transport.abort()
        else:
            self.loop.call_later(_SLOWEST_REQUEST, self._need_request)

    def _need_request(self) -> None:
        if self.cycle is None:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        if self.cycle is None or self.cycle.response_complete:  # else an answer is under way, and just ends
            lines = [*(f"{name}: {value}" for name, value in HEADERS.items()), "content-type: text/plain"]
            head = ["HTTP/1.1 400 Bad Request", *lines, f"content-length: {len(msg)}", "connection: close"]
            self.transport.write("\r\n".join([*head, "", msg]).encode())
        self.transport.close()
