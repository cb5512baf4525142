"""Values of records stay where they are: not in addresses, logs, errors or temporary files, however the server ends."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette")

from page_client import serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and /proc are those of POSIX")

CANARY = "Qx7canary"  # in every value of a column; nothing else is called so


def planted(folder, records=400):
    """A table in which every record has values that are found wherever they go."""
    lines = ["name,age,zip,diagnosis,income"]
    for i in range(records):
        lines.append(f"{CANARY}{i},{20 + i % 60},{CANARY}z{i % 7},{CANARY}d{i % 5},{91_730_000 + i}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "bad.csv").write_bytes(b"a,b\n" + f"{CANARY},\xff\n".encode("latin-1") + f'"{CANARY}'.encode())
    (folder / "bad.parquet").write_bytes(CANARY.encode() * 50)
    (folder / "bad.xlsx").write_bytes(CANARY.encode() * 50)
    (folder / "bad.toml").write_text(f"k = '{CANARY}'\n[columns]\n", encoding="utf-8")
    (folder / "wrong.csv").write_text("a,b\n1,2\n" + f"{CANARY},3,4,5\n" * 9, encoding="utf-8")


class Browser:
    """Somebody at a real server: follows no redirect, and notes every address that it is led to."""

    def __init__(self, link):
        self.port = int(re.search(r":(\d+)/", link)[1])
        self.told = []  # addresses and headers
        answer = self.ask("GET", "/" + link.partition("/?")[1][1:] + link.partition("/?")[2])
        self.cookie = dict(answer.getheaders())["set-cookie"].split(";")[0]

    cookie = ""

    def ask(self, method, path, form=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            headers = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.port}"}
            body = None if form is None else urlencode(form, doseq=True)
            if body is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.words = answer.read().decode("utf-8", "replace")
            self.told.append(str(answer.getheaders()))
            return answer
        finally:
            connection.close()

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, form=None):
        """Send a form, and wait for the job that it begins."""
        answer = self.ask("POST", path, form or {})
        until = time.monotonic() + 120
        while 'data-job-state="running"' in self.get("/quit").words:
            assert time.monotonic() < until
            time.sleep(0.1)
        return answer


def walk(browser):
    """All pages, and jobs that work and jobs that fail."""
    errors = [browser.post("/open", {"path": name}) and browser.get("/open").words
              for name in ("bad.csv", "bad.parquet", "bad.xlsx", "wrong.csv")]  # fmt: skip
    browser.post("/open", {"path": "people.csv"})
    for number, (role, kind) in enumerate(
        [
            ("identifier", ""),
            ("quasi", "integer"),
            ("quasi", "nominal"),
            ("confidential", "nominal"),
            ("quasi", "numeric"),
        ]
    ):
        browser.post(f"/columns/{number}", {"role": role, "kind": kind})
    for path, form in [
        ("/columns/2", {"order": f"{CANARY}none", "role": "quasi", "kind": "ordinal"}),
        ("/release/try", {}),
        ("/columns/2", {"role": "quasi", "kind": "numeric"}),  # text that is no number: a job that fails
        ("/release/try", {}),
        ("/columns/2", {"role": "quasi", "kind": "datetime"}),
        ("/release/try", {}),
        ("/columns/2", {"role": "quasi", "kind": "nominal"}),
        ("/promise", {"k": "300", "seed": "1"}),
        ("/release/try", {}),
        ("/promise", {"k": "5", "seed": "1"}),
        ("/recipe/load", {"file": "bad.toml"}),
        ("/check", {"path": "people.csv", "k": "5", "quasi": "age\nzip"}),
        ("/check", {"path": "bad.parquet", "k": "5", "quasi": "age"}),
        ("/promise/assess", {}),
        ("/candidates", {"k": "3, 5", "method": ["mdav", "auto"]}),
        ("/candidates/1", {}),
        ("/release", {"folder": "out"}),
        ("/check", {"path": "out"}),
        ("/check/replay", {"path": "out", "input": "people.csv"}),
        ("/columns/preview", {}),
    ]:
        browser.post(path, form)
        errors += re.findall(r'(?s)<(?:p class="words"|div class="problem").*?</(?:p|div)>', browser.get("/quit").words)
    for path in (
        "/",
        "/open",
        "/columns",
        "/columns/0",
        "/promise",
        "/candidates",
        "/candidates/1",
        "/release",
        "/check",
        "/recipe",
        "/history",
        "/nowhere",
        "/release/report/public",
        "/check/report/internal",
    ):
        browser.get(path)
    return errors


def bytes_below(folder):
    """Every byte of every file below a folder, and every name."""
    found = b""
    for path in sorted(folder.rglob("*")):
        found += str(path).encode("utf-8", "replace")
        if path.is_file() and not path.is_symlink():
            found += path.read_bytes()
    return found


def running_below(pid):
    """The processes that a process has started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split("\n")
    pairs = [tuple(map(int, line.split())) for line in listed if line.strip()]
    found, last = {pid}, 0
    while len(found) != last:
        last = len(found)
        found |= {child for child, parent in pairs if parent in found}
    return found - {pid}


