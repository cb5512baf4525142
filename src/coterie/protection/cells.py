"""Cells: the sets of records that groups must stay in, by stratum and pattern of missing values.

All is decided from counts: how many records have each key (see `survey.Key`). Cells with too few records are refused,
merged or suppressed, as the recipe says. The records that a merge of patterns must choose are the only ones looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PromiseError
from ..recipe import Recipe
from ..tables.gathering import Gather
from ..tables.records import Records
from .centroids import KeySums
from .components import Component
from .lending import Blanked, blank
from .scales import Scale
from .strata import merge_small_strata
from .survey import Key, Survey, keys_of, masked_columns
from .unit_counts import UnitSets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Place = tuple[int, int]  # a stratum, and gaps
_SMALL_STRATA = '[strata] small = "merge" or "suppress" (--strata COLUMNS:merge).'


@dataclass(frozen=True)
class Cell:
    """Records that may be grouped together: a stratum (merged or not), and which of their values are missing."""

    stratum: int
    gaps: int  # a bit for each of the component's columns, the first one highest
    records: int


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a component, and the way from a record to its cell.

    Attributes
    ----------
    cells : tuple of Cell
    of_key : mapping of Key to int
        The cell of all records with a key; -1 if they are suppressed.
    moved, moved_to : arrays
        The numbers of records that go to another cell than the others with their key, in rising order, and that cell.
    blanked : int
        How many values are set to missing.
    """

    cells: tuple[Cell, ...]
    of_key: Mapping[Key, int]
    moved: Ints
    moved_to: Ints
    blanked: int

    def of(self, records: Records, recipe: Recipe) -> Ints:
        """The cell of each record; -1 for those that are suppressed."""
        if len(self.of_key) == 1:
            return np.full(len(records), next(iter(self.of_key.values())), np.int64)
        code, keys = keys_of(records, recipe)
        out = np.array([self.of_key[key] for key in keys], np.int64)[code]
        if len(self.moved):
            at = np.searchsorted(self.moved, records.numbers)
            at[at == len(self.moved)] = 0
            hit = self.moved[at] == records.numbers
            out[hit] = self.moved_to[at[hit]]
        return out


@dataclass(frozen=True, eq=False)
class Heads:
    """What is counted to k: different units, where the recipe names a column of them, or records.

    Attributes
    ----------
    count : function
        From keys to how many there are behind their records; units are exact below any k.
    units : mapping of Key to set, or None
        The units of each key, as far as they matter.
    words : str
        What they are called in messages.
    """

    count: Callable[[Iterable[Key]], int]
    units: UnitSets[Key] | None
    words: str

    @classmethod
    def of(cls, survey: Survey) -> Heads:
        """As the survey has seen them."""
        name = survey.recipe.unit_column
        units = None if name is None else survey.units_of_keys
        return cls(survey.heads, units, "records" if name is None else f"different values of '{name}'")

    def sizes(self, keys: Iterable[Key], place: Callable[[Key], Place | int]) -> dict[Any, int]:
        """How many there are at each place that these keys are at."""
        at: dict[Any, list[Key]] = {}
        for key in keys:
            at.setdefault(place(key), []).append(key)
        return {where: self.count(own) for where, own in at.items()}


@dataclass(frozen=True, eq=False)
class Divided:
    """What becomes of the strata and of records with too few like them."""

    stratum: Mapping[tuple[Any, ...], int]  # the number of each stratum that is left, once some were merged
    keys: Counter[Key]  # the records that are left
    all_keys: tuple[Key, ...]
    strata: int
    merged: int  # how many fewer strata there are than before
    suppressed: int


