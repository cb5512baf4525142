"""Units: who stands behind the records of a set, as far as that must be known.

Whether a set of records has k different units can be told from k of them. So no more are held for each set, and those
of a union follow from the sets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError, in_shell
from ..recipe import Recipe
from ..tables.identities import NOBODY, Hashes, Repeats
from ..tables.records import Records

Ints = NDArray[np.int64]
Set = TypeVar("Set", bound=Hashable)


class UnitSets(dict[Set, set[int]]):
    """Up to `most` of the units of each of some sets of records, from pieces that come in any order."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def add(self, code: Ints, sets: Sequence[Set], units: Hashes) -> None:
        """Take in some records: `code` says which of the sets each is in, -1 for none."""
        open_ = np.array([len(self.get(one, ())) < self.most for one in sets] + [False])
        rows = np.flatnonzero(open_[code] & (units != NOBODY))
        if not len(rows):
            return
        pairs = np.unique(np.array([code[rows].astype(np.uint64), units[rows]]), axis=1)
        place, first = np.unique(pairs[0], return_index=True)
        for number, own in zip(place.tolist(), np.split(pairs[1], first[1:]), strict=True):
            held = self.setdefault(sets[int(number)], set())
            held.update(own[: self.most].tolist())

    def merge(self, other: UnitSets[Set]) -> None:
        """Take in the units of other records."""
        for one, units in other.items():
            self.setdefault(one, set()).update(units)

    def count(self, sets: Iterable[Set]) -> int:
        """How many different units the records of all these sets have: exactly, below `most`."""
        return len(set().union(*(self.get(one, ()) for one in sets)))


@dataclass
class UnitSurvey:
    """What must be known of the units of all records."""

    units: Repeats = field(default_factory=Repeats)
    unknown: int = 0  # records without a unit

    def add(self, units: Hashes) -> None:
        """Take in some records."""
        self.units.add(units)
        self.unknown += int(np.count_nonzero(units == NOBODY))

    def merge(self, other: UnitSurvey) -> None:
        """Take in what another has seen."""
        self.units.merge(other.units)
        self.unknown += other.unknown


def identifiers_to_count(recipe: Recipe) -> list[str]:
    """The identifiers that may tell what k counts, where the recipe does not say it."""
    if recipe.unit is not None:
        return []
    weights = None if recipe.weights is None else recipe.weights.column
    return [name for name in recipe.of_role("identifier") if name != weights]


def count_identifiers(records: Records, recipe: Recipe, seen: dict[str, Repeats]) -> None:
    """Take in the identifiers of some records."""
    for name in identifiers_to_count(recipe):
        seen.setdefault(name, Repeats()).add(records.units(name, by_key=False))


def refuse_repeated(seen: dict[str, Repeats]) -> None:
    """Refuse a table in which an identifier repeats: somebody must say what k counts."""
    repeated = {name: count for name, count in seen.items() if count.repeated}
    if not repeated:
        return
    got = "; ".join(
        f"'{name}': {count.repeated:,} of {count.different:,} values occur in 2 to {count.most_records:,} records"
        for name, count in repeated.items()
    )
    name = max(repeated, key=lambda one: repeated[one].repeated)
    what = "An identifier repeats, so k records may be fewer than k persons: the recipe must say what k counts."
    hint = (
        f'[unit] column = "{name}" counts different values of that column ({in_shell("--unit", name)}); '
        '[unit] column = "none" counts records, if each is a person of its own (--unit none).'
    )
    raise CoterieError(what, got, hint)


def codes(units: Hashes) -> Ints:
    """Units as numbers from 0 on, -1 where they are not known."""
    out = np.full(len(units), -1, np.int64)
    known = units != NOBODY
    out[known] = np.unique(units[known], return_inverse=True)[1].reshape(-1)
    return out


def repeat(units: Ints) -> bool:
    """Whether counting units differs from counting records: one has several, or is not known."""
    return bool(len(units) and (units.min() < 0 or int(units.max()) + 1 < len(units)))
