"""The reports: what the public may see, escaping, no request to anywhere, and what is not defined may be missing."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tomllib
import typing
import unicodedata
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conftest import ROOT
from coterie import verify
from coterie.facts import document, schema
from coterie.facts.public_facts import PublicFacts
from coterie.facts.settings import Settings
from coterie.report import (
    as_table,
    as_text,
    bins,
    charts,
    guidance,
    public,
    render_compare,
    render_internal,
    render_public,
    terminal,
)
from coterie.report.public import BOUNDS
from coterie.report.svg import short
from release_facts import (
    NAMES,
    RARE,
    SEED,
    candidates,
    categories_only,
    patients,
    release_facts,
    two_scenarios,
    wide,
)

VOID = {"meta", "br", "hr", "img", "input", "link"}
PAGES = {
    "public": lambda: render_public(release_facts()),
    "internal": lambda: render_internal(release_facts()),
    "compare": lambda: render_compare(candidates()),
}


class Page(HTMLParser):
    """Reads a page, and stops where tags are not balanced."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attrs, self.ids, self.text = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attrs += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attrs += attrs

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    @property
    def words(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


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
    assert not re.search(r"https?:|//[a-z]|@import|url\(", html, re.IGNORECASE)
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
        f"{facts.measures.loss.loss_percent:.2f}",
        "Variances shrink",
        "Rows repeat",
        "No verdict on the law",
    ):
        assert told in inside, told
        assert told in outside, told
    assert "fewer than 5" in outside
    assert "fewer than 5" not in inside


# What is proven of the loss


def test_the_gap_of_a_bound_is_said_in_percent():
    """It was multiplied by 100 twice, and a fixture written by hand hid it."""
    facts = release_facts()
    (grouping,) = facts.groupings
    gap = 100 * (grouping.sse / grouping.bound.sse - 1)
    assert 1 < gap < 100
    assert grouping.bound.gap_percent == pytest.approx(gap)
    for text in (as_text(facts), Page(render_internal(facts)).words, Page(render_public(facts)).words):
        assert f"at most {gap:.2g} % more than the least possible" in text


def test_large_gaps_are_whole_numbers():
    (grouping,) = release_facts().groupings
    bound = replace(grouping.bound, gap_percent=1234.5)
    assert "at most 1,234 % more" in guidance.bound(replace(grouping, bound=bound))


@pytest.mark.parametrize("kind", [*BOUNDS, "neighbours, optimal"])
def test_every_kind_of_bound_is_public(kind):
    facts = release_facts()
    (grouping,) = facts.groupings
    shown = public(replace(facts, groupings=(replace(grouping, bound=replace(grouping.bound, kind=kind)),)))
    assert shown.groupings[0].bound.kind == kind


def test_the_kinds_of_bounds_are_those_that_are_proven():
    source = (ROOT / "src" / "coterie" / "algorithms" / "optimal" / "lower_bound.py").read_text(encoding="utf-8")
    told = re.search(r"kind: str  # (.*)", source).group(1)
    assert set(BOUNDS) == set(re.findall(r'"([^"]+)"', told))


# What the public may see


def test_public_facts_hold_no_small_count_and_nothing_of_risk():
    facts = release_facts()
    assert (facts.input.records, facts.output.suppressed, facts.output.blanked) == (402, 2, 7)
    shown = public(facts)
    assert (shown.input.records, shown.input.columns) == (None, 10)
    assert (shown.output.suppressed, shown.output.blanked) == (None, 7)
    assert str(SEED) not in json.dumps(document(shown))
    assert set(shown.measures.utility.columns) == set(NAMES)  # not of columns that are mostly as they were
    for of in shown.measures.utility.columns.values():
        counts = getattr(of, "histogram", None) or of.categories
        assert all(n is None or (n >= 5 and n % 5 == 0) for n in counts.before)


