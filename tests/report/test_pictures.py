"""The pictures of the reports, and histograms at round edges."""

from __future__ import annotations

import re
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie.report import bins, charts, render_compare
from coterie.report.svg import short
from release_facts import candidates, release_facts
from report_pages import Page

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
    assert svg.count("k = 3: information loss") == svg.count("k = 10: information loss") == 3
    assert "polyline" in svg
    assert "k = 500: information loss" not in svg
    words = Page(render_compare(candidates())).words
    assert "12 candidates" in words
    assert "3 not possible" in words
