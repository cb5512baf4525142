"""A person at the page with a browser, which tells of everything that should not happen there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from page_client import serving

_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_PATIENCE = 45_000  # milliseconds until something that never comes is given up
_AXE = "4.14.0"
# A refused form is answered with its page and a status, which browsers note in the console. It is no error of the page.
_REFUSED = re.compile(r"Failed to load resource: the server responded with a status of (404|409|422) ")


@contextmanager
def started_browser():
    """Chromium; where it is missing, tests are skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=list(_ARGUMENTS))
        yield browser
        browser.close()


class House:
    """A server, the folder that it serves, and the browser that was let in."""

    def __init__(self, browser, root, link, process):
        self.browser, self.root, self.process = browser, root, process
        self.base = link.split("/?")[0]
        context = browser.new_context()
        context.request.get(link, max_redirects=0)
        self._key = context.storage_state()  # the link works once; the cookie for everybody here
        context.close()

    @contextmanager
    def person(self, **how):
        """Somebody with the cookie. What should not happen to them fails the test."""
        for name in ("patients.csv", "companies.csv"):  # what somebody did to a file is there when it is opened again
            _turn(self.root / name)
        context = self.browser.new_context(storage_state=self._key, base_url=self.base, **how)
        context.set_default_timeout(_PATIENCE)
        seen = Seen(context)
        try:
            yield Person(context, seen, self, scripted=how.get("java_script_enabled", True))
        finally:
            context.close()
        wrong = seen.wrong()
        assert not wrong, wrong

    @contextmanager
    def work_held(self):
        """Meanwhile no job gets on: whatever a test looks at, it can't come too late."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        workers = [int(pid) for thread in threads for pid in thread.read_text().split()]
        assert workers
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        try:
            yield
        finally:
            for worker in workers:
                os.kill(worker, signal.SIGCONT)


def _turn(path):
    """The same records in another order: a file that nobody has worked on yet."""
    if path.exists():
        head, first, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join([head, *rest, first]), encoding="utf-8")


@contextmanager
def served(browser, root, *options):
    """A house of its own: nothing is left of it afterwards."""
    aside = tempfile.mkdtemp(prefix="aside-", dir=root.parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", aside)
        with serving(root, *options) as (link, process):
            patch.undo()
            yield House(browser, root, link, process)
    assert os.listdir(aside) == []


class Seen:
    """What a browser asks for and complains of."""

    def __init__(self, context):
        self.asked, self.complaints, self.dialogs = [], [], []
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on("dialog", self._dialog)

    def _heard(self, message):
        if message.type == "error" and not _REFUSED.match(message.text):
            self.complaints.append(message.text)

    def _dialog(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def wrong(self):
        """Requests to elsewhere, errors, refusals of the content policy, dialogs."""
        hosts = {urlsplit(url).hostname for url in self.asked if not url.startswith("about:")}
        return [*sorted(map(str, hosts - {"127.0.0.1", "localhost"})), *self.complaints, *self.dialogs]

    def addresses(self):
        """All that was asked for, readable."""
        return [unquote(url) for url in self.asked]


class Person:
    """The steps that somebody takes, on a page with or without a script."""

    def __init__(self, context, seen, house, scripted):
        self.context, self.seen, self.house, self.root = context, seen, house, house.root
        self.scripted = scripted
        self.page = context.new_page()

    def go(self, path):
        self.page.goto(path)
        return self

    def click(self, selector, until=None):
        """Click, and wait for what must appear."""
        self.page.click(selector)
        if until is not None:
            self.page.wait_for_selector(until)

    def words(self, selector="main"):
        return " ".join(self.page.inner_text(selector).split())

    def open(self, file):
        """Type a path, and go on to the columns."""
        self.go("/open")
        self.page.fill("#path", file)
        with self.page.expect_response(lambda answer: answer.request.method == "POST"):
            self.page.click("form.line button")
        self.go("/open")  # anew: where the same file is open already, the old page has all that is waited for
        self.page.wait_for_selector(f"#reading:has-text('{file}')")
        self.page.wait_for_selector("text=Go on to the columns")
        self.click("text=Go on to the columns", "#columns")
        if self.scripted:
            self.page.wait_for_selector("html.js")  # before its script is there, the page listens to nobody

    def confirm(self):
        self.click("text=Confirm all", "text=Go on to the promise")

    def promise(self, k, missing=None, small=None):
        self.go("/promise")
        self.page.fill("#k", str(k))
        if missing is not None:
            self.page.check(f"input[name=missing-policy][value={missing}]")
        if small is not None:
            self.page.select_option("#missing-small", small)
        self.click("text=Set, and go on", "h1:has-text('Candidates')")

    def candidates(self, k, *methods):
        self.go("/candidates")
        self.page.fill("#ks", k)
        for box in self.page.locator("input[name=method]").all():
            box.set_checked(box.get_attribute("value") in methods)
        self.click("text=Try them", "svg.map")

    def release(self, folder):
        self.go("/release")
        self.page.fill("#folder", folder)
        self.click("main form.line button.main", f"#done h2:has-text('{folder}')")
        assert "✓ Checked" in self.words("#done")

    def recipe(self):
        """The text of the recipe."""
        return self.go("/recipe").page.input_value("#text")


def first_pages(person):
    """Go through the pages from a file to its promise, and tell the name of each."""
    page = person.page
    person.go("/open")
    page.fill("#path", "nothing.csv")
    person.click("form.line button", "#problem")
    yield "open, with a problem"
    person.open("patients.csv")
    yield "columns"
    person.go("/open")
    yield "open"
    person.go("/release")
    yield "not yet, columns"
    person.go("/columns").click("text=Show the first", "table.raw")
    yield "preview"
    person.go("/columns").confirm()
    yield "columns, confirmed"
    person.click("text=diagnosis", "#role")
    yield "a column"
    person.go("/promise")
    page.fill("#k", "1")
    page.select_option("#missing-small", "merge")
    page.locator("details").evaluate_all("all => all.forEach((one) => (one.open = true))")
    person.click("text=Set, and go on", ".mistake")
    yield "promise, with mistakes"
    person.go("/release")
    yield "not yet, mistakes"
    person.promise(3, "group", "refuse")
    yield "candidates, none"
    person.go("/promise").click("text=Count", "text=are unique")
    yield "promise"


def later_pages(person):
    """Go through the pages from candidates to a bundle that was checked."""
    page = person.page
    person.open("patients.csv")
    person.confirm()
    person.promise(3, "group")
    person.candidates("3, 5", "mdav", "mdav*")
    page.locator("button:text('Take')").first.click()
    page.wait_for_selector("tr.chosen")
    yield "candidates"
    person.click("tr.chosen th a", "text=Look closer")
    yield "a candidate"
    person.click("text=Look closer", "#analysts")
    yield "a candidate, looked closer at"
    person.go("/candidates").click("main button:text('Compare')", "text=Two candidates beside")
    yield "pair"
    person.click("button:has-text('Look closer')", "text=Distributions, before and after")
    yield "pair, looked closer at"
    person.go("/release").click("text=Dry run", "#tried")
    yield "release, tried"
    person.click("main form.line button.main", "#done iframe")
    yield "release"
    person.click("text=Check it again", "#what")
    person.click("main button.main", "#verdict")
    person.click("main button:text('Make it again')", "#replay")
    yield "check"


def other_pages(person):
    """Go through the pages that are no step."""
    person.open("companies.csv")
    person.confirm()
    for path in ("history", "recipe", "docs/ui.md", "docs/units.md", "quit", "nowhere"):
        person.go(f"/{path}")
        yield path


def axe_source():
    """The text of axe-core, from the registry, kept outside of the repository; None where it cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "coterie-tests"
    kept = cache / f"axe-core-{_AXE}.js"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    npm = shutil.which("npm")
    if npm is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"axe-core@{_AXE}", "--pack-destination", folder]
        try:
            subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=120)
        except subprocess.SubprocessError:
            return None
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as packed:
            text = packed.extractfile("package/axe.min.js").read().decode("utf-8")
    cache.mkdir(parents=True, exist_ok=True)
    part = cache / f"{kept.name}.{os.getpid()}"
    part.write_text(text, encoding="utf-8")
    part.replace(kept)
    return text


def axe_findings(page, source, rules=None):
    """What axe-core calls serious or critical. Frames hold reports, which have tests of their own."""
    if source is None:
        return []
    page.evaluate(source)
    options = {"iframes": False, "resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        (one["id"], node["target"], node.get("failureSummary", ""))
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