def test_the_public_type_has_no_place_for_what_is_not_public():
    def names(part):
        if isinstance(part, dict):
            yield from part.get("properties", ())
            for inside in part.values():
                yield from names(inside)

    found = set(names(schema(PublicFacts)))
    assert {"settings", "suppressed_below", "gap_percent"} < found
    hidden = {
        "seed", "recipe", "risk", "notes", "sentence", "sha256", "engine", "file", "order",  # not for the public
        "sse", "sst", "il1s_sum", "expected", "pmse",  # n would follow
        "quantile_changes", "constant_records",  # values, or counts, of few records would follow
    }  # fmt: skip
    assert not found & hidden


def test_categories_that_the_release_lacks_are_others():
    town = public(release_facts()).measures.utility.columns["town"].categories
    assert RARE in set(patients()["town"].to_pylist())
    assert town.names == ("Centre", "East", "North", "South", "others")
    assert town.after[-1] == 0
    assert RARE not in render_public(release_facts())


def test_records_left_out_are_told_if_they_are_many():
    facts = release_facts(strays=7)
    shown = public(facts)
    assert (facts.output.suppressed, facts.input.records) == (7, 407)
    assert (shown.output.suppressed, shown.input.records) == (7, 407)


def test_no_missing_count_follows_from_a_difference():
    facts = release_facts()
    counts = zip(facts.columns, (3, 50, 50, 0), (0, 48, 40, 0), strict=False)
    columns = tuple(replace(c, missing_before=before, missing_after=after) for c, before, after in counts)
    facts = replace(facts, columns=columns + facts.columns[4:])
    assert [c.missing_before for c in public(facts).columns[:4]] == [None, None, 50, 0]


def test_hidden_missing_counts_are_not_said_to_be_small():
    facts = release_facts()
    counts = zip(facts.columns, (None, 50, 3, 50), (None, 48, 3, 40), strict=False)
    columns = tuple(replace(c, missing_before=before, missing_after=after) for c, before, after in counts)
    facts = replace(facts, columns=columns + facts.columns[4:])
    found = re.findall(r'data-is="Missing before" class="n">([^<]*)<', render_public(facts))
    assert found[:5] == ["–", "not shown", "not shown", "50", "0"]  # the first is dropped: nobody counted
    found = re.findall(r'data-is="Missing before" class="n">([^<]*)<', render_internal(facts))
    assert found[:5] == ["–", "50", "3", "50", "0"]


def test_small_shares_are_hidden():
    facts = put(release_facts(), ("measures", "loss", "columns", "town", "mismatch_share"), 3 / 400)
    assert public(facts).measures.loss.columns["town"].mismatch_share is None
    facts = put(facts, ("measures", "loss", "columns", "town", "mismatch_share"), 6 / 400)
    assert public(facts).measures.loss.columns["town"].mismatch_share == 0.015


def test_counts_are_hidden_below_the_largest_k():
    facts = two_scenarios()
    assert [grouping.k for grouping in facts.groupings] == [3, 60]
    assert public(facts).suppressed_below == 60
    assert public(replace(facts, output=replace(facts.output, blanked=59))).output.blanked is None


MARK = "zqMARKERqz"
# What of the facts of the internal report may be seen by the public, if it is a string
SEEN = (
    r"columns/\d+/name", r"groupings/\d+/(name|quasi/\d+)", r"output/name", r"verdict/checks/\d+/(what|scenario)",
    r"measures/utility/columns/\w+/categories/names/\d+", r"measures/utility/correlations/names/\d+",
)  # fmt: skip


def leaves(value, path=()):
    """Every value of the facts that holds no other, with its path."""
    if is_dataclass(value):
        inside = [(field.name, getattr(value, field.name)) for field in fields(value)]
    elif isinstance(value, Mapping):
        inside = list(value.items())
    elif isinstance(value, (tuple, list)):
        inside = list(enumerate(value))
    else:
        yield path, value
        return
    for name, part in inside:
        yield from leaves(part, (*path, name))


def put(facts, path, new):
    """The facts with another value at that path."""
    if not path:
        return new
    name, rest = path[0], path[1:]
    if is_dataclass(facts):
        return replace(facts, **{name: put(getattr(facts, name), rest, new)})
    if isinstance(facts, Mapping):
        return {**facts, name: put(facts.get(name, {}), rest, new)}
    return tuple(put(part, rest, new) if i == name else part for i, part in enumerate(facts))


def shown_to_the_public(facts):
    return json.dumps(document(public(facts))) + render_public(facts)


