"""Values at the ends of their types: what is released is near them, and never at the other end."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import coterie as ct
from coterie.recipe.sections import ColumnRule
from coterie.tables import kinds

MOST = 2**63 - 1


def moments(unit, ticks):
    return pa.array(ticks, pa.int64()).view(pa.timestamp(unit))


ENDS = {
    **{f"{unit} {MOST}": moments(unit, [MOST - i % 4 for i in range(24)]) for unit in ("ns", "us", "ms", "s")},
    **{f"{unit} -{MOST}": moments(unit, [-MOST + i % 4 for i in range(24)]) for unit in ("ns", "us", "ms", "s")},
    **{f"{unit} both": moments(unit, [MOST, -MOST] * 12) for unit in ("ns", "us")},
    "date32": pa.array([2**31 - 1 - i % 4 for i in range(24)], pa.int32()).view(pa.date32()),
    "date32 low": pa.array([-(2**31) + i % 4 for i in range(24)], pa.int32()).view(pa.date32()),
    "time64": pa.array([86_400 * 10**9 - 1 - i % 4 for i in range(24)], pa.int64()).view(pa.time64("ns")),
}


def as_numbers(array):
    return np.array(array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32()).to_pylist(), object)


@pytest.mark.parametrize("name", ENDS)
def test_moments_at_the_ends(name):
    """Seen: timestamp[ns] near its limit came out as the lowest value."""
    array = ENDS[name]
    rules = {"k": 3, "seed": 1, "columns": {"x": {"role": "quasi", "kind": "datetime"}, "y": "other"}}
    release = ct.protect(pa.table({"x": array, "y": np.arange(24)}), rules)
    data = release.data.combine_chunks().sort_by("y")
    before, after = as_numbers(array), as_numbers(data.column("x").combine_chunks())
    room = 2 * 10**15 if " both" not in name else 2**64  # floats of that size are 2,048 apart, in microseconds
    assert all(abs(int(a) - int(b)) <= room for a, b in zip(after, before, strict=True))
    if " both" not in name:
        assert all((int(a) > 0) == (int(b) > 0) for a, b in zip(after, before, strict=True))
    str(release)


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_the_lowest_is_no_moment(unit):
    """To pandas and NumPy it is a missing one."""
    typed = kinds.read("x", moments(unit, [-(2**63), MOST]), ColumnRule(role="quasi", kind="datetime"))
    back = typed.write(typed.column.numbers).cast(pa.int64()).to_pylist()
    assert back == [-MOST, MOST]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (ENDS[f"ns {MOST}"], "datetime"),
        (ENDS[f"us -{MOST}"], "datetime"),
        (ENDS["date32"], "datetime"),
        (ENDS["date32 low"], "datetime"),
        (pa.array([2**64 - 1 - i % 4 for i in range(24)], pa.uint64()), "numeric"),
        (pa.array([2**63 - 1, -(2**63)] * 12, pa.int64()), "numeric"),
        (pa.array([255 - i % 4 for i in range(24)], pa.uint8()), "integer"),
        (pa.array([-128 + i % 4 for i in range(24)], pa.int8()), "integer"),
        (pa.array([2**53 - 1 - i % 4 for i in range(24)], pa.int64()), "integer"),
        (pa.array([Decimal("99.99"), Decimal("99.98"), Decimal("-99.99")] * 8, pa.decimal128(4, 2)), "numeric"),
        (pa.array([65504.0, -65504.0] * 12, pa.float32()).cast(pa.float16()), "numeric"),
        (pa.array([3.4028234e38, 1e-45] * 12, pa.float32()), "numeric"),
        (pa.array([1e-320 * (i % 7) for i in range(24)]), "numeric"),
    ],
    ids=lambda x: str(x.type) if isinstance(x, pa.Array) else x,
)
def test_releases_at_the_ends_are_the_same_on_both_engines(tmp_path, engine, array, kind):
    path = tmp_path / "in.parquet"
    pa.parquet.write_table(pa.table({"x": array, "y": np.arange(24)}), path)
    rules = {"k": 3, "seed": 1, "columns": {"x": {"role": "quasi", "kind": kind}, "y": "other"}}
    ct.protect(path, {**rules, "method": {"name": "mdav", "blocks": "auto"}}, engine=engine).save(tmp_path / "out")
    assert ct.verify(tmp_path / "out").ok
    assert ct.replay(tmp_path / "out", path).same
    data = pa.parquet.read_table(tmp_path / "out" / "data.parquet").sort_by("y")
    whole = ct.protect(path, {**rules, "method": {"name": "mdav", "blocks": "auto"}}).data.sort_by("y")
    assert data.column("x").equals(whole.column("x"))
