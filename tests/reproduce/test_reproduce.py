"""The papers' tables: golden numbers, and how they are judged and shown."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

import coterie as ct
import reference
from conftest import ROOT, needs_casc
from coterie.cli import app
from coterie.reproduce import published as tables
from coterie.reproduce import side_by_side as report
from coterie.reproduce.exhaustive import optimal_sse
from strategies import problems

REFERENCE = ROOT / ".." / "shared" / "reference" / "published.csv"
CELL = tables.Cell("paper", "table 1", "line-11", "sse", "mdav*", "", 3, "21.2", "exact")


def key(row):
    source, k = row["source"], int(row["k"])
    params = row["params"] if row["params"].startswith("gamma") else ""
    if "simulated" in row["params"] and row["method"] == "v-mdav":
        params = "gamma=auto"
    source = source.replace("tables 1 and 4", "table 1")
    return source, row["dataset"], row["measure"], row["method"], params, k, row["value"], row["match"]


@pytest.mark.skipif(not REFERENCE.is_file(), reason="the reference list of published numbers is not beside the repo")
def test_published_numbers_are_those_of_the_reference():
    ours = {
        (f"{c.paper} {c.table}", c.dataset, c.measure, c.method, c.params, c.k, c.published, c.match)
        for c in tables.published()
    }
    with open(REFERENCE, encoding="utf-8") as file:
        missing = [row for row in csv.DictReader(file) if key(row) not in ours]
    assert missing == []


def test_every_published_cell_is_well_formed():
    cells = tables.published()
    assert len(cells) > 400
    assert len({(c.paper, c.table, c.dataset, c.measure, c.method, c.params, c.k) for c in cells}) == len(cells)
    assert {c.match for c in cells} == {"exact", "close", "variant", "simulated", "randomized", "unpublished"}
    for c in cells:
        float(c.published)
        assert c.dataset in ct.datasets.DATASETS or c.match == "unpublished"


@needs_casc
@pytest.mark.slow
@pytest.mark.parametrize(
    "table", ["survey", "mdav-star-2018 table 1", "table 5", "v-mdav-2006", "section 3", "two-mu", "table 3b"]
)
def test_exact_cells_are_exact_and_close_ones_close(table):
    runs = tables._Runs(None)
    wanted = [c for c in tables.published() if table in f"{c.paper} {c.table}" and c.match in ("exact", "close")]
    cells = [tables.judge(runs.fill(c)) for c in wanted]  # those that are drawn have tests of their own
    assert cells
    assert [c for c in cells if c.match == "exact" and c.mark != "exact"] == []
    close = ("exact", "close", "range")  # the last where a method draws at random
    assert [c for c in cells if c.match == "close" and c.mark not in close] == []


@needs_casc
@pytest.mark.slow
def test_best_gammas_are_those_of_the_paper():
    runs = tables._Runs(None)
    cells = [c for c in tables.published() if c.table == "table 4" and c.match == "exact"]
    assert len(cells) == 15
    assert {tables.judge(runs.fill(c)).mark for c in cells} == {"exact"}


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["simu", "simc", "scattered", "clustered", "normal-16", "clusters-4", "clusters-5"])
def test_simulated_cells_lie_in_the_range_of_25_draws(dataset):
    runs = tables._Runs(None)
    fast = ("md", "mdav", "mdav+", "mdav*")
    cells = [c for c in tables.published() if c.dataset == dataset and c.method in fast and c.table != "table 3a"]
    judged = [tables.judge(runs.fill(c)) for c in cells]
    assert judged
    # docs/methods.md says why: the one set that the authors drew has an optimum above all our 25 draws
    known = [("table 7", 5)] if dataset == "clusters-5" else []
    assert [(c.table, c.k) for c in judged if c.mark != "range"] == known
    assert all(c.low < c.ours < c.high for c in judged)


@needs_casc
@pytest.mark.slow
def test_randomized_cells_lie_in_the_range_of_100_draws():
    runs = tables._Runs(None)
    cells = [c for c in tables.published() if c.match == "randomized" and c.dataset != "eia"]
    judged = [tables.judge(runs.fill(c)) for c in cells]
    # docs/methods.md says why: this one must be a misprint
    assert [(c.dataset, c.measure, c.k) for c in judged if c.mark != "range"] == [("census", "loss_euclidean", 3)]
    assert len(judged) == 13


@needs_casc
def test_ratios_of_the_ten_samples_lie_in_the_range_of_ours():
    runs = tables._Runs(None)
    cells = [tables.judge(runs.fill(c)) for c in tables.published() if c.measure == "ratio"]
    assert len(cells) == 10
    assert {c.mark for c in cells} == {"range"}
    assert all(0.5 <= c.low <= c.high <= 1 + 1e-9 for c in cells)


@given(problem=problems(), k=st.integers(2, 4))
@settings(max_examples=40)
def test_exhaustive_is_exhaustive(problem, k):
    X = problem[0][:9] - problem[0][:9].mean(axis=0)
    k = min(k, len(X))
    size = float(np.abs(X).max()) ** 2
    assert optimal_sse(X, k, False) == pytest.approx(reference.optimal_sse(X, k), rel=1e-9, abs=1e-13 * size)


@pytest.mark.parametrize(
    ("match", "ours", "low", "high", "mark"),
    [
        ("exact", 21.2499, None, None, "exact"),
        ("exact", 21.2501, None, None, "off"),
        ("close", 21.3, None, None, "close"),
        ("close", 21.5, None, None, "off"),
        ("close", 21.21, None, None, "exact"),
        ("variant", 30.0, None, None, "variant"),
        ("simulated", 20.0, 19.0, 21.3, "range"),
        ("simulated", 20.0, 19.0, 21.1, "off"),
        ("simulated", 20.0, 19.0, 21.15, "range"),  # 21.2 is rounded
    ],
)
def test_judgement(match, ours, low, high, mark):
    assert tables.judge(replace(CELL, match=match, ours=ours, low=low, high=high)).mark == mark


def test_a_wrong_exact_cell_fails_the_command(monkeypatch):
    wrong = [replace(CELL, published="21.3")]
    monkeypatch.setattr(tables, "published", lambda: wrong)
    ran = CliRunner().invoke(app, ["reproduce"])
    assert ran.exit_code == 1
    assert "0 of 1 cells exact" in ran.output
    monkeypatch.setattr(tables, "published", lambda: [CELL])
    ran = CliRunner().invoke(app, ["reproduce"])
    assert ran.exit_code == 0
    assert "1 of 1 cells exact" in ran.output


def test_data_that_are_not_there_are_said(monkeypatch, tmp_path):
    monkeypatch.setenv("COTERIE_CASC_DIR", str(tmp_path))
    ran = CliRunner().invoke(app, ["reproduce", "--table", "mu-approx-2008 table 5", "--json"])
    cells = json.loads(ran.stdout)["cells"]
    assert {c["mark"] for c in cells} == {"no data"}
    assert ran.exit_code == 0
    text = Console(width=200, record=True, file=StringIO())
    report.show(tables.reproduce("table 5"), text)
    shown = text.export_text()
    assert "no data" in shown
    assert "CASC data were not found" in shown


def test_a_folder_without_the_data_is_an_error(tmp_path):
    with pytest.raises(ct.CoterieError, match="all three CASC sets"):
        tables.reproduce("table 5", tmp_path)


@pytest.mark.parametrize("width", [80, 160])
def test_nothing_is_cut_off_on_a_narrow_terminal(width):
    out = StringIO()
    report.show([replace(CELL, ours=21.2, mark="exact")], Console(file=out, width=width))
    assert ("21.2 21.2 =" in out.getvalue()) == (width == 160)
    assert "21.2 =" in out.getvalue()
    assert "…" not in out.getvalue()


def test_unknown_table():
    with pytest.raises(ct.CoterieError, match="part of a table's name"):
        tables.reproduce("table 99")
