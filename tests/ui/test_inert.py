"""Names and texts that are markup, or that a terminal would obey: every page shows them, and none runs them."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser

import pytest

pytest.importorskip("starlette")

import pyarrow as pa
import pyarrow.parquet as pq

from conftest import ROOT
from coterie.ui.app import ROUTES, routes
from page_client import HOST, ORIGIN, Visitor, asked

UI = ROOT / "src" / "coterie" / "ui"
SCRIPT = "<script>alert(1)</script>"
COLUMNS = [
    SCRIPT,
    '"><img src=x onerror=alert(2)>',
    "'\" onmouseover='alert(3)",
    "</title></textarea><script>alert(4)</script>",
    "<svg/onload=alert(5)>",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[31malert(7)\u202e",
]
CATEGORIES = [
    '<img src=x onerror="alert(8)">',
    "</option></select><script>alert(9)</script>",
    "javascript:alert(10)",
    "b\u202ec",
]
FILE = "<img src=x onerror=alert(11)>'\"&.csv"
FOLDER = "<b onclick=alert(12)>'\""


def cell(i, j):
    return CATEGORIES[(i + j) % 3] if j in (3, 6) else str((i * (j + 3)) % 17 + j)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("<i>root") / FOLDER
    folder.mkdir()
    with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
        rows = [[cell(i, j) for j in range(len(COLUMNS))] for i in range(60)]
        csv.writer(file).writerows([COLUMNS, *rows])
    table = {f"nul\0<script>{j}": [cell(i, j) for i in range(40)] for j in range(3, 7)}
    pq.write_table(pa.table(table), folder / "odd.parquet")
    (folder / "broken.csv").write_bytes(b'a,b\n"\xff\x00' + SCRIPT.encode())
    return folder.parent


class Seen(HTMLParser):
    """What a page is made of."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words, self.inside, self.scripts = [], [], [], None, []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.inside = tag

    def handle_endtag(self, _):
        self.inside = None

    def handle_data(self, data):
        self.words.append(data)
        if self.inside in ("script", "style") and data.strip():
            self.scripts.append(data)


def templates():
    return [*(UI / "templates").iterdir(), *(ROOT / "src" / "coterie" / "report" / "templates").glob("*.j2")]


