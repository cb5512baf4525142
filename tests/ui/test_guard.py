"""Requests that must not pass: foreign hosts, other sites, no cookie, too much; on every address that there is."""

from __future__ import annotations

import socket
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from coterie.errors import CoterieError
from coterie.ui import access as access_module
from coterie.ui.access import Access
from coterie.ui.app import routes
from coterie.ui.guard import MOST_FIELDS
from coterie.ui.server import serve
from page_client import HOST, ORIGIN, PORT, Visitor, asked, serving

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    (root / "small.csv").write_text("a,b\n" + "".join(f"{i},{i % 5}\n" for i in range(30)), encoding="utf-8")
    with Visitor(root) as visitor:
        yield visitor


def addresses(session):
    """Every address, found by listing the routes, and some where there is nothing."""
    made = [route.path for route in routes(session, lambda: None)]
    assert "/events" in made
    assert "/quit" in made
    filled = [
        p.replace("{number}", "0").replace("{which}", "public").replace("{path:path}", "ui.md").replace("{name}", name)
        for p in made
        for name in ("page.js",)
    ]
    return [*filled, "/nowhere", "/static/none", "/docs/../../x", "/favicon.ico", "/%2e%2e/etc/passwd"]


def sent(visitor, method, path, **headers):
    """A request with the cookie and with headers of ours, unless they are said to be others."""
    given = {"host": HOST, "cookie": visitor.cookie, **headers}
    return asked(visitor.app, method, path, [(n.replace("_", "-"), v) for n, v in given.items() if v is not None])


def state(visitor):
    session = visitor.session
    return session.version, session.jobs.last, session.opened, tuple(session.notes), list(visitor.stopped)


FOREIGN = [
    "evil.com",
    f"evil.com:{PORT}",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:1",
    f"127.0.0.1:{PORT}0",
    f"127.0.0.1:{PORT}/health?y=",
    "x/health?y=",
    f"127.0.0.1:{PORT}@evil.com",
    f"user@127.0.0.1:{PORT}",
    f"localhost.:{PORT}",
    f"LOCALHOST:{PORT}",
    f"127.0.0.1:{PORT} ",
    f"127.0.0.1:{PORT},evil.com",
    f"127.1:{PORT}",
    f"2130706433:{PORT}",
    f"[::1]:{PORT}",
    f"localhost.evil.com:{PORT}",
    f"0.0.0.0:{PORT}",
    "",
    "\xff",
]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_gets_nothing_anywhere(visitor, host):
    before = state(visitor)
    for path in addresses(visitor.session):
        for method in ("GET", "HEAD", "POST"):
            given = {"origin": f"http://{host}", "sec-fetch-site": "same-origin"} if method == "POST" else {}
            answer = sent(visitor, method, path, **{"host": host, **given})
            assert answer.status_code == 400, (method, path)
            assert "set-cookie" not in answer.headers
    assert state(visitor) == before


@pytest.mark.parametrize("hosts", [[], [HOST, HOST], [HOST, "evil.com"], ["evil.com", HOST]])
def test_there_is_one_host(visitor, hosts):
    for path in addresses(visitor.session):
        headers = [*(("host", host) for host in hosts), ("cookie", visitor.cookie)]
        assert asked(visitor.app, "GET", path, headers).status_code == 400


@pytest.mark.parametrize(
    "target", [b"@evil", b"http://evil/", b"//evil/", b"*", b"", b"/\\evil", b"/open\x00", b"/op\xc3\xa9n", b"/a b"]
)
def test_what_is_asked_for_is_a_path(visitor, target):
    for method in ("GET", "HEAD", "POST"):
        headers = [("host", HOST), ("cookie", visitor.cookie), ("origin", ORIGIN)]
        assert asked(visitor.app, method, "/open", headers, raw_path=target).status_code == 400


def test_a_request_from_another_machine_is_refused(visitor):
    headers = [("host", HOST), ("cookie", visitor.cookie)]
    for client in (("192.0.2.1", 5), ("2001:db8::1", 5), ("somewhere", 5)):
        assert asked(visitor.app, "GET", "/open", headers, client=client).status_code == 400


