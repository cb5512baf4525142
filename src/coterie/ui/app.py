"""From a request to the handler of its page. Every route is a line of `ROUTES`; all are behind the guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from ..errors import CoterieError, told_of
from .asked import Asked, Form
from .guard import App
from .pages import candidates, checking, columns, opening, promise, releasing, writings
from .render import page
from .session import Session

Handler = Callable[[Asked], Response]


@dataclass(frozen=True)
class Line:
    """An address: what is shown there, and what is done. What cannot be done is told on the page `at`."""

    path: str
    get: Handler | None = None
    post: Handler | None = None
    at: Handler | None = None


ROUTES = (
    Line("/", get=writings.start),
    Line("/open", opening.show, opening.open_file),
    Line("/open/read", post=opening.read_again, at=opening.show),
    Line("/columns", columns.show, columns.change),
    Line("/columns/preview", post=columns.preview, at=columns.show),
    Line("/columns/{number}", columns.one, columns.change_one),
    Line("/columns/{number}/categories", post=columns.categories, at=columns.one),
    Line("/promise", promise.show, promise.change),
    Line("/promise/scenarios", post=promise.scenarios, at=promise.show),
    Line("/promise/assess", post=promise.assess, at=promise.show),
    Line("/candidates", candidates.show, candidates.try_some),
    Line("/candidates/choose", post=candidates.choose, at=candidates.show),
    Line("/candidates/drop", post=candidates.drop, at=candidates.show),
    Line("/candidates/pair", candidates.pair, candidates.look_at_pair),
    Line("/candidates/{number}", candidates.one, candidates.look),
    Line("/release", releasing.show, releasing.release),
    Line("/release/try", post=releasing.rehearse, at=releasing.show),
    Line("/release/report/{which}", releasing.report),
    Line("/check", checking.show, checking.verify),
    Line("/check/replay", post=checking.replay, at=checking.show),
    Line("/check/report/{which}", checking.report),
    Line("/recipe", writings.recipe, writings.edit_recipe),
    Line("/recipe/load", post=writings.load_recipe, at=writings.recipe),
    Line("/recipe/save", post=writings.save_recipe, at=writings.recipe),
    Line("/history", writings.history, writings.go),
    Line("/history/keep", post=writings.keep, at=writings.history),
    Line("/undo", post=writings.undo, at=writings.history),
    Line("/redo", post=writings.redo, at=writings.history),
    Line("/job/cancel", post=writings.cancel, at=writings.start),
    Line("/docs/{path:path}", writings.docs),
    Line("/site/{path:path}", writings.site),
    Line("/quit", writings.about_quitting, writings.quit_),
)

_STATIC = {
    "page.css": ("ui/static/page.css", "text/css"),
    "report.css": ("report/templates/style.css", "text/css"),
    "page.js": ("ui/static/page.js", "text/javascript"),
    "icon.svg": ("ui/static/icon.svg", "image/svg+xml"),
}


def routes(session: Session, stop: Callable[[], None]) -> list[Route]:
    """All addresses."""
    made = []
    for line in ROUTES:
        methods = [*(["GET"] if line.get else []), *(["POST"] if line.post else [])]
        made.append(Route(line.path, _endpoint(line, session, stop), methods=methods))
    made.append(Route("/events", _events(session), methods=["GET"]))
    made.append(Route("/static/{name}", _static, methods=["GET"]))
    return made


def make_app(session: Session, stop: Callable[[], None] = lambda: None) -> App:
    """The pages, without the guard."""
    return Router(routes(session, stop), redirect_slashes=False, default=_nowhere(session))


def _endpoint(line: Line, session: Session, stop: Callable[[], None]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        body = await request.body() if request.method == "POST" else b""
        try:
            query, form = Form.parse(request.scope["query_string"]), Form.parse(body)
        except CoterieError as error:
            return PlainTextResponse(str(error), 400)
        asked = Asked(session, request.method, request.scope["path"], request.path_params, query, form, stop=stop)
        return await run_in_threadpool(_handled, line, asked)

    return endpoint


def _handled(line: Line, asked: Asked) -> Response:
    """What a handler answers; what it refuses is told on the page where the form was sent from."""
    with asked.session.lock:
        before = asked.session.jobs.last
        try:
            handler = line.post if asked.method == "POST" else line.get
            assert handler is not None
            return _waited(asked, handler(asked), before)
        except (CoterieError, OSError) as error:
            told = replace(asked, problem=_of_ours(error))
        try:
            shown = line.at or line.get
            return shown(told) if shown is not None and asked.method == "POST" else page(told, "problem.html.j2")
        except (CoterieError, OSError):
            return page(told, "problem.html.j2")


def _of_ours(error: Exception) -> CoterieError:
    """What the system refuses, as to read a folder, in words of ours: without the path that Python adds."""
    told = error if isinstance(error, CoterieError) else told_of(error)
    assert isinstance(told, CoterieError)
    return told


_PATIENCE = 1.0  # seconds: who waits for no longer sees the result at once, not a bar


def _waited(asked: Asked, answer: Response, before: Any) -> Response:
    """Give a job that this request has begun a moment to finish."""
    jobs = asked.session.jobs
    if jobs.last is not before and jobs.last is not None and jobs.last.running:
        asked.session.lock.release()  # whoever finishes the job needs it
        try:
            jobs.wait(_PATIENCE)
        finally:
            asked.session.lock.acquire()
    return answer


def _nowhere(session: Session) -> App:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        error = CoterieError("There must be a page at this address.", "none")
        asked = Asked(session, "GET", "/nowhere", {}, Form([]), Form([]), error)
        await (await run_in_threadpool(shown, asked))(scope, receive, send)

    def shown(asked: Asked) -> Response:
        with session.lock:
            made = page(asked, "problem.html.j2")
        made.status_code = 404
        return made

    return answer


async def _static(request: Request) -> Response:
    found = _STATIC.get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("There is no such file.", 404)
    return Response(files("coterie").joinpath(found[0]).read_bytes(), media_type=found[1])


_OFTEN = 0.15  # seconds between two looks at the state
_MOST_STREAMS = 24


def _events(session: Session) -> Callable[[Request], Any]:
    """Tell every tab that the state has changed, and how far the job is."""
    streams: list[object] = []

    async def told(request: Request) -> AsyncIterator[bytes]:
        me = object()
        streams.append(me)
        del streams[:-_MOST_STREAMS]  # the oldest ends: a tab that nobody looks at any more
        last, quiet = None, 0.0
        try:
            while me in streams and not await request.is_disconnected():
                now = state_of(session)
                if now != last:
                    last, quiet = now, 0.0
                    yield f"data: {json.dumps(now)}\n\n".encode()
                elif quiet > 15:
                    quiet = 0.0
                    yield b": still here\n\n"
                await asyncio.sleep(_OFTEN)
                quiet += _OFTEN
        finally:
            if me in streams:
                streams.remove(me)

    async def endpoint(request: Request) -> Response:
        if request.method == "HEAD":  # which has no end otherwise
            return Response(media_type="text/event-stream")
        return StreamingResponse(told(request), media_type="text/event-stream")

    return endpoint


def state_of(session: Session) -> dict[str, Any]:
    """What a tab must know to be up to date: numbers and words of the page, nothing of the file."""
    job = session.jobs.last
    state: dict[str, Any] = {"state": session.version, "job": None}
    if job is not None:
        left = None if job.left is None else round(job.left)
        state["job"] = {
            "number": job.number,
            "state": job.state,
            "stage": job.stage,
            "percent": job.percent,
            "left": left,
            "seconds": round(job.seconds),
        }
    return state