def known():
    """The elements and attributes that our own templates, pictures and Markdown make."""
    places = [*templates(), *(ROOT / "src" / "coterie" / "report").glob("*.py"), UI / "guard.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in places)
    tags = {tag.lower() for tag in re.findall(r"<([A-Za-z][A-Za-z0-9]*)", text)}
    names = {name.lower() for name in re.findall(r"[\s'\"}]([A-Za-z][A-Za-z0-9-]*)=[\"']", text)}
    markdown = {"em", "strong", "blockquote", "hr", "h4", "img"}
    bare = {"disabled", "hidden", "checked", "selected", "reversed", "sandbox", "open", "defer"}
    return (tags | markdown) - {"style"}, (names | bare | {"src", "alt", "href", "id"}) - {"style"}


TAGS, NAMES = known()
OURS = re.compile(r"(/(?![/\\])|#|\?)")


def assert_inert(answer, about):
    """Nothing in a page that we have not made; and nothing that a terminal or a browser would obey."""
    assert_guarded(answer, about)
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", answer.text), about
    seen = Seen(answer.text)
    report = "/report/" in about  # which has a style of its own, and no script
    assert set(seen.tags) <= (TAGS | {"style"} if report else TAGS), about
    assert len(seen.scripts) == (1 if report and answer.status_code == 200 else 0), about
    for tag, name, value in seen.attributes:
        assert name in NAMES, (about, tag, name)
        assert not name.startswith("on"), (about, tag, name)
        if name in ("href", "src", "action", "formaction"):
            to_docs = tag == "a" and about.startswith("/docs/") and value.startswith("https://")
            assert OURS.match(value) or to_docs, (about, tag, name, value)
    sources = [value for tag, name, value in seen.attributes if (tag, name) == ("script", "src")]
    assert sources in (["/static/page.js"], []), about
    assert seen.tags.count("script") == len(sources), about
    assert seen.tags.count("iframe") == sum((tag, name) == ("iframe", "sandbox") for tag, name, _ in seen.attributes)


def assert_guarded(answer, about):
    """The headers that every answer has."""
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy, about
    assert "default-src 'self'" in policy or "default-src 'none'" in policy, about
    assert "frame-ancestors 'none'" in policy or "frame-ancestors 'self'" in policy, about
    assert "base-uri 'none'" in policy, about
    assert answer.headers["x-content-type-options"] == "nosniff", about
    assert answer.headers["x-frame-options"] in ("DENY", "SAMEORIGIN"), about
    assert answer.headers["referrer-policy"] == "no-referrer", about
    assert answer.headers["cache-control"] == "no-store", about


def pages(session):
    """Every page that can be gone to."""
    numbers = [t.number for t in session.tried] or [1]
    columns = range(len(session.opened.names)) if session.opened is not None else [0]
    for line in ROUTES:
        if line.get is None:
            continue
        if line.path == "/columns/{number}":
            yield from (f"/columns/{number}" for number in columns)
        elif line.path == "/candidates/{number}":
            yield from (f"/candidates/{number}" for number in numbers)
        else:
            which = line.path.replace("{which}", "public").replace("{path:path}", "recipe.md")
            yield which + (f"?a={numbers[0]}&b={numbers[-1]}" if which == "/candidates/pair" else "")
    yield from (
        "/release/report/internal",
        "/nowhere",
        f"/{SCRIPT}",
        f"/open?in={FOLDER.replace(' ', '+')}",
        "/columns?from=3",
    )


TEXT = f'"><script>alert(13)</script>\x1b\u202e{SCRIPT}'
FORMS = [
    {},
    dict.fromkeys(
        ("path", "file", "folder", "text", "k", "method", "name", "old", "seed", "encoding", "delimiter"), TEXT
    ),
    dict.fromkeys(("role", "kind", "set", "number", "unit", "quasi", "recipe", "input", "strata", "missing"), TEXT),
    {"action": "unit", "unit": TEXT, "back": TEXT, "missing-policy": TEXT, "strata-small": TEXT, "guard-rule": TEXT},
    {"path": f"{FOLDER}/broken.csv", "text": f"k = 1\n[columns]\n'{SCRIPT}' = {{role = '{SCRIPT}'}}"},
]


def all_answers(visitor):
    """Every page, and every form with texts that it does not take."""
    for path in pages(visitor.session):
        assert_inert(visitor.get(path), path)
    for line in ROUTES:
        if line.post is None or line.path in ("/quit", "/candidates/drop", "/open/read"):
            continue
        path = line.path.replace("{number}", "1")
        for form in FORMS:
            here = visitor.session.history.at if visitor.session.history is not None else None
            answer = visitor.post(path, form)
            assert answer.status_code < 500, (path, form)
            assert_inert(answer, path)
            visitor.wait()
            assert_inert(visitor.get("/columns"), path)  # with what came of the job
            assert_inert(visitor.get("/promise"), path)
            assert_inert(visitor.get("/history"), path)
            if here is not None:
                visitor.session.go(here)
                visitor.wait()


def test_pages_without_a_file_are_inert(root):
    with Visitor(root) as visitor:
        all_answers(visitor)


def decided(visitor):
    """The file with names that are markup, every column confirmed."""
    visitor.send("/open", {"path": f"{FOLDER}/{FILE}"})
    assert set(visitor.session.opened.names) == set(COLUMNS)
    kinds = ["numeric", "numeric", "numeric", "nominal", "numeric", "numeric", "nominal"]
    numbers = visitor.session.opened.numbers
    for j, name in enumerate(COLUMNS):
        role = "confidential" if j == 6 else "quasi"
        visitor.send(f"/columns/{numbers[name]}", {"role": role, "kind": kinds[j]})
    visitor.send("/columns", {"action": "confirm-all"})


@pytest.mark.campaign
@pytest.mark.parametrize("ready", [False, True])
def test_forms_with_markup_about_a_file_with_markup(root, ready):
    with Visitor(root) as visitor:
        visitor.send("/open", {"path": f"{FOLDER}/{FILE}"})
        if ready:
            decided(visitor)
            visitor.send("/promise", {"k": "3", "seed": "1"})
            visitor.send("/candidates", {"k": "3, 4", "method": ["mdav"]})
        all_answers(visitor)


@pytest.mark.slow
def test_a_file_whose_names_are_markup_goes_all_the_way_and_runs_nothing(root):
    with Visitor(root) as visitor:
        decided(visitor)
        assert_inert(visitor.post("/columns/preview"), "preview")
        assert "alert(8)" in visitor.post("/columns/preview").text  # it is shown
        visitor.send("/promise", {"k": "3", "seed": "1"})
        visitor.send("/promise/assess", {"drivers": "yes"})
        visitor.send("/candidates", {"k": "3, 4", "method": ["mdav"]})
        for tried in visitor.session.tried:
            visitor.send(f"/candidates/{tried.number}")
        visitor.send("/release/try")
        visitor.send("/release", {"folder": f"{FOLDER}/<u>out'"})
        visitor.send("/check", {"path": f"{FOLDER}/<u>out'"})
        visitor.send("/check/replay", {"path": f"{FOLDER}/<u>out'", "input": f"{FOLDER}/{FILE}"})
        whole = {path: visitor.get(path) for path in pages(visitor.session)}
        for path in ("/columns", "/promise", "/release", "/check", "/candidates/1", "/release/report/public"):
            assert whole[path].status_code == 200, path
            assert "alert(" in "".join(Seen(whole[path].text).words), path  # names are there, as text
        for path, answer in whole.items():
            if "/report/" not in path:
                assert_inert(answer, path)
        visitor.send("/promise/scenarios", {"name": SCRIPT, "k": "3", "quasi": ["0", "1"]})
        visitor.send("/promise/scenarios", {"name": '"><b>', "k": SCRIPT, "quasi": ["2"]})
        for path in ("/promise", "/history", "/recipe", "/release", "/candidates"):
            assert_inert(visitor.get(path), path)


def test_columns_with_signs_that_no_text_file_has(root):
    with Visitor(root) as visitor:
        visitor.send("/open", {"path": f"{FOLDER}/odd.parquet"})
        for path in pages(visitor.session):
            assert_inert(visitor.get(path), path)
        visitor.send("/columns", {"action": "role", "role": "other", "pick": ["0", "1", "2", "3"]})
        for path in ("/columns", "/promise", "/history", "/recipe"):
            assert_inert(visitor.get(path), path)


def kept(visitor, path, change):
    """The history of a file as somebody has changed it."""
    visitor.send("/history/keep", {"keep": "yes"})
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def hostile_histories():
    """Changes of a history: some are names that must be inert, the others are no history that a page has made."""

    def named(document):
        document["steps"][0]["name"] = document["steps"][-1]["name"] = SCRIPT + "\x1b\u202e\ud800\"'"

    def placed(where, value):
        def change(document):
            place = document["steps"][document["at"]]["recipe"]
            for key in where[:-1]:
                place = place[key]
            place[where[-1]] = value

        return change

    deep = []
    for _ in range(500):
        deep = [deep]
    yield True, named
    for where, value in [
        (["file"], []),
        (["file"], "x"),
        (["file"], {"names": 5}),
        (["unit"], "x"),
        (["unit"], {"column": {}}),
        (["scenarios"], []),
        (["scenarios"], {"a": 5}),
        (["scenarios"], {"a": {"quasi": 5}}),
        (["self"], 1),
        (["k"], {}),
        (["k"], deep),
        (["seed"], [1]),
        (["method"], {"name": {}}),
        (["strata"], {"within": 5}),
        (["columns"], []),
        (["columns"], {}),
        (["columns"], {"x": {"role": "other"}}),
        (["columns", "age"], 5),
        (["columns", "age"], {"role": {}}),
        (["columns", "age"], {"role": "quasi", "kind": "ordinal", "order": 5}),
        (["columns", "new"], {"role": "other"}),
    ]:
        yield False, placed(where, value)


def test_a_hostile_history_is_refused_or_inert(tmp_path):
    rows = "".join(f"{20 + i % 7},{i % 3}\n" for i in range(40))
    (tmp_path / "few.csv").write_text("age,code\n" + rows, encoding="utf-8")
    place = tmp_path / "few.csv.coterie-history.json"
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "few.csv"})
        visitor.send("/columns", {"set": "0", "role-0": "quasi", "kind-0": "integer"})
        for good, change in hostile_histories():
            kept(visitor, place, change)
            visitor.begin_anew()
            visitor.post("/open", {"path": "few.csv"})
            job = visitor.wait()
            assert job.state == ("done" if good else "failed"), change
            for path in ("/columns", "/columns/0", "/promise", "/history", "/recipe", "/open", "/release", "/quit"):
                answer = visitor.get(path)
                assert answer.status_code in (200, 303), (path, job.words)
                assert_inert(answer, path)
            place.unlink()
            visitor.begin_anew()
            visitor.send("/open", {"path": "few.csv"})
            visitor.send("/columns", {"set": "0", "role-0": "quasi", "kind-0": "integer"})


