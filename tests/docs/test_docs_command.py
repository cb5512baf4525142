"""coterie docs, and the site on the page: with a built site and without one."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from coterie import cli, documentation
from coterie.errors import CoterieError


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A small site in the place of the real one."""
    (tmp_path / "howto").mkdir()
    for name in ("index", "recipe", "howto/weights", "howto/index"):
        (tmp_path / f"{name}.html").write_text(f"<!doctype html><title>{name}</title>")
    monkeypatch.setattr(documentation, "site", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def opened(monkeypatch):
    """What a browser was asked to open."""
    found = []
    monkeypatch.setattr("webbrowser.open", lambda url: found.append(url) or True)
    return found


def run(*arguments):
    return CliRunner().invoke(cli.app, ["docs", *arguments], catch_exceptions=False)


@pytest.mark.parametrize(
    ("page", "file"),
    [((), "index"), (("recipe",), "recipe"), (("weights",), "howto/weights"), (("howto/weights.md",), "howto/weights")],
)
def test_it_opens_a_file_and_nothing_else(site, opened, page, file):
    assert run(*page).exit_code == 0
    assert opened == [(site / f"{file}.html").as_uri()]


def test_the_path_is_printed_and_nothing_opened(site, opened):
    assert run("--path").stdout.strip() == str(site / "index.html")
    assert opened == []


def test_without_a_browser_it_says_where_the_page_is(site, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert str(site / "index.html") in run().stderr


@pytest.mark.usefixtures("site")
def test_a_page_that_is_not_there():
    with pytest.raises(CoterieError, match="did you mean 'weights'"):
        run("weight")


def test_without_a_site_the_markdown_is_shown(monkeypatch, opened):
    monkeypatch.setattr(documentation, "site", lambda: None)
    assert run().stdout.startswith("# ")
    assert run("recipe").stdout == (documentation.markdown() / "recipe.md").read_text(encoding="utf-8")
    assert run("recipe", "--path").stdout.strip().endswith("recipe.md")
    assert opened == []


@pytest.mark.usefixtures("site")
def test_text_shows_the_markdown_where_there_is_a_site():
    assert run("limits", "--text").stdout.startswith("# ")


@pytest.mark.parametrize("path", ["../secret", "howto/../../secret", "/etc/passwd", "", ".", "howto/", "none.html"])
def test_nothing_beside_the_site_is_found(site, path):
    (site.parent / "secret").write_text("x")
    assert documentation.site_file(path) is None


def test_a_file_of_the_site(site):
    assert documentation.site_file("howto/weights.html") == site / "howto" / "weights.html"


def test_the_page_shows_the_site_under_a_strict_policy(site, tmp_path_factory):
    pytest.importorskip("starlette")
    from page_client import Visitor

    with Visitor(tmp_path_factory.mktemp("root")) as visitor:
        assert 'href="/site/index.html"' in visitor.get("/docs/ui.md").text
        answer = visitor.get("/site/howto/weights.html")
        assert (answer.status_code, answer.text) == (200, (site / "howto" / "weights.html").read_text())
        assert "script-src 'self';" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert visitor.get("/site/none.html").status_code != 200
        assert visitor.get("/site/%2e%2e/secret").status_code != 200
