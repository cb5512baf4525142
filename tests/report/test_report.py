"""The reports: what the public may see, escaping, no request to anywhere, and anything may be missing."""

from __future__ import annotations

import copy
import io
import json
import re
import subprocess
import sys
import tomllib
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conftest import ROOT
from coterie.report import (
    as_table,
    as_text,
    bins,
    charts,
    public,
    render_compare,
    render_internal,
    render_public,
    terminal,
)
from coterie.report.svg import short
from release_facts import NAMES, candidates, release_facts

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
    for secret in (
        "987654321",
        "patients-2026",
        "55 classes",
        "Singling out",
        "Record linkage",
        "Tiny Hamlet",
        "1,082",
    ):
        assert secret in inside, secret
        assert secret not in outside, secret
    for told in (
        "doi:10.1016/j.camwa.2007.04.034",
        "14.76",
        "Variances shrink",
        "Rows repeat",
        "No verdict on the law",
    ):
        assert told in inside, told
        assert told in outside, told
    assert "fewer than 5" in outside
    assert "fewer than 5" not in inside


# What the public may see


def test_public_facts_hold_no_small_count_and_nothing_of_risk():
    shown = public(release_facts())
    assert shown["input"] == {"records": None, "columns": 9}
    assert shown["output"]["suppressed"] is None
    assert shown["output"]["blanked"] == 50
    assert set(shown["measures"]) == {"loss", "utility"}
    assert set(shown["measures"]["loss"]) == {"loss", "loss_euclidean", "loss_weighted", "il1s_mean", "columns"}
    assert set(shown["measures"]["utility"]["propensity"]) == {"ratio"}  # from the expected one, n would follow
    assert "notes" not in shown
    assert "seed" not in json.dumps(shown)
    assert set(shown["measures"]["utility"]["columns"]) == set(NAMES)  # not of columns that are mostly as they were
    for of in shown["measures"]["utility"]["columns"].values():
        counts = (of.get("histogram") or of.get("categories"))["before"]
        assert all(n is None or (n >= 5 and n % 5 == 0) for n in counts)
        assert "quantile_changes" not in of


def test_categories_that_the_release_lacks_are_others():
    region = public(release_facts())["measures"]["utility"]["columns"]["region"]["categories"]
    assert region["names"] == ["Centre", "East", "North", "South", "others"]
    assert region["before"][-1] is None
    assert region["after"] == [320, 420, 300, 40, 0]


def test_records_left_out_are_told_if_they_are_many():
    facts = release_facts()
    facts["output"]["suppressed"], facts["input"]["records"] = 7, 1087
    shown = public(facts)
    assert (shown["output"]["suppressed"], shown["input"]["records"]) == (7, 1087)
    facts["output"]["suppressed"] = None  # not known: then the difference must not tell either
    facts["input"]["records"] = 1081
    assert public(facts)["input"]["records"] is None


def test_no_missing_count_follows_from_a_difference():
    facts = release_facts()
    for row, before, after in zip(facts["columns"], (3, 50, 50, 0), (0, 48, 40, 0), strict=False):
        row["missing_before"], row["missing_after"] = before, after
    assert [c["missing_before"] for c in public(facts)["columns"][:4]] == [None, None, 50, 0]


def test_hidden_missing_counts_are_not_said_to_be_small():
    facts = release_facts()
    for row, before, after in zip(facts["columns"], (None, 50, 3, 50), (None, 48, 3, 40), strict=False):
        row["missing_before"], row["missing_after"] = before, after
    found = re.findall(r'data-is="Missing before" class="n">([^<]*)<', render_public(facts))
    assert found[:5] == ["–", "not shown", "not shown", "50", "0"]  # the first is dropped: nobody counted
    found = re.findall(r'data-is="Missing before" class="n">([^<]*)<', render_internal(facts))
    assert found[:5] == ["–", "50", "3", "50", "0"]


