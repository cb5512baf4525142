"""Releases over each other, beside a literal twin: sets of persons, by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.measures import intersection
from coterie.measures.intersection import Seen, TooManyError, below, determined, overlaid


def seen(*pairs):
    return Seen(np.array([p for p, _ in pairs], np.int64), np.array([c for _, c in pairs], np.int64))


def classes_of(release, person):
    """The classes that a person is in; None, if in none of this release."""
    return {c for p, c in release if p == person} or {None}


def twin_smallest(releases, person):
    """For each choice of one class in each release: who is in all of them, and not where the person is not?"""
    everyone = {p for release in releases for p, _ in release}
    sets = []
    for choice in product(*(classes_of(release, person) for release in releases)):
        alike = {q for q in everyone if all(c in classes_of(r, q) for c, r in zip(choice, releases, strict=True))}
        sets.append(len(alike))
    return min(sets)


def twin_determined(releases, values, person):
    """Whether a person's value follows from the values in their classes of two releases or more; and from one alone."""
    found = alone = False
    for choice in product(*(classes_of(release, person) for release in releases)):
        held = [j for j, c in enumerate(choice) if c is not None and values[j] is not None]
        if len(held) < 2:
            continue
        in_class = [
            {v for (_, c), v in zip(releases[j], values[j], strict=True) if c == choice[j] and v >= 0} for j in held
        ]
        own = [{v for (p, _), v in zip(releases[j], values[j], strict=True) if p == person} for j in held]
        common = set.intersection(*in_class)
        if len(common) == 1 and all(common <= mine for mine in own):
            found = True
            alone |= any(len(these) == 1 for these in in_class)
    return found, alone


records = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=14)
tables = st.lists(records, min_size=1, max_size=3)


@settings(max_examples=250, deadline=None)
@given(tables)
def test_sets_are_those_of_the_twin(releases):
    over = overlaid([seen(*release) for release in releases], 10)
    there = {p for release in releases for p, _ in release}
    for person in range(10):
        assert over.smallest[person] == (twin_smallest(releases, person) if person in there else 0)
    assert set(np.flatnonzero(below(over, np.full(10, 3)))) == {p for p in there if twin_smallest(releases, p) < 3}


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_values_that_follow_are_those_of_the_twin(data):
    releases = data.draw(tables)
    values = [
        data.draw(st.none() | st.lists(st.integers(-1, 3), min_size=len(release), max_size=len(release)))
        for release in releases
    ]
    own = [seen(*release) for release in releases]
    arrays = [None if v is None else np.array(v, np.int64) for v in values]
    found = determined(arrays, own, overlaid(own, 10))
    told = [twin_determined(releases, values, p) for p in {p for release in releases for p, _ in release}]
    assert (found.persons, found.before) == (sum(t for t, _ in told), sum(a for _, a in told))


def test_by_hand():
    """Six persons. First release: {0 1 2} {3 4 5}. Second: {0 1 3} {2 4}; 5 left, 6 is new and with 2 and 4.

    0 and 1 share both classes: 2. Person 2 is in {0 1 2} and {2 4 6}: alone. 3 is in {3 4 5} and {0 1 3}: alone. 4 is
    in {3 4 5} and {2 4 6}: alone. 5 is in {3 4 5} and in no second class, as nobody else of them: alone. 6 is in
    {2 4 6} and in no first class: alone.
    """
    first = seen((0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1))
    second = seen((0, 0), (1, 0), (3, 0), (2, 1), (4, 1), (6, 1))
    over = overlaid([first, second], 7)
    assert over.smallest.tolist() == [2, 2, 1, 1, 1, 1, 1]
    # Values, first: 0:a 1:b 2:a 3:a 4:b 5:c; second: 0:a 1:b 3:c 2:a 4:c 6:a. With a, b, c = 0, 1, 2:
    # 0 and 1: {a b} and {a b c} leave {a b}. 2: {a b} and {a c} leave a, which is theirs: it follows. 3: {a b c} and
    # {a b c} leave three. 4: {a b c} and {c a} leave two. 5 and 6 are in one release.
    found = determined([np.array([0, 1, 0, 0, 1, 2]), np.array([0, 1, 2, 0, 2, 0])], [first, second], over)
    assert (found.persons, found.before) == (1, 0)


def test_persons_with_several_records():
    """Person 0 has records in two classes of each release. One of the four choices, (1, 1), fits nobody else."""
    first = seen((0, 0), (0, 1), (1, 0), (2, 1))
    second = seen((0, 0), (0, 1), (1, 0), (1, 1), (2, 0))
    assert overlaid([first, second], 3).smallest.tolist() == [1, 2, 2]


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(intersection, "_MOST_ROWS", 3)
    both = seen((0, 0), (0, 1))
    with pytest.raises(TooManyError):
        overlaid([both, both], 1)


def test_too_many_values_are_not_counted(monkeypatch):
    both = seen((0, 0), (1, 0))
    over, values = overlaid([both, both], 2), [np.array([0, 1])] * 2
    assert determined(values, [both, both], over).persons == 0
    monkeypatch.setattr(intersection, "_MOST_PAIRS", 1)
    assert determined(values, [both, both], over) is None


def test_values_are_looked_at_in_batches(monkeypatch):
    rng = np.random.default_rng(0)
    own = [Seen(rng.permutation(60), np.repeat(np.arange(12), 5)) for _ in range(2)]
    values = [rng.integers(0, 8, 60) for _ in range(2)]
    values[1] = values[0][np.argsort(own[0].person)][own[1].person]  # everybody keeps their value
    over = overlaid(own, 60)
    whole = determined(values, own, over)
    monkeypatch.setattr(intersection, "_BATCH", 7)
    assert determined(values, own, over) == whole
    assert whole.persons > 0
