"""The documentation's site: built without a warning, whole, small, silent, and readable by everybody."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

import coterie as ct
from conftest import ROOT
from page_browser import axe_findings, axe_source, started_browser

pytest.importorskip("sphinx")
for needed in ("myst_parser", "numpydoc", "pydata_sphinx_theme"):
    pytest.importorskip(needed)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it."""
    place = tmp_path_factory.mktemp("site")
    command = re.search(r"^docs:.*\n\t\$\(BIN\)/python (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    command = command.replace("build/doctrees", str(place / "doctrees")).replace("build/site", str(place / "site"))
    ran = subprocess.run([sys.executable, *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return place / "site"


class Page(HTMLParser):
    """What a page links to, loads and names."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.names, self.inline = [], [], set(), 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source", "audio", "video", "embed") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") != "canonical" and given.get("href", "#") != "#":
            self.loads.append(given["href"])
        self.inline += tag == "script" and not given.get("src")
        self.inline += any(name.startswith("on") for name in given)


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Page(path) for path in site.rglob("*.html")}


def reached(site, pages, name, target):
    """Whether a link leads to a file and, if it names one, to a part of it."""
    file, _, part = target.partition("#")
    place = (site / name).parent.joinpath(unquote(file)).resolve() if file else (site / name).resolve()
    if not place.is_file():
        return False
    there = pages.get(place.relative_to(site.resolve()).as_posix())
    return not part or there is None or unquote(part) in there.names


@pytest.mark.slow
def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site, pages):
    assert len(pages) > 90
    wrong = []
    for name, page in pages.items():
        assert page.inline == 0, name  # the page of `coterie ui` shows the site under a policy without inline scripts
        folder = (site / name).parent
        loads = [target.split("?")[0] for target in page.loads]
        wrong += [(name, t) for t in loads if "//" in t or not folder.joinpath(unquote(t)).is_file()]
        links = [target for target in page.links if not re.match(r"https?://|#$", target)]
        wrong += [(name, target) for target in links if not reached(site, pages, name, target)]
    assert not wrong, wrong[:20]
    for path in [*site.rglob("*.css"), *site.rglob("*.js")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", text), path.name
        assert "sourceMappingURL=http" not in text


@pytest.mark.slow
def test_it_is_small_and_holds_no_source_maps(site):
    files = [path for path in site.rglob("*") if path.is_file()]
    assert not [path.name for path in files if path.suffix == ".map"]
    assert sum(path.stat().st_size for path in files) < 5_000_000


@pytest.mark.slow
def test_every_option_and_name_has_a_place(site):
    """Generated from what checks them: so this asks whether the generator left something out."""
    import typer

    from coterie import cli
    from coterie.recipe import sections

    generated = ROOT / "docs" / "reference" / "generated"
    commands = (generated / "command-options.md").read_text(encoding="utf-8")
    for name, command in typer.main.get_command(cli.app).commands.items():
        part = commands.split(f"\n## coterie {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("-") or f"`{option}`" in part, (name, option)
    recipe = (generated / "recipe-options.md").read_text(encoding="utf-8")
    for rule in vars(sections).values():
        for field in getattr(rule, "__dataclass_fields__", {}) if isinstance(rule, type) else ():
            assert f"`{field}`" in recipe or field in ("params", "options"), (rule, field)
    for name in ct.__all__:
        if name == "__version__":
            continue
        text = (site / "reference" / "generated" / f"{name}.html").read_text(encoding="utf-8")
        assert "&gt;&gt;&gt; " in re.sub(r"<[^>]+>", "", text), f"{name} has no example"


@pytest.mark.slow
def test_search_works_from_a_file_and_axe_finds_nothing_serious(site):
    asked, axe, found = [], axe_source(), {}
    with started_browser() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: found.setdefault("errors", []).append(str(error)))
        page.goto((site / "search.html").as_uri() + "?q=microaggregate")
        page.wait_for_selector("#search-results li a")
        hits = page.locator("#search-results li a").all_inner_texts()
        assert any("coterie.microaggregate" in hit for hit in hits), hits[:10]
        for name in ("index", "tutorials/python", "reference/generated/protect", "recipe", "gallery", "benchmark",
                     "glossary", "explanation/which-tool"):  # fmt: skip
            page.goto((site / f"{name}.html").as_uri())
            for theme in ("light", "dark"):
                page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
                if serious := axe_findings(page, axe):
                    found[name, theme] = serious
    assert not found
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
    if axe is None:
        pytest.skip("all but axe-core, which npm or its registry does not give")


_CUT_OFF = """() => {
  const scrolls = (one) => {
    for (let e = one; e && e.tagName !== 'ARTICLE'; e = e.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  const cut = [...document.querySelectorAll('article *')].filter(
    (e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e));
  const broken = [...document.images].filter((e) => e.complete && e.naturalWidth === 0);
  return [...cut.map((e) => e.tagName + ' ' + e.textContent.trim().slice(0, 40)), ...broken.map((e) => e.src)];
}"""


@pytest.mark.slow
def test_nothing_is_cut_off_on_a_phone(site, pages):
    """Wide tables and code scroll; long names break."""
    cut = {}
    with started_browser() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        for name in pages:
            page.goto((site / name).as_uri())
            if found := page.evaluate(_CUT_OFF):
                cut[name] = found[-2:]
    assert not cut


def test_the_wheel_holds_the_site_if_there_is_one(tmp_path):
    """By the hook that hatchling calls; without a site, nothing is added and nothing fails."""
    pytest.importorskip("hatchling")
    from hatchling.builders.wheel import WheelBuilder

    for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "src" / "coterie").mkdir(parents=True)
    for name in ("__init__.py", "_version.py"):
        (tmp_path / "src" / "coterie" / name).write_bytes((ROOT / "src" / "coterie" / name).read_bytes())
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# a\n")

    def names():
        made = next(WheelBuilder(str(tmp_path)).build(directory=str(tmp_path / "dist"), versions=["standard"]))
        return zipfile.ZipFile(made).namelist()

    assert "coterie/docs/a.md" in (before := names())
    assert not [name for name in before if name.startswith("coterie/site")]
    (tmp_path / "build" / "site").mkdir(parents=True)
    (tmp_path / "build" / "site" / "index.html").write_text("<!doctype html>")
    assert "coterie/site/index.html" in names()