def gone(pids, seconds=60):
    """Whether processes end, soon."""
    until = time.monotonic() + seconds
    while any(map(is_running, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def emptied(folder, seconds=60):
    until = time.monotonic() + seconds
    while any(folder.iterdir()):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def places(tmp_path):
    root, temporary = tmp_path / "root", tmp_path / "temporary"
    root.mkdir()
    temporary.mkdir()
    planted(root)
    return root, temporary


@pytest.mark.slow
def test_values_go_nowhere_but_into_the_answer(places):
    root, temporary = places
    with serving(root, env={"TMPDIR": str(temporary)}, stdout=subprocess.PIPE) as (link, process):
        browser = Browser(link)
        errors = walk(browser)
        assert len([words for words in errors if words]) >= 8  # jobs did fail
        assert not [words for words in errors if CANARY in words]
        assert CANARY in browser.post("/columns/preview").words  # they are shown where they were asked for
        assert not [told for told in browser.told if CANARY in told]
        assert CANARY.encode() not in bytes_below(temporary)
        below = running_below(process.pid)
        assert below
        process.terminate()
        said = process.stdout.read() + process.stderr.read()
        process.stdout.close()
        process.wait(60)
        assert CANARY not in said
        assert "Traceback" not in said
        assert link.partition("token=")[2] not in said  # it was told once, before
        assert gone(below)
        assert emptied(temporary)
    left = [path.name for path in root.iterdir()]
    assert sorted(left) == sorted(["people.csv", "bad.csv", "bad.parquet", "bad.xlsx", "bad.toml", "wrong.csv", "out"])


@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize("whole", [False, True], ids=["the server", "the whole terminal"])
def test_however_the_server_ends_nothing_is_left(places, way, whole):
    """A terminal that closes sends its signal to all processes in it, the one that does the work too."""
    if whole and way == "SIGKILL":
        pytest.skip("then nobody is left who could clear up")
    if signal.getsignal(getattr(signal, way)) is signal.SIG_IGN:
        pytest.skip("whoever started the tests, such as nohup, has this signal ignored, here and below")
    root, temporary = places
    (temporary / "x").touch()
    with serving(root, env={"TMPDIR": str(temporary)}, start_new_session=True) as (link, process):
        browser = Browser(link)
        browser.post("/open", {"path": "people.csv"})
        below = running_below(process.pid)
        assert len(list(temporary.iterdir())) > 1  # there is something to clear up
        (temporary / "x").unlink()
        number = getattr(signal, way)
        (os.killpg if whole else os.kill)(process.pid, number)
        said = process.stderr.read()
        process.wait(60)
        assert gone(below)
        assert emptied(temporary)
        assert "Traceback" not in said
        assert CANARY not in said


@pytest.mark.parametrize("way", ["SIGTERM", "SIGKILL"])
def test_the_page_that_starts_a_browser_is_gone_with_the_server(places, way):
    """It holds the link. Others can't read it, but it should not lie there for ever."""
    root, temporary = places
    env = {"TMPDIR": str(temporary), "BROWSER": f"{sys.executable} -c pass %s"}
    code = "import sys; sys.argv = ['coterie', 'ui', '--root', '.']; from coterie.cli import main; main()"
    with serving(root, env=env, command=[sys.executable, "-c", code]) as (link, process):
        until = time.monotonic() + 60
        while not list(temporary.glob("*/open.html")):
            assert time.monotonic() < until
            time.sleep(0.05)
        (page,) = temporary.glob("*/open.html")
        assert link.partition("token=")[2] in page.read_text(encoding="utf-8")
        assert page.parent.stat().st_mode & 0o077 == 0
        commands = subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout
        assert link.partition("token=")[2] not in commands
        Browser(link)
        process.send_signal(getattr(signal, way))
        process.wait(60)
        assert emptied(temporary)


def test_a_form_that_stops_the_server_leaves_nothing(places):
    root, temporary = places
    with serving(root, env={"TMPDIR": str(temporary)}) as (link, process):
        browser = Browser(link)
        below = running_below(process.pid)
        assert browser.ask("POST", "/quit", {}).status == 200
        assert process.wait(60) == 0
        assert gone(below)
        assert emptied(temporary)


def test_the_token_is_told_once_and_nowhere_else(places):
    root, temporary = places
    with serving(root, env={"TMPDIR": str(temporary)}) as (link, process):
        token = link.partition("token=")[2]
        browser = Browser(link)
        pages = [browser.get(path) for path in ("/", "/open", "/quit", "/nowhere", f"/?token={token}")]
        assert pages[-1].status == 403
        assert not [page for page in pages if token in page.words]
        assert not [told for told in browser.told if token in told]
        assert token.encode() not in bytes_below(temporary)
        secret = browser.cookie.partition("=")[2]
        assert not [page for page in pages if secret in page.words]
        assert secret.encode() not in bytes_below(temporary)
        process.terminate()
        said = process.stderr.read()
        assert token not in said
        assert secret not in said