def test_small_shares_are_hidden():
    facts = release_facts()
    facts["measures"]["loss"]["columns"]["region"]["mismatch"] = 3 / 1080
    assert public(facts)["measures"]["loss"]["columns"]["region"]["mismatch"] is None


def test_k_is_the_largest_and_a_careful_one_if_unknown():
    facts = release_facts()
    facts["groupings"].append({**facts["groupings"][0], "name": "more", "k": 60})
    assert public(facts)["suppressed_below"] == 60
    assert public(facts)["output"]["blanked"] is None
    assert public({"output": {"suppressed": 9}})["output"]["suppressed"] is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_public_of_public_is_the_same(data):
    facts = _thinned(data, release_facts())
    once = public(facts)
    assert public(once) == once
    assert json.loads(json.dumps(once)) == once


MARK = "zqMARKERqz"
SECRET = [
    ("recipe", "seed"), ("recipe", "file"), ("input", "name"), ("input", "sha256"), ("output", "sha256"), ("notes",),
    ("measures", "risk"), ("measures", "more"), ("verdict", "sentence"), ("verdict", "checks", 0, "sentence"),
    ("groupings", 0, "labels"), ("groupings", 0, "params", "seed"), ("groupings", 0, "params", "random_state"),
    ("groupings", 0, "bound", "sentence"), ("columns", 1, "example"), ("columns", 1, "order"), ("columns", 1, "kind"),
    ("measures", "utility", "columns", "age", "quantile_changes"), ("measures", "utility", "columns", "age", "min"),
    ("measures", "utility", "columns", "diagnosis"), ("measures", "utility", "propensity", "model"),
    ("recipe", "columns", "age", "order"), ("coterie",), ("created",), ("anything",), ("hash",), ("group_ids",),
]  # fmt: skip
SHAPES = [
    lambda m: m,
    lambda m: [m],
    lambda m: {m: m},
    lambda m: {"columns": {m: {"kind": m}}, "names": [m], "sentence": m},
    lambda m: [{"name": m, "sentence": m, "what": m + "!"}],
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SECRET), st.sampled_from(SHAPES)), min_size=1, max_size=8))
def test_no_secret_reaches_the_public_page(places):
    facts = release_facts()
    for path, shape in places:
        _put(facts, path, shape(MARK))
    assert MARK not in json.dumps(public(facts))
    assert MARK not in render_public(facts)
    assert MARK not in render_public(public(facts))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_unknown_keys_do_not_pass_anywhere(data):
    facts = release_facts()
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.sampled_from([d for d, path in _mappings(facts) if not _of_names(path)]))
        at[f"{MARK}{len(at)}"] = data.draw(st.sampled_from(SHAPES))(MARK)
    assert MARK not in json.dumps(public(facts))
    assert MARK not in render_public(facts)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_text_in_place_of_numbers_does_not_pass(data):
    facts = release_facts()
    names = {"name", "scenario", "what"}
    places = [
        (d, k) for d, path in _mappings(facts) for k, v in d.items() if isinstance(v, (int, float)) and k not in names
    ]
    for at, key in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=20)):
        at[key] = MARK
    assert MARK not in json.dumps(public(facts))
    assert MARK not in render_public(facts)


def test_the_ends_of_a_histogram_are_no_records():
    for render in (render_public, render_internal):
        words = Page(render(release_facts())).words
        for end in ("18.37", "88.37", "1,234", "70,36"):
            assert end not in words
    for of in public(release_facts())["measures"]["utility"]["columns"].values():
        for edge in (of.get("histogram") or {}).get("edges", []):
            assert edge == 0 or float(f"{edge:.2g}") == edge or of["kind"] == "datetime"


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


# Anything may be missing, and names may be anything

