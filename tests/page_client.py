"""A person at the page: without a port, for its handlers, and with one, for a browser."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import coterie
from coterie.ui.access import Access
from coterie.ui.app import make_app
from coterie.ui.guard import Guard
from coterie.ui.locations import Locations
from coterie.ui.session import Session

PORT = 8000
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


@dataclass
class Answer:
    """What came back."""

    status_code: int
    headers: dict
    body: bytes

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")


def asked(app, method, target, headers=(), body=b"", client=("127.0.0.1", 50_000), messages=None, raw_path=None):
    """One request, as a server hands it over. `messages` are what it receives, instead of a body at once."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode() if raw_path is None else raw_path,
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": client,
        "server": ("127.0.0.1", PORT),
    }
    waiting = list(messages or [{"type": "http.request", "body": body, "more_body": False}])
    sent = []

    async def receive():
        await asyncio.sleep(0)
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    start = next(m for m in sent if m["type"] == "http.response.start")
    found = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(m.get("body", b"") for m in sent))


class Visitor:
    """Somebody with the cookie, who sends what a browser would send."""

    def __init__(self, root, memory=None, enter=True):
        self.session = Session(Locations(root), memory)
        self.access = Access(PORT)
        self.token = self.access.new_token()
        self.stopped = []
        self.app = Guard(make_app(self.session, lambda: self.stopped.append(True)), self.access, PORT)
        self.cookie = None
        if enter:
            answer = asked(self.app, "GET", f"/?token={self.token}", [("host", HOST)])
            assert answer.status_code == 303
            self.cookie = answer.headers["set-cookie"].split(";")[0]

    def get(self, path, **headers):
        """A page that somebody goes to."""
        return asked(self.app, "GET", path, self._headers(headers))

    def post(self, path, data=None, **headers):
        """A form that somebody sends."""
        given = {"origin": ORIGIN, "sec-fetch-site": "same-origin", **headers}
        given.setdefault("content-type", "application/x-www-form-urlencoded")
        return asked(self.app, "POST", path, self._headers(given), urlencode(data or {}, doseq=True).encode())

    def _headers(self, more):
        """Those of a browser; one that is None is left out."""
        cookie = {} if self.cookie is None else {"cookie": self.cookie}
        return [(name, value) for name, value in {"host": HOST, **cookie, **more}.items() if value is not None]

    def send(self, path, data=None):
        """A form that is sent and accepted, with the job that it begins, if any."""
        answer = self.post(path, data)
        assert answer.status_code == 303, words_of(answer.text)
        job = self.wait()
        assert job is None or job.state == "done", job.words
        return answer

    def wait(self, seconds=120):
        """The job that was under way, once it is over."""
        assert self.session.jobs.wait(seconds)
        return self.session.jobs.last

    def begin_anew(self):
        """As if the page had been stopped and started: nothing is remembered but what lies beside the file."""
        self.session.opened = self.session.history = None
        self.session._left.clear()

    def close(self):
        self.session.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def words_of(page):
    """The text of a page, without its markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(script|style).*?</\1>", "", page)).split())


@contextmanager
def serving(root, *options, seconds=60, env=None, command=None, **more):
    """A server of its own, as somebody starts it; its link, and the process."""
    command = command or [sys.executable, "-m", "coterie", "ui", "--no-browser", "--root", str(root), *options]
    here = str(Path(coterie.__file__).parents[1])  # the same code as here, wherever it is started
    given = {**os.environ, "PYTHONPATH": here, **(env or {})}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=root, env=given, **more
    )
    try:
        told = []
        for line in process.stderr:
            told.append(line)
            if line.startswith("http://"):
                break
        else:
            raise AssertionError(told)
        yield told[-1].strip(), process
    finally:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        process.stderr.close()
