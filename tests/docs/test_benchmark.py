"""The researchers' benchmark: whole, consistent, and what its commands give today."""

from __future__ import annotations

import importlib.util
import re

import pytest

import coterie as ct
from conftest import ROOT
from coterie.algorithms.registry import METHODS

_spec = importlib.util.spec_from_file_location("benchmark_table", ROOT / "benchmarks" / "table.py")
table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(table)
ROWS = table.rows_of()
SIMULATED = {name: ct.datasets.DATASETS[name] for name in table.SIMULATED}


def printed(command):
    """What the command of a row prints: here the result itself."""
    results = []
    code = re.fullmatch(r'python -c "(.+)"', command).group(1)
    exec(code, {"print": results.append})
    return results[0]


def test_every_method_is_there_for_every_set_and_k():
    sizes = {row["data"]: int(row["n"]) for row in ROWS.values()}
    assert set(sizes) == {*table.CASC, *table.SIMULATED}
    missing = [
        (name, k, method)
        for name, n in sizes.items()
        for k in range(2, 11)
        for method, m in METHODS.items()
        if n >= 2 * k and m.only_k in (None, k) and m.only_columns is None and (method != "exact" or n <= 20)
        if (name, k, method) not in ROWS
    ]
    assert not missing


def test_gaps_are_those_of_losses_and_bounds():
    for key, row in ROWS.items():
        if METHODS[key[2]].by_column:
            assert not row["bound_percent"], key  # the bound is about groups of whole records
            continue
        loss, bound, gap = (float(row[f"{name}_percent"]) for name in ("loss", "bound", "gap"))
        assert row["bound_effort"] in table.EFFORTS, key
        assert loss >= bound * (1 - 1e-6), key
        assert gap == pytest.approx(max(0.0, 100 * (loss / bound - 1)), abs=0.01), key
        assert float(row["cpu_seconds"]) > 0, key


def test_bounds_do_not_fall_with_k():
    """Groups of at least k + 1 records are groups of at least k: what is proven of these holds for them."""
    for name in {key[0] for key in ROWS}:
        bounds = [float(ROWS[name, k, "mdav"]["bound_percent"]) for k in range(2, 11) if (name, k, "mdav") in ROWS]
        assert bounds == sorted(bounds), name


def test_the_page_shows_the_file():
    assert (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8") == table.page(ROWS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The records are not")  # of individual-ranking
@pytest.mark.parametrize(("name", "k"), [("scattered", 5), ("clusters-5", 2), ("normal-16", 3), ("simu", 10)])
def test_commands_give_the_losses_of_their_rows(name, k):
    """Simulated sets need no files. Fails as soon as a method gives another loss: then the rows are measured anew."""
    rows = {method: row for (data, kk, method), row in ROWS.items() if (data, kk) == (name, k)}
    assert len(rows) >= 11
    for method, row in rows.items():
        result = printed(row["command"])
        assert f"{result.loss:.6f}" == row["loss_percent"], method
        assert f"{result.loss_euclidean:.6f}" == row["loss_euclidean_percent"], method


@pytest.mark.slow
@pytest.mark.skipif(not ct.datasets.casc_available(), reason="there are no CASC files")
@pytest.mark.parametrize(("name", "k"), [("census", 3), ("tarragona", 5), ("eia", 10)])
def test_commands_give_the_losses_of_the_casc_sets(name, k):
    for method in ("auto", "mdav", "v-mdav", "mdav*"):
        row = ROWS[name, k, method]
        assert f"{printed(row['command']).loss:.6f}" == row["loss_percent"], method
