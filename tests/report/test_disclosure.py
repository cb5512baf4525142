"""The rule of the public report: what it shows is the same for each of the counts that it hides."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.facts.measures import ColumnLoss
from coterie.report import public
from coterie.report.disclosure import Disclosure


def rule(k, records):
    return Disclosure(k, records, {}, frozenset(), leaves_out=True, fills=False, blanks=False)


@st.composite
def distributions(draw):
    k = draw(st.integers(2, 10))
    after = draw(st.lists(st.integers(0, 12 * k), min_size=3, max_size=9))
    before = draw(st.lists(st.integers(0, 12 * k), min_size=len(after), max_size=len(after)))
    return k, before, after


@settings(max_examples=300, deadline=None)
@given(distributions(), st.data())
def test_a_small_count_can_be_any_other(given_, data):
    """Whichever of 0 to k - 1 it is, with what is left in the largest cell, the same is shown."""
    k, before, after = given_
    rest = max(range(len(after)), key=lambda i: (after[i], -i))
    small = [i for i, n in enumerate(before) if n < k and i != rest]
    if not small or sum(before) < sum(after) - k:
        return
    alone = [[i] for i in range(len(after))]
    shown = rule(k, sum(after)).cells(before, after, alone)
    i = data.draw(st.sampled_from(small))
    for count in range(k):
        other = list(before)
        other[i], other[rest] = count, before[rest] + before[i] - count
        if other[rest] >= 0:
            assert rule(k, sum(after)).cells(other, after, alone) == shown
    if shown is not None:
        assert shown.before[i] is None
        assert shown.before[rest] > k


def test_a_distribution_beside_few_changes_is_not_told():
    cells, alone = rule(5, 200).cells, [[0], [1], [2]]
    before, after = [100, 48, 52], [98, 52, 50]
    assert cells(before, after, alone, changed=6) is None  # up to 4 more in the last leave no room for others
    assert cells(before, after, alone, changed=20).before == (101, 47, 52)


def test_what_is_left_of_the_whole_is_not_told_to_be_little():
    cells = rule(5, 100).cells
    alone = [[0], [1], [2]]
    assert cells([10, 45, 45], [50, 25, 25], alone) is None  # 2 to 10 would be left for the first
    assert cells([40, 30, 30], [50, 25, 25], alone).before == (36, 32, 32)
    assert cells([97, 0, 3], [100, 0, 0], alone) is None  # two cells at most
    assert cells([88, 9, 3], [90, 5, 5], alone).before == (91, 7, None)


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_few_changed_records_and_few_unchanged_ones_look_alike(k):
    shares = [rule(k, 100).changed(ColumnLoss(1.0, None, None, c, 2), 100) for c in range(101)]
    assert shares[:k] == [None] * k
    assert shares[-k:] == [None] * k
    for first in range(k, 100 - 3 * k, k):
        assert len(set(shares[first - first % k : first - first % k + k])) == 1


def test_no_figure_is_finer_than_the_share_of_k_records():
    assert rule(5, 100).figure(0.1234, 0.01) == 0.1
    assert rule(5, 400).figure(0.1234, 0.01) == 0.12
    assert rule(5, 1080).figure(25.43, 0.1, 100.0) == 25.5
    assert rule(5, 10**6).figure(25.43, 0.1, 100.0) == 25.4
    assert rule(5, 100).figure(None, 0.1) is None


def test_a_count_of_records_left_out_is_told_from_k_on():
    assert [rule(5, 100).left_out(n) for n in (0, 1, 4, 5, 17)] == [None, None, None, 5, 17]


def told_of(kind, values, **more):
    table = pa.table({"x": np.random.default_rng(2).normal(size=len(values)), "y": values, "z": values[::-1].copy()})
    columns = {"x": {"role": "quasi", "kind": "numeric"}, "y": {"role": "quasi", "kind": kind}}
    columns["z"] = {"role": "quasi", "kind": kind}
    shown = public(ct.protect(table, {"k": 4, "seed": 1, "method": "mdav", "columns": columns} | more).facts)
    return shown.measures.loss.columns["y"], shown.measures.utility.columns["y"], shown


def test_how_much_is_told_goes_by_how_many_values_there_are():
    rng = np.random.default_rng(1)
    few, many = rng.integers(0, 6, 1000), rng.integers(0, 60, 1000)
    loss, utility, shown = told_of("integer", many)
    assert loss.told == "full"
    assert None not in (loss.loss_percent, loss.il1s, utility.variance_ratio, shown.measures.loss.loss_percent)
    loss, utility, shown = told_of("integer", few)
    assert (loss.told, loss.loss_percent, loss.il1s, utility.variance_ratio) == ("counts", None, None, None)
    assert loss.mismatch_share > 0.05
    assert utility.histogram is not None
    assert shown.measures.loss.loss_percent is None  # else the loss of the column would follow
    assert shown.groupings[0].loss_percent is None


def test_where_the_file_gives_exact_means_of_few_values_no_distribution_is_told():
    """Means of 0, 1 and 2 give their sum; with the count of one of them in a class of k, that of the other follows."""
    values = np.random.default_rng(1).integers(0, 3, 600).astype(float)
    loss, utility, _ = told_of("numeric", values)
    assert (loss.told, utility.histogram) == ("share", None)
    loss, utility, _ = told_of("numeric", values, centre="medoid")
    assert loss.told == "counts"