def divide(
    keys: Counter[Key], heads: Heads, recipe: Recipe, components: Sequence[Component], centroids: Callable[[], KeySums]
) -> Divided:
    """Refuse, merge or suppress strata with fewer than k records or units, and suppress patterns where so asked for.

    Strata come first: small ones are refused or merged, where so asked for, before patterns are looked at. `centroids`
    gives `KeySums` when strata are to be merged.
    """
    k = max(component.k for component in components)
    small = None if recipe.strata is None else recipe.strata.small
    suppress_gaps = recipe.missing.policy == "own-value" and recipe.missing.small == "suppress"
    left = Counter({key: count for key, count in keys.items() if count})
    if suppress_gaps and small == "refuse":
        _refuse_small_strata(left, heads, k)
    while left and (suppress_gaps or small == "suppress"):
        stratum = _merged(left, heads, k, centroids) if small == "merge" else _identity(left)
        gone = _too_few(left, heads, stratum, recipe, components, k if small == "suppress" else 0, suppress_gaps)
        if not gone:
            break
        left = Counter({key: count for key, count in left.items() if key not in gone})
    suppressed = keys.total() - left.total()
    if heads.count(left) < k:
        got = f"{heads.count(keys)} {heads.words}"
        got += f", {heads.count(left)} after suppression" if suppressed else ""
        what = f"There must be at least k = {k} {heads.words} to release."
        raise PromiseError(what, got, "use a smaller k, or another policy.")
    stratum = _merged(left, heads, k, centroids) if small == "merge" else _identity(left)
    if recipe.strata is not None and small != "merge":
        _refuse_small_strata(left, heads, k)
    number = {root: i for i, root in enumerate(sorted(set(stratum.values())))}
    stratum = {values: number[root] for values, root in stratum.items()}
    return Divided(stratum, left, tuple(keys), len(number), len(stratum) - len(number), suppressed)


def _identity(keys: Counter[Key]) -> dict[tuple[Any, ...], int]:
    """Every stratum with its number, in the order of their values."""
    ordered = sorted(keys, key=Key.order)
    return {values: i for i, values in enumerate(dict.fromkeys(key.stratum for key in ordered))}


def _strata_sizes(keys: Counter[Key]) -> Ints:
    number = _identity(keys)
    sizes = np.zeros(len(number), np.int64)
    for key, count in keys.items():
        sizes[number[key.stratum]] += count
    return sizes


def _refuse_small_strata(keys: Counter[Key], heads: Heads, k: int) -> None:
    what, hint = f"Every stratum must have at least k {heads.words}.", _SMALL_STRATA
    number = _identity(keys)
    refuse_small(heads.sizes(keys, lambda key: number[key.stratum]).values(), k, heads, what, hint)


def refuse_small(sizes: Iterable[int], k: int, heads: Heads, what: str, hint: str) -> None:
    """Refuse where a set of records has fewer than k heads."""
    sizes = list(sizes)
    small = [size for size in sizes if size < k]
    if small:
        more = f", {sum(small)} records in all" if heads.units is None else ""
        raise PromiseError(what, f"{len(small)} of {len(sizes)} with fewer than k = {k}{more}", hint)


def _merged(keys: Counter[Key], heads: Heads, k: int, centroids: Callable[[], KeySums]) -> dict[tuple[Any, ...], int]:
    """The stratum in which each stratum ends once the small ones are merged with those whose centroid is nearest."""
    number, sizes = _identity(keys), _strata_sizes(keys)
    counted = heads.sizes(keys, lambda key: number[key.stratum])
    if min(counted.values()) >= k:
        return number
    units = None if heads.units is None else [set[int]() for _ in sizes]
    if units is not None and heads.units is not None:
        for key in keys:
            units[number[key.stratum]] |= heads.units.get(key, set())
    into = merge_small_strata(sizes, centroids().of_strata(keys, number), k, units)
    return {values: int(into[i]) for values, i in number.items()}


def _too_few(
    keys: Counter[Key],
    heads: Heads,
    stratum: Mapping[tuple[Any, ...], int],
    recipe: Recipe,
    components: Sequence[Component],
    least: int,
    suppress_gaps: bool,
) -> set[Key]:
    """The keys whose stratum has fewer than `least` heads, or whose pattern has fewer than k in its stratum."""
    sizes = heads.sizes(keys, lambda key: stratum[key.stratum])
    gone = {key for key in keys if sizes[stratum[key.stratum]] < least}
    for component in components if suppress_gaps else ():
        bits = gaps_in(component, recipe)

        def cell(key: Key, bits: Callable[[int], int] = bits) -> Place:
            return stratum[key.stratum], bits(key.gaps)

        cells = heads.sizes(keys, cell)
        gone |= {key for key in keys if cells[cell(key)] < component.k}
    return gone