def cookies(visitor):
    """What somebody may come with who has not got the cookie."""
    name, _, value = visitor.cookie.partition("=")
    guesses = ["", "x", value[:-1], value + "x", value.swapcase(), visitor.token, f'"{value}"']
    return [None, *(f"{name}={guess}" for guess in guesses), f"other={value}", value, f"{name}x={value}", "\xff=\xfe"]


def test_nothing_is_there_for_those_without_the_cookie(visitor):
    before = state(visitor)
    for path in addresses(visitor.session):
        for cookie in cookies(visitor):
            for method in ("GET", "HEAD", "POST"):
                given = {"origin": ORIGIN, "sec-fetch-site": "same-origin"} if method == "POST" else {}
                answer = sent(visitor, method, path, cookie=cookie, **given)
                assert answer.status_code in (401, 403), (method, path, cookie)
                assert "set-cookie" not in answer.headers
    assert state(visitor) == before


def test_a_cookie_that_somebody_else_has_set_changes_nothing(visitor):
    """Cookies don't know ports: any server on this machine may set one of this name."""
    name = visitor.cookie.partition("=")[0]
    tossed = f"{name}=evil; {visitor.cookie}; {name}="
    assert sent(visitor, "GET", "/open", cookie=tossed).status_code == 200
    assert sent(visitor, "GET", "/open", cookie=f"{name}=evil").status_code == 401


OTHER_SITES = [
    {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
    {"origin": ORIGIN, "sec-fetch-site": "same-site"},
    {"origin": ORIGIN, "sec-fetch-site": "none"},
    {"origin": ORIGIN, "sec-fetch-site": ""},
    {"origin": "http://evil.com"},
    {"origin": "http://evil.com", "sec-fetch-site": "same-origin"},
    {"origin": f"https://127.0.0.1:{PORT}"},
    {"origin": "http://127.0.0.1:3000", "sec-fetch-site": "same-site"},  # a form on another port of this machine
    {"origin": "http://localhost:3000"},
    {"origin": f"http://localhost:{PORT}"},  # another name than the one that was asked
    {"origin": "null"},
    {"origin": "null", "sec-fetch-site": "cross-site"},
    {"origin": "null", "sec-fetch-site": "same-site"},
    {"origin": ORIGIN + "/"},
    {"origin": ""},
    {},
    {"sec-fetch-site": "same-origin"},
    {"referer": ORIGIN + "/open"},
]


@pytest.mark.parametrize("headers", OTHER_SITES, ids=str)
def test_a_form_of_another_site_changes_nothing(visitor, headers):
    before = state(visitor)
    for path in addresses(visitor.session):
        for kind in (FORM, "text/plain", "multipart/form-data; boundary=x"):
            given = {**headers, "content-type": kind}
            answer = sent(visitor, "POST", path, **given)
            assert answer.status_code == 403, path
    assert state(visitor) == before


def test_two_origins_are_none(visitor):
    for more in (("origin", "http://evil.com"), ("origin", ORIGIN), ("sec-fetch-site", "cross-site")):
        headers = [("host", HOST), ("cookie", visitor.cookie), ("origin", ORIGIN), ("sec-fetch-site", "same-origin")]
        assert asked(visitor.app, "POST", "/undo", [*headers, more]).status_code == 403


def test_what_another_site_builds_in_is_refused_and_a_link_is_not(visitor):
    for site in ("cross-site", "same-site"):
        for dest, mode in (("script", "no-cors"), ("iframe", "navigate"), ("empty", "cors"), ("image", "no-cors")):
            given = {"sec-fetch-site": site, "sec-fetch-dest": dest, "sec-fetch-mode": mode}
            for path in addresses(visitor.session):
                assert sent(visitor, "GET", path, **given).status_code == 403
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document", "sec-fetch-mode": "navigate"}
    assert sent(visitor, "GET", "/open", **followed).status_code == 200
    again = sent(visitor, "GET", "/open", cookie=None, **followed)
    assert again.status_code == 401
    assert 'http-equiv="refresh"' in again.text  # from here, with the cookie


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "FOO"])
def test_there_are_no_other_methods(visitor, method):
    for path in addresses(visitor.session):
        assert sent(visitor, method, path, origin=ORIGIN).status_code == 405


