"""Groups that keep those together who were: by hand, and by hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.protection.stable import stable_groups

RECIPE = ct.Recipe(columns={"x": {"role": "quasi", "kind": "numeric"}}, k=3, method="mdav")


def groups(x, atom, k):
    """The sets of records in each group."""
    labels = stable_groups(np.array(x, float).reshape(-1, 1), k, np.array(atom), RECIPE, None, (1,)).labels
    return [set(np.flatnonzero(labels == g).tolist()) for g in range(max(labels) + 1)]


def test_by_hand():
    """k = 2. Atom 0 has four records and is divided; atom 1 has three and is not; 2 is far off and stays whole."""
    x = [0.0, 0.1, 9.0, 9.1, 0.05, 5.0, 9.05, 50.0, 60.0]
    atom = [0, 0, 0, 0, 1, 1, 1, 2, 2]
    assert groups(x, atom, 2) == [{0, 1}, {2, 3}, {4, 5, 6}, {7, 8}]


def test_small_atoms_are_put_together_whole():
    """k = 4, atoms of 2 (an earlier release had k = 2): the near ones make a group, each whole."""
    x = [0, 9, 0.1, 9.1, 1, 8, 1.1, 8.1]
    atom = [0, 1, 0, 1, 2, 3, 2, 3]
    assert groups(x, atom, 4) == [{0, 2, 4, 6}, {1, 3, 5, 7}]


def test_few_small_atoms_join_the_nearest_group():
    """k = 3: atom 2 has two records near atom 1."""
    x = [0, 1, 2, 10, 11, 12, 13, 14]
    atom = [0, 0, 0, 1, 1, 1, 2, 2]
    assert groups(x, atom, 3) == [{0, 1, 2}, {3, 4, 5, 6, 7}]


def test_small_atoms_that_make_a_group_themselves():
    """k = 3, two atoms of two and one of three: four records are enough for a group."""
    x = [0, 1, 2, 10, 11, 13, 14]
    atom = [0, 0, 0, 1, 1, 2, 2]
    assert groups(x, atom, 3) == [{0, 1, 2}, {3, 4, 5, 6}]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_every_group_has_k_records_and_enough_of_each_atom(data):
    k, earlier = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 5))
    sizes = data.draw(st.lists(st.integers(earlier, 12), min_size=1, max_size=8))
    if sum(sizes) < k:
        sizes.append(k)
    atom = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rng.shuffle(atom)
    found = groups(rng.integers(0, 20, len(atom)), atom, k)
    assert sorted(r for group in found for r in group) == list(range(len(atom)))
    for group in found:
        assert len(group) >= k
        for own in {atom[r] for r in group}:
            assert sum(atom[r] == own for r in group) >= min(k, earlier, sizes[own])
