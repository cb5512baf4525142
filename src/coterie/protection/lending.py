"""Which values are set to missing, where too few records have the same pattern of missing values.

`missing.plan_blanking` says from counts which patterns are joined, and how many records one lends to another. The few
records that are lent, those nearest to the pattern that needs them, are found here, in two looks at the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column, joined_columns
from ..tables.gathering import Gather
from ..tables.records import Records
from .centroids import Centroid
from .components import Component
from .missing import Move, plan_blanking, plan_joining
from .scales import Scale

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Place = tuple[int, int]  # a stratum, and gaps
Candidate = tuple[float, int, Place]  # distance, number of a record, where it is
Places = Callable[[Records], tuple[Ints, list[Place | None]]]


class Blanked(NamedTuple):
    """Where the records of each stratum and pattern end, and the records that end elsewhere: from and to."""

    into: dict[Place, Place]
    moved: dict[int, tuple[Place, Place]]


@dataclass
class _Pattern:
    """Who has a pattern by now: all records of some original patterns but those that were lent, and borrowed ones."""

    origins: list[int] = field(default_factory=list)
    borrowed: list[int] = field(default_factory=list)  # numbers of records


@dataclass(eq=False)
class _Choice:
    """A move that must choose records: those it is for, those it may choose from, and how many may be needed."""

    small: list[Place]
    lenders: list[Place]
    most: int
    centroid: Centroid | None = None
    candidates: list[Candidate] = field(default_factory=list)


def blank(
    component: Component,
    sizes: Counter[Place],
    gather: Gather,
    columns: Sequence[str],
    scales: Mapping[str, Scale],
    importance: Mapping[str, float],
    places: Places,
    units: Mapping[Place, set[int]] | None = None,
) -> Blanked:
    """Join patterns with fewer than k records of their stratum with others, and say where all records end.

    `columns` are those that `places` looks at, beside the component's.
    With `units`, those with fewer than k units: whole patterns are joined then, and none lends records to another.
    """
    by_stratum: dict[int, list[int]] = {}
    for stratum, gaps in sorted(sizes):
        by_stratum.setdefault(stratum, []).append(gaps)
    plans = {}
    for s, patterns in by_stratum.items():
        own = None if units is None else [units.get((s, g), set()) for g in patterns]
        plans[s] = _Plan(s, patterns, np.array([sizes[s, g] for g in patterns]), component, own)
    choices = [choice for plan in plans.values() for choice in plan.choices.values()]
    if choices:
        gather(columns, _SmallRows(component.quasi, places, choices)).set_centroids(scales, importance)
        gather(columns, _Offers(component.quasi, places, choices))
    out = Blanked({}, {})
    for plan in plans.values():
        plan.carry_out(out)
    return out


class _Plan:
    """The moves of one stratum."""

    def __init__(
        self, stratum: int, gaps: list[int], sizes: Ints, component: Component, units: list[set[int]] | None
    ) -> None:
        p = len(component.quasi)
        flags = np.array([[g >> (p - 1 - j) & 1 for j in range(p)] for g in gaps], bool)
        if units is None:
            plan = plan_blanking(flags, sizes, component.k)
        else:
            plan = plan_joining(flags, sizes, component.k, units)
        weights = [1 << (p - 1 - j) for j in range(p)]
        self.gaps = [sum(w for w, bit in zip(weights, row, strict=True) if bit) for row in plan.patterns.tolist()]
        self.stratum, self.moves, self._originals = stratum, plan.moves, len(gaps)
        self.choices: dict[int, _Choice] = {}
        self._rehearse()

    def _place(self, pattern: int) -> Place:
        return self.stratum, self.gaps[pattern]

    def _start(self) -> dict[int, _Pattern]:
        return {i: _Pattern([i]) if i < self._originals else _Pattern() for i in range(len(self.gaps))}

    def _rehearse(self) -> None:
        """Go through the moves without records, to know which must choose and among whom."""
        has, lent = self._start(), 0
        for number, move in enumerate(self.moves):
            if move.divides:
                lent += move.lent
                small, lenders = has[move.small].origins, has[move.lender].origins
                self.choices[number] = _Choice(
                    [self._place(i) for i in small], [self._place(i) for i in lenders], most=lent
                )
            _move(has, move, [])

    def carry_out(self, out: Blanked) -> None:
        """Make the moves, and note where everybody ends."""
        has = self._start()
        origin: dict[int, Place] = {}  # of the records that were lent
        for number, move in enumerate(self.moves):
            chosen: list[int] = []
            if move.divides:
                offered = [c for c in sorted(self.choices[number].candidates) if c[1] not in origin][: move.lent]
                chosen = [record for _, record, _ in offered]
                # what was borrowed is lent again only where nothing else is left
                chosen += sorted(has[move.lender].borrowed)[: move.lent - len(chosen)]
                origin |= {record: place for _, record, place in offered}
            _move(has, move, chosen)
        for i, pattern in has.items():
            out.into.update({self._place(j): self._place(i) for j in pattern.origins})
            out.moved.update({record: (origin[record], self._place(i)) for record in pattern.borrowed})


def _move(has: dict[int, _Pattern], move: Move, chosen: list[int]) -> None:
    """Give the union what it gets."""
    small, lender = has[move.small], has[move.lender]
    has[move.small] = _Pattern()
    if move.divides:
        lender.borrowed = [record for record in lender.borrowed if record not in chosen]
        given = _Pattern([], chosen)
    elif move.lent:
        has[move.lender], given = _Pattern(), lender
    else:
        given = _Pattern()
    union = has[move.union]
    union.origins += small.origins + given.origins
    union.borrowed += small.borrowed + given.borrowed


class _SmallRows:
    """The first look: at the records that each choice is for."""

    def __init__(self, names: Sequence[str], places: Places, choices: list[_Choice]) -> None:
        self._names, self._places, self._choices = names, places, choices
        self.found: dict[Place, list[tuple[Ints, list[Column]]]] = {p: [] for choice in choices for p in choice.small}

    def add(self, records: Records) -> None:
        """Take in some records."""
        for place, at in _rows(records, self._places, set(self.found)):
            columns = [records.column(name).at(at) for name in self._names]
            self.found[place].append((records.numbers[at], columns))

    def merge(self, found: dict[Place, list[tuple[Ints, list[Column]]]]) -> None:
        """Take in what was found among other records."""
        for place, rows in found.items():
            self.found[place] += rows

    def set_centroids(self, scales: Mapping[str, Scale], importance: Mapping[str, float]) -> None:
        """Give each choice the mean of the records that it is for."""
        for choice in self._choices:
            parts = [part for place in choice.small for part in self.found[place]]
            order = np.argsort(np.concatenate([numbers for numbers, _ in parts]))
            columns = [joined_columns([part[j] for _, part in parts]).at(order) for j in range(len(self._names))]
            choice.centroid = Centroid(columns, scales, importance)


class _Offers:
    """The second look: at the records that are nearest to that mean, as many as may be needed."""

    def __init__(self, names: Sequence[str], places: Places, choices: list[_Choice]) -> None:
        self._names, self._places, self._choices = names, places, choices

    def add(self, records: Records) -> None:
        """Take in some records."""
        wanted = {place for choice in self._choices for place in choice.lenders}
        rows = dict(_rows(records, self._places, wanted))
        for choice in self._choices:
            for place in choice.lenders:
                if place in rows:
                    self._offer(choice, place, records, rows[place])

    @property
    def found(self) -> list[list[Candidate]]:
        """The candidates of each choice."""
        return [choice.candidates for choice in self._choices]

    def merge(self, found: list[list[Candidate]]) -> None:
        """Take in candidates from among other records."""
        for choice, candidates in zip(self._choices, found, strict=True):
            choice.candidates = sorted([*choice.candidates, *candidates])[: choice.most]

    def _offer(self, choice: _Choice, place: Place, records: Records, at: Ints) -> None:
        assert choice.centroid is not None
        distance = choice.centroid.squared_distances([records.column(name).at(at) for name in self._names])
        nearest = np.lexsort((at, distance))[: choice.most]
        new = zip(distance[nearest].tolist(), records.numbers[at[nearest]].tolist(), strict=True)
        choice.candidates = sorted([*choice.candidates, *((d, number, place) for d, number in new)])[: choice.most]


def _rows(records: Records, places_of: Places, wanted: set[Place]) -> Iterable[tuple[Place, Ints]]:
    """The rows of each wanted place."""
    code, places = places_of(records)
    for place in sorted(wanted & {place for place in places if place is not None}):
        numbers = [i for i, other in enumerate(places) if other == place]
        yield place, np.flatnonzero(np.isin(code, numbers))
