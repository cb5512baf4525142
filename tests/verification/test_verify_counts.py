"""verify beside a twin that counts by hand, and what it takes for one value of a confidential column."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import CoterieError
from coterie.verification import Claims, Guard, Scenario, check, sql, verify
from verified_files import MARKER, assert_silent, written

# The twin: counted by hand, from the texts


def classes_of(rows, key):
    classes = defaultdict(list)
    for row in rows:
        classes[tuple(row[j] for j in key)].append(row)
    return list(classes.values())


def twin_entropy(values):
    present = Counter(v for v in values if v is not None)
    total = sum(present.values())
    return math.exp(-sum(n / total * math.log(n / total) for n in present.values())) if total else 0.0


def twin_t(values, whole, ordered):
    """Li, Li and Venkatasubramanian (2007), word by word."""
    every = list(dict.fromkeys(whole))
    p, q = ([Fraction(list(v).count(x), len(v)) for x in every] for v in (values, whole))
    if not ordered:
        return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    every = sorted(set(whole))
    if len(every) == 1:
        return Fraction(0)
    total = Fraction(0)
    for i in range(len(every)):
        total += abs(
            sum(Fraction(values.count(x), len(values)) - Fraction(whole.count(x), len(whole)) for x in every[: i + 1])
        )
    return total / (len(every) - 1)


CELLS = st.sampled_from([None, "", "0", "0.0", "-0", "1", "1.0", "a", "A", "a ", 'q"q', "x,y", "l\nl", "ä"])


def as_csv(rows, names):
    """By hand: nothing where there is nothing, quotes wherever there could be doubt."""

    def cell(value):
        plain = value is not None and value and not set(value) & set('",\n')
        return "" if value is None else value if plain else '"' + value.replace('"', '""') + '"'

    return "\n".join([",".join(names), *(",".join(map(cell, row)) for row in rows)]) + "\n"


@settings(max_examples=25)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=30), st.integers(2, 4))
def test_k_by_counting_texts(tmp_path_factory, rows, k):
    path = written(tmp_path_factory.mktemp("k"), as_csv(rows, "abc"))
    found = verify(path, scenarios={"one": (["a"], k), "two": (["c", "a"], k)}).checks
    for one, key in zip(found, [(0,), (2, 0)], strict=True):
        sizes = [len(c) for c in classes_of(rows, key)]
        assert (one.found, one.classes) == (min(sizes), len(sizes))
        assert one.sizes == dict(sorted(Counter(s for s in sizes if s < k).items()))
        assert one.offending_classes == sum(s < k for s in sizes)
        assert one.offending_records == sum(s for s in sizes if s < k)
        assert one.ok == (min(sizes) >= k)


RECORDS = st.lists(
    st.tuples(st.sampled_from("uvw"), st.one_of(st.none(), st.sampled_from("pq")), st.integers(-3, 6)),
    min_size=1,
    max_size=40,
)


CONNECTION = duckdb.connect(config={"threads": 1})


def by_what(verdict):
    return {c.what: c for c in verdict.checks}


@settings(max_examples=30)
@given(
    RECORDS, st.booleans(), st.integers(2, 4), st.floats(1.01, 4), st.floats(1e-6, 0.99), st.booleans(), st.booleans()
)
def test_l_and_t_by_loops(rows, ordered, least, entropy, t, gaps, wide):
    values = [None if gaps and v == 0 else v for *_, v in rows]
    keys = [row[:2] for row in rows]
    if ordered and gaps and None in values:
        values = [v or 0 for v in values]
    table = pa.table({"v": [r[0] for r in keys], "size": [r[1] for r in keys], "w": pa.array(values, pa.int64())})
    guard = Guard("w", "numeric" if ordered else "nominal", l=least, entropy=entropy, t=t)
    relation = CONNECTION.from_arrow(table)
    with pytest.MonkeyPatch.context() as patch:
        if wide:
            patch.setattr(sql, "whole_type", lambda *_: "HUGEINT")
        found = by_what(check(relation, Claims((Scenario("all", ("v",), 2),), ("size",), (guard,))))
    classes = classes_of([(*key, v) for key, v in zip(keys, values, strict=True)], (0, 1))
    held = [[row[2] for row in c] for c in classes]
    distinct = [len({v for v in h if v is not None}) for h in held]
    told = found["distinct l-diversity"]
    assert (told.found, told.classes) == (min(distinct), len(held))
    assert told.offending_classes == sum(d < least for d in distinct)
    assert told.offending_records == sum(len(h) for h, d in zip(held, distinct, strict=True) if d < least)
    even = [twin_entropy(h) for h in held]
    assert found["entropy l-diversity"].found == pytest.approx(min(even), rel=1e-12)
    assert found["entropy l-diversity"].offending_classes == sum(e < entropy * (1 - 1e-12) for e in even)
    far = [twin_t(h, values, ordered) for h in held]
    assert found["t-closeness"].found == pytest.approx(float(max(far)), abs=1e-14)
    assert found["t-closeness"].offending_classes == sum(f > t + 1e-12 for f in map(float, far))
    constant = found["constant confidential values"]
    assert constant.found == sum(d <= 1 for d in distinct)
    assert constant.offending_records == sum(len(h) for h, d in zip(held, distinct, strict=True) if d <= 1)
    assert constant.ok


def test_the_example_of_the_paper():
    """Li, Li and Venkatasubramanian (2007), section 5: salaries 3k to 11k in three classes; 0.375 and 0.167."""
    salaries = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    table = pa.table({"class": [1, 1, 1, 2, 2, 2, 3, 3, 3], "salary": salaries})
    guard = {"kind": "numeric", "t": 0.37}
    assert twin_t([3, 4, 5], salaries, True) == Fraction(3, 8)
    assert twin_t([6, 8, 11], salaries, True) == Fraction(1, 6)
    told = by_what(verify(table, ["class"], 3, confidential={"salary": guard}))["t-closeness"]
    assert (told.found, told.offending_classes) == (0.375, 1)
    assert verify(table, ["class"], 3, confidential={"salary": guard | {"t": 0.375}})


def test_entropy_of_equal_shares_counts_them():
    table = pa.table({"a": [1] * 9, "c": list("uvwuvwuvw")})
    assert verify(table, ["a"], 9, confidential={"c": {"kind": "nominal", "entropy": 3, "l": 3}})
    assert not verify(table, ["a"], 9, confidential={"c": {"kind": "nominal", "entropy": 3.0001}})
    assert not verify(table, ["a"], 9, confidential={"c": {"kind": "nominal", "l": 4}})


# What a confidential value is


@pytest.mark.parametrize(
    ("cells", "guard", "distinct"),
    [
        (["1.0", "1.00", "+1", "10e-1"], {"kind": "numeric"}, 1),
        (["1,0", "1", "1,5"], {"kind": "numeric", "decimal": ","}, 2),
        (["1", "01", "1.0", "-1"], {"kind": "integer"}, 2),
        (["9007199254740993", "9007199254740992"], {"kind": "integer"}, 2),
        (["100000", "1e+05", "1E5", "1.5e1", "15"], {"kind": "integer"}, 2),
        (["flu", "flu ", "\u00a0flu", ""], {"kind": "nominal"}, 1),
        (["flu", "NA", "ulcer"], {"kind": "nominal", "missing": ["NA"]}, 2),
        (["true", "1", "TRUE", "t"], {"kind": "boolean"}, 1),
        (["ja", "Ja", "nein"], {"kind": "boolean"}, 2),
        (["low", "high", " low"], {"kind": "ordinal", "order": ["low", "mid", "high"]}, 2),
        (["2020-01-01", "2020-01-01 00:00", "2020-01-01T00:00:00Z", "2020-1-2"], {"kind": "datetime"}, 2),
        (["10:30", "10:30:00", "9:30"], {"kind": "datetime"}, 2),
        (["31.12.2020", "01.01.2021"], {"kind": "datetime", "format": "%d.%m.%Y"}, 2),
        (["20200101 23Z", "20200102 00+0100", "20200101 23+0000"], {"kind": "datetime", "format": "%Y%m%d %H%z"}, 1),
    ],
)
def test_texts_stand_for_values(tmp_path, cells, guard, distinct):
    path = written(tmp_path, as_csv([("k", cell) for cell in cells], "ac"))
    told = verify(path, ["a"], 2, confidential={"c": guard | {"l": 2}}).checks[1]
    assert told.found == distinct


@pytest.mark.parametrize(
    ("cells", "guard"),
    [
        (["1", MARKER], {"kind": "numeric"}),
        (["1", "1_000"], {"kind": "numeric"}),
        (["1", "nan"], {"kind": "numeric"}),
        (["1", "0x10"], {"kind": "integer"}),
        (["1", "1.5"], {"kind": "integer"}),
        (["1.5", "1,5"], {"kind": "numeric"}),
        (["low", MARKER], {"kind": "ordinal", "order": ["low", "high"]}),
        (["2020-01-01 10:00+2"], {"kind": "datetime"}),
        (["31.12.2020"], {"kind": "datetime"}),
        (["a", "b"], {"kind": "ordinal"}),
        (["1", ""], {"kind": "numeric", "t": 0.5}),
        (["low", ""], {"kind": "ordinal", "order": ["low", "high"], "t": 0.5}),
    ],
)
def test_values_that_cannot_be_read_are_refused(tmp_path, cells, guard):
    path = written(tmp_path, as_csv([("k", cell) for cell in cells], "ac"))
    with pytest.raises(CoterieError) as told:
        verify(path, ["a"], 2, confidential={"c": guard})
    assert_silent(told.value)


def test_missing_is_a_category_of_its_own_without_an_order():
    table = pa.table({"a": [1, 1, 2, 2], "c": ["u", None, "u", "u"]})
    told = by_what(verify(table, ["a"], 2, confidential={"c": {"kind": "nominal", "t": 0.2}}))["t-closeness"]
    assert (told.found, told.offending_classes) == (0.25, 2)


def test_typed_confidential_columns():
    nan = float("nan")
    table = pa.table(
        {
            "a": [1, 1, 1],
            "f": pa.array([0.0, -0.0, nan], from_pandas=False),
            "d": pa.array([1, 2, 2], pa.timestamp("ns")),
            "b": [True, False, None],
            "o": [1, 2, 3],
            "n": [Decimal("1.10"), Decimal("1.20"), None],
        }
    )
    claims = {
        "f": {"kind": "numeric"},
        "d": {"kind": "datetime", "t": 0.5},
        "b": {"kind": "boolean"},
        "o": {"kind": "ordinal", "order": [1, 2, 3], "t": 0.1},
        "n": {"kind": "numeric"},
    }
    verdict = verify(table, ["a"], 2, confidential={c: g | {"l": 2} for c, g in claims.items()})
    distinct = {c.columns[0]: c.found for c in verdict.checks if c.what == "distinct l-diversity"}
    assert distinct == {"f": 1, "d": 2, "b": 2, "o": 3, "n": 2}
    for column, guard in {
        "o": {"kind": "ordinal", "order": ["low", "high"]},
        "f": {"kind": "numeric", "decimal": ","},
        "b": {"kind": "nominal", "missing": ["NA"]},
    }.items():
        with pytest.raises(CoterieError):
            verify(table, ["a"], 2, confidential={column: guard})
