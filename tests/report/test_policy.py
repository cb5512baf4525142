"""The pages hold under a strict content policy: no style attribute, no script, and one style, allowed by its hash."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.report import charts, render_compare, render_internal, render_public
from coterie.report.html import style_hashes
from release_facts import candidates, categories_only, release_facts, two_scenarios
from report_pages import Page

PAGES = {
    "public": lambda: render_public(release_facts()),
    "internal": lambda: render_internal(release_facts()),
    "scenarios": lambda: render_internal(two_scenarios()),
    "categories": lambda: render_internal(categories_only()),
    "compare": lambda: render_compare(candidates()),
}


@pytest.fixture(params=PAGES)
def html(request):
    return PAGES[request.param]()


def source(style):
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


def test_no_page_has_a_style_attribute_or_a_script(html):
    page = Page(html)
    assert "style" not in {name for name, _ in page.attrs}
    assert "style=" not in html
    assert "script" not in page.tags
    assert not any(name.startswith("on") for name, _ in page.attrs)
    assert not any((value or "").strip().lower().startswith("javascript:") for _, value in page.attrs)


def test_the_policy_names_the_hash_of_the_one_style(html):
    (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    assert "--paper" in style
    assert style_hashes(html) == (source(style),)
    assert ("content", f"default-src 'none'; style-src {source(style)}") in Page(html).attrs
    assert "unsafe" not in html


def test_the_hash_does_not_depend_on_how_lines_end(html):
    """Browsers read every end of a line as one sign before they hash."""
    for end in ("\r\n", "\r"):
        assert style_hashes(html.replace("\n", end)) == style_hashes(html)


def test_a_style_in_a_saved_page_is_hashed_as_a_browser_does():
    for page, styles in {
        "": [],
        "<p>style</p><styles>a</styles>": [],
        "<style>a</style>": ["a"],
        "<STYLE media='a>b' >\na</Style >": ["\na"],
        '<style title="</style>">a</style>': ["a"],
        "<style>a</style><p><style>b</style><style>a</style>": ["a", "b"],
        "<style>a</styles></style>": ["a</styles>"],
        "<style>a<style>b</style>c</style>": ["a<style>b"],
        "<!-- <style> --><style>b</style>": ["b"],
        "<!--><style>b</style>-->": ["b"],
        "<!-- <style>a</style>": [],
        "<style>a": ["a"],
        "<style": [],
        '<style a="': [],
        "<style>é\0</style>": ["é\ufffd"],
        "<\u017ftyle>a</\u017ftyle>": [],  # a long s is no s
    }.items():
        assert style_hashes(page) == tuple(map(source, styles)), page


@given(st.lists(st.sampled_from(["<style", "</style", ">", "<!--", "-->", '"', "'", " ", "a", "/", "\r", "\ud800"])))
def test_any_text_has_hashes(parts):
    found = style_hashes("".join(parts))
    assert len(found) == len(set(found)) <= parts.count("<style")
    assert all(len(one) == 53 for one in found)


@pytest.mark.parametrize(
    "part", ["<style ", "<style>", "<style '", "<style \"'", "<!--", "<!--><style>", "</style", "-"]
)
@pytest.mark.parametrize("start", ["", "<style>", "<!--", "<style "])
def test_hostile_text_takes_linear_time(start, part):
    """Two megabytes, within what a quadratic search would need for a few dozen kilobytes."""
    began = time.process_time()
    style_hashes(start + part * (2_000_000 // len(part)))
    assert time.process_time() - began < 5


# The map with links


def links():
    return [None if c.not_possible else f'run?m={c.method}&k={c.k}"' for c in candidates()]


def parts(svg, tag):
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, name, attrs):
            if name == tag:
                found.append(dict(attrs))

    Reader().feed(svg)
    return found


def test_each_candidate_leads_where_its_link_says():
    svg = charts.risk_utility(candidates(), links())
    anchors = parts(svg, "a")
    assert [a["href"] for a in anchors] == [link for link in links() if link]
    for a, c in zip(anchors, (c for c in candidates() if not c.not_possible), strict=True):
        told = f"{c.method}, k = {c.k}: information loss {c.loss_percent:.4g} %, linked {c.linked_percent:.4g} %"
        assert a["aria-label"] == told
        assert "tabindex" not in a  # a link takes the focus as it is
    Page(charts.standalone(svg))
    assert "style=" not in svg


def test_a_picture_with_links_is_no_image_to_a_screen_reader():
    """What is in an image is not read out, links included."""
    assert parts(charts.risk_utility(candidates(), links()), "svg")[0]["role"] == "group"
    assert parts(charts.risk_utility(candidates()), "svg")[0]["role"] == "img"


def test_links_are_hit_beside_their_markers_and_not_on_others():
    areas = [c for c in parts(charts.risk_utility(candidates(), links()), "circle") if c["fill"] == "transparent"]
    assert len(areas) == len([link for link in links() if link])
    places = [(float(c["cx"]), float(c["cy"]), float(c["r"])) for c in areas]
    assert max(r for _, _, r in places) == 12
    for i, (x, y, r) in enumerate(places):
        for u, v, s in places[:i]:
            assert r + s <= max(12.0, ((x - u) ** 2 + (y - v) ** 2) ** 0.5) + 0.2


def test_only_some_candidates_may_have_links():
    some = [link if i % 2 else None for i, link in enumerate(links())]
    svg = charts.risk_utility(candidates(), some)
    assert [a["href"] for a in parts(svg, "a")] == [link for link in some if link]
    assert svg.count("k = 3: information loss") > 3  # those without a link keep their tooltip
    with pytest.raises(ValueError, match="zip"):
        charts.risk_utility(candidates(), some[1:])


def test_without_links_the_map_is_as_it_was():
    plain = charts.risk_utility(candidates())
    assert "<a " not in plain
    assert plain == charts.risk_utility(candidates(), [None] * len(candidates()))
    assert "<a " not in render_compare(candidates())


def test_the_chosen_candidate_has_a_ring():
    for i, c in enumerate(candidates()):
        svg = charts.risk_utility(candidates(), links(), i)
        rings = [one for one in parts(svg, "circle") if one["fill"] == "none"]
        current = [a for a in parts(svg, "a") if "aria-current" in a]
        if c.not_possible:
            assert rings == current == []
            continue
        ((ring,), (link,)) = rings, current
        assert link["href"] == links()[i]
        assert link["aria-label"].endswith(", chosen")
        hit = next(one for one in parts(svg[svg.index("aria-current") :], "circle"))
        assert (ring["cx"], ring["cy"]) == (hit["cx"], hit["cy"])
    assert "chosen" not in charts.risk_utility(candidates(), links())
    assert charts.risk_utility(candidates(), chosen=0).count(", chosen") == 1


def test_links_are_written_with_nothing_but_text():
    hostile = ['"><script>alert(1)</script>\n\ud800'] * len(candidates())
    svg = charts.risk_utility(candidates(), hostile)
    assert "<script" not in svg
    assert parts(svg, "a")[0]["href"].startswith('"><script>')
    svg.encode()
