"""Unique records and values are those that loops count, in columns of any type and any number."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from coterie.errors import CoterieError
from coterie.verification import uniqueness as module
from coterie.verification.uniqueness import ColumnValues, uniqueness


def by_loops(values):
    counts = Counter(v for v in values if v is not None)
    return ColumnValues(sum(counts.values()), len(counts), sum(n == 1 for n in counts.values()))


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    gaps = rng.random(n) < 0.2
    return pa.table(
        {
            "whole": pa.array(rng.integers(0, 40, n), mask=gaps),
            "real": pa.array(rng.normal(size=n).round(1), mask=gaps),
            "text": pa.array([f"t{i}" for i in rng.integers(0, 50, n)], mask=gaps),
            "flag": pa.array(rng.random(n) < 0.5),
            "none": pa.nulls(n, pa.string()),
            "day": pa.array(rng.integers(0, 90, n).astype("datetime64[D]")),
            **{f"x{j}": pa.array(rng.integers(0, 2 * j + 1, n)) for j in range(20)},
        }
    )


@pytest.mark.parametrize("cells", [1, 100, 4_000_000])
def test_values_and_records_are_counted_as_by_loops(cells, monkeypatch):
    monkeypatch.setattr(module, "CELLS", cells)
    data = table()
    names = data.column_names
    sets = {"two": ["whole", "flag"], "all": names}
    found = uniqueness(data, names, sets)
    assert found.records == 60
    assert found.columns == {name: by_loops(data.column(name).to_pylist()) for name in names}
    for name, some in sets.items():
        rows = list(zip(*[data.column(c).to_pylist() for c in some], strict=True))
        assert found.unique[name] == sum(n == 1 for n in Counter(rows).values())


def test_texts_that_mean_missing_and_nan_are_no_values():
    data = pa.table({"text": ["NA", "NA", "a", " ", "b", "b"], "real": [float("nan"), 1.0, 2.0, 2.0, 3.0, 3.0]})
    found = uniqueness(data, ["text", "real"], {"both": ["text", "real"]}, missing=["NA"])
    assert found.columns == {"text": ColumnValues(3, 2, 1), "real": ColumnValues(5, 3, 1)}
    assert found.unique == {"both": 4}  # gaps are values there


def test_files_are_read_as_verify_reads_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1;x\n1;x\n1,0;y\n", encoding="utf-8")
    dialect = {"delimiter": ";", "quote": '"', "encoding": "utf-8", "header": True}
    found = uniqueness(path, ["a"], {"both": ["a", "b"]}, dialect=dialect, memory=2**28)
    assert found == (3, {"a": ColumnValues(3, 2, 1)}, {"both": 1})
    with pytest.raises(CoterieError, match="no 'c'"):
        uniqueness(path, [], {"one": ["c"]}, dialect=dialect)
