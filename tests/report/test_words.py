"""What is printed and shown: the words of the trade, axes that end where values do, percentages that differ."""

from __future__ import annotations

import re
import stat

import numpy as np
import pandas as pd
import pytest

import coterie as ct
from command_files import save_recipe
from coterie.facts.comparison import MOST_BEST, Candidate, with_frontier
from coterie.measures.histogram import histogram
from coterie.report import as_text, charts, render_compare, render_internal, render_public
from coterie.report.bins import rounded
from coterie.report.candidates import shown_percents, why_best
from coterie.report.words import counted, in_percent, percent, share
from coterie.tables.columns import Column
from release_facts import release_facts, two_scenarios
from report_pages import Page

OLD_WORDS = (
    "hides among", "masked so", "Blanked", "blanked", "plain distances", "Typical move", "Warm with", "look alike",
    "knows it, if it is there", "loses nothing", "records are found",
)  # fmt: skip


@pytest.mark.parametrize("facts", [release_facts, two_scenarios])
def test_the_words_of_the_trade(facts):
    shown = [as_text(facts()), *(Page(render(facts())).words for render in (render_public, render_internal))]
    for text in shown:
        assert not [words for words in OLD_WORDS if words in text]
        assert "nformation loss" in text
        assert "quivalence class" in text
    assert "re-identification" in shown[0]
    assert "re-identification" in shown[2]
    if facts is release_facts:
        assert all("local suppression" in text for text in shown)


def test_assess_and_verify_speak_of_equivalence_classes():
    frame = pd.DataFrame({"age": [30, 30, 41, 41, 41], "sex": list("ffmmm")})
    assert "equivalence classes; the smallest has 2" in str(ct.assess(frame, quasi=["age"]))
    assert "the smallest of 2 equivalence classes has 2" in str(ct.verify(frame, quasi=["age"], k=2))


def test_classes_are_those_of_the_file():
    """Two groups with the same centre are one class: it is classes that the tiles count."""
    frame = pd.DataFrame({"x": [0, 2, 0, 2] * 5, "town": list("ab") * 10})
    recipe = {"k": 4, "seed": 1, "method": "mdav", "strata": ["town"]}
    columns = {"x": {"role": "quasi", "kind": "integer"}, "town": {"role": "quasi", "kind": "nominal"}}
    release = ct.protect(frame, {**recipe, "columns": columns})
    (check,) = [c for c in release.facts.verdict.checks if c.what == "k-anonymity"]
    (grouping,) = release.facts.groupings
    assert check.classes < grouping.groups
    words = Page(render_public(release.facts)).words
    assert f"Equivalence classes {check.classes} " in words
    assert f"Smallest equivalence class {check.found} records: k = 4 is met" in words
    assert f"{check.found} records  (of {check.classes} equivalence classes; k = 4 is met)" in as_text(release.facts)


def labels(svg):
    return re.findall(r'y="127"[^>]*>(?:<title>.*?</title>)?([^<]+)</text>', svg)


@pytest.mark.parametrize(
    ("kind", "values", "ends"),
    [
        ("integer", [1, 2, 3, 4, 5, 6], ("1", "6")),
        ("integer", [0, 1], ("0", "1")),
        ("integer", range(1, 101), ("1", "100")),
        ("integer", range(18, 91, 3), ("18", "90")),
        ("numeric", [0.0, 50.0, 100.0], ("0", "100")),
        ("numeric", [1.0, 2.5, 6.0], ("1", "6")),
    ],
)
def test_axes_end_at_the_values_that_can_occur(kind, values, ends):
    column = Column("x", kind, np.array(values, np.float64))
    found = histogram(column, column)
    at_round = rounded(found.edges, found.before, found.after, kind)
    assert sum(at_round.after) == len(column.numbers)
    shown = labels(charts.histogram("x", at_round.edges, at_round.before, at_round.after, kind))
    assert (shown[0], shown[-1]) == ends


def test_bins_of_different_width_are_drawn_by_area():
    svg = charts.histogram("x", [0.0, 10.0, 15.0], [20, 10], [20, 10], "numeric")
    heights = [112 - float(point.split(",")[1]) for point in re.search(r'polygon points="([^"]+)"', svg)[1].split()]
    assert heights[1] == pytest.approx(heights[3], abs=0.2)


def test_percentages_that_differ_are_not_called_equal():
    assert share(0.99964) == "99.96\u00a0%"
    assert percent(99.999) == "99.999\u00a0%"
    assert share(0.000004) == "0.0004\u00a0%"
    assert (share(1.0), share(0.0)) == ("100.0\u00a0%", "0.0\u00a0%")
    assert (in_percent(99.9999999), in_percent(1e-7)) == ("above 99.9999", "below 0.0001")
    near = [Candidate("a", 3, 9.1234, 0.2), Candidate("b", 3, 9.1239, 0.2), Candidate("c", 3, 12.0, 0.2)]
    assert [loss for loss, *_ in shown_percents(near)] == ["9.123", "9.124", "12.000"]
    assert counted(2, "equivalence class") == "2 equivalence classes"


def frontier(ks, methods=("a", "b", "c")):
    return with_frontier(
        [Candidate(m, k, 2.0 * k - j, (1 + 0.1 * j) / k) for k in ks for j, m in enumerate(methods)]
        + [Candidate("no", ks[0], not_possible="too few")]
    )


@pytest.mark.parametrize("ks", [[3], [3, 5, 10], [2, 3, 4, 5, 10, 20, 50]])
def test_at_most_a_handful_is_called_best_and_the_page_says_why(ks):
    found = frontier(ks)
    best = [c for c in found if c.best]
    assert len(best) == min(len(ks), MOST_BEST)
    assert all(c.on_frontier for c in best)
    assert all(c.loss_percent == min(o.loss_percent for o in found if o.k == c.k and o.loss_percent) for c in best)
    assert {ks[0], ks[-1]} <= {c.k for c in best}
    assert sum(c.on_frontier for c in found) > len(best)
    page = Page(render_compare(found)).words
    assert why_best(found) in page
    assert page.count("✓ best for k") == len(best)


def test_the_column_table_is_laid_out_as_cards_on_narrow_screens():
    for page in (render_public(release_facts()), render_internal(release_facts()), render_compare(frontier([3, 5]))):
        assert 'class="wide"' not in page
        assert 'data-is="Information loss, %"' in page


def test_the_page_of_a_comparison_is_private(tmp_path, run):
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20) % 7})
    frame.to_csv(tmp_path / "in.csv", index=False)
    page = tmp_path / "page.html"
    page.write_text("an old one that all may read")
    page.chmod(0o644)
    how = {"k": 3, "columns": {name: {"role": "quasi", "kind": "numeric"} for name in frame}}
    recipe = save_recipe(tmp_path / "in.toml", **how)
    options = ("-k", "3", "--methods", "mdav", "-o", page, "--force")
    code, _, err = run("compare", tmp_path / "in.csv", "--recipe", recipe, *options)
    assert code == 0
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "best for k = 3" in err