def test_a_web_socket_is_closed(visitor):
    import asyncio

    said = []

    async def talk():
        async def send(message):
            said.append(message)

        scope = {"type": "websocket", "path": "/events", "headers": [(b"host", HOST.encode())]}
        await visitor.app(scope, None, send)

    asyncio.run(talk())
    assert [message["type"] for message in said] == ["websocket.close"]


def test_a_head_ends(visitor):
    for path in addresses(visitor.session):
        answer = sent(visitor, "HEAD", path)  # of a stream, too, which this would wait for
        assert answer.status_code < 500


def test_a_link_works_once(tmp_path):
    with Visitor(tmp_path, enter=False) as visitor:

        def enter(token, method="GET"):
            return asked(visitor.app, method, f"/?token={token}", [("host", HOST)])

        for guess in ("", "x", visitor.token[:-1], visitor.token + "x", "&".join("abcdefghijk"), "%ff", "\xe9"):
            assert enter(guess).status_code == 403
        assert enter(visitor.token, "HEAD").status_code == 403  # a preview of a link doesn't use it up
        answer = enter(visitor.token)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/"  # the token stands in no later address
        parts = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}
        assert {"httponly", "samesite=strict", "path=/"} <= parts
        assert visitor.token not in answer.headers["set-cookie"]
        assert enter(visitor.token).status_code == 403
        other = visitor.access.new_token()
        later = visitor.access.new_token()
        assert enter(other).status_code == 403  # a newer one was asked for
        assert enter(later).status_code == 303


def test_a_token_is_for_the_start_alone(tmp_path):
    with Visitor(tmp_path, enter=False) as visitor:
        for path in addresses(visitor.session):
            if path != "/":
                answer = asked(visitor.app, "GET", f"{path}?token={visitor.token}", [("host", HOST)])
                assert answer.status_code in (400, 401)
        assert asked(visitor.app, "GET", f"/?token={visitor.token}", [("host", HOST)]).status_code == 303


def test_secrets_are_compared_in_constant_time(monkeypatch):
    compared = []

    def watched(one, other):
        compared.append(True)
        return one == other

    monkeypatch.setattr(access_module.hmac, "compare_digest", watched)
    made = Access(PORT)
    token = made.new_token()
    assert made.exchange("x") is None
    cookie = made.exchange(token).split(";")[0]
    assert made.knows(cookie)
    assert not made.knows(f"{made.name}=x")
    assert len(compared) == 4
    assert len(token) >= 43  # 256 random bits
    assert len(cookie.partition("=")[2]) >= 43


def posted(visitor, body=b"", messages=None, **headers):
    given = {"host": HOST, "cookie": visitor.cookie, "origin": ORIGIN, "content-type": FORM, **headers}
    listed = [(name, value) for name, value in given.items() if value is not None]
    return asked(visitor.app, "POST", "/undo", listed, body, messages=messages)


def test_what_is_too_large_is_refused_before_it_is_read(visitor):
    read = []

    class Counted(list):
        def pop(self, *_):
            read.append(True)
            return {"type": "http.request", "body": b"x" * 65_536, "more_body": True}

    endless = Counted([1])
    assert posted(visitor, messages=endless, **{"content-length": str(1 << 30)}).status_code == 413
    assert not read


def test_pieces_that_go_on_for_ever_are_not_read_to_the_end(visitor):
    piece = {"type": "http.request", "body": b"x" * 65_536, "more_body": True}
    messages = [piece] * 1_000
    answer = posted(visitor, messages=messages)
    assert answer.status_code == 413
    assert answer.headers["connection"] == "close"


def test_fields_are_counted_before_they_are_taken_apart(visitor):
    start = time.monotonic()
    assert posted(visitor, b"a=1&" * 100_000).status_code == 413
    assert posted(visitor, b"&".join([b"a"] * (MOST_FIELDS + 1))).status_code == 413
    assert time.monotonic() - start < 20
    assert posted(visitor, b"&".join([b"back=/"] * 5_000)).status_code == 303


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=x", "application/json", "", FORM + "x", "x", "/"]
)
def test_forms_alone_are_read(visitor, kind):
    assert posted(visitor, b"back=/", **{"content-type": kind}).status_code == 415


