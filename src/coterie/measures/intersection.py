"""Who is left where several releases of the same persons are laid over each other: the intersection attack.

Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008, doi
10.1145/1401890.1401926. An intruder who knows a person's quasi-identifiers finds the person's class in each release.
Whoever is in all these classes, and in no other release, could be the person; nobody else could.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

ABSENT = -1  # the class of a person in a release that holds no record of theirs
_MOST_ROWS = 100_000_000  # combinations of classes that are held
_MOST_PAIRS = 400_000_000  # pairs of a combination and a value that are looked at
_BATCH = 4_000_000  # of these at a time


class TooManyError(ValueError):
    """There are more combinations than can be held."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The records of one release: whose each is, and its class, both as numbers from 0 on."""

    person: Ints
    klass: Ints


@dataclass(frozen=True, eq=False)
class Overlaid:
    """The releases over each other.

    A combination is one class, or none, in each release. A person with one record in each has one of them; a person
    with several records has one for each choice of one record in each release.

    Attributes
    ----------
    person, combination : ndarray of int
        Which persons have which combinations; sorted by person.
    classes : ndarray of int
        For each combination (rows) and release (columns) the class, or ABSENT.
    sizes : ndarray of int
        How many persons have each combination.
    smallest : ndarray of int
        For each person, the least size of their combinations; 0 for those who are in no release.
    """

    person: Ints
    combination: Ints
    classes: Ints
    sizes: Ints
    smallest: Ints


def overlaid(releases: Sequence[Seen], persons: int) -> Overlaid:
    """Lay releases over each other; persons are numbered below `persons`."""
    person = _different(np.concatenate([seen.person for seen in releases])) if releases else np.empty(0, np.int64)
    combination, classes = np.zeros(len(person), np.int64), np.empty((1, 0), np.int64)
    for seen in releases:
        own_person, own_class = _pairs(seen.person, seen.klass)
        first = np.searchsorted(own_person, person, "left")
        count = np.searchsorted(own_person, person, "right") - first
        times = np.maximum(count, 1)
        if int(times.sum()) > _MOST_ROWS:
            raise TooManyError
        begin = np.repeat(np.cumsum(times) - times, times)
        at = np.repeat(first, times) + np.arange(len(begin)) - begin
        there = np.repeat(count > 0, times)
        klass = np.full(len(at), ABSENT, np.int64)
        klass[there] = own_class[at[there]]
        person, combination = np.repeat(person, times), np.repeat(combination, times)
        classes, combination = _combined(classes, combination, klass)
    sizes = np.bincount(combination, minlength=len(classes))
    smallest = np.zeros(persons, np.int64)
    if len(person):
        begins = np.flatnonzero(np.concatenate(([True], person[1:] != person[:-1])))
        smallest[person[begins]] = np.minimum.reduceat(sizes[combination], begins)
    return Overlaid(person, combination, classes, sizes, smallest)


def _different(keys: Ints) -> Ints:
    """The different ones, sorted: as NumPy's `unique`, which hashes, and takes ten times as long."""
    keys = np.sort(keys)
    return keys[np.concatenate(([True], keys[1:] != keys[:-1]))] if len(keys) else keys


