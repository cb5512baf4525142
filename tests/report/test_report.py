"""The reports: whole pages, escaping, no request to anywhere, and what is not defined may be missing."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import ROOT
from coterie import verify
from coterie.errors import printable
from coterie.report import as_table, as_text, guidance, public, render_compare, render_internal, render_public, terminal
from coterie.report.public import BOUNDS
from release_facts import SEED, amounts, candidates, categories_only, patients, release_facts, two_scenarios, wide
from report_pages import Page, put

PAGES = {
    "public": lambda: render_public(release_facts()),
    "internal": lambda: render_internal(release_facts()),
    "compare": lambda: render_compare(candidates()),
}


@pytest.fixture(params=PAGES)
def html(request):
    return PAGES[request.param]()


def test_pages_are_whole(html):
    page = Page(html)
    assert html.startswith("<!doctype html>")
    assert page.tags.count("h1") == 1
    assert len(page.ids) == len(set(page.ids))
    assert {"main", "header", "footer", "table"} <= set(page.tags)
    assert ("name", "viewport") in page.attrs
    targets = [value for name, value in page.attrs if name == "href"]
    assert all(target[0] == "#" and target[1:] in page.ids for target in targets)


def test_pages_ask_nothing_of_anyone(html):
    page = Page(html)
    plain = re.sub("'sha256-[^']*'", "", html)  # a hash may hold two slashes
    assert not re.search(r"https?:|//[a-z]|@import|url\(", plain, re.IGNORECASE)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base", "use", "image"} & set(page.tags)
    assert not {"src", "srcset", "action", "xlink:href", "data"} & {name for name, _ in page.attrs}
    assert not any(name.startswith("on") for name, _ in page.attrs)
    assert any(value and value.startswith("default-src 'none'") for _, value in page.attrs)


def test_no_verdict_that_nobody_can_give(html):
    assert "anonymous" not in html.lower()
    assert "anonymi" not in html.lower().replace("k-anonymity", "")


def test_pictures_have_names(html):
    for svg in re.findall(r"<svg[^>]*>", html):
        assert "aria-hidden" in svg or ("aria-label=" in svg and 'role="img"' in svg)


def test_every_table_has_headings_and_every_picture_words():
    page = Page(render_internal(release_facts()))
    assert page.tags.count("thead") == page.tags.count("table") > 5
    words = page.words
    for said in ("lower is better", "Does not show", "1 is best", "What analysts must know", "do not publish"):
        assert said in words


def test_internal_tells_what_the_public_report_does_not():
    facts = release_facts()
    inside, outside = Page(render_internal(facts)).words, Page(render_public(facts)).words
    for secret in (str(SEED), "patients-2026", "25 records are in groups", "Singling out", "Record linkage", "402"):
        assert secret in inside, secret
        assert secret not in outside, secret
    for told in (
        "doi:10.1016/j.camwa.2007.04.034",
        "Variances shrink",
        "Rows repeat",
        "Not a legal verdict",
    ):
        assert told in inside, told
        assert told in outside, told
    loss = f"{amounts().measures.loss.loss_percent:.2f}"
    assert loss in Page(render_internal(amounts())).words
    assert loss not in Page(render_public(amounts())).words  # rounded to the share of 5 records
    assert "fewer than 5" in outside
    assert "fewer than 5" not in inside


# What is proven of the loss


def test_the_gap_of_a_bound_is_said_in_percent():
    """It was multiplied by 100 twice, and a fixture written by hand hid it."""
    facts = amounts()
    (grouping,) = facts.groupings
    gap = 100 * (grouping.sse / grouping.bound.sse - 1)
    assert 50 < gap < 500
    assert grouping.bound.gap_percent == pytest.approx(gap)
    for text in (as_text(facts), Page(render_internal(facts)).words, Page(render_public(facts)).words):
        assert f"at most {gap:.0f} % more than the least possible" in text


def test_large_gaps_are_whole_numbers():
    (grouping,) = release_facts().groupings
    bound = replace(grouping.bound, gap_percent=1234.5)
    assert "at most 1,234 % more" in guidance.bound(replace(grouping, bound=bound))


@pytest.mark.parametrize("kind", [*BOUNDS, "neighbours, optimal"])
def test_every_kind_of_bound_is_public(kind):
    facts = amounts()
    (grouping,) = facts.groupings
    shown = public(replace(facts, groupings=(replace(grouping, bound=replace(grouping.bound, kind=kind)),)))
    assert shown.groupings[0].bound.kind == kind


def test_the_kinds_of_bounds_are_those_that_are_proven():
    source = (ROOT / "src" / "coterie" / "algorithms" / "optimal" / "lower_bound.py").read_text(encoding="utf-8")
    told = re.search(r"kind: str  # (.*)", source).group(1)
    assert set(BOUNDS) == set(re.findall(r'"([^"]+)"', told))


# What is not defined may be missing, and names may be anything

NASTY = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a" * 300, "'; DROP TABLE x;--", "{{ 7*7 }}",
    "العمر بالسنوات", "שם", "\u202ereversed", "tab\tand\nline", "&amp;", "\x00\x1b[31m", "年齢",
    "a b", "</title></svg><p>",
]  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_names_are_only_text(name):
    facts = renamed(renamed(renamed(release_facts(), "age", name), "all", name), "Centre", name)
    facts = replace(facts, notes=(*facts.notes, name))
    plain = {render: Page(render(release_facts())).tags for render in (render_public, render_internal)}
    for render, tags in plain.items():
        html = render(facts)
        page = Page(html)
        assert set(page.tags) == set(tags)
        assert "<script" not in html
        assert "<img" not in html
        assert not any(n.startswith("on") for n, _ in page.attrs)
        assert "{{" not in name or name in page.words
    compared = Page(render_compare([replace(c, method=name) for c in candidates()]))
    assert set(compared.tags) == set(Page(render_compare(candidates())).tags)
    assert printable(name) in as_text(facts)
    rich_text(facts)


def renamed(value, old, new):
    """The facts with a name, as a value or as a key, replaced everywhere."""
    if is_dataclass(value):
        return replace(value, **{f.name: renamed(getattr(value, f.name), old, new) for f in fields(value)})
    if isinstance(value, Mapping):
        return {renamed(name, old, new): renamed(part, old, new) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(renamed(part, old, new) for part in value)
    return new if value == old and isinstance(value, str) else value


def rich_text(facts):
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=100).print(as_table(facts))
    return out.getvalue()


def undefined(value, path=()):
    """The paths of all numbers of the facts, and what they may be instead: None by their type, or no number."""
    if is_dataclass(value):
        hints = typing.get_type_hints(type(value))
        for field in fields(value):
            part, hint = getattr(value, field.name), hints[field.name]
            if type(None) in typing.get_args(hint):
                yield (*path, field.name), None
            if isinstance(part, float):
                yield from (((*path, field.name), odd) for odd in (float("nan"), float("inf"), -1.0, 0.0))
            yield from undefined(part, (*path, field.name))
    elif isinstance(value, (Mapping, tuple)) and path != ("recipe",):
        for name, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from undefined(part, (*path, name))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_is_not_defined_may_be_missing(data):
    facts = release_facts()
    for path, odd in data.draw(st.lists(st.sampled_from(list(undefined(facts))), min_size=1, max_size=8)):
        try:
            facts = put(facts, path, odd)
        except (AttributeError, TypeError):  # a part above it is gone already
            continue
    for render in (render_public, render_internal):
        assert not re.search(r"\b(nan|inf|None|Undefined)\b", Page(render(facts)).words)
    assert all(isinstance(part, str) for line in terminal(facts) for part in line)
    assert as_text(facts)


def test_a_file_that_was_not_checked():
    facts = replace(release_facts(), verdict=None)
    for render in (render_public, render_internal):
        assert "was not checked" in Page(render(facts)).words
    assert "not made" in as_text(facts)


def test_one_column_and_two_hundred():
    html = render_public(wide(200))
    page = Page(html)
    assert page.tags.count("details") >= 3
    assert "186 others change less" in page.words
    assert len(html) < 1_500_000
    page = Page(render_public(wide(1)))
    assert "1 column was microaggregated" in page.words
    assert "more columns" not in page.words


def test_no_numeric_and_no_confidential_columns():
    words = Page(render_internal(categories_only())).words
    assert "No column is marked as confidential." in words
    assert "Interval disclosure" not in words.split("Definitions")[0]
    assert "Variance kept" not in words
    assert "Shares differ by" in words


def test_a_failed_check_is_said_first():
    broken = verify(patients(0, 0), ["town", "education"], 30)
    exposed = broken.checks[0].offending_records
    assert not broken.ok
    facts = replace(release_facts(), verdict=broken.facts)
    for render in (render_public, render_internal):
        words = Page(render(facts)).words
        assert "✗ Failed" in words
        assert "✗ does not hold" in words
        assert f"{exposed} records" in words
        assert "✓" not in words
    assert "FAILED" in as_text(facts)


def test_constant_values_are_told_and_break_no_promise():
    facts = release_facts()
    (constant,) = [c for c in facts.verdict.checks if c.columns == ("diagnosis",)]
    assert (constant.what, constant.offending_classes) == ("constant confidential values", 5)
    for render in (render_public, render_internal):
        words = Page(render(facts)).words
        assert "! not promised" in words
        assert f"Attribute disclosure, in such classes: {constant.offending_records} records" in words
        assert "✗" not in words


def test_several_scenarios_are_not_one_promise():
    words = Page(render_public(two_scenarios())).words
    assert "in each of 2 sets of columns with at least 2 other records" in words
    assert "3–60" in words
    assert "Scenario neighbour" in words


# Terminal


def test_terminal_lines():
    lines = {name: (value, words) for name, value, words in terminal(release_facts())}
    assert lines["released"] == (
        "400 records in 9 columns",
        "2 records suppressed, 7 values set to missing (local suppression), rows in random order",
    )
    assert lines["information loss"][0] == f"{release_facts().measures.loss.loss_percent:.2f}\u00a0%"
    assert lines["by column"][1] == "information loss: least in region, most in town"
    assert lines["check"][0] == "passed"
    assert lines["risk"][0] == "100.0\u00a0% → 20.0\u00a0%"
    assert str(SEED) not in as_text(release_facts())
    assert "passed" in rich_text(release_facts())


# Packaging and cost


def test_templates_ship_with_the_package():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert built["targets"]["wheel"]["packages"] == ["src/coterie"]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8")
    assert ".j2" not in ignored
    assert ".css" not in ignored
    assert len(list((ROOT / "src/coterie/report/templates").glob("*.html.j2"))) == 8


def test_importing_the_reports_is_cheap():
    code = "import coterie.report, sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert not loaded & {"numpy", "numba", "jinja2", "rich", "matplotlib", "pyarrow"}