def test_no_secret_reaches_the_public_page():
    """Put a mark in place of every string of the facts, one after another, and look for it."""
    facts, tried = release_facts(), 0
    for path, value in leaves(facts):
        if isinstance(value, str) and not any(re.fullmatch(p, "/".join(map(str, path))) for p in SEEN):
            tried += 1
            assert MARK not in json.dumps(document(public(put(facts, path, MARK)))), path
    assert tried > 80
    for path in (("recipe", "seed"), ("recipe", "file", "names"), ("recipe", "columns", "age", "order"), ("notes", 0)):
        assert MARK not in shown_to_the_public(put(facts, path, MARK)), path


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["recipe", "params", "loss", "utility", "rule"]), min_size=1, max_size=5), st.data())
def test_unknown_keys_do_not_pass_anywhere(places, data):
    """Where the facts have keys of their own: only those that are known pass, with values that they may have."""
    facts = release_facts()
    paths = {
        "recipe": ("recipe", MARK),
        "params": ("groupings", 0, "params", data.draw(st.sampled_from([MARK, "seed", "random_state", "gamma"]))),
        "loss": ("measures", "loss", "columns", MARK),
        "utility": ("measures", "utility", "columns", MARK),
        "rule": ("recipe", "columns", "age", data.draw(st.sampled_from([MARK, "decimals", "noise", "t"]))),
    }
    for place in places:
        value = {
            "loss": facts.measures.loss.columns["age"],
            "utility": facts.measures.utility.columns["age"],
        }.get(place, MARK)
        facts = put(facts, paths[place], value)
    assert MARK not in shown_to_the_public(facts)


def test_settings_are_those_of_the_recipe():
    recipe = release_facts().recipe
    found = Settings.of(recipe)
    assert (found.within, found.small_strata, found.missing) == (("region",), "suppress", "own-value")
    assert (found.weights, found.rules["income"], found.rules["cost"]) == ("weight", {"decimals": 1}, {"noise": 0.5})
    brief = {"missing": "group", "strata": ["a"], "weights": "w", "guard": "k-first", "columns": {}}
    found = Settings.of(brief)
    assert (found.missing, found.within, found.weights, found.guard) == ("group", ("a",), "w", "k-first")


def test_the_ends_of_a_histogram_are_no_records():
    incomes = [v for v in patients()["income"].to_pylist() if v is not None]
    for render in (render_public, render_internal):
        words = Page(render(release_facts())).words
        for end in (min(incomes), max(incomes)):
            assert f"{end:,.0f}" not in words
    columns = public(release_facts()).measures.utility.columns.values()
    numbers = [of for of in columns if getattr(of, "histogram", None)]
    assert len(numbers) == 3
    for of in numbers:
        for edge in of.histogram.edges:
            assert edge == 0 or float(f"{edge:.2g}") == edge or of.kind == "datetime"


# Histograms at round edges


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=40),
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e5),
    st.sampled_from(["numeric", "integer", "datetime"]),
)
@example([9], -1e-7, 0.001, "integer")
def test_rounding_the_edges_keeps_the_counts(counts, low, width, kind):
    if kind == "datetime":
        low, width = low * 1e9, width * 86_400e6 / 100
    edges = [low + width * i for i in range(len(counts) + 1)]
    found = bins.rounded(edges, counts, counts, kind)
    if found is None:
        return
    assert found.edges == sorted(found.edges)
    assert found.edges[0] <= low + 1e-5 * width
    assert found.edges[-1] >= edges[-1] - 1e-5 * width
    assert sum(found.before) == pytest.approx(sum(counts), rel=1e-4)
    again = bins.rounded(found.edges, found.before, found.after, kind)
    assert again == found
    if any(counts):
        within = bins.within_release(found)
        assert sum(within.before) == pytest.approx(sum(counts), rel=1e-4)
        assert within.after[0]
        assert within.after[-1]


