"""Minimal sample uniques and SUDA scores: against all sets one by one, printed examples, and cases done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from coterie.errors import CoterieError
from coterie.measures import suda
from coterie.measures.coarsening import coarsened, coarser, in_turn
from coterie.measures.risk import class_risk, combined, values
from coterie.tables.columns import Column


def numbered(rows):
    """Columns as `minimal_uniques` takes them."""
    return [
        np.unique([str(row[j]) for row in rows], return_inverse=True)[1].astype(np.int64) for j in range(len(rows[0]))
    ]


def checked(rows, depth=None, units=None, threads=None):
    depth = depth or len(rows[0])
    whose = None if units is None else np.array(units)
    found = suda.minimal_uniques(numbered(rows), depth, whose, threads)
    sets = reference.minimal_sample_uniques(rows, depth, units)
    by_record = [[sum(len(s) == size for s in own) for size in range(1, depth + 1)] for own in sets]
    by_column = [
        [sum(len(s) == size and j in s for own in sets for s in own) for size in range(1, depth + 1)]
        for j in range(len(rows[0]))
    ]
    assert found.by_record.tolist() == by_record
    assert found.by_column.tolist() == by_column
    return found


@st.composite
def tables(draw):
    """Few values, so that there are ties, duplicates and constant columns; or many, so that all are alone."""
    p, n = draw(st.integers(1, 6)), draw(st.integers(1, 30))
    most = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 8, 1000]), min_size=p, max_size=p))
    rows = draw(st.lists(st.tuples(*(st.integers(0, m) for m in most)), min_size=n, max_size=n))
    again = draw(st.lists(st.integers(0, n - 1), max_size=10))
    return rows + [rows[i] for i in again]


@given(rows=tables(), threads=st.integers(1, 3), data=st.data())
@settings(max_examples=120, deadline=None)
def test_all_sets_one_by_one(rows, threads, data):
    checked(rows, data.draw(st.integers(1, len(rows[0])), "depth"), threads=threads)


@given(rows=tables(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_a_set_is_unique_if_its_records_are_one_units(rows, data):
    units = data.draw(st.lists(st.integers(-1, 6), min_size=len(rows), max_size=len(rows)), "units")
    checked(rows, units=units)


@pytest.mark.parametrize(
    "rows", [[(1,)], [(1, 2)], [(1, 2), (1, 2)], [(1, 2)] * 5, [(1, 1), (1, 2)], [(i, 0) for i in range(9)]], ids=repr
)
def test_edges(rows):
    checked(rows)


def test_many_words_and_turns(monkeypatch):
    """More records than a word has bits, and more than are asked about at once: the same, on any number of threads."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, m, 3_000) for m in (2, 3, 4, 5, 8, 20)]
    once = suda.minimal_uniques(columns, 6, threads=1)
    assert once.by_record.sum() > 3_000
    monkeypatch.setattr(suda, "_BITS", 1_000)  # bytes: turns of 64 or so records
    for threads in (1, 3):
        again = suda.minimal_uniques(columns, 6, threads=threads)
        np.testing.assert_array_equal(again.by_record, once.by_record)
        np.testing.assert_array_equal(again.by_column, once.by_column)
    shallow = suda.minimal_uniques(columns, 3)
    np.testing.assert_array_equal(shallow.by_record, once.by_record[:, :3])
    np.testing.assert_array_equal(shallow.by_column, once.by_column[:, :3])


GUIDE = [  # the example of the SDC Practice Guide (IHSN, "Measuring risk"), also a test of sdcMicro
    ("urban", "female", "secondary incomplete", "employed"),
    ("urban", "female", "secondary incomplete", "employed"),
    ("urban", "female", "primary incomplete", "non-LF"),
    ("urban", "male", "secondary complete", "employed"),
    ("rural", "female", "secondary complete", "unemployed"),
    ("urban", "male", "secondary complete", "employed"),
    ("urban", "female", "primary complete", "non-LF"),
    ("urban", "male", "post-secondary", "unemployed"),
    ("urban", "female", "secondary incomplete", "non-LF"),
    ("urban", "female", "secondary incomplete", "non-LF"),
]


@pytest.mark.parametrize("depth", [3, 4])
def test_scores_that_the_guide_prints(depth):
    """Record 5: {rural} gives 3 * 2 * 1 = 6, three pairs 2 * 1 = 2 each: 12."""
    found = checked(GUIDE, depth)
    assert suda.suda_scores(found).tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_scores_that_a_book_prints():
    """Templ 2017, Statistical Disclosure Control for Microdata; sdcMicro tests the records 5 to 8."""
    rows = list(
        zip(
            ["20s"] * 7 + ["60s"],
            ["male"] * 4 + ["female"] * 3 + ["male"],
            ["50k+"] * 2 + ["50k-"] * 6,
            ["high"] * 4 + ["university", "high", "middle", "university"],
            strict=True,
        )
    )
    assert suda.suda_scores(checked(rows))[4:].tolist() == [4, 2, 6, 8]


def test_shares_that_sdcmicro_tests():
    """Three records, m = 3. Scores: {a} 2; {b} 2, {c} 2; {a,b} 1, {a,c} 1: 8 in all. With a: 2 + 1 + 1; b: 2 + 1."""
    found = checked([(2, 0, 0), (1, 3, 6), (1, 0, 0)])
    assert suda.suda_scores(found).tolist() == [2, 4, 2]
    assert suda.shares(found) == [0.5, 0.375, 0.375]


