"""The rooms between columns and a release: encoding, centres, strata, gaps; each against a literal twin."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from coterie.errors import PromiseError
from coterie.protection import encoding
from coterie.protection.category_codes import MOST_CATEGORIES, WIDTH, category_codes, farthest
from coterie.protection.cells import Heads, refuse_small
from coterie.protection.centres import centres_of_groups, medoids
from coterie.protection.components import Component
from coterie.protection.encoding import MOST_INDICATORS
from coterie.protection.lending import blank
from coterie.protection.losses import nominal_sse, part_loss
from coterie.protection.missing import plan_blanking
from coterie.protection.scales import Scale
from coterie.protection.strata import merge_small_strata, sparse_sums
from coterie.protection.unit_counts import UnitSets
from coterie.tables.columns import Column
from coterie.tables.gathering import gathered
from exact_scales import decimals_of, scale_of

NAN = float("nan")
NUMBERS = itertools.count()


def column(values, kind="numeric", categories=()):
    numbers = np.array([NAN if v is None else v for v in values], dtype=float)
    return Column(f"x{next(NUMBERS)}", kind, numbers, tuple(categories))


def scales(columns):
    return {c.name: scale_of(c.numbers) for c in columns if c.is_ordered}


def encode_columns(columns, **more):
    return encoding.encode_columns(columns, scales(columns), **more)


def centre_of_groups(column, labels, weights, step):
    """What each record gets."""
    return centres_of_groups(column, labels, weights, step)[labels]


def distances(*columns):
    X = encode_columns(columns)
    return np.square(X[:, None] - X[None]).sum(axis=2)


def test_a_mismatch_costs_one():
    nominal = column([0, 1, 2, 0, None], "nominal", "abc")
    np.testing.assert_allclose(distances(nominal)[0], [0, 1, 1, 0, 0.5])
    boolean = column([0, 1, 0, None], "boolean", ("no", "yes"))
    np.testing.assert_allclose(distances(boolean)[0], [0, 1, 0, 0.25])
    two = column([0, 1], "nominal", "ab")
    assert encode_columns([two]).shape == (2, 1)


def test_numbers_are_standardized_over_what_is_there():
    X = encode_columns([column([1e9 + 1, 1e9 + 3, None]), column([0, 2, 1], "ordinal", "abc")])
    np.testing.assert_allclose(X[:, 0], [-1, 1, 0])
    np.testing.assert_allclose(X[:, 1], np.array([-1, 1, 0]) * np.sqrt(1.5))
    assert not encode_columns([column([None, None])]).any()


def many(m, n, seed=0, gaps=0.1):
    """A nominal column of m categories, of which not all need occur."""
    rng = np.random.default_rng(seed)
    numbers = np.where(rng.random(n) < gaps, NAN, rng.integers(0, m, n))
    return Column("x", "nominal", numbers, tuple(f"c{i:05d}" for i in range(m)))


def test_categories_that_nobody_has_take_no_column():
    nominal, number = many(200, 40), column(np.arange(40.0))
    whole, used = encode_columns([number, nominal]), encode_columns([number, nominal], only_used=True)
    assert used.shape[1] == 1 + len(set(nominal.numbers[~nominal.missing])) < whole.shape[1] == 201
    np.testing.assert_array_equal(used, whole[:, whole.any(axis=0)])
    assert encode_columns([column([None, None], "nominal", "abc")], only_used=True).tolist() == [[0], [0]]


def test_up_to_some_categories_each_has_an_indicator():
    few, more = many(MOST_INDICATORS, 50), many(MOST_INDICATORS + 1, 50)
    assert encode_columns([few]).shape == (50, MOST_INDICATORS)
    assert encode_columns([more]).shape == (50, WIDTH)
    exact = encode_columns([more], exact=True)
    expected = np.zeros((50, MOST_INDICATORS + 1))
    for i, category in enumerate(more.numbers):
        if not np.isnan(category):
            expected[i, int(category)] = np.sqrt(0.5)
    np.testing.assert_array_equal(exact, expected)


def test_codes_of_many_categories_are_about_as_far_apart_as_indicators():
    nominal = many(5000, 400)
    X = encode_columns([nominal])
    d2 = np.square(X[:, None] - X[None]).sum(axis=2)
    same = nominal.numbers[:, None] == nominal.numbers[None]
    there = ~nominal.missing
    assert set(d2[same]) == {0.0}
    assert set(d2[there][:, there][~same[there][:, there]]) == {0.875, 1.0, 1.125}
    assert set(d2[there][:, ~there].ravel()) == {0.5}
    part = Column("x", "nominal", nominal.numbers[100:200], nominal.categories)
    np.testing.assert_array_equal(encode_columns([part]), X[100:200])


@pytest.mark.parametrize(("digits", "weights"), [(1, {64}), (2, {56, 64, 72}), (3, {48, 56, 64, 72, 80})])
def test_weights_of_all_codes(digits, weights):
    """The codes are closed under addition, so the weights of all are the distances of any two."""
    found = set()
    for start in range(0, WIDTH**digits, WIDTH**2):
        block = category_codes(np.arange(max(1, start), min(WIDTH**digits, start + WIDTH**2)))
        found |= set(np.count_nonzero(block < 0, axis=1).tolist())
    assert found == weights
    rng = np.random.default_rng(digits)
    i, j = rng.integers(0, WIDTH**digits, (2, 2000))
    apart = np.count_nonzero(category_codes(i) != category_codes(j), axis=1)
    assert set(apart[i != j]) <= weights
    assert not apart[i == j].any()
    assert farthest(WIDTH**digits) == 2 * max(weights) / WIDTH


def test_codes_of_very_many_categories_differ():
    i = np.random.default_rng(0).integers(0, MOST_CATEGORIES, 500)
    codes = category_codes(np.append(i, MOST_CATEGORIES - 1))
    apart = np.square(codes[:, None] - codes[None]).sum(axis=2)
    assert apart[~np.eye(501, dtype=bool)].min() >= 0.5
    assert apart.max() <= farthest(MOST_CATEGORIES)
    assert np.square(codes).sum(axis=1).tolist() == [0.5] * 501


@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=20),
)
def test_sse_from_counts_of_categories(m, rows):
    categories, labels, weights = np.array(rows).T
    categories = np.minimum(categories, m - 1)
    nominal = Column("x", "nominal", np.where(categories < 0, NAN, categories), tuple("abcde"[:m]))
    number = column(weights * labels - 1.0)
    X, Z = encode_columns([nominal]).tolist(), encode_columns([nominal, number]).tolist()
    ones, weighted = nominal_sse(categories, labels, m), nominal_sse(categories, labels, m, weights.astype(float))
    for g in range(labels.max() + 1):
        own = np.flatnonzero(labels == g).tolist()
        repeated = np.repeat(own, weights[own]).tolist()
        assert ones[g] == pytest.approx(reference.sse(X, own) if own else 0.0, abs=1e-12)
        assert weighted[g] == pytest.approx(reference.sse(X, repeated) if own else 0.0, abs=1e-12)
    spread = part_loss([nominal, number], scales([nominal, number]), labels, weights.astype(float))
    groups = [np.flatnonzero(labels == g).tolist() for g in set(labels.tolist())]
    assert spread.plain.sse == pytest.approx(sum(reference.sse(Z, own) for own in groups), abs=1e-9)
    assert spread.plain.sst == pytest.approx(reference.sse(Z, range(len(Z))), abs=1e-9)
    everyone = np.repeat(np.arange(len(Z)), weights).tolist()
    assert spread.weighted.sst == pytest.approx(reference.sse(Z, everyone), abs=1e-9)


values = st.one_of(st.none(), st.integers(-5, 5))
tables = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(values, min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.integers(1, 5), min_size=n, max_size=n),
    )
)


def members(numbers, labels, weights):
    groups = defaultdict(list)
    for x, g, w in zip(numbers, labels, weights, strict=True):
        groups[g] += [(x, w)] if x is not None else []
    return groups


@given(tables)
def test_means(table):
    numbers, labels, weights = table
    found = centre_of_groups(column(numbers), np.array(labels), np.array(weights, float), 0.0)
    for g, group in members(numbers, labels, weights).items():
        own = found[np.array(labels) == g]
        if not group:
            assert np.isnan(own).all()
            continue
        mean = Fraction(sum(x * w for x, w in group), sum(w for _, w in group))
        np.testing.assert_allclose(own, float(mean), rtol=1e-14, atol=1e-15)
        assert len(set(own)) == 1


@given(tables)
def test_medians_of_categories(table):
    numbers, labels, weights = table
    numbers = [None if x is None else x + 5 for x in numbers]
    found = centre_of_groups(column(numbers, "ordinal", "abcdefghijk"), np.array(labels), np.array(weights, float), 1.0)
    for g, group in members(numbers, labels, weights).items():
        if group:
            drawn = sorted(itertools.chain.from_iterable([x] * w for x, w in group))
            assert set(found[np.array(labels) == g]) == {drawn[(len(drawn) - 1) // 2]}


@given(tables)
def test_most_frequent_categories(table):
    numbers, labels, weights = table
    numbers = [None if x is None else x + 5 for x in numbers]
    found = centre_of_groups(column(numbers, "nominal", "abcdefghijk"), np.array(labels), np.array(weights, float), 1.0)
    whole = Counter()
    for x, w in zip(numbers, weights, strict=True):
        whole[x] += w
    for g, group in members(numbers, labels, weights).items():
        if group:
            often = Counter()
            for x, w in group:
                often[x] += w
            best = min(often, key=lambda x: (-often[x], -whole[x], x))
            assert set(found[np.array(labels) == g]) == {best}


def test_offsets_and_rounding():
    x = column([1e15 + 1, 1e15 + 2, 1e15 + 4])
    labels = np.zeros(3, np.int64)
    assert set(centre_of_groups(x, labels, None, 1.0)) == {1e15 + 2}
    assert set(centre_of_groups(column([0.1, 0.1, 0.1]), labels, None, 0.0)) == {0.1}
    assert set(centre_of_groups(column([0.12, 0.12, 0.13]), labels, None, 0.01)) == {0.12}
    assert not np.signbit(centre_of_groups(column([-0.4, 0.3, 0.0]), labels, None, 1.0)).any()
    assert set(centre_of_groups(column([1200, 1400, 1500]), labels, None, 1000.0)) == {1000.0}


def test_weights_and_numbers_of_all_magnitudes():
    labels = np.array([0, 0, 0, 1, 1, 1])
    ranks = Column("x", "ordinal", np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0]), ("a", "b", "c"))
    weights = np.array([1e20, 1e20, 1e20, 1.0, 1.0, 3.0])
    assert centre_of_groups(ranks, labels, weights, 1.0).tolist() == [1, 1, 1, 2, 2, 2]
    names = Column("x", "nominal", np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0]), ("a", "b"))
    assert centre_of_groups(names, labels, np.full(6, 1e-14), 1.0).tolist() == [1, 1, 1, 0, 0, 0]
    large = Column("x", "numeric", np.array([1e295, 3e295, 2e295, 0.12, 0.12, 0.12]))
    assert centre_of_groups(large, labels, None, 1e-15)[[0, 3]] == pytest.approx([2e295, 0.12])


def test_a_medoid_is_a_record_of_its_group():
    X = np.array([[0.0], [1.0], [5.0], [9.0], [9.0], [9.0]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert medoids(X, labels).tolist() == [1, 3]


def test_small_strata_are_refused_with_counts():
    records, units = Heads(len, None, "records"), Heads(len, UnitSets(3), "persons")
    with pytest.raises(PromiseError, match=r"2 of 3 with fewer than k = 3, 3 records in all"):
        refuse_small([3, 1, 2], 3, records, "what.", "hint.")
    with pytest.raises(PromiseError, match=r"2 of 3 with fewer than k = 3\. Hint"):  # units of two may be the same
        refuse_small([3, 1, 2], 3, units, "what.", "hint.")
    refuse_small([3], 3, records, "what.", "hint.")


def merge_small(X, strata, k):
    """The stratum of each record once small ones are merged, numbered from 0 on."""
    sums = np.column_stack([np.bincount(strata, x) for x in X.T])
    into = merge_small_strata(np.bincount(strata), sums, k)
    return np.unique(into[strata], return_inverse=True)[1]


def test_small_strata_join_the_nearest():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [10.0], [10.0], [10.0]])
    strata = np.array([0, 0, 0, 1, 2, 2, 2])
    assert merge_small(X, strata, 3).tolist() == [0, 0, 0, 0, 1, 1, 1]


@given(st.lists(st.integers(0, 6), min_size=4, max_size=30), st.integers(2, 4))
def test_merged_strata_have_k_records_and_stay_whole(labels, k):
    strata = np.unique(labels, return_inverse=True)[1]
    X = np.random.default_rng(len(labels)).normal(size=(len(labels), 2))
    merged = merge_small(X, strata, k)
    assert np.bincount(merged).min() >= k
    for s in range(strata.max() + 1):
        assert len(set(merged[strata == s])) == 1
    large = np.flatnonzero(np.bincount(strata) >= k)
    if len(large) == strata.max() + 1:
        assert len(set(merged)) == len(large)


few_values = st.sampled_from([0.0, 0.0, 0.0, -0.0, 1.0, -1.0, 0.1, 0.3, np.sqrt(0.5)])
strata_sums = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        st.lists(st.integers(0, 6), min_size=shape[0], max_size=shape[0]),
        st.lists(st.lists(few_values, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]),
        st.integers(2, 12),
    )
)


@given(strata_sums)
def test_merged_as_by_the_literal_rule(case):
    """Few values, so that sizes and distances tie, and sums cancel."""
    sizes, centres, k = case
    sums = np.array(centres) * np.array(sizes)[:, None]
    assert merge_small_strata(np.array(sizes), sums, k).tolist() == reference.merge_small_strata(sizes, sums, k)


@pytest.mark.parametrize("k", [3, 30])
def test_many_nominal_strata_merge_as_by_the_literal_rule(k):
    """Every stratum is a category; rows outgrow their room many times."""
    rng = np.random.default_rng(k)
    strata = np.concatenate([np.arange(60), rng.integers(0, 60, 200)])
    sizes = np.bincount(strata)
    numbers = np.array([np.bincount(strata, rng.normal(size=260)) for _ in range(2)]).T
    sums = np.hstack([numbers, np.diag(sizes * np.sqrt(0.5))])
    expected = reference.merge_small_strata(sizes.tolist(), sums, k)
    assert merge_small_strata(sizes, sums, k).tolist() == expected
    stratum, at = np.nonzero(sums)
    shuffled = rng.permutation(len(at))
    stratum, at = stratum[shuffled], at[shuffled]
    sparse = sparse_sums(stratum, at, sums[stratum, at], 60)
    assert merge_small_strata(sizes, sparse, k).tolist() == expected


patterns = st.integers(2, 4).flatmap(
    lambda k: st.tuples(st.just(k), st.lists(st.tuples(*[st.booleans()] * 3), min_size=k, max_size=25))
)


@pytest.mark.parametrize(
    ("numbers", "places"),
    [
        ([1.0, 2.0], 0),
        ([0.1, 0.25, np.nan], 2),
        ([1200.0, -300.0], -2),
        ([0.0, np.nan], 0),
        ([np.pi], 15),
        ([np.nextafter(0.3, 1), 0.1], None),
        ([1e300, 0.001], 3),
        (np.float32([0.1, 0.25, 1e-3]).astype(float), 3),
    ],
)
def test_decimals_of_a_column(numbers, places):
    assert decimals_of(np.array(numbers)) == places


class Given:
    """Records whose first columns are those of X, whatever is missing; the others are 0."""

    def __init__(self, X, rows):
        self._X, self.numbers = X, rows

    def column(self, name):
        j = int(name)
        x = self._X[self.numbers, j] if j < self._X.shape[1] else np.zeros(len(self.numbers))
        return Column(name, "numeric", x)


def pattern_numbers(missing):
    return [int("".join("01"[flag] for flag in row), 2) for row in missing.tolist()]


def blanked(missing, X, k, pieces=3):
    """Which values are missing once every pattern has k records, by counts and looks at the table in pieces."""
    n, p = missing.shape
    gaps = pattern_numbers(missing)
    names = tuple(str(j) for j in range(p))
    rows = [part for part in np.array_split(np.arange(n), pieces) if len(part)]
    rng = np.random.default_rng(n)

    def look(_, into):
        return gathered((Given(X, rows[i]) for i in rng.permutation(len(rows))), into)  # in any order

    def places(records):
        own = [(0, gaps[i]) for i in records.numbers]
        kinds = sorted(set(own))
        return np.array([kinds.index(place) for place in own]), kinds

    found = blank(
        Component("all", names, k),
        Counter((0, g) for g in gaps),
        look,
        names,
        dict.fromkeys(names, Scale(0.0, 1.0)),
        {},
        places,
    )
    final = [found.moved[i][1][1] if i in found.moved else found.into[0, g][1] for i, g in enumerate(gaps)]
    return np.array([[g >> (p - 1 - j) & 1 for j in range(p)] for g in final], bool)


def patterns_of(missing):
    return np.unique(pattern_numbers(missing), return_inverse=True)[1]


@given(patterns)
def test_gaps_that_are_filled_up(case):
    k, gaps = case
    missing = np.array(gaps)
    X = np.random.default_rng(len(gaps)).normal(size=(len(gaps), 2))
    out = blanked(missing, X, k)
    assert np.bincount(patterns_of(out)).min() >= k
    assert not np.any(missing & ~out)  # no gap is filled
    if np.bincount(patterns_of(missing)).min() >= k:
        np.testing.assert_array_equal(out, missing)
    np.testing.assert_array_equal(out, blanked_literally(gaps, X, k))


def blanked_literally(gaps, X, k):
    """The rule of docs/recipe.md, word by word."""
    rows, borrowed = defaultdict(list), set()
    for i, pattern in enumerate(gaps):
        rows[pattern].append(i)
    while len(rows) > 1:
        a = min(rows, key=lambda pattern: (len(rows[pattern]), pattern))
        few = len(rows[a])
        if few >= k:
            break
        ways = []
        for b in rows.keys() - {a}:
            size, union = len(rows[b]), tuple(x or y for x, y in zip(a, b, strict=True))
            for lent in {size, 0 if union == b else size, k - few if size - (k - few) >= k else size}:
                ways.append((few * (sum(union) - sum(a)) + lent * (sum(union) - sum(b)), b, lent, union))
        _, b, lent, union = min(ways)
        own, its = rows.pop(a), rows.pop(b)
        mean = X[sorted(own)].mean(axis=0)
        # what was lent before is lent again only where nothing else is left
        its.sort(key=lambda i: (i in borrowed, 0.0 if i in borrowed else np.square(X[i] - mean).sum(), i))
        if 0 < lent < len(its):
            borrowed |= set(its[:lent])
        if its[lent:]:
            rows[b] = its[lent:]
        rows[union] = sorted([*rows.get(union, []), *own, *its[:lent]])
    out = np.empty((len(gaps), len(gaps[0])), bool)
    for pattern, members in rows.items():
        out[members] = pattern
    return out


@given(patterns)
def test_a_pattern_below_k_holds_whole_original_patterns(case):
    """So the mean of its records is known from counts and sums of the patterns."""
    k, gaps = case
    kinds = sorted(set(gaps))
    sizes = [gaps.count(pattern) for pattern in kinds]
    plan = plan_blanking(np.array(kinds), np.array(sizes), k)
    assert plan.patterns[: len(kinds)].tolist() == [list(pattern) for pattern in kinds]
    assert len({tuple(pattern) for pattern in plan.patterns.tolist()}) == len(plan.patterns)
    held = [[i] for i in range(len(kinds))] + [[] for _ in plan.patterns[len(kinds) :]]  # None: part of a pattern
    sizes += [0] * (len(plan.patterns) - len(kinds))
    for move in plan.moves:
        assert None not in held[move.small]
        assert 0 < sizes[move.small] < k
        own, its = held[move.small], held[move.lender]
        size = sizes[move.small]
        lent = [None] if move.divides else its if move.kept == 0 else []
        assert sizes[move.lender] == move.lent + move.kept
        held[move.small], sizes[move.small] = [], 0
        held[move.lender], sizes[move.lender] = [None] if move.divides else its if move.kept else [], move.kept
        held[move.union] = held[move.union] + own + lent
        sizes[move.union] += size + move.lent
    assert all(size == 0 or size >= k for size in sizes)


@given(patterns, st.integers(0, 70))
def test_gaps_of_many_columns(case, columns):
    """More columns than bits in a word: those between the first and the others are never missing."""
    k, gaps = case
    missing = np.zeros((len(gaps), columns + 3), bool)
    missing[:, [0, -2, -1]] = gaps
    X = np.random.default_rng(len(gaps)).integers(0, 3, size=(len(gaps), 2)).astype(float)  # equally near ones
    out = blanked(missing, X, k)
    np.testing.assert_array_equal(out[:, [0, -2, -1]], blanked_literally(gaps, X, k))
    assert not out[:, 1:-2].any()


def test_few_cells_are_blanked():
    missing = np.zeros((20, 3), bool)
    missing[:2, 0] = True  # two records with a gap: three more lend theirs, the nearest
    X = np.arange(20.0)[:, None]
    out = blanked(missing, X, 5)
    assert out[:, 0].tolist() == [True] * 5 + [False] * 15
    assert not out[:, 1:].any()
    missing[10:16, :2] = True  # six with that gap and another: moving there costs two cells, not three
    out = blanked(missing, X, 5)
    assert out.sum() == missing.sum() + 2
    assert out[:2, 1].all()