@pytest.mark.parametrize(
    "body",
    [b"\xff", b"back=%ff", b"back=%ed%a0%80", b"back=%c0%af", "back=é".encode(), b"%80=1", b"back=%f8%88%80%80%80"],
)
def test_what_is_not_text_is_refused(visitor, body):
    answer = posted(visitor, body)
    assert answer.status_code == 400
    assert "as browsers send it" in answer.text


@pytest.mark.parametrize("body", [b"back=%", b"back=%zz", b"back=%0", b"&&&&==&", b"", b"=", b";", b"back=a=b=c"])
def test_odd_text_is_taken_as_it_is(visitor, body):
    assert posted(visitor, body).status_code == 303


@pytest.mark.parametrize("length", ["-1", "x", "1, 1", "", "+5", "1e3", "９"])
def test_a_length_is_a_number(visitor, length):
    headers = [("host", HOST), ("cookie", visitor.cookie), ("origin", ORIGIN), ("content-type", FORM)]
    try:
        value = length.encode("latin-1").decode("latin-1")
    except UnicodeEncodeError:
        value = "\xb2"  # a digit for Python, and for nobody else
    assert asked(visitor.app, "POST", "/undo", [*headers, ("content-length", value)]).status_code == 400


def test_parts_of_an_answer_are_not_given(visitor):
    many = ",".join(f"{i}-{i}" for i in range(10_000))
    for path in addresses(visitor.session):
        for value in (f"bytes={many}", "bytes=0-", "x"):
            assert sent(visitor, "GET", path, range=value).status_code in (416, 431)


def test_an_address_has_an_end(visitor):
    assert sent(visitor, "GET", "/open?in=" + "x" * 5_000).status_code == 414
    assert sent(visitor, "GET", "/" + "x" * 5_000).status_code == 414


def test_a_page_has_no_body_sent_to_it(visitor):
    assert sent(visitor, "GET", "/open", **{"content-length": "1"}).status_code == 413
    assert sent(visitor, "GET", "/open", **{"transfer-encoding": "chunked"}).status_code == 400


BACK = ["//evil.com", "/\\evil.com", "https://evil.com", "evil", "", "/\t/evil", "/\r\nSet-Cookie: a=b",
        "/" + "x" * 300, "\\\\evil", "javascript:alert(1)", "/\u202e", " //evil.com"]  # fmt: skip


@pytest.mark.parametrize("back", BACK)
def test_a_form_leads_back_to_this_server(visitor, back):
    for path in ("/undo", "/redo", "/job/cancel"):
        answer = visitor.post(path, {"back": back})
        assert answer.status_code == 303
        assert answer.headers["location"] == "/"


def test_an_error_of_the_guard_itself_is_told_without_words_of_libraries(visitor, monkeypatch):
    def failing(_):
        raise ValueError("canary-Smith")

    for name in ("knows", "exchange"):
        monkeypatch.setattr(visitor.access, name, failing)
    for path in ("/open", "/?token=x"):
        answer = sent(visitor, "GET", path)
        assert answer.status_code == 500
        assert "canary" not in answer.text
        assert "content-security-policy" in answer.headers


def test_an_error_of_a_page_is_told_without_words_of_libraries(visitor, monkeypatch):
    for error, status in ((KeyError("canary-Smith"), 500), (PermissionError(13, "canary", "/canary/Smith.csv"), 422)):

        def failing(_, error=error):
            raise error

        monkeypatch.setattr(visitor.session.locations, "entries", failing)
        answer = visitor.get("/open")
        assert answer.status_code == status
        assert "canary" not in answer.text


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "::1", "localhost", "192.0.2.1", "127.0.0.2", "", "127.0.0.1 ", None]
)
def test_the_page_listens_on_this_machine_alone(tmp_path, host):
    with pytest.raises(CoterieError, match="for this machine alone"):
        serve(root=tmp_path, browser=False, host=host)