def test_a_history_of_somebody_else_is_not_followed(tmp_path):
    """It says which columns were confirmed; whoever may write into the folder could say that all are harmless."""
    (tmp_path / "few.csv").write_text("age,code\n" + "".join(f"{i % 7},{i % 3}\n" for i in range(40)), encoding="utf-8")
    place = tmp_path / "few.csv.coterie-history.json"
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "few.csv"})
        visitor.send("/columns", {"action": "role", "role": "other", "pick": ["0", "1"]})
        visitor.send("/history/keep", {"keep": "yes"})
        visitor.begin_anew()
        visitor.send("/open", {"path": "few.csv"})
        assert not visitor.session.unconfirmed
        place.chmod(0o666)  # as anybody could have written it
        visitor.begin_anew()
        visitor.send("/open", {"path": "few.csv"})
        assert visitor.session.unconfirmed


def test_every_answer_has_the_headers(tmp_path):
    """Of every route and method, refusals, redirects and errors among them."""
    with Visitor(tmp_path) as visitor:
        for route in routes(visitor.session, lambda: None):
            path = re.sub(r"\{[^}]*\}", "page.css", route.path)
            for method in ("GET", "HEAD", "POST", "PUT"):
                for cookie in (visitor.cookie, "x=y"):
                    if path == "/events" and method == "GET" and cookie == visitor.cookie:
                        continue  # which goes on
                    headers = [("host", HOST), ("cookie", cookie), ("origin", ORIGIN)]
                    assert_guarded(asked(visitor.app, method, path, headers), (method, path))
        for headers in (
            [("host", "evil")],
            [("host", HOST), ("range", "x")],
            [("host", HOST), ("content-length", "5")],
        ):
            assert_guarded(asked(visitor.app, "GET", "/", headers), headers)
        assert_guarded(asked(visitor.app, "GET", f"/?token={visitor.access.new_token()}", [("host", HOST)]), "entering")


