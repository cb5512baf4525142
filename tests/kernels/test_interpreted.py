"""Kernels that Python runs, against the compiled ones: bit for bit."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie.algorithms import free, groups, mdav_star, refine, splitting
from coterie.algorithms.limits import Limits
from coterie.algorithms.mdav import mdav, mdav1
from coterie.algorithms.v_mdav import v_mdav
from coterie.kernels import _interpreted, by_hand, exact_sum, nearby, scan, search, small_parts
from coterie.kernels._in_numpy import IN_NUMPY
from strategies import KINDS, table


def by_python(module):
    """A module of kernels whose kernels Python runs."""
    kernels = {n: v for n, v in vars(module).items() if hasattr(v, "py_func")}

    def runs(kernel):
        return lambda *args: _interpreted._timed(_interpreted.plain(kernel), args, [0.0])

    return SimpleNamespace(**vars(module) | {n: runs(k) for n, k in kernels.items()})


@pytest.fixture(scope="module")
def switch():
    """Swap the kernels of the methods for those that Python runs, and back."""
    names = {scan: "few", exact_sum: "exact_sum", nearby: "nearby", search: "search", small_parts: "parts"}
    users = [(m, name, by_python(k)) for m in (free, groups, mdav_star, refine, splitting) for k, name in names.items()]
    users = [(m, name, plain) for m, name, plain in users if hasattr(m, name)]
    assert {name for _, name, _ in users} == set(names.values())

    def run(compute):
        kept = [getattr(m, name) for m, name, _ in users]
        for m, name, plain in users:
            setattr(m, name, plain)
        try:
            return compute()
        finally:
            for (m, name, _), value in zip(users, kept, strict=True):
                setattr(m, name, value)

    return run


tables = st.tuples(st.sampled_from(KINDS), st.integers(6, 40), st.integers(1, 4), st.integers(0, 2**32 - 1))


@pytest.mark.parametrize(
    "method",
    [mdav, mdav1, mdav_star.mdav_star, lambda X, k: v_mdav(X, k, gamma=0.4, loss=np.sum).labels],
    ids=["mdav", "mdav1", "mdav*", "v-mdav"],
)
@given(of=tables, k=st.integers(2, 3))
@settings(max_examples=25)
def test_methods(switch, method, of, k):
    X = table(*of)
    with by_hand(np.inf):
        compiled = method(X, k)
    np.testing.assert_array_equal(switch(lambda: method(X, k)), compiled)


@given(of=tables, k=st.integers(2, 4), parts=st.integers(1, 4))
@settings(max_examples=25)
def test_splitting(switch, of, k, parts):
    X = table(*of)
    part = np.arange(len(X)) % parts
    with by_hand(np.inf):
        compiled = splitting.split_by_mdav1(X, part, k)
    np.testing.assert_array_equal(switch(lambda: splitting.split_by_mdav1(X, part, k)), compiled)


@given(of=tables, k=st.integers(2, 3), steps=st.integers(1, 40))
@settings(max_examples=15)
def test_the_search(switch, of, k, steps):
    X = table(*of)
    start = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)

    def search_from():
        partition = refine._Search(X, start, k)
        if not partition.can_improve():
            return partition.best, start
        partition.prepare(np.random.default_rng(1), Limits())
        for tasks in partition.rounds(steps):
            for task in tasks:
                partition.advance(task, Event())
            partition.keep_best()
        return partition.best, partition.best_labels()

    with by_hand(np.inf):
        sse, labels = search_from()
    sse_by_python, labels_by_python = switch(search_from)
    assert sse_by_python == sse
    np.testing.assert_array_equal(labels_by_python, labels)


@given(of=tables)
@settings(max_examples=25)
def test_exact_means(of):
    X = table(*of) * 10.0 ** np.random.default_rng(of[3]).integers(-300, 280)
    order, starts = np.arange(len(X)), np.array([0, len(X) // 2, len(X)])
    means = by_python(exact_sum).group_means(X, order, starts)
    with by_hand(np.inf):
        np.testing.assert_array_equal(exact_sum.group_means(X, order, starts), means)


@given(
    of=st.tuples(st.sampled_from(KINDS), st.integers(60, 330), st.integers(1, 4), st.integers(0, 2**32 - 1)),
    reach=st.builds(refine.Reach, st.integers(1, 14), st.integers(1, 2), st.integers(1, 6)),
)
@settings(max_examples=40)
def test_neighbours_of_several_blocks(switch, of, reach):
    X = table(*of)
    X = X[free.close_together(X, np.arange(len(X)))]
    with by_hand(np.inf):
        compiled = refine.near_records(X, reach)
    np.testing.assert_array_equal(switch(lambda: refine.near_records(X, reach)), compiled)


@given(of=tables, m=st.integers(1, 50), taken=st.integers(0, 40))
@settings(max_examples=60)
def test_scans(of, m, taken):
    """Also where fewer records are free than asked for, or none."""
    X = table(*of)
    few = free.FewRecords(X).few
    gone = np.random.default_rng(of[3]).permutation(len(X))[:taken]
    with by_hand(np.inf):
        scan.remove(few, X, gone)
        farthest = scan.farthest(few, X[0])
        nearest = np.empty(m), np.empty(m, np.int64)
        scan.nearest(few, X[0], *nearest)
    by_numpy = np.empty(m), np.empty(m, np.int64)
    assert by_python(scan).farthest(few, X[0]) == farthest
    by_python(scan).nearest(few, X[0], *by_numpy)
    np.testing.assert_array_equal(by_numpy, nearest)


@given(of=tables, r=st.integers(0, 10), blocks=st.integers(1, 4))
@settings(max_examples=60)
@example(of=("normal", 60, 2, 1), r=8, blocks=1)
def test_scans_of_blocks(of, r, blocks):
    """Each record farther away than the last: nobody comes twice."""
    X, r = table(*of), r % of[1]
    few = free.FewRecords(X).few
    block = np.random.default_rng(of[3]).integers(0, blocks, len(X))
    found = [(np.empty(blocks, np.int64), np.empty(blocks)) for _ in range(2)]
    for last in range(len(X)):
        with by_hand(np.inf):
            scan.nearest_of_each(few, X, block, r, last, *found[0])
        by_python(scan).nearest_of_each(few, X, block, r, last, *found[1])
        assert last not in found[1][0]
        for compiled, plain in zip(*found, strict=True):
            np.testing.assert_array_equal(plain, compiled)


@pytest.mark.parametrize("name", sorted({name.partition(".")[0] for name in _interpreted._FEW}))
def test_no_powers_where_python_may_run(name):
    """NumPy's x**2 of one number is C's pow, whose last bit may be another than that of x * x."""
    tree = ast.parse(Path(importlib.import_module(f"coterie.kernels.{name}").__file__).read_text())
    powers = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    assert [n.lineno for n in powers if not isinstance(n.left, ast.Constant)] == []


def test_every_kernel_in_numpy_is_one():
    for name in IN_NUMPY:
        module, function = name.split(".")
        assert module in _interpreted._FEW
        assert hasattr(getattr(importlib.import_module(f"coterie.kernels.{module}"), function), "py_func")


def test_numbers_are_pythons_own():
    """As compiled kernels give them."""
    few = free.FewRecords(table("normal", 8, 2, 0))
    answer = _interpreted._timed(_interpreted.plain(scan.farthest), (few.few, np.zeros(2)), [0.0])
    assert type(answer) is int
    found = _interpreted._native((np.float64(1.5), np.int64(2), search.Pace(np.int64(3), 1, 2, np.float64(0.5))))
    assert [type(v) for v in (*found[:2], *found[2])] == [float, int, int, int, int, float]


def test_small_work_is_not_compiled_and_larger_work_is():
    on_disk = []
    fake = SimpleNamespace(
        py_func=exact_sum.add.py_func,
        typeof_pyval=type,
        targetctx=None,
        _cache=SimpleNamespace(holds=lambda *_: bool(on_disk)),
        _compile_for_args=lambda *_: "compiled",
    )
    _interpreted.let_interpret(fake)
    digits = np.zeros(exact_sum.DIGITS, np.int64)
    assert fake._compile_for_args(digits, 1.0, 1)(digits, 1.0, 1) is None
    assert digits.any()
    with by_hand(100.0):
        assert fake._compile_for_args(digits, 1.0, 1) == "compiled"
    assert fake._compile_for_args(np.zeros(10**6), 1.0, 1) == "compiled"
    on_disk.append("by another process")
    assert fake._compile_for_args(digits, 1.0, np.int64(1)) == "compiled"


def test_a_kernel_is_at_hand_where_it_has_been_or_will_be_compiled():
    stored = SimpleNamespace(signatures=[], _cache=SimpleNamespace(holds_any=lambda: True))
    missing = SimpleNamespace(signatures=[], _cache=SimpleNamespace(holds_any=lambda: False))
    used = SimpleNamespace(signatures=["one"], _cache=missing._cache)
    assert [_interpreted.at_hand(k) for k in (stored, missing, used)] == [True, False, True]
    with by_hand(np.inf):
        assert _interpreted.at_hand(missing)
