"""The server of the page: on the loopback interface alone, for one person, until it is stopped."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from ..errors import CoterieError, boundary
from .access import Access
from .app import make_app
from .guard import Guard
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
        An address of the loopback interface; anything else is refused.
    ready : function, optional
        Is told the link once the server listens; else it is printed on stderr.
    """
    locations = Locations(root or Path.cwd())
    session = Session(locations, memory)
    path = None if file is None else locations.file(os.path.realpath(file))
    listening = _listen(host, port)
    number = listening.getsockname()[1]
    access = Access(number)
    config = uvicorn.Config(
        Guard(make_app(session, lambda: _stop(server)), access, number),
        http="h11",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="critical",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=128,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=32_768,
    )
    server = _Server(config, lambda: _begun(access, number, browser, ready))
    try:
        session.jobs.prepare()
        if path is not None:
            session.open(path, {})
        server.run(sockets=[listening])
    finally:
        server.end()
        session.close()
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback or ":" in host:
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
        self._page: tempfile.TemporaryDirectory[str] | None = None

    def link(self) -> str:
        """A link that works once."""
        return f"http://127.0.0.1:{self._port}/?token={self._access.new_token()}"

    def browse(self, link: str) -> None:
        """Open it. Whoever lists the processes of this machine sees the name of a file, not the token."""
        self._page = tempfile.TemporaryDirectory(prefix="coterie-ui-")
        place = Path(self._page.name) / "open.html"
        place.write_text(_REDIRECT.format(link), encoding="utf-8")
        webbrowser.open(place.as_uri())

    def end(self) -> None:
        """Leave nothing."""
        if self._page is not None:
            self._page.cleanup()


def _begun(access: Access, port: int, browser: bool, ready: Callable[[str], None] | None) -> _Begun:
    begun = _Begun(access, port)
    link = begun.link()
    if ready is not None:
        ready(link)
    else:
        _tell(link)
    if browser:
        begun.browse(link)
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=_on_enter, args=(begun,), daemon=True).start()
    return begun


def _tell(link: str) -> None:
    words = "Open this link, which works once. Enter: a new link. Ctrl-C: stop."
    print(f"coterie: the page listens on this machine alone.\n{words}\n{link}", file=sys.stderr, flush=True)


def _on_enter(begun: _Begun) -> None:
    for _ in sys.stdin:
        _tell(begun.link())


class _Server(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config, begin: Callable[[], _Begun]) -> None:
        super().__init__(config)
        self._begin = begin
        self._begun: _Begun | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets=sockets)
        self._begun = self._begin()

    def end(self) -> None:
        """Leave nothing."""
        if self._begun is not None:
            self._begun.end()
