"""What is added up while parts are solved and released: the stuff that facts are made of.

Sums are over all records. Measures are taken from all records where these are in memory, else from a sample of whole
groups of each grouping.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..facts.release_facts import GroupingFacts
from ..facts.total_facts import TotalFacts
from ..protection.assemble import Grouping
from ..protection.grouping import constant_groups
from ..protection.losses import Spread
from ..protection.noise import mixed
from ..protection.plan import Division, Plan
from ..protection.proving import ProvenPart, bound_facts
from ..protection.solve import Solved
from ..protection.survey import weights_of
from ..protection.totals import KeptTotal
from ..recipe import Recipe
from ..tables.columns import Column, joined_columns
from ..tables.identities import Hashes
from ..tables.records import Records
from .minorities import CategoryCounts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

CHUNK = 1 << 32  # the number of a group that was formed elsewhere: that of its chunk times this, and its own
MEASURED = 100_000  # records, about, that measures are taken from where a table is released part by part


@dataclass
class _Sums:
    """What is added up for one division."""

    groups: int = 0
    parts: int = 0
    largest: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    loss: Spread = field(default_factory=Spread)
    weighted: Spread | None = None
    by_importance: Spread | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    merged: int = 0  # groups, for guards
    regrouped: int = 0
    proven: list[ProvenPart] = field(default_factory=list)
    border: dict[str, float] = field(default_factory=dict)
    constant: int = 0  # records in groups with one value at most in a column, where no column has noise
    exposed: list[Flags] = field(default_factory=list)  # where some have: such groups, by the columns without
    group_sizes: list[Ints] = field(default_factory=list)
    noise: dict[str, _Noise] = field(default_factory=dict)
    unmoved: Counter[str] = field(default_factory=Counter)  # constant groups in which noise changed nothing, if counted
    totals: dict[str, KeptTotal] = field(default_factory=dict)
    free: Spread = field(default_factory=Spread)  # of groups that need not follow earlier ones, where these do

    def merge(self, other: _Sums) -> None:
        """Take in the sums of other parts."""
        self.groups += other.groups
        self.parts += other.parts
        self.largest = max(self.largest, other.largest)
        self.sizes.update(other.sizes)
        self.loss.add(other.loss)
        if other.weighted is not None:
            self.weighted = self.weighted or Spread()
            self.weighted.add(other.weighted)
        if other.by_importance is not None:
            self.by_importance = self.by_importance or Spread()
            self.by_importance.add(other.by_importance)
        self.chosen = other.chosen or self.chosen
        self.merged += other.merged
        self.regrouped += other.regrouped
        self.proven += other.proven
        self.border |= other.border
        self.constant += other.constant
        self.exposed += other.exposed
        self.group_sizes += other.group_sizes
        self.unmoved.update(other.unmoved)
        self.add_totals(other.totals)

    def add_totals(self, totals: Mapping[str, KeptTotal]) -> None:
        """Take in what rounding left of the totals of other parts."""
        for name, total in totals.items():
            self.totals[name] = self.totals.get(name, KeptTotal()) + total

    def add_noise(self, name: str, numbers: Ints, more: _Noise) -> None:
        """Take in the ranges of some groups, by their numbers."""
        noise = self.noise.setdefault(name, _Noise(*_empty(0)))
        if len(noise.low) < self.groups:
            grown = _empty(self.groups - len(noise.low))
            noise = _Noise(*(np.concatenate(pair) for pair in zip(vars(noise).values(), grown, strict=True)))
            self.noise[name] = noise
        for at, low in ((noise.low, more.low), (noise.was_low, more.was_low)):
            np.minimum.at(at, numbers, low)
        for at, high in ((noise.high, more.high), (noise.was_high, more.was_high)):
            np.maximum.at(at, numbers, high)
        noise.moved[numbers[more.moved]] = True


@dataclass
class _Noise:
    """The range of a column with noise in each group, before and after, and whether noise has changed a value of it."""

    was_low: Floats
    was_high: Floats
    low: Floats
    high: Floats
    moved: Flags


@dataclass(frozen=True, eq=False)
class Found:
    """What a tally of some chunks has to say to that of all; groups of other chunks by their numbers."""

    records: int
    missing_after: Counter[str]
    seconds: float
    exposed: int
    sums: list[_Sums]
    samples: list[list[Sampled]]
    noise: list[dict[str, tuple[Ints, _Noise]]]
    prepared: dict[str, Ints]
    categories: CategoryCounts


@dataclass(frozen=True, eq=False)
class Sampled:
    """Some records before and after, their weights, and whose they are; `original`: columns before preparing."""

    before: Mapping[str, Column]
    after: Mapping[str, Column]
    weights: Floats | None
    units: Hashes | None = None
    original: Mapping[str, Column] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """How many there are."""
        return len(next(iter(self.before.values())).numbers)


class Tally:
    """What is known of a release once its parts are solved and written.

    Parameters
    ----------
    plan : Plan
    all_there : bool
        Whether all records are in memory; else measures are taken from a sample.
    share : float, optional
        Of the groups, how many are in that sample; by the number of records unless given.
    """

    def __init__(self, plan: Plan, all_there: bool, share: float | None = None) -> None:
        self.plan, self.records, self.all_there = plan, 0, all_there
        by_size = 1.0 if all_there else min(1.0, MEASURED / max(1, plan.divided.keys.total()))
        self.share = by_size if share is None else share
        # what blocks lose is measured where it is cheap, and where guards inside them may lose more than the whole
        self.measures_borders = all_there or bool(plan.references)
        self.missing_after: Counter[str] = Counter()
        self.prepared: dict[str, Ints] = {}  # values that preparing changed, that are there, that landed
        self.seconds = 0.0  # CPU seconds of all parts
        self.exposed = 0  # records in groups of any division in which a confidential column has one value at most
        self.categories = CategoryCounts()
        self._sums = [_Sums() for _ in plan.divisions]
        self._samples: list[list[Sampled]] = [[] for _ in plan.divisions]
        self._known: dict[int, Flags] = {}  # exposed groups of the divisions before the last
        self._elsewhere: list[dict[str, tuple[Ints, _Noise]]] = [{} for _ in plan.divisions]

    def add(self, division: Division, solved: Solved) -> None:
        """Take in the groups of a part."""
        sums, sizes = self._sums[division.number], np.bincount(solved.labels)
        self.seconds += solved.seconds
        sums.groups += len(sizes)
        sums.parts += 1
        sums.largest = max(sums.largest, len(solved.labels))
        sums.sizes.update(sizes.tolist())
        sums.loss.add(solved.loss.plain)
        if solved.loss.weighted is not None:
            sums.weighted = sums.weighted or Spread()
            sums.weighted.add(solved.loss.weighted)
        if solved.loss.by_importance is not None:
            sums.by_importance = sums.by_importance or Spread()
            sums.by_importance.add(solved.loss.by_importance)
        sums.chosen = dict(solved.chosen)
        sums.merged += int(solved.chosen.get("merged", 0))
        sums.regrouped += "tried" in solved.chosen
        sums.add_totals(solved.totals)
        if solved.free is not None:
            sums.free.add(solved.free.plain)
        if solved.proven is not None:
            sums.proven.append(solved.proven)
        noisy = _noisy(self.plan.recipe)
        plain = [flags for name, flags in solved.constant.items() if name not in noisy]
        exposed = np.any(plain, axis=0) if plain else np.zeros(len(sizes), bool)
        sums.constant += int(sizes[exposed].sum())
        if noisy:  # whether these columns are constant is known once all records have their noise
            sums.exposed.append(exposed)
            sums.group_sizes.append(sizes)

    @property
    def free_loss_percent(self) -> float | None:
        """What groups would lose that need not follow earlier ones; None where they need not."""
        return None if self.plan.together is None else self._sums[0].free.loss_percent

    @property
    def loss_percent(self) -> float:
        """What the groups of the first division lose."""
        return self._sums[0].loss.loss_percent

    def add_border(self, division: Division, apart: float, together: float, records: int) -> None:
        """Take in what two parts lose more than one would."""
        faces = 100.0 * (apart / together - 1.0) if together > 0 else 0.0
        self._sums[division.number].border = {"faces": faces, "compared": records}

    def add_released(self, records: Records, after: Mapping[str, Column], groupings: Sequence[Grouping]) -> None:
        """Take in some released records."""
        self.records += len(records)
        last = len(groupings) - 1
        self._count_missing(records, after)
        for name in records.reading.preparing:
            self.prepared[name] = self.prepared.get(name, np.zeros(3, np.int64)) + np.array(records.changed(name))
        self.categories.add(self.plan.recipe, records, after)
        exposed = np.zeros(len(records), bool)
        for i, grouping in enumerate(groupings):
            self._add_noise(i, records, after, grouping)
            exposed |= self._exposed_groups(i, grouping)[grouping.group]
            for name in _noisy(self.plan.recipe) if i == last else ():
                exposed |= constant_groups(grouping.group, after[name])[grouping.group]
            if i == last or self.share < 1.0:
                self._sample(i, records, after, grouping)
        self.exposed += int(np.count_nonzero(exposed))

    def _exposed_groups(self, i: int, grouping: Grouping) -> Flags:
        """The groups with one value at most in a column without noise; of those before the last, all are known."""
        if i not in self._known:
            recipe = self.plan.recipe
            plain = [n for n in recipe.of_role("confidential") if recipe.columns[n].noise is None]
            flags = np.zeros(grouping.table.groups, bool)
            for name in plain:
                flags |= grouping.table.constants(name)
            if i == len(self._sums) - 1:
                return flags
            self._known[i] = flags
        return self._known[i]

    def _count_missing(self, records: Records, after: Mapping[str, Column]) -> None:
        for name in (*self.plan.recipe.quasi, *self.plan.recipe.of_role("confidential")):
            column = after[name] if name in after else records.column(name)
            self.missing_after[name] += int(np.count_nonzero(column.missing))

    def _add_noise(self, i: int, records: Records, after: Mapping[str, Column], grouping: Grouping) -> None:
        for name in _noisy(self.plan.recipe):
            noise = _Noise(*_empty(grouping.table.groups))
            before, now = records.column(name), after[name]
            there = ~before.missing
            at = grouping.group[there]
            np.minimum.at(noise.low, at, now.numbers[there])
            np.maximum.at(noise.high, at, now.numbers[there])
            noise.moved[at[before.numbers[there] != now.numbers[there]]] = True
            np.minimum.at(noise.was_low, at, before.numbers[there])
            np.maximum.at(noise.was_high, at, before.numbers[there])
            if grouping.elsewhere:
                self._elsewhere[i][name] = (grouping.ids, noise)
            else:
                sums, groups = self._sums[i], grouping.table.groups
                sums.add_noise(name, np.arange(sums.groups - groups, sums.groups), noise)  # the newest, or all

    def _sample(self, i: int, records: Records, after: Mapping[str, Column], grouping: Grouping) -> None:
        recipe, component = self.plan.recipe, self.plan.divisions[i].component
        last = i == len(self._sums) - 1
        masked = recipe.quasi if last else (*recipe.within, *component.quasi)
        names = [*masked, *recipe.of_role("confidential")]
        weights = weights_of(records, recipe)
        units = None if recipe.unit_column is None else records.units(recipe.unit_column)
        if self.share >= 1.0:
            before = {name: records.column(name) for name in names}
            original = {name: records.original(name) for name in _prepared_quasi(records, masked)}
            whole = Sampled(before, ChainMap(after, before), weights, units, original)  # type: ignore[arg-type]
            self._samples[i].append(whole)
            return
        numbers = grouping.ids.astype(np.uint64)
        drawn = mixed(numbers, np.uint64(((recipe.seed or 0) + i) & (2**64 - 1))) < np.uint64(self.share * 2.0**64)
        rows = np.flatnonzero(drawn[grouping.group])
        before = {name: records.column(name).at(rows) for name in names}
        changed = {name: column.at(rows) for name, column in after.items() if name in names}
        own = None if weights is None else weights[rows], None if units is None else units[rows]
        original = {name: records.original(name).at(rows) for name in _prepared_quasi(records, masked)}
        self._samples[i].append(Sampled(before, {**before, **changed}, *own, original))

    def sample(self, i: int = -1) -> Sampled:
        """The records that measures of a division are taken from; those of the last one are for all of them."""
        parts = self._samples[i]
        if len(parts) == 1:
            (part,) = parts
            after = {name: part.after[name] for name in part.before}
            return Sampled(part.before, after, part.weights, part.units, part.original)
        weights = [part.weights for part in parts if part.weights is not None]
        units = [part.units for part in parts if part.units is not None]
        return Sampled(
            _joined(part.before for part in parts),
            _joined(part.after for part in parts),
            np.concatenate(weights) if weights else None,
            np.concatenate(units) if units else None,
            _joined(part.original for part in parts),
        )

    def grouping_facts(self) -> tuple[GroupingFacts, ...]:
        """What there is to say of each division."""
        return tuple(self._facts_of(division) for division in self.plan.divisions)

    def _facts_of(self, division: Division) -> GroupingFacts:
        recipe, sums = self.plan.recipe, self._sums[division.number]
        component, loss, important = division.component, sums.loss, sums.by_importance
        proven_of = loss if important is None else important  # what the groups were formed by
        crossed = self._not_crossed(division, sums) + (", columns weighted by importance," if important else "")
        sse, sst = proven_of.sse, proven_of.sst
        return GroupingFacts(
            name=component.name,
            quasi=component.quasi,
            k=component.k,
            method=recipe.method.name if recipe.guard.rule == "merge" else recipe.guard.rule,
            params=self._params(division, sums),
            groups=sums.groups,
            sizes={size: sums.sizes[size] for size in sorted(sums.sizes)},
            sse=loss.sse,
            sst=loss.sst,
            loss_percent=loss.loss_percent,
            loss_weighted_percent=None if sums.weighted is None else sums.weighted.loss_percent,
            constant_records=self._constant_records(sums),
            bound=bound_facts(sums.proven, component.k, sse, sst, crossed, self._aside()) if sums.proven else None,
            loss_by_importance_percent=None if important is None else important.loss_percent,
        )

    def total_facts(self) -> tuple[TotalFacts, ...]:
        """What controlled rounding left between totals before and after, where the recipe asks for it."""
        weighted = self.plan.recipe.weights is not None
        found = {
            name: TotalFacts(name, weighted, sums.parts, kept.left, kept.left_plain, kept.largest_left, kept.turned)
            for sums in self._sums
            for name, kept in sums.totals.items()
        }
        return tuple(found[name] for name in self.plan.recipe.quasi if name in found)

    def _not_crossed(self, division: Division, sums: _Sums) -> str:
        """What the groups that a bound is about must stay in."""
        cells = len(division.cells.cells)
        if sums.parts == 1:
            return ""
        return " that cross no stratum" if sums.parts == cells else " that cross no block" + " or stratum" * (cells > 1)

    def _aside(self) -> list[str]:
        """What groups must meet beside k records, and a bound does not count."""
        plan = self.plan
        met = {
            "the guards": len(plan.references) > 0,
            "k different units": plan.recipe.unit_column is not None,
            "the groups of an earlier release": plan.together is not None,
        }
        return [what for what, there in met.items() if there]

    def _params(self, division: Division, sums: _Sums) -> dict[str, Any]:
        """What was chosen; of several parts, how many there were."""
        recipe = self.plan.recipe
        if sums.parts == 1:
            out = dict(sums.chosen)
        else:
            out = dict(recipe.method.params) if recipe.method.blocks is not None else {}
            cells = len(division.cells.cells)
            out |= {"strata": cells} if cells > 1 else {}
            if "guard" in sums.chosen:
                out["guard"] = sums.chosen["guard"]
            if "merged" in sums.chosen:
                out["merged"] = sums.merged
            if sums.regrouped:
                out["regrouped"] = sums.regrouped
        if recipe.method.blocks is not None:
            out |= {"blocks": sums.parts, "block_size": sums.largest, **sums.border}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in out.items()}

    def _constant_records(self, sums: _Sums) -> int:
        if not sums.exposed:
            return sums.constant
        exposed = np.concatenate(sums.exposed)
        for noise in sums.noise.values():
            exposed = exposed | (noise.low >= noise.high)
        return int(np.concatenate(sums.group_sizes)[exposed].sum())

    def unmoved(self, name: str) -> int:
        """In how many constant groups noise has changed no value of a column."""
        return sum(sums.unmoved[name] + _unmoved(sums.noise.get(name)) for sums in self._sums)

    def found(self, division: int) -> Found:
        """What was added up of chunks of a division, all of whose groups are there: these are settled, and let go."""
        sums = self._sums[division]
        if division == len(self._sums) - 1:
            sums.constant, sums.exposed, sums.group_sizes = self._constant_records(sums), [], []
            sums.unmoved.update({name: _unmoved(noise) for name, noise in sums.noise.items()})
        sums.noise = {}
        return Found(
            self.records,
            self.missing_after,
            self.seconds,
            self.exposed,
            self._sums,
            self._samples,
            self._elsewhere,
            self.prepared,
            self.categories,
        )

    def merge(self, found: Found, first: Sequence[Mapping[int, int]]) -> None:
        """Take in what was found elsewhere, chunk by chunk.

        A group has the number of its chunk in the upper half of its own; `first` says for each division which is the
        first group of a chunk.
        """
        self.records += found.records
        self.missing_after.update(found.missing_after)
        for name, counts in found.prepared.items():
            self.prepared[name] = self.prepared.get(name, np.zeros(3, np.int64)) + counts
        self.categories.merge(found.categories)
        self.seconds += found.seconds
        self.exposed += found.exposed
        for own, other in zip(self._sums, found.sums, strict=True):
            own.merge(other)
        for samples, more in zip(self._samples, found.samples, strict=True):
            samples += more
        for i, noises in enumerate(found.noise):
            for name, (ids, noise) in noises.items():
                chunk, group = np.divmod(ids, CHUNK)
                numbers = np.array([first[i][c] for c in chunk.tolist()], np.int64) + group
                self._sums[i].add_noise(name, numbers, noise)

    @property
    def groups(self) -> list[int]:
        """How many groups each division has so far."""
        return [sums.groups for sums in self._sums]


def _prepared_quasi(records: Records, quasi: Sequence[str]) -> list[str]:
    """The quasi-identifiers that were prepared: an intruder knows them as they were."""
    return [name for name in quasi if name in records.reading.preparing]


def _noisy(recipe: Recipe) -> list[str]:
    return [name for name in recipe.of_role("confidential") if recipe.columns[name].noise is not None]


def _unmoved(noise: _Noise | None) -> int:
    """The constant groups in which no value was changed."""
    return 0 if noise is None else int(np.count_nonzero((noise.was_low == noise.was_high) & ~noise.moved))


def _empty(groups: int) -> list[Any]:
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    return [low, high, low.copy(), high.copy(), np.zeros(groups, bool)]


def _joined(parts: Iterable[Mapping[str, Column]]) -> dict[str, Column]:
    every = list(parts)
    return {name: joined_columns([part[name] for part in every]) for name in every[0]}