NASTY = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a" * 300, "'; DROP TABLE x;--", "{{ 7*7 }}",
    "العمر بالسنوات", "שם", "\u202ereversed", "tab\tand\nline", "&amp;", "\x00\x1b[31m", "年齢",
    "a b", "</title></svg><p>",
]  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_names_are_only_text(name):
    facts = json.loads(json.dumps(release_facts()).replace('"age"', json.dumps(name)))
    facts["groupings"][0]["name"] = facts["measures"]["risk"]["scenarios"][0]["name"] = name
    facts["measures"]["utility"]["columns"]["region"]["categories"]["names"][0] = name
    facts["notes"].append(name)
    plain = {render: Page(render(release_facts())).tags for render in (render_public, render_internal)}
    for render, tags in plain.items():
        html = render(facts)
        page = Page(html)
        assert set(page.tags) == set(tags)
        assert "<script" not in html
        assert "<img" not in html
        assert not any(n.startswith("on") for n, _ in page.attrs)
        assert "{{" not in name or name in page.words
    compared = Page(render_compare([{**c, "method": name} for c in candidates()]))
    assert set(compared.tags) == set(Page(render_compare(candidates())).tags)
    assert name in as_text(facts)
    rich_text(facts)


def rich_text(facts):
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=100).print(as_table(facts))
    return out.getvalue()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_anything_may_be_missing(data):
    facts = _thinned(data, release_facts())
    for render in (render_public, render_internal):
        assert not re.search(r"\b(nan|inf|None|Undefined)\b", Page(render(facts)).words)
    assert all(isinstance(part, str) for line in terminal(facts) for part in line)
    assert as_text(facts)


@pytest.mark.parametrize("facts", [{}, {"measures": None}, {"columns": [None, {}]}, {"groupings": [{}], "verdict": []}])
def test_almost_nothing(facts):
    Page(render_public(facts))
    Page(render_internal(facts))
    assert "not made" in as_text(facts)
    assert public(facts)["suppressed_below"] == 10


def test_one_column_and_two_hundred():
    facts = release_facts()
    name = "a rather long name of a column that goes on and on"
    wide = release_facts()
    numeric, loss = facts["measures"]["utility"]["columns"]["income"], {"loss": 9.0, "il1s": 0.1}
    many = [f"{name} {i}" for i in range(200)]
    wide["columns"] = [{**facts["columns"][2], "name": n} for n in many]
    wide["measures"]["utility"]["columns"] = dict.fromkeys(many, numeric)
    wide["measures"]["loss"]["columns"] = dict.fromkeys(many, loss)
    square = [[0.1 * ((i * j) % 7) for j in range(200)] for i in range(200)]
    wide["measures"]["utility"]["correlations"] = {"names": many, "before": square, "after": square}
    wide["groupings"][0]["quasi"] = many
    html = render_public(wide)
    page = Page(html)
    assert page.tags.count("details") >= 3
    assert "186 others change less" in page.words
    assert len(html) < 1_500_000
    for part in ("utility", "loss"):
        wide["measures"][part]["columns"] = {many[0]: wide["measures"][part]["columns"][many[0]]}
    wide["columns"] = wide["columns"][:1]
    wide["measures"]["utility"]["correlations"] = {"names": many[:1], "before": [[1.0]], "after": [[1.0]]}
    page = Page(render_public(wide))
    assert "1 column was masked so" in page.words
    assert "more columns" not in page.words


def test_no_numeric_and_no_confidential_columns():
    facts = release_facts()
    for part in ("loss", "utility"):
        columns = facts["measures"][part]["columns"]
        facts["measures"][part]["columns"] = {n: columns[n] for n in ("education", "region")}
    facts["measures"]["risk"]["confidential"] = []
    for way in facts["measures"]["risk"]["intervals"].values():
        way["share"] = [None] * len(way["widths"])
    words = Page(render_internal(facts)).words
    assert "No column is marked as confidential." in words
    assert "Interval disclosure" not in words.split("Definitions")[0]
    assert "Variance kept" not in words
    assert "Shares differ by" in words