def test_templates_hold_no_script_or_style_of_their_own():
    for path in templates():
        text = path.read_text(encoding="utf-8")
        own = path.is_relative_to(UI)
        assert not re.search(r"<[^>]*\son[a-z]+\s*=", text), path.name
        assert "javascript:" not in text, path.name
        assert "|safe" not in text.replace(" ", ""), path.name
        assert "autoescape" not in text, path.name
        assert not re.search(r"\sstyle\s*=", text), path.name
        if own:
            assert "<style" not in text, path.name
            assert re.findall(r"<script[^>]*>", text) in ([], ['<script src="/static/page.js" defer>']), path.name


def test_what_is_marked_as_markup_is_ours():
    """The filter `picture` lets markup pass: what it is used for is made by functions that escape."""
    used = set()
    for path in templates():
        used |= set(re.findall(r"\{\{\s*([^{}|]+?)\s*\|\s*picture", path.read_text(encoding="utf-8")))
    assert {name.split(".")[-1] for name in used} <= {"picture", "svg", "chart", "html"}, used


def test_static_files_ask_for_nothing_from_elsewhere():
    for path in (UI / "static").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), path.name
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
                     "@import", "localStorage", "sessionStorage", "indexedDB", "document.cookie"):  # fmt: skip
            assert word not in text, (path.name, word)