def test_counts_are_coarse():
    assert bins.coarse([0, 4, 5, 7, 8, 1000, None], 5) == [None, None, 5, 5, 10, 1000, None]


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
    assert name in as_text(facts)
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
    assert "1 column was masked so" in page.words
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
        assert f"In such classes: {constant.offending_records} records" in words
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
        "2 records left out, 7 values blanked, rows in random order",
    )
    assert lines["loss"][0] == f"{release_facts().measures.loss.loss_percent:.2f}\u00a0%"
    assert lines["by column"][1] == "least in region, most in town"
    assert lines["check"][0] == "passed"
    assert lines["risk"][0] == "100.0\u00a0% → 20.0\u00a0%"
    assert str(SEED) not in as_text(release_facts())
    assert "passed" in rich_text(release_facts())


# Pictures


def test_pictures_stand_alone_too():
    utility = release_facts().measures.utility
    shown, related = utility.columns["income"].histogram, utility.correlations
    made = [
        charts.histogram("<b>", shown.edges, shown.before, shown.after),
        charts.categories("x", ["<i>", "b&"], [None, 4], [3, 4], 5),
        charts.loss_bars([(f"column {i}", i / 3) for i in range(40)]),
        charts.group_sizes({str(i): i for i in range(5, 90)}),
        charts.class_sizes({"1": 10, "2": 3}, {"5": 4, "10-19": 1, "100+": 2}),
        charts.correlation_change(related.names, related.before, related.after),
        charts.intervals({"by sd": ([0.1, 0.2], [0.1, None])}, "width"),
        charts.risk_utility(candidates()),
        charts.risk_utility([]),
    ]
    for svg in made:
        root = ElementTree.fromstring(charts.standalone(svg))
        assert root.get("aria-label")
        assert "nan" not in svg.lower().replace("nantes", "")


def test_labels_fit_whatever_the_script():
    assert short("indicator_00", 12) == "indicator_00"
    assert short("indicator_000", 12) == "indicat…_000"
    for text in ("最終学歴（文部科学省の分類による）", "학력" * 20, "x最" * 9):
        cut = short(text, 17)
        assert sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in cut) <= 17
        assert "…" in cut
        assert (cut[0], cut[-1]) == (text[0], text[-1])


def test_every_class_of_sizes_has_its_name():
    sizes = {**{str(i): i for i in range(1, 9)}, "10-19": 9, "20-49": 4}  # as many as a small file has
    svg = charts.class_sizes(sizes, sizes)
    assert all(f">{size}</text>" in svg for size in sizes)


def test_the_name_of_a_curve_is_not_on_it():
    for share in (1.0, 0.97, 0.5, 0.0):
        svg = charts.intervals({"by sd": ([0.1, 0.2], [share, share])}, "width")
        line = 120 - 110 * share
        place = float(re.search(r'y="([\d.]+)"[^>]*>by sd', svg).group(1))
        assert place < line - 3 or place > line + 9


def test_histogram_draws_what_it_is_given():
    svg = charts.histogram("x", [0.0, 1.0, 2.0], [10, 30], [40, None])
    area = re.search(r'<polygon points="([^"]+)"', svg).group(1)
    heights = [112 - float(point.split(",")[1]) for point in area.split()]
    assert heights[1] == pytest.approx(heights[3] / 3, abs=0.2)
    assert svg.count("stroke-dasharray") == 0
    assert charts.histogram("x", [0.0, 1.0, 2.0], [None, 30], [40, 2]).count("stroke-dasharray") == 1


def test_the_map_shows_every_candidate_and_the_frontier():
    svg = charts.risk_utility(candidates())
    assert svg.count("k = 3: loss") == svg.count("k = 10: loss") == 3
    assert "polyline" in svg
    assert "k = 500: loss" not in svg
    words = Page(render_compare(candidates())).words
    assert "12 candidates" in words
    assert "3 not possible" in words


# Packaging and cost


def test_templates_ship_with_the_package():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert built["targets"]["wheel"]["packages"] == ["src/coterie"]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8")
    assert ".j2" not in ignored
    assert ".css" not in ignored
    assert len(list((ROOT / "src/coterie/report/templates").glob("*.html.j2"))) == 6


def test_importing_the_reports_is_cheap():
    code = "import coterie.report, sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert not loaded & {"numpy", "numba", "jinja2", "rich", "matplotlib", "pyarrow"}