def gaps_in(component: Component, recipe: Recipe) -> Callable[[int], int]:
    """From the bits of all masked columns to those of a component's columns."""
    masked = masked_columns(recipe)
    places = [len(masked) - 1 - masked.index(name) for name in component.quasi]

    def bits(gaps: int) -> int:
        out = 0
        for place in places:
            out = out << 1 | (gaps >> place & 1)
        return out

    return bits


def cells_of(
    component: Component, divided: Divided, heads: Heads, recipe: Recipe, gather: Gather, scales: Mapping[str, Scale]
) -> Cells:
    """The cells of a component; where patterns have too few records, refused or merged as the recipe says."""
    bits = gaps_in(component, recipe)

    def cell(key: Key) -> Place:
        return divided.stratum[key.stratum], bits(key.gaps)

    sizes: Counter[tuple[int, int]] = Counter()
    for key, count in divided.keys.items():
        sizes[cell(key)] += count
    blanked = Blanked({place: place for place in sizes}, {})
    if recipe.missing.policy == "own-value":
        if recipe.missing.small == "merge":
            blanked = blank(
                component,
                sizes,
                gather,
                recipe.quasi,
                scales,
                recipe.importance,
                partial(_cells_now, recipe=recipe, divided=divided, bits=bits),
                _units_of_cells(divided, heads, cell),
            )
        else:
            what = f"Every pattern of missing values needs at least k {heads.words} (in a stratum)."
            hint = '[missing] small = "merge" or "suppress" (--missing own-value:merge), or policy = "group".'
            refuse_small(heads.sizes(divided.keys, cell).values(), component.k, heads, what, hint)
    return _numbered(blanked, sizes, divided, bits)


def _units_of_cells(divided: Divided, heads: Heads, cell: Callable[[Key], Place]) -> dict[Place, set[int]] | None:
    """The units of each cell, as far as they matter; None where records are counted."""
    if heads.units is None:
        return None
    out: dict[Place, set[int]] = {}
    for key in divided.keys:
        out.setdefault(cell(key), set()).update(heads.units.get(key, ()))
    return out


def _cells_now(
    records: Records, recipe: Recipe, divided: Divided, bits: Callable[[int], int]
) -> tuple[Ints, list[tuple[int, int] | None]]:
    """For each record a number, and for each number the stratum and the gaps, before any value is blanked."""
    code, keys = keys_of(records, recipe)
    left = divided.keys
    return code, [(divided.stratum[key.stratum], bits(key.gaps)) if key in left else None for key in keys]


def _numbered(blanked: Blanked, sizes: Counter[Place], divided: Divided, bits: Callable[[int], int]) -> Cells:
    """The cells in their order, once values are blanked."""
    cells: Counter[Place] = Counter()
    count = 0
    for was, size in sizes.items():
        now = blanked.into[was]
        cells[now] += size
        count += size * (now[1] & ~was[1]).bit_count()
    for was, now in blanked.moved.values():
        rest = blanked.into[was]
        cells[rest] -= 1
        cells[now] += 1
        count += (now[1] & ~was[1]).bit_count() - (rest[1] & ~was[1]).bit_count()
    order = sorted(cell for cell, size in cells.items() if size)
    place = {cell: i for i, cell in enumerate(order)}
    of_key = dict.fromkeys(divided.all_keys, -1)
    for key in divided.keys:
        of_key[key] = place.get(blanked.into[divided.stratum[key.stratum], bits(key.gaps)], -1)
    numbers = np.array(sorted(blanked.moved), np.int64)
    to = np.array([place[blanked.moved[number][1]] for number in numbers.tolist()], np.int64)
    return Cells(tuple(Cell(s, gaps, cells[s, gaps]) for s, gaps in order), of_key, numbers, to, count)
