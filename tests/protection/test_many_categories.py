"""As many categories as a nominal quasi-identifier may have take no column of the matrix each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from coterie.protection import encoding, proving, solve
from coterie.protection.category_codes import WIDTH
from coterie.protection.encoding import encode_columns
from coterie.protection.scales import Scale
from coterie.release.flow import protect
from coterie.tables.columns import Column
from coterie.tables.kinds import MOST_CATEGORIES

MEGABYTE = 2**20


def nominal(records, categories, seed=0):
    """Every category comes, as far as there are records."""
    rng = np.random.default_rng(seed)
    numbers = np.concatenate([np.arange(categories), rng.integers(0, categories, records - categories)])
    return Column("c", "nominal", rng.permutation(numbers).astype(float), tuple(f"c{i:04}" for i in range(categories)))


def test_a_hundred_thousand_records_with_all_categories_fit():
    """Indicators would be 3.3 GB, which is refused."""
    assert MOST_CATEGORIES == 4096
    X = encode_columns([nominal(100_000, MOST_CATEGORIES)], {}, only_used=True)
    assert X.shape == (100_000, WIDTH)
    assert X.nbytes < 110 * MEGABYTE


def test_protecting_takes_no_column_for_each_category(monkeypatch):
    column = nominal(5_000, MOST_CATEGORIES)
    texts = [column.categories[int(i)] for i in column.numbers]
    table = pa.table({"a": np.random.default_rng(1).normal(size=5_000), "c": texts})
    columns = {"a": {"role": "quasi", "kind": "numeric"}, "c": {"role": "quasi", "kind": "nominal"}}
    shapes = []

    def watched(*args, **options):
        X = encode_columns(*args, **options)
        shapes.append(X.shape)
        return X

    monkeypatch.setattr(solve, "encode_columns", watched)
    release = protect(table, {"k": 3, "seed": 1, "columns": columns, "method": "mdav"})
    assert shapes == [(5_000, 1 + WIDTH)]
    assert release.verdict.ok
    assert set(release.data["c"].to_pylist()) <= set(column.categories)


def test_one_category_more_is_refused():
    texts = [f"c{i}" for i in range(MOST_CATEGORIES + 1)]
    columns = {"c": {"role": "quasi", "kind": "nominal"}}
    with pytest.raises(Exception, match="at most 4,096 categories"):
        protect(pa.table({"c": texts}), {"k": 3, "columns": columns})


@pytest.mark.parametrize("seed", range(3))
def test_a_bound_by_codes_is_below_that_by_indicators(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    columns = [nominal(600, 300, seed), Column("a", "numeric", rng.normal(size=600))]
    scales = {"a": Scale(0.0, 1.0)}
    labels = np.arange(600) // 5
    exact = proving.prove(columns, scales, {}, 5, labels, "fast")
    monkeypatch.setattr(encoding, "MOST_VALUES", 600 * 200)
    assert not encoding.fits_exactly(columns)
    coded = proving.prove(columns, scales, {}, 5, labels, "fast")
    assert 0 < coded.sse < encode_sse(columns, scales, labels)
    assert coded.sse <= 9 / 8 * exact.sse  # another bound of the same loss, not the same
    assert coded.kind == exact.kind


def encode_sse(columns, scales, labels):
    """The loss of these groups, by indicators."""
    X = np.column_stack(
        [np.eye(300)[columns[0].numbers.astype(int)] * np.sqrt(0.5), scales["a"].scaled(columns[1].numbers)]
    )
    means = np.stack([np.bincount(labels, x) for x in X.T], axis=1) / np.bincount(labels)[:, None]
    return float(np.square(X - means[labels]).sum())