def test_dis_scores_that_the_guide_prints():
    """Its DIS-SUDA column was made from scores of another form (IHSN): 7/4 for one column, 1/2 for two.

    U = 4, P = 6 (three pairs), f = 0.01: DIS = 0.04 / (0.04 + 6 * 0.99) = 0.04 / 5.98. Records 3, 5, 7 and 8 have one
    set of size 1 and 0, 3, 0 and 2 of size 2.
    """
    estimate = suda.dis(4, 6, 0.01)
    assert estimate == pytest.approx(0.04 / 5.98)
    scores = np.array([0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0])
    printed = [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert suda.dis_scores(scores, 4, estimate, 4).round(4).tolist() == printed
    assert suda.dis(0, 6, 0.01) is None
    assert suda.dis_scores(np.zeros(3), 0, 0.5, 4).tolist() == [0, 0, 0]
    assert suda.dis_scores(np.array([1, 2.0]), 2, 0.5, 27) is not None
    assert suda.dis_scores(np.array([1, 2.0]), 2, 0.5, 28) is None  # q = 0


def test_weights():
    assert suda.weights_of(4, 4) == [6, 2, 1, 1]  # (4 - s)!
    assert suda.weights_of(5, 2) == [4 * 3, 3]
    assert suda.weights_of(1, 1) == [1]
    assert suda.weights_of(12, 12)[0] == 39_916_800  # 11!


def test_how_deep():
    assert [suda.depth_for(p) for p in (1, 12, 13, 20, 29, 30, 5000)] == [1, 12, 6, 3, 3, 2, 1]
    assert suda.depth_for(4, 9) == 4
    assert suda.depth_for(16, 16) == 16
    with pytest.raises(CoterieError, match="sets of up to 17 of 17 columns") as error:
        suda.depth_for(17, 17)
    assert "search up to 8 columns" in str(error.value)
    assert suda.sets_up_to(17, 8) < suda.MOST_SETS <= suda.sets_up_to(17, 9)


def column(kind, numbers):
    return Column("x", kind, np.array(numbers, float))


def test_halves():
    def half(kind, numbers, times=1):
        c = column(kind, numbers)
        return coarser(c, values(c), times).tolist()

    gap = np.nan
    assert half("integer", [10, 20, 30, 40, 50, gap, 10]) == [0, 0, 1, 1, 2, 3, 0]  # 5 values become 3; missing stays
    assert half("nominal", [0, 0, 0, 1, 2, 2, 3, gap]) == [0, 0, 0, 1, 1, 1, 1, 2]  # 4 become 2: the first, and others
    assert half("nominal", [0, 1, 1, 2, 2, 3, 3, 4]) == [2, 0, 0, 1, 1, 2, 2, 2]  # ties stay by their order
    assert half("integer", [10, 20, 30, 40, 50, gap, 10], 2) == [0, 0, 0, 0, 1, 2, 0]
    assert half("nominal", [0, 1, 1, 2, 2, 3, 3, 4], 2) == [1, 0, 0, 1, 1, 1, 1, 1]  # 5, 3, 2: one stays
    assert half("boolean", [0, 1, 1]) == [0, 0, 0]
    assert half("integer", [7, 7]) == [0, 0]
    assert half("integer", [gap, gap]) == [0, 0]


def test_what_coarsening_changes():
    """Six records, two columns; classes: (1,0) twice, (2,0), (3,0), (3,1), (4,1): 5 classes, 4 unique records.

    The first column halved ({1,2}, {3,4}): (a,0) three times, (b,0), (b,1) twice: 3 classes, 1 unique: a fall of 2/5.
    Left out: 4 and 2 records: 2 classes, none unique: 3/5. The second halved is the second left out: 1, 1, 2, 3, 3, 4
    make 4 classes, 2 unique: 1/5.
    """
    columns = [column("integer", [1, 1, 2, 3, 3, 4]), column("boolean", [0, 0, 0, 0, 1, 1])]
    numbers = [values(c) for c in columns]
    whole = class_risk(combined(numbers), 2)
    (half, without), (same, again) = coarsened(columns, numbers, 2, None, whole)
    assert (whole.unique, whole.expected_reidentifications) == (4, 5)
    assert (half.values, half.unique, half.below_k, half.expected_reidentifications) == (2, 1, 1, 3)
    assert half.fall_percent == pytest.approx(40)
    assert (without.values, without.unique, without.expected_reidentifications) == (1, 0, 2)
    assert same == again
    assert (same.unique, same.fall_percent) == (2, pytest.approx(20))


def test_in_turn():
    """The same six records: 5 classes. Halving the first leaves 3, the second 4: so the first; 3 > 0.5, a tenth of 5.

    Then the first again (one value: 2 classes) or the second ({1,2}, {3,4}: 2 classes): the first of equal ones with
    two values each. Then the second: one class, and nothing is left to halve.
    """
    columns = [column("integer", [1, 1, 2, 3, 3, 4]), Column("y", "boolean", np.array([0, 0, 0, 0, 1, 1.0]))]
    numbers = [values(c) for c in columns]
    steps = in_turn(columns, numbers, 2, None, class_risk(combined(numbers), 2))
    told = [(s.column, s.values, s.unique, s.below_k, s.expected_reidentifications) for s in steps]
    assert told == [("x", 2, 1, 1, 3), ("x", 1, 0, 0, 2), ("y", 1, 0, 0, 1)]


def test_columns_that_identify_alone_are_halved_in_turn():
    """Halving one of two columns merges the two records that are alike in the other; halving both, all pairs."""
    columns = [column("integer", range(40)), Column("y", "integer", np.array([*range(39), 38.0]))]
    numbers = [values(c) for c in columns]
    steps = in_turn(columns, numbers, 2, None, class_risk(combined(numbers), 2))
    assert [s.column for s in steps[:4]] == ["x", "y", "x", "y"]
    assert [s.expected_reidentifications for s in steps[:2]] == [39, 20]
    assert steps[-1].expected_reidentifications <= 4  # a tenth