def test_the_machines_own_name_and_address_are_refused(tmp_path):
    name = socket.gethostname()
    found = {name}
    with suppress(OSError):
        found |= {one[4][0] for one in socket.getaddrinfo(name, None)}
    for host in found - {"127.0.0.1"}:
        with pytest.raises(CoterieError, match="for this machine alone"):
            serve(root=tmp_path, browser=False, host=host)


# over a real connection


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server in a process of its own: its port, its cookie, the process."""
    with serving(tmp_path_factory.mktemp("served")) as (link, process):
        port = int(link.split(":")[2].split("/")[0])
        answer = spoken(
            port, f"GET /{link.partition('/?')[1][1:]}{link.partition('/?')[2]} HTTP/1.1", [f"Host: 127.0.0.1:{port}"]
        )
        yield port, header_of(answer, "set-cookie").split(";")[0], process


@contextmanager
def connection(port, seconds=60):
    with closing(socket.create_connection(("127.0.0.1", port), seconds)) as made:
        yield made


def heard(made, most=1 << 20):
    """All that comes until the other side closes, or until a whole answer is there."""
    got = b""
    while len(got) < most:
        try:
            piece = made.recv(65_536)
        except ConnectionError:
            break
        if not piece:
            break
        got += piece
        head, end, body = got.partition(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if end and lengths and len(body) >= int(lengths[0]):
            break
    return got


def spoken(port, line, headers=(), body=b""):
    with connection(port) as made:
        made.sendall("\r\n".join([line, *headers, "", ""]).encode("latin-1") + body)
        return heard(made)


def status_of(answer):
    return int(answer.split(b" ", 2)[1])


def header_of(answer, name):
    lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines}.get(name, "")


def test_over_a_socket_too_a_foreign_host_gets_nothing(server):
    port, cookie, _ = server
    ours = f"Host: 127.0.0.1:{port}"
    assert status_of(spoken(port, "GET /open HTTP/1.1", [ours, f"Cookie: {cookie}"])) == 200
    foreign = [
        "evil.com",
        f"evil.com:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"localhost.:{port}",
        "x/health?y=",
    ]
    for host in foreign:
        for path in ("/open", "/events", "/static/page.js", "/nowhere"):
            answer = spoken(port, f"GET {path} HTTP/1.1", [f"Host: {host}", f"Cookie: {cookie}"])
            assert status_of(answer) == 400
            assert "default-src 'self'" in header_of(answer, "content-security-policy")
    for lines in ([], [ours, ours], [ours, "Host: evil.com"]):
        assert status_of(spoken(port, "GET /open HTTP/1.1", [*lines, f"Cookie: {cookie}"])) == 400
    for target in ("@evil", "http://evil/", f"http://127.0.0.1:{port}/open", "//evil", "*", "/\\evil"):
        assert status_of(spoken(port, f"GET {target} HTTP/1.1", [ours, f"Cookie: {cookie}"])) == 400
    for line in ("GET /open HTTP/1.0", "GET /open", "\x00", "GET  HTTP/1.1", "GET /open HTTP/9.9"):
        answer = spoken(port, line, [f"Cookie: {cookie}"])
        assert status_of(answer) == 400
        assert "default-src 'self'" in header_of(answer, "content-security-policy")


def resident(process):
    """The memory that a process holds now, in bytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError


def poured(port, headers, chunk, times, seconds=30):
    """Send a body for as long as the server takes it; how many bytes it took, and what it said."""
    taken, until = 0, time.monotonic() + seconds
    with connection(port) as made:
        made.sendall("\r\n".join(["POST /undo HTTP/1.1", *headers, "", ""]).encode())
        try:
            for _ in range(times):
                made.sendall(chunk)
                taken += len(chunk)
                if time.monotonic() > until:
                    break
        except ConnectionError:
            pass
        try:
            return taken, heard(made)
        except ConnectionError:
            return taken, b""


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