HOSTILE_REPORT = """<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="refresh" content="0;url=http://evil.example/">
<meta http-equiv="Content-Security-Policy" content="default-src *">
<base href="http://evil.example/"><style>p { color: red }</style><link rel="stylesheet" href="http://evil.example/x.css">
<script>fetch("/quit", {method: "POST"})</script><script src="/static/page.js"></script></head>
<body onload="alert(1)"><form method="post" action="/quit"><button>x</button></form>
<img src="http://evil.example/x.png"><iframe src="/columns"></iframe><p style="color:blue">x</p></body></html>"""

MANY = "".join(f"<style>a{i}</style>" for i in range(50))


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Somebody who has released and checked a bundle."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / "few.csv").write_text("a,b\n" + "".join(f"{i % 9},{i % 4}\n" for i in range(40)), encoding="utf-8")
    with Visitor(folder) as visitor:
        visitor.send("/open", {"path": "few.csv"})
        for number in ("0", "1"):
            visitor.send(f"/columns/{number}", {"role": "quasi", "kind": "integer"})
        visitor.send("/release", {"folder": "out"})
        visitor.send("/check", {"path": "out"})
        yield visitor, folder / "out"


@pytest.mark.parametrize("where", ["check", "release"])
def test_a_hostile_report_has_no_rights(checked, where):
    visitor, bundle = checked
    place = bundle / "report.html"
    before = place.read_bytes()
    own = visitor.get(f"/{where}/report/public")
    assert own.status_code == 200
    assert len(re.findall(r"'sha256-[^']+'", own.headers["content-security-policy"])) == 1
    try:
        for text in (HOSTILE_REPORT, HOSTILE_REPORT.replace("<style>", f"{MANY}<style>")):
            place.write_text(text, encoding="utf-8")
            answer = visitor.get(f"/{where}/report/public")
            assert answer.status_code == 200
            assert_guarded(answer, where)
            rules = dict(
                rule.strip().partition(" ")[::2] for rule in answer.headers["content-security-policy"].split(";")
            )
            assert rules["sandbox"] == ""  # without any exception
            assert rules["default-src"] == "'none'"
            assert "script-src" not in rules
            assert re.fullmatch(r"'sha256-[A-Za-z0-9+/=]{44}'|'none'", rules["style-src"])
            assert rules["form-action"] == rules["base-uri"] == "'none'"
            assert rules["frame-ancestors"] == "'self'"
    finally:
        place.write_bytes(before)


def test_a_report_is_a_file_of_the_bundle(checked, tmp_path):
    visitor, bundle = checked
    (tmp_path / "secret.html").write_text("canary", encoding="utf-8")
    place = bundle / "report.html"
    before = place.read_bytes()
    place.unlink()
    place.symlink_to(tmp_path / "secret.html")
    try:
        for where in ("check", "release"):
            assert "canary" not in visitor.get(f"/{where}/report/public").text
            for which in ("../few.csv", "manifest.json", "..%2ffew.csv", "public/..", "x"):
                assert visitor.get(f"/{where}/report/{which}").status_code in (404, 422)
    finally:
        place.unlink()
        place.write_bytes(before)


def test_reports_are_framed_without_rights(checked):
    visitor, _ = checked
    for path in ("/release", "/check"):
        frames = [pair for pair in Seen(visitor.get(path).text).attributes if pair[0] == "iframe"]
        assert frames
        assert [value for _, name, value in frames if name == "sandbox"] == [""] * sum(n == "src" for _, n, _ in frames)