def test_a_failed_check_is_said_first():
    facts = release_facts()
    facts["verdict"]["ok"] = False
    facts["verdict"]["checks"][0] |= {"found": 2, "offending_classes": 3, "offending_records": 6}
    for render in (render_public, render_internal):
        words = Page(render(facts)).words
        assert "✗ Failed" in words
        assert "✗ does not hold" in words
        assert "6 records" in words
        assert "✓" not in words
    assert "FAILED" in as_text(facts)


def test_constant_values_are_told_and_break_no_promise():
    facts = release_facts()
    known = {"what": "constant confidential values", "columns": ["diagnosis"], "wanted": None, "found": 55}
    facts["verdict"]["checks"].append({**known, "classes": 202, "offending_classes": 55, "offending_records": 275})
    for render in (render_public, render_internal):
        words = Page(render(facts)).words
        assert "! not promised" in words
        assert "In such classes: 275 records" in words
        assert "✗" not in words


def test_several_scenarios_are_not_one_promise():
    facts = release_facts()
    facts["groupings"].append({**facts["groupings"][0], "name": "neighbour", "k": 3, "groups": 300})
    words = Page(render_public(facts)).words
    assert "in each of 2 sets of columns with at least 2 other records" in words
    assert "3–5" in words
    assert "Scenario neighbour" in words


# Terminal


def test_terminal_lines():
    lines = {name: (value, words) for name, value, words in terminal(release_facts())}
    assert lines["released"] == (
        "1,080 records in 8 columns",
        "2 records left out, 50 values blanked, rows in random order",
    )
    assert lines["loss"][0] == "14.76\u00a0%"
    assert lines["by column"][1] == "least in age, most in region"
    assert lines["check"][0] == "passed"
    assert lines["risk"][0] == "100.0\u00a0% → 20.0\u00a0%"
    assert "987654321" not in as_text(release_facts())
    assert "passed" in rich_text(release_facts())


# Pictures


def test_pictures_stand_alone_too():
    facts = release_facts()
    utility = facts["measures"]["utility"]
    shown = utility["columns"]["income"]["histogram"]
    made = [
        charts.histogram("<b>", shown["edges"], shown["before"], shown["after"]),
        charts.categories("x", ["<i>", "b&"], [None, 4], [3, 4], 5),
        charts.loss_bars([(f"column {i}", i / 3) for i in range(40)]),
        charts.group_sizes({str(i): i for i in range(5, 90)}),
        charts.class_sizes({"1": 10, "2": 3}, {"5": 4, "10-19": 1, "100+": 2}),
        charts.correlation_change(**{k: utility["correlations"][k] for k in ("names", "before", "after")}),
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
    html = render_compare([*candidates(), {"method": None, "k": None, "loss": None, "risk": None}])
    assert "10 candidates" in Page(html).words


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


# Helpers


def _mappings(value, path=()):
    if isinstance(value, dict):
        yield value, path
        for key, inside in value.items():
            yield from _mappings(inside, (*path, key))
    elif isinstance(value, list):
        for i, inside in enumerate(value):
            yield from _mappings(inside, (*path, i))


def _of_names(path):
    """Whether the keys of the mapping are sizes, not fields."""
    return path[-1:] == ("sizes",)


def _put(facts, path, value):
    at = facts
    for key in path[:-1]:
        if isinstance(key, str):
            if not isinstance(at, dict):
                return
            at = at.setdefault(key, {})
        elif isinstance(at, list) and key < len(at):
            at = at[key]
        else:
            return
    if isinstance(at, dict):
        at[path[-1]] = value


def _thinned(data, facts):
    """The facts with some of them None, of another type, or gone."""
    facts = copy.deepcopy(facts)
    for _ in range(data.draw(st.integers(1, 8))):
        at, _path = data.draw(st.sampled_from(list(_mappings(facts))))
        if at:
            key = data.draw(st.sampled_from(list(at)))
            odd = data.draw(st.sampled_from([None, "gone", [], {}, float("nan"), float("inf"), -1, 0, "text", [None]]))
            if odd == "gone":
                del at[key]
            else:
                at[key] = odd
    return facts