@needs_proc
def test_a_gigabyte_is_refused_and_takes_no_memory(server):
    port, cookie, process = server
    form = [f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}", f"Content-Type: {FORM}"]
    before = resident(process)
    block = b"x" * (1 << 20)
    chunked = b"100000\r\n" + block + b"\r\n"
    for cookies in ([f"Cookie: {cookie}"], []):
        taken, answer = poured(port, [*form, *cookies, f"Content-Length: {1 << 30}"], block, 1_024)
        assert taken < 64 << 20
        assert not answer or status_of(answer) in (401, 413)
        taken, answer = poured(port, [*form, *cookies, "Transfer-Encoding: chunked"], chunked, 1_024)
        assert taken < 64 << 20
        assert not answer or status_of(answer) in (401, 413)
    fields = b"a=1&" * 100_000
    answer = spoken(port, "POST /undo HTTP/1.1", [*form, f"Cookie: {cookie}", f"Content-Length: {len(fields)}"], fields)
    assert status_of(answer) == 413
    assert resident(process) - before < 64 << 20
    assert status_of(spoken(port, "GET /open HTTP/1.1", [form[0], f"Cookie: {cookie}"])) == 200


def test_many_ranges_and_long_headers_are_refused(server):
    port, cookie, _ = server
    ours = [f"Host: 127.0.0.1:{port}", f"Cookie: {cookie}"]
    many = ",".join(f"{i}-{i}" for i in range(10_000))
    assert status_of(spoken(port, "GET /open HTTP/1.1", [*ours, f"Range: bytes={many}"])) in (400, 416, 431)
    assert status_of(spoken(port, "GET /open HTTP/1.1", [*ours, f"X: {'x' * 100_000}"])) in (400, 431)
    assert status_of(spoken(port, f"GET /{'x' * 100_000} HTTP/1.1", ours)) in (400, 414)


def test_two_lengths_are_refused(server):
    """Where two readers of a request don't agree on its end, one request can hide in another."""
    port, cookie, _ = server
    form = [f"Host: 127.0.0.1:{port}", f"Cookie: {cookie}", f"Origin: http://127.0.0.1:{port}"]
    for more in (["Content-Length: 3", "Content-Length: 4"], ["Content-Length: -1"], ["Transfer-Encoding: x"]):
        answer = spoken(port, "POST /undo HTTP/1.1", [*form, *more], b"a=1")
        assert status_of(answer) in (400, 501)


def test_a_refused_connection_is_closed(server):
    """Else somebody without the cookie could hold all places that there are."""
    port, cookie, _ = server
    for headers in ([f"Host: 127.0.0.1:{port}"], ["Host: evil"]):
        with connection(port) as made:
            made.sendall("\r\n".join(["GET /open HTTP/1.1", *headers, "", ""]).encode())
            answer = heard(made)
            assert header_of(answer, "connection") == "close"
            assert made.recv(1) == b""
    with connection(port) as made:  # one that was let in goes on
        for _ in range(2):
            made.sendall(f"GET /open HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
            assert status_of(heard(made)) == 200


@pytest.mark.slow
def test_who_comes_slowly_is_sent_away(server):
    port, cookie, _ = server
    form = [f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}", f"Cookie: {cookie}", "Content-Length: 100"]
    with connection(port) as quiet, connection(port) as head, connection(port) as body:
        head.sendall(b"GET /open HTTP/1.1\r\nHost: ")
        body.sendall("\r\n".join(["POST /undo HTTP/1.1", *form, "", "a"]).encode())
        assert status_of(heard(body)) == 408
        head.sendall(b"x")
        assert heard(head) == b""
        assert heard(quiet) == b""


def test_places_are_not_without_end_and_come_back(server):
    port, cookie, _ = server
    made = []
    try:
        for _ in range(300):
            made.append(socket.create_connection(("127.0.0.1", port), 30))
    finally:
        for one in made:
            one.close()
    until = time.monotonic() + 60
    while True:
        answer = spoken(port, "GET /open HTTP/1.1", [f"Host: 127.0.0.1:{port}", f"Cookie: {cookie}"])
        if answer and status_of(answer) == 200:
            break
        assert time.monotonic() < until
        time.sleep(0.1)
