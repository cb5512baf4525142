"""Takes the pictures of the page: python docs/page_pictures.py. It needs Chromium and the extra dev.

Every page at 1280 and at 390 pixels, on the way of examples/patients.csv from a file to a checked bundle.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "pictures"
EXAMPLES = Path(__file__).parents[1] / "examples"
HIGHEST = 2_600  # pixels
COLOURS = 160
WIDTHS = {"": (1280, 900), "-390": (390, 844)}


@contextmanager
def _served(root: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "coterie", "ui", "--no-browser", "--root", str(root)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield next(line.strip() for line in process.stderr if line.startswith("http://"))
    finally:
        process.terminate()
        process.wait(30)


def _reduce(path: Path) -> None:
    """A picture of few colours, and not of the whole of a long page: they ship with the package."""
    from PIL import Image

    with Image.open(path) as picture:
        part = picture.convert("RGB").crop((0, 0, picture.width, min(picture.height, HIGHEST)))
        part.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


class Camera:
    """A browser that goes through the pages and takes a picture of each, at both widths."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def take(self, name: str) -> None:
        """Pictures of the page as it is."""
        for suffix, (width, height) in WIDTHS.items():
            self.page.set_viewport_size({"width": width, "height": height})
            self.page.wait_for_timeout(600)
            self.page.screenshot(path=HERE / f"ui-{name}{suffix}.png", full_page=True)
            _reduce(HERE / f"ui-{name}{suffix}.png")
        self.page.set_viewport_size({"width": 1280, "height": 900})

    def click(self, selector: str, until: str) -> None:
        """Click, and wait for what must appear."""
        self.page.click(selector)
        self.page.wait_for_selector(until, timeout=120_000)


def journey(camera: Camera, link: str) -> None:
    """From opening a file to a bundle that was checked."""
    page = camera.page
    page.goto(link)
    page.fill("#path", "patients.csv")
    camera.click("main button.main", "text=Go on to the columns")
    camera.take("open")
    camera.click("text=Go on to the columns", "#columns")
    camera.take("columns")
    camera.click("text=Confirm all", "text=Go on to the promise")
    page.click("text=diagnosis")
    page.wait_for_selector("#role")
    camera.take("column")
    page.goto(page.url.rsplit("/", 2)[0] + "/promise")
    page.check("input[name=missing-policy][value=own-value]")
    page.select_option("#missing-small", "merge")
    camera.take("promise")
    camera.click("text=Set, and go on", "#try")
    camera.click("button:has-text('Try them')", "svg.map")
    page.wait_for_selector("tr.chosen")  # the recipe as it stands is one of the candidates
    camera.take("candidates")
    page.locator("tr.chosen th a").click()
    camera.click("text=Look closer", "#analysts")
    camera.take("candidate")
    page.goto(page.url.rsplit("/", 2)[0] + "/release")
    camera.click("main form.line button.main", "#done iframe")
    page.wait_for_timeout(500)
    camera.take("release")
    camera.click("text=Check it again", "#what")
    camera.click("main button.main", "#verdict")
    camera.take("check")
    page.goto(page.url.rsplit("/", 1)[0] + "/history")
    camera.take("history")
    page.goto(page.url.rsplit("/", 1)[0] + "/recipe")
    camera.take("recipe")


def main() -> None:
    """All pictures, in one run."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder) / "hospital"
        root.mkdir()
        for name in ("patients.csv", "companies.csv"):
            shutil.copy(EXAMPLES / name, root)
        _pictures(playwright, chromium, root)


def _pictures(playwright: Any, chromium: str | None, root: Path) -> None:
    with _served(root) as link:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        journey(Camera(browser.new_page()), link)
        browser.close()


if __name__ == "__main__":
    main()