def _pairs(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """The different pairs, sorted."""
    width = int(other.max()) + 1 if len(other) else 1
    keys = _different(one * width + other)
    return keys // width, keys % width


def _combined(classes: Ints, combination: Ints, klass: Ints) -> tuple[Ints, Ints]:
    """The combinations with a class more."""
    width = int(klass.max(initial=0)) + 2
    keys, which = np.unique(combination * width + klass + 1, return_inverse=True)
    longer = np.column_stack([classes[keys // width], keys % width - 1])
    return longer, which.reshape(-1).astype(np.int64)


@dataclass(frozen=True)
class Determined:
    """How many persons' value of a column follows from their classes in several releases.

    `persons` are those for whom the values that occur in all their classes are one, and it is theirs in every release.
    For `before` of them one class alone had a single value already.
    """

    persons: int
    before: int


def determined(values: Sequence[Ints | None], releases: Sequence[Seen], over: Overlaid) -> Determined | None:
    """Intersect the sets of values that a column has in a person's classes.

    `values` are those of each release's records, as numbers that mean the same in all, -1 where missing; None where a
    release does not hold the column. A person counts if two releases or more with the column hold them. None if there
    are more values than can be looked at.
    """
    width = max((int(v.max(initial=-1)) for v in values if v is not None), default=-1) + 1
    if width == 0:
        return Determined(0, 0)
    of_class, of_person = [], []
    for known, seen in zip(values, releases, strict=True):
        there = np.empty(0, np.int64) if known is None else np.flatnonzero(known >= 0)
        known = np.empty(0, np.int64) if known is None else known[there]
        of_class.append(_different(seen.klass[there] * width + known))
        of_person.append(_different(seen.person[there] * width + known))
    counts = np.full(over.classes.shape, -1, np.int64)  # of values in each class; -1 where the column is not there
    for j, known in enumerate(values):
        held = over.classes[:, j] >= 0
        if known is not None:
            per_class = np.bincount(of_class[j] // width, minlength=int(releases[j].klass.max(initial=0)) + 1)
            counts[held, j] = per_class[over.classes[held, j]]
    several = np.flatnonzero((counts >= 0).sum(axis=1) >= 2)
    if int(np.where(counts[several] >= 0, counts[several], np.iinfo(np.int64).max).min(axis=1).sum()) > _MOST_PAIRS:
        return None
    single, value = _single(several, counts, of_class, over.classes, width)
    return _counted(single, value, counts, of_person, over, width)


def _single(several: Ints, counts: Ints, of_class: Sequence[Ints], classes: Ints, width: int) -> tuple[Ints, Ints]:
    """The combinations whose classes have one value in common, and that value."""
    combinations, values = [], []
    base = np.argmin(np.where(counts[several] >= 0, counts[several], np.iinfo(np.int64).max), axis=1)
    for j in range(classes.shape[1]):
        own = several[base == j]
        sizes = counts[own, j]
        cuts = np.searchsorted(np.cumsum(sizes), np.arange(_BATCH, int(sizes.sum()), _BATCH))
        for rows in np.split(own, np.unique(cuts)):
            size = counts[rows, j]
            begin = np.searchsorted(of_class[j], classes[rows, j] * width)
            which = np.repeat(np.arange(len(rows)), size)
            value = of_class[j][np.repeat(begin - (np.cumsum(size) - size), size) + np.arange(len(which))] % width
            left = np.ones(len(which), bool)
            for other in range(classes.shape[1]):
                if other != j:
                    klass = classes[rows, other][which]
                    asked = counts[rows, other][which] >= 0
                    left &= ~asked | _among(klass * width + value, of_class[other])
            common = np.bincount(which[left], minlength=len(rows))
            one = left & (common[which] == 1)
            combinations.append(rows[which[one]])
            values.append(value[one])
    if not combinations:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate(combinations), np.concatenate(values)


def _counted(
    single: Ints, value: Ints, counts: Ints, of_person: Sequence[Ints], over: Overlaid, width: int
) -> Determined:
    """The persons with such a combination whose own value that is, in every release that holds them."""
    of_combination = np.full(len(over.classes), -1, np.int64)
    of_combination[single] = value
    rows = np.flatnonzero(of_combination[over.combination] >= 0)
    person, combination = over.person[rows], over.combination[rows]
    keys = person * width + of_combination[combination]
    own = np.ones(len(rows), bool)
    for j, known in enumerate(of_person):
        own &= (counts[combination, j] < 0) | _among(keys, known)
    alone = (counts == 1).any(axis=1)[combination]
    persons = np.unique(person[own])
    return Determined(len(persons), len(np.unique(person[own & alone])))


def _among(keys: Ints, known: Ints) -> Flags:
    """Which keys are among those that are known, which are sorted."""
    if not len(known):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    among: Flags = known[at] == keys
    return among


def below(over: Overlaid, k: Ints) -> Flags:
    """Which persons are in some release, and have fewer candidates than k asks for, person by person."""
    flags: Flags = (over.smallest > 0) & (over.smallest < k)
    return flags
