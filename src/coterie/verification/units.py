"""Units that are counted before their column is dropped: piece by piece, as a release is written.

A piece is the released records and, beside them, whose they are. Where all records of a class are in one piece, as
those of a group always are, nothing has to be kept of it but a number: a hash of 64 bits. (A class with too few units
in one piece is looked for among the others by it; that it meets one that is not itself has a chance of some 1e-12.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import sql, verdict
from .asking import ask, folds_of, kinds_of
from .claims import Claims, Scenario
from .reading import opened
from .verdict import Check


class _Classes:
    """The classes of one scenario: those that have enough units in a piece, and the units of the others."""

    def __init__(self) -> None:
        self.least: int | None = None  # units of a class in a piece in which it has enough
        self.full: list[Any] = []  # the numbers of these classes
        self.units: dict[int, set[int]] = {}  # of those that have not, so far
        self.records: dict[int, int] = {}

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        """Take in the classes of a piece: number, records, how many units, and which, if these are too few."""
        full = [(number, least) for number, _, least, few in rows if few is None]
        if full:
            least = min(least for _, least in full)
            self.least = least if self.least is None else min(self.least, least)
            self.full.append(np.array([number for number, _ in full], np.uint64))
        for number, records, _, few in rows:
            if few is not None:
                self.units.setdefault(number, set()).update(few)
                self.records[number] = self.records.get(number, 0) + records

    def merge(self, other: _Classes) -> None:
        """Take in the classes of other pieces."""
        known = [least for least in (self.least, other.least) if least is not None]
        self.least = min(known, default=None)
        self.full += other.full
        for number, units in other.units.items():
            self.units.setdefault(number, set()).update(units)
            self.records[number] = self.records.get(number, 0) + other.records[number]

    def check(self, scenario: Scenario, column: str) -> Check:
        """What was found."""
        full = np.unique(np.concatenate(self.full)) if self.full else np.empty(0, np.uint64)
        left = {n: units for n, units in self.units.items() if not _holds(full, n)}
        few = [n for n, units in left.items() if len(units) < scenario.k]
        known = [len(units) for units in left.values()] + ([] if self.least is None else [self.least])
        exposed = sum(self.records[n] for n in few)
        classes = len(full) + len(left)
        return verdict.units(scenario.name, column, scenario.k, min(known), classes, len(few), exposed, "input")


def _holds(numbers: Any, number: int) -> bool:
    at = int(np.searchsorted(numbers, np.uint64(number)))
    return at < len(numbers) and int(numbers[at]) == number


class UnitCount:
    """Counts the units in every class of every scenario.

    Parameters
    ----------
    claims : Claims
        With a unit; guards are not looked at.
    memory : int, optional
        How many bytes DuckDB may take.
    """

    def __init__(self, claims: Claims, memory: int | None = None) -> None:
        assert claims.unit is not None
        self._claims = Claims(claims.scenarios, claims.within, unit=claims.unit)
        self._memory = memory
        self._found = {scenario.name: _Classes() for scenario in claims.scenarios}

    def add(self, piece: Any) -> None:
        """Take in some released records, as an Arrow table with the columns that make classes and the unit."""
        claims = self._claims
        assert claims.unit is not None
        with opened(piece, claims, None, self._memory) as (relation, names):
            kinds = kinds_of(relation, names)
            unit, kind = names[claims.unit.column], kinds[claims.unit.column]
            for scenario in claims.scenarios:
                keys = [sql.exact(names[c], kinds[c]) for c in claims.key(scenario)]
                guard = claims.unit.guard(scenario.k, kind in sql.TEXT)
                folds = folds_of(relation, guard, unit, kind)
                self._found[scenario.name].add(ask(relation, sql.units(keys, guard, unit, kind, folds)))

    @property
    def found(self) -> dict[str, _Classes]:
        """What was counted, for another count of the same claims."""
        return self._found

    def merge(self, found: dict[str, _Classes]) -> None:
        """Take in what was counted elsewhere."""
        for name, classes in found.items():
            self._found[name].merge(classes)

    def checks(self) -> tuple[Check, ...]:
        """What was found in all pieces."""
        claims = self._claims
        assert claims.unit is not None
        return tuple(self._found[s.name].check(s, claims.unit.column) for s in claims.scenarios)
