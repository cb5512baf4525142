"""The page in a browser, on a server process: whole journeys, by mouse, by keyboard and without a script."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from conftest import ROOT
from page_browser import axe_findings, axe_source, first_pages, later_pages, other_pages, served, started_browser

pytest.importorskip("starlette")


@pytest.fixture(scope="module")
def browser():
    with started_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def house(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("browser") / "root"
    (root / "a folder").mkdir(parents=True)
    for name in ("patients.csv", "companies.csv"):
        shutil.copy(ROOT / "examples" / name, root)
    shutil.copy(ROOT / "examples" / "patients.csv", root / "a folder" / "people.csv")
    with served(browser, root) as house:
        yield house


@pytest.fixture
def person(house):
    with house.person() as person:
        yield person


def command_line(root, text):
    """Run a command that the page shows."""
    program, *arguments = shlex.split(text)
    assert program == "coterie"
    subprocess.run([sys.executable, "-m", "coterie", *arguments], cwd=root, check=True, capture_output=True)


def numbers(path, records, columns=6):
    rng = np.random.default_rng(11)
    pyarrow.csv.write_csv(pa.table({f"x{i}": rng.normal(size=records).round(4) for i in range(columns)}), path)


def hidden(root):
    """What must never be left beside a bundle."""
    return [path.name for path in root.rglob(".*")]


def set_role(person, name, role, kind="nominal"):
    """Choose the role of a column, and a kind where that is asked for."""
    page, row = person.page, f"tr:has(select[aria-label='Role of {name}'])"
    with page.expect_response("**/columns*"):
        page.select_option(f"select[aria-label='Role of {name}']", role)
    page.wait_for_selector("html:not(.busy)")
    if page.locator(f"{row}.undecided").count():
        page.select_option(f"select[aria-label='Kind of {name}']", kind)
    page.wait_for_selector(f"{row}:has-text('✓ confirmed')")


# journeys


@pytest.mark.slow
def test_a_mixed_file_with_gaps_becomes_a_bundle_that_the_command_line_makes_too(person):
    page, root = person.page, person.root
    person.go("/open").click("a.folder", "text=people.csv")
    person.click("button:has-text('people.csv')", "#reading:has-text('people.csv')")
    page.wait_for_selector("text=240 records in 11 columns")
    person.open("patients.csv")
    person.confirm()
    person.promise(3, "own-value", "merge")
    person.candidates("3, 4", "mdav", "mdav*")
    person.click("tr:has-text('best for k = 3') button:has-text('Take')", "tr.chosen")
    person.click("text=Go on to the release", "#make")
    page.click("section[aria-labelledby=recipe] summary")
    (root / "recipe.toml").write_text(page.inner_text("#toml"), encoding="utf-8")
    command = page.inner_text("#command")
    assert command.endswith("-o patients-release")
    person.release("mixed")
    public = page.frame_locator("iframe[title='Public report']")
    assert public.locator("h1").inner_text() == "How these data were protected"
    page.click("summary:has-text('internal report')")
    page.frame_locator("iframe[title='Internal report']").locator("h1").wait_for()
    command_line(root, command)
    for name in ("data.csv", "recipe.toml"):
        assert (root / "patients-release" / name).read_bytes() == (root / "mixed" / name).read_bytes()
    person.click("text=Check it again", "#what")
    person.click("main button.main", "#verdict:has-text('✓ Holds')")
    person.click("main button:text('Make it again')", "#replay:has-text('byte for byte')")
    assert hidden(root) == []


def test_an_spss_file_keeps_its_labels(person):
    pyreadstat = pytest.importorskip("pyreadstat")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    labels = {"sex": {1.0: "female", 2.0: "male"}, "region": {1.0: "north", 2.0: "south", 3.0: "Ost & West"}}
    names = {"sex": "Sex of the person", "region": "Where they live", "age": "Age in years"}
    highest = {"sex": 3, "region": 4, "age": 90}
    frame = pandas.DataFrame({name: rng.integers(1, most, 80).astype(float) for name, most in highest.items()})
    pyreadstat.write_sav(frame, person.root / "survey.sav", column_labels=names, variable_value_labels=labels)
    person.open("survey.sav")
    for name in names:
        set_role(person, name, "quasi", "integer" if name == "age" else "nominal")
    person.promise(4)
    person.release("labelled")
    released, meta = pyreadstat.read_sav(person.root / "labelled" / "data.sav")
    assert meta.variable_value_labels == labels
    assert dict(zip(meta.column_names, meta.column_labels, strict=True)) == names
    assert len(released) == 80


def test_whose_records_they_are_is_answered_before_anything_goes_on(person):
    rng = np.random.default_rng(6)
    lines = [f"P{i:03},{age + wave},{rng.integers(10, 90)}" for i, age in enumerate(rng.integers(20, 60, 60))
             for wave in range(3)]  # fmt: skip
    (person.root / "panel.csv").write_text("person_id,age,rooms\n" + "\n".join(lines) + "\n", encoding="utf-8")
    person.open("panel.csv")
    page = person.page
    for name, role in (("person_id", "identifier"), ("age", "quasi"), ("rooms", "quasi")):
        set_role(person, name, role, "integer")
    assert "several records may be those of one person" in person.words()
    for path in ("/candidates", "/release"):
        person.go(path)
        assert "Not yet possible" in person.words()
        assert "Whose records they are" in person.words()
    person.go("/promise")
    page.fill("#k", "3")
    person.click("text=Set, and go on", "#problem")
    assert page.url.endswith("/promise")
    person.go("/columns")
    page.select_option("#unit-choice", label="different values of person_id")
    person.click("section:has(#unit) button", "tr:has-text('person_id') .tag")
    person.promise(3)
    person.release("panel-out")
    assert "k-anonymity of units" in (person.root / "panel-out" / "verify.json").read_text(encoding="utf-8")
    assert "P001" not in (person.root / "panel-out" / "data.csv").read_text(encoding="utf-8")


def test_a_promise_that_cannot_be_kept_is_told_and_nothing_is_written(person):
    page = person.page
    person.open("companies.csv")
    person.confirm()
    person.promise(12)  # of eleven companies
    page.fill("#ks", "12")
    person.click("text=Try them", "text=Not possible.")
    person.go("/release")
    page.fill("#folder", "never")
    person.click("main form.line button.main", ".job.failed")
    told = person.words("#job")
    assert told.startswith("Not done: Releasing into never")
    assert "at least 12 records" in told or "k = 12" in told
    assert not (person.root / "never").exists()


def test_strata_smaller_than_k_are_refused_in_plain_words(person):
    page = person.page
    person.open("patients.csv")
    person.confirm()
    person.go("/promise")
    page.fill("#k", "5")
    page.check("input[name=missing-policy][value=group]")
    for name in ("age", "region"):
        page.check(f"label:has-text('{name}') input[name=strata-within]")
    person.click("text=Set, and go on", "h1:has-text('Candidates')")
    person.go("/release")
    page.fill("#folder", "never")
    person.click("main form.line button.main", ".job.failed")
    assert "strat" in person.words("#job")
    assert not (person.root / "never").exists()
    assert hidden(person.root) == []


@pytest.mark.slow
def test_a_job_can_be_cancelled_and_the_next_one_works(person):
    page = person.page
    numbers(person.root / "large.csv", 200_000)
    person.open("large.csv")
    person.confirm()
    person.go("/release")
    page.fill("#folder", "large-out")
    person.click("main form.line button.main", "progress[value]")
    person.click("#job button:text('Cancel')", ".job.cancelled")
    assert "Nothing was written" in person.words("#job")
    person.open("companies.csv")
    person.confirm()
    person.promise(3)
    person.release("after")
    assert not (person.root / "large-out").exists()
    assert hidden(person.root) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found and held as on Linux")
def test_who_reloads_still_sees_progress_and_gets_the_result(person):
    page = person.page
    numbers(person.root / "some.csv", 300)
    person.open("some.csv")
    person.confirm()
    person.go("/release")
    page.fill("#folder", "some-out")
    with person.house.work_held():
        person.click("main form.line button.main", "[data-job-state=running]")
        page.reload()
        page.wait_for_selector("#job progress")
        assert "Releasing into some-out" in person.words("#job")
    page.wait_for_selector("#done h2:has-text('some-out')")
    assert page.locator("#job progress").count() == 0


def test_a_change_in_one_tab_appears_in_the_other(person):
    person.open("companies.csv")
    other = person.context.new_page()
    other.goto("/columns")
    other.evaluate("window.untouched = true")
    set_role(person, "surface", "other")
    other.wait_for_selector("select[aria-label='Role of surface'] option[value=other][selected]", state="attached")
    assert other.evaluate("window.untouched")
    # who is typing is told instead
    other.goto("/recipe")
    other.locator("#text").press_sequentially("# mine")
    set_role(person, "surface", "quasi")
    other.wait_for_selector("#changed")
    assert "# mine" in other.input_value("#text")
    other.click("#changed button")
    other.wait_for_selector("#changed", state="detached")
    assert "# mine" not in other.input_value("#text")


def test_undo_leads_to_the_start_and_redo_to_the_end(person):
    page = person.page
    person.open("patients.csv")
    first = person.recipe()
    person.go("/columns").confirm()
    person.promise(4, "group")
    person.promise(6)
    last = person.recipe()
    steps = person.go("/history").page.locator("ol.history li").count()
    assert steps == 4
    for button, after, recipe in (("Undo", "Redo", first), ("Redo", "Undo", last)):
        for number in range(steps - 1, 0, -1):
            at = page.locator("ol.history li.now").inner_text()
            page.click(f".tools button:has-text('{button}')")
            page.wait_for_function("(at) => document.querySelector('ol.history li.now').innerText !== at", arg=at)
            assert page.locator(f".tools button:has-text('{button}')").is_disabled() == (number == 1)
        assert page.locator(f".tools button:has-text('{after}')").is_enabled()
        assert person.recipe() == recipe
        person.go("/history")


def test_what_was_typed_stays_until_it_is_sent(person):
    page = person.page
    person.open("patients.csv")
    person.confirm()
    person.promise(5, "group")
    person.go("/promise")
    page.fill("#k", "7")
    page.focus("a.skip")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#main'")
    person.click("text=Count", "text=are unique")
    assert page.input_value("#k") == "7"
    person.click("text=Set, and go on", "h1:has-text('Candidates')")
    page.go_back()
    page.wait_for_selector("#promise")
    assert page.input_value("#k") == "7"


def test_a_choice_made_before_the_script_was_there_is_not_shown_as_set(person):
    person.open("companies.csv")
    held = []
    person.page.route("**/static/page.js", lambda route: held.append(route))
    person.page.goto("/columns", wait_until="commit")
    choice = "select[aria-label='Role of surface']"
    person.page.wait_for_selector(choice)
    before = person.page.input_value(choice)
    person.page.select_option(choice, "other", no_wait_after=True)
    held[0].continue_()
    person.page.wait_for_selector("html.js")
    assert before != "other"
    assert person.page.input_value(choice) == before


def test_two_changes_in_a_row_are_both_made(person):
    person.open("companies.csv")
    person.page.evaluate(
        """() => {
            for (const name of ["surface", "employees"]) {
                const choice = document.querySelector(`select[aria-label="Role of ${name}"]`);
                choice.value = "other";
                choice.dispatchEvent(new Event("change", { bubbles: true }));
            }
        }"""
    )
    for name in ("surface", "employees"):
        person.page.wait_for_selector(f"tr:has-text('{name}'):has-text('✓ confirmed')")
    for name in ("surface", "employees"):
        assert person.page.input_value(f"select[aria-label='Role of {name}']") == "other"


def test_undo_leads_back_to_a_page_from_wherever_it_is_pressed(person):
    page = person.page
    for path, button, until in (
        ("/columns", "text=Show the first", "table.raw"),
        ("/release", "main button:text('Release')", "#problem"),
        ("/nowhere", None, "#problem"),
    ):
        person.open("companies.csv")
        person.confirm()
        person.go(path)
        if path == "/release":
            page.fill("#folder", "../out")
        if button:
            page.click(button)
        page.wait_for_selector(until)
        page.click(".tools button:has-text('Undo')")
        page.wait_for_selector(".tools button:has-text('Redo'):enabled")
        page.wait_for_selector(until, state="detached")
        assert page.locator("h1").count() == 1


def test_the_foot_of_the_page_says_where_the_work_is_now(person):
    person.open("companies.csv")
    assert "only in memory" in person.words("footer")
    person.go("/history").click("text=Keep it beside the file >> nth=0", "text=Stop keeping it")
    assert "kept beside the file" in person.words("footer")
    person.click("text=Stop keeping it", "main button:text('Keep it')")
    assert "only in memory" in person.words("footer")


# without a mouse, without a script


class Keys:
    """Somebody without a mouse. Wherever the focus is, it is seen."""

    def __init__(self, page):
        self.page = page

    def to(self, selector, key="Tab", most=150):
        """Tab until the focus is there."""
        for _ in range(most):
            self.page.keyboard.press(key)
            self.seen()
            if self.page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
                return
        raise AssertionError(f"the focus does not come to {selector}")

    def seen(self):
        """The focused element is on the screen, with an outline."""
        state = self.page.evaluate(
            """() => {
                const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
                return {
                    what: one.outerHTML.slice(0, 200),
                    body: one === document.body,
                    outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1,
                    there: box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0
                        && box.top < innerHeight && box.left < innerWidth,
                };
            }"""
        )
        assert state["body"] or (state["outline"] and state["there"]), state

    def press(self, key, until):
        self.page.keyboard.press(key)
        self.page.wait_for_selector(until)

    def write(self, text):
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)


@pytest.mark.slow
def test_everything_can_be_done_with_the_keyboard(person):
    page = person.go("/open").page
    keys = Keys(page)
    keys.to("a.skip", most=1)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'main'")
    keys.to("#path", most=40)  # below what is said of the file that is open
    keys.write("companies.csv")
    keys.press("Enter", "#reading:has-text('companies.csv')")
    page.wait_for_function("() => document.activeElement.id === 'read'")
    keys.to("a[href='/columns'].main", most=2)
    keys.press("Enter", "#columns")
    keys.to("select[aria-label='Role of turnover']")
    page.keyboard.press("ArrowUp")  # from confidential to quasi-identifier
    page.wait_for_selector("tr:has-text('turnover'):has-text('✓ confirmed')")
    page.wait_for_function("() => document.activeElement.getAttribute('aria-label') === 'Role of turnover'")
    keys.seen()
    keys.to("button[value=confirm-all]")
    keys.press("Space", "text=Go on to the promise")
    page.wait_for_function("() => document.activeElement.matches('a[href=\"/promise\"].main')")
    keys.press("Enter", "#promise")
    keys.to("#k")
    keys.write("4")
    keys.to("input[name=missing-policy]")
    page.keyboard.press("ArrowDown")
    assert page.is_checked("input[name=missing-policy][value=own-value]")
    page.keyboard.press("ArrowUp")
    keys.press("Enter", "h1:has-text('Candidates')")
    keys.to("input[name=method][value='mdav*']")
    page.keyboard.press("Space")
    keys.to("#ks", key="Shift+Tab")
    keys.write("3, 4")
    keys.press("Enter", "svg.map")
    keys.to("svg.map a")
    keys.press("Enter", "tr.chosen")
    keys.to("a[href='/release'].main")
    keys.press("Enter", "#make")
    keys.to("#folder")
    keys.write("by-keyboard")
    keys.press("Enter", "#done h2:has-text('by-keyboard')")
    page.wait_for_function("() => document.activeElement.id === 'done'")
    assert "✓ Checked" in person.words("#done")
    assert (person.root / "by-keyboard" / "data.csv").is_file()


def test_everything_works_without_a_script(house):
    with house.person(java_script_enabled=False) as person:
        page = person.go("/open").page
        page.click("button:has-text('companies.csv')")
        page.wait_for_selector("#reading:has-text('companies.csv')")
        page.wait_for_selector("text=11 records in 5 columns")  # the page asks again by itself
        person.click("text=Go on to the columns", "#columns")
        page.select_option("select[aria-label='Role of turnover']", "quasi")
        person.click("button[aria-label='Set turnover']", "tr:has-text('turnover'):has-text('✓ confirmed')")
        person.confirm()
        person.click("text=Go on to the promise", "#promise")
        page.fill("#k", "1")
        person.click("text=Set, and go on", "#problem")
        page.fill("#k", "3")
        person.click("text=Set, and go on", "#try")
        person.click("text=Try them", "[data-job-state=running], svg.map")
        page.wait_for_selector("svg.map")
        person.click("tr:not(.chosen) th a >> nth=0", "text=Take this candidate")
        person.click("text=Take this candidate", "tr.chosen")
        person.click("text=Go on to the release", "#make")
        page.fill("#folder", "by-forms")
        page.click("main form.line button.main")
        page.wait_for_selector("#done h2:has-text('by-forms')")
        assert (house.root / "by-forms" / "data.csv").is_file()


# what every page must be


WIDE = """() => {
    const root = document.documentElement;
    const wide = root.scrollWidth > root.clientWidth ? ["the page"] : [];
    for (const one of document.querySelectorAll("main *, header *, footer *")) {
        const box = one.getBoundingClientRect();
        const framed = one.closest(".scroll, pre, table, svg, .hidden, .skip, [hidden], details:not([open])");
        const clipped = getComputedStyle(one).clipPath !== "none";
        const beyond = box.width && box.right > root.clientWidth + 1;
        if (beyond && !framed && !clipped) wide.push(one.outerHTML.slice(0, 120));
    }
    return wide;
}"""  # what reaches beyond the right edge, outside of frames that scroll by themselves


PRINTED = """() => {
    const shown = document.querySelector("main").getBoundingClientRect().height > 20 ? [] : ["nothing is printed"];
    const controls = [...document.querySelectorAll("button, nav.steps, .tools")];
    const printed = controls.filter((one) => one.getClientRects().length);
    return [...shown, ...printed.map((one) => one.outerHTML.slice(0, 120))];
}"""  # what makes no sense on paper


@pytest.mark.slow
@pytest.mark.parametrize("pages", [first_pages, later_pages, other_pages])
def test_every_page_can_be_read_by_everybody(house, pages):
    """Light and dark, wide, narrow and enlarged, on paper; and axe-core finds nothing serious."""
    axe, found = axe_source(), {}
    with house.person() as person:
        page = person.page
        for name in pages(person):
            found[name, "light"] = axe_findings(page, axe)
            page.emulate_media(color_scheme="dark")
            page.set_viewport_size({"width": 390, "height": 844})
            found[name, "dark, narrow"] = axe_findings(page, axe, ["color-contrast", "scrollable-region-focusable"])
            found[name, "narrow"] = page.evaluate(WIDE)
            page.set_viewport_size({"width": 640, "height": 450})
            found[name, "enlarged"] = page.evaluate(WIDE)
            page.set_viewport_size({"width": 1280, "height": 720})
            page.emulate_media(media="print")
            found[name, "paper"] = page.evaluate(PRINTED)
            page.emulate_media(media="screen", color_scheme="light")
    assert {where: what for where, what in found.items() if what} == {}
    if axe is None:
        pytest.skip("all but axe-core, which npm or its registry does not give")


STORED = """async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    cookies: document.cookie,
})"""


def test_nothing_is_stored_in_the_browser_and_no_value_is_in_an_address(person):
    lines = ["name,town,age,illness"]
    lines += [f"Canary{i:03},Zanzibar{i % 4},{700_000 + i % 9},Cacophobia{i % 3}" for i in range(90)]
    (person.root / "canaries.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    person.open("canaries.csv")
    for name, role in (("name", "identifier"), ("town", "quasi"), ("age", "quasi"), ("illness", "confidential")):
        set_role(person, name, role)
    person.click("text=Show the first", "table.raw:has-text('Canary001')")
    person.promise(3)
    person.candidates("3", "mdav")
    person.click("svg.map a", "tr.chosen")
    person.click("tr.chosen th a", "text=Look closer")
    person.click("text=Look closer", "#analysts")
    person.release("birds")
    assert set(person.page.evaluate(STORED).values()) == {0, ""}
    (cookie,) = person.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    asked = person.seen.addresses()
    assert len(asked) > 20
    assert [url for url in asked if re.search("Canary|Zanzibar|Cacophobia|70000", url)] == []


HOSTILE = ("<script>alert(1)</script>", "\"quoted'", "left\u202eright", "{{ 7 * 7 }}", "<img src=x onerror=alert(1)>")


def test_hostile_names_are_shown_and_do_nothing(person):
    page, file = person.page, "<img src=x onerror=alert(1)> '\"& {{ 7 * 7 }}.csv"
    rng = np.random.default_rng(8)
    table = pa.table({name: rng.integers(0, 40, 60) for name in HOSTILE})
    pyarrow.csv.write_csv(table, person.root / file)
    (person.root / "turned\u202evsc.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    person.go("/open")
    assert "turned" not in person.words()
    page.get_by_role("button", name=file).click()
    page.wait_for_selector("text=60 records in 5 columns")
    person.click("text=Go on to the columns", "#columns")
    page.wait_for_selector("html.js")
    shown = page.locator("#columns tbody th").all_inner_texts()
    assert {"<script>alert(1)</script>", "{{ 7 * 7 }}", "\"quoted'"} < set(shown)
    assert not any("\u202e" in text for text in shown)
    for number in range(len(HOSTILE)):
        page.select_option(f"#r{number}", "quasi")
        page.wait_for_selector(f"#r{number} option[value=quasi][selected]", state="attached")
        if page.locator(f"#c{number}.undecided").count():
            page.select_option(f"#k{number}", "integer")
        page.wait_for_selector(f"#c{number}:has-text('✓ confirmed')")
        page.click(f"#c{number} th a")
        page.wait_for_selector("#role")
        page.goto("/columns")
    person.click("text=Show the first", "table.raw")
    person.promise(3)
    person.candidates("3", "mdav", "mdav*")
    person.go("/candidates").click("button:has-text('Take')", "tr.chosen")
    person.click("tr.chosen th a", "text=Look closer")
    person.click("text=Look closer", "#analysts")
    for path in ("/history", "/recipe", "/promise"):
        person.go(path)
    person.go("/release")
    page.fill("#folder", "<b>bold</b>".replace("/", ""))
    person.click("main form.line button.main", "#done iframe")
    page.frame_locator("iframe[title='Public report']").locator("h1").wait_for()
    assert person.seen.dialogs == []


def test_who_stops_the_page_is_told_so(browser, tmp_path):
    shutil.copy(ROOT / "examples" / "companies.csv", tmp_path)
    with served(browser, tmp_path) as house:
        with house.person() as person:
            person.open("companies.csv")
            person.go("/quit")
            assert "will be lost" in person.words()
            person.click("main button.main", "text=Coterie has stopped")
            assert person.page.locator("nav.steps, .tools, footer a").count() == 0
            house.process.wait(30)
        assert house.process.returncode == 0
