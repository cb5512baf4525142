"""Every code block of the documentation is run, and prints what the page says."""

from __future__ import annotations

import importlib.util
import re
import shutil

import pytest

from conftest import ROOT


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


blocks = loaded("blocks")
NEEDS = {"tutorials/cluster.md": "pyspark"}


@pytest.mark.slow
@pytest.mark.parametrize("page", blocks.pages())
def test_blocks_print_what_the_page_says(page):
    if page in NEEDS:
        pytest.importorskip(NEEDS[page], reason=f"{NEEDS[page]} is not installed")
        if shutil.which("java") is None:
            pytest.skip("there is no java")
    wrong, _, _ = blocks.run_page(page, (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert not wrong, "\n".join(wrong)


def test_what_is_not_run_is_there_and_has_a_reason():
    found = {
        (page, block.first)
        for page in blocks.pages()
        for block in blocks.blocks_of((ROOT / "docs" / page).read_text(encoding="utf-8"))
    }
    for (page, first), reason in blocks.NOT_RUN.items():
        assert len(reason) > 10
        assert any(where == page and line.startswith(first) for where, line in found), (page, first)


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a … c\n", "a b c\n", True),
        ("a      …  c\n", "a   0.01  c\n", True),
        ("a …\n", "b c\n", False),
        ("a\n…\n", "b\n", False),
        ("a\n", "a\nb\n", False),
        ("", "a\n", False),
    ],
)
def test_matching(expected, printed, same):
    assert blocks.matches(expected, printed) is same


def test_a_wrong_output_and_a_failing_command_are_noticed():
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n\n    coterie verify nowhere\n\n```pycon\n>>> 1 + 1\n3\n```\n"
    wrong, text, count = blocks.run_page("none.md", page)
    assert (len(wrong), count) == (3, 3)
    assert "```text\n1\n```" in text
    assert ">>> 1 + 1\n2\n" in text


def test_links_lead_to_pages_and_headings():
    """Also those with a heading, as GitHub and the site name headings."""
    names = {}
    for path in (ROOT / "docs").rglob("*.md"):
        if "generated" not in path.parts:
            headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            plain = (
                re.sub(r"[^\w\- ]", "", re.sub(r"[`*\\]", "", h).lower()).strip().replace(" ", "-") for h in headings
            )
            names[path.resolve()] = set(plain)
    for path in names:
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
            file, _, heading = target.partition("#")
            if re.match(r"[a-z]+://", target):
                assert re.fullmatch(r"https://[\w.-]+(/[\w./#?=&%+~-]*)?", target), (path.name, target)
                continue
            place = (path.parent / file).resolve() if file else path
            assert place.exists() or "generated" in place.parts, (path.name, target)
            if heading and place in names:
                assert heading in names[place], (path.name, target)
