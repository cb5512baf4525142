"""The plan: into which parts the records go, and all that a part must know of the whole table.

Parts are strata, times patterns of missing values where these are values of their own, times blocks of a kd-tree where
the recipe has blocks. A plan is made from the survey, from counts, and holds no record but the few that change cell. It
can be pickled: whoever has it and the records of a part can solve that part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..algorithms.kd_blocks import Tree, joined, learn, piece_count, route
from ..algorithms.registry import find
from ..algorithms.run import check_blocks
from ..recipe import Recipe
from ..tables.columns import Column
from ..tables.gathering import Gather
from ..tables.records import Records
from .cells import Cells, Divided, Heads, cells_of, divide
from .centroids import KeySums
from .components import Component, components
from .guarding import Histograms, Reference, guarded_columns, references
from .released_strata import released_strata
from .scales import Scale
from .survey import Key, Sample, Survey, Whole
from .unit_counts import UnitSets, identifiers_to_count
from .values import Values

if TYPE_CHECKING:
    from .stable import Together

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Part(NamedTuple):
    """Records that are grouped together: of one cell, and one block of it if there are blocks.

    `number` counts the parts of a cell; it is None where the cell is not cut, and the seed has no such number then.
    """

    cell: int
    number: int | None
    records: int


@dataclass(frozen=True, eq=False)
class Division:
    """How the records are divided for one component."""

    number: int
    component: Component
    cells: Cells
    trees: tuple[Tree | None, ...]  # of each cell
    blocks: tuple[Ints, ...]  # of each cell: the block that each leaf of the tree belongs to
    first: tuple[Ints, ...]  # of each cell: the first part of each block, and the next after the last
    sizes: tuple[Ints, ...]  # of each cell: the records of each block
    parts: tuple[Part, ...]

    @cached_property
    def neighbours(self) -> tuple[int, int] | None:
        """The smallest two parts that follow each other in a cell: what is lost at their border is measured."""
        pairs = [
            (a.records + b.records, i)
            for i, (a, b) in enumerate(zip(self.parts, self.parts[1:], strict=False))
            if a.cell == b.cell
        ]
        return (min(pairs)[1], min(pairs)[1] + 1) if pairs else None


@dataclass(frozen=True, eq=False)
class Plan:
    """All that is needed to solve a part.

    Attributes
    ----------
    recipe : Recipe
        With a seed.
    whole : Whole
        What the survey says of all records.
    references : tuple of Reference
        What guards hold groups against.
    divisions : tuple of Division
        One for each component.
    strata : mapping of str to ndarray
        For each column of strata, the number that is released in each stratum.
    divided : Divided
        What became of strata and of records with too few like them.
    """

    recipe: Recipe
    whole: Whole
    references: tuple[Reference, ...]
    divisions: tuple[Division, ...]
    strata: Mapping[str, Floats]
    divided: Divided
    together: Together | None = None  # who stays together, because earlier releases had them together

    @property
    def blanked(self) -> int:
        """How many values are set to missing."""
        return sum(division.cells.blanked for division in self.divisions)


def block_size(recipe: Recipe, k: int) -> int | None:
    """The most records in a block, if there are to be blocks."""
    return check_blocks(recipe.method.blocks, None, k, find(recipe.method.name))


def make_plan(recipe: Recipe, survey: Survey, gather: Gather) -> Plan:
    """Divide the records; `gather` shows some columns of all of them to whoever must know more than the survey."""
    survey.check()
    parts = components(recipe)
    whole = survey.whole()
    sums: list[KeySums] = []

    def centroids() -> KeySums:
        if not sums:
            sums.append(gather(recipe.quasi, KeySums(recipe, whole)))
        return sums[0]

    heads = Heads.of(survey)
    divided = divide(survey.keys, heads, recipe, parts, centroids)
    known = _references(recipe, survey, divided, gather)
    keys = sorted(survey.keys, key=Key.order)
    sample = survey.sample(keys) if recipe.method.blocks is not None else None
    divisions = []
    for number, component in enumerate(parts):
        cells = cells_of(component, divided, heads, recipe, gather, whole.scales)
        divisions.append(_cut(number, component, cells, recipe, whole, sample, keys))
    if any(tree is not None for division in divisions for tree in division.trees):
        assert sample is not None
        counts = BlockCounts(divisions, recipe, whole, known, sample)
        divisions = _counted(divisions, recipe, gather(counts.columns, counts))
    strata = released_strata(recipe, divided, whole, gather, recipe.centre == "medoid") if recipe.within else {}
    return Plan(recipe, whole, known, tuple(divisions), strata, divided)


def _references(recipe: Recipe, survey: Survey, divided: Divided, gather: Gather) -> tuple[Reference, ...]:
    """What guards hold groups against: the values of the records that are left."""
    names = guarded_columns(recipe)
    if not divided.suppressed or not names:
        return references(recipe, survey.values, survey.missing)
    left = gather([*recipe.quasi, *names], _ValuesLeft(recipe, divided, names))
    return references(recipe, left.values, left.missing)


class _ValuesLeft:
    """The values of guarded columns, of the records that are left once others are suppressed."""

    def __init__(self, recipe: Recipe, divided: Divided, names: Sequence[str]) -> None:
        self._recipe, self._names = recipe, names
        none, of_key = np.empty(0, np.int64), {key: 0 if key in divided.keys else -1 for key in divided.all_keys}
        self._left = Cells((), of_key, none, none, 0)
        self.values = {name: Values() for name in names if recipe.columns[name].t is not None}
        self.missing: Counter[str] = Counter()

    def add(self, records: Records) -> None:
        """Take in some records."""
        rows = np.flatnonzero(self._left.of(records, self._recipe) >= 0)
        for name in self._names:
            column = records.column(name).at(rows)
            self.missing[name] += int(np.count_nonzero(column.missing))
            if name in self.values:
                self.values[name].add(column)

    @property
    def found(self) -> tuple[dict[str, Values], Counter[str]]:
        """The values, and how many are missing."""
        return self.values, self.missing

    def merge(self, found: tuple[dict[str, Values], Counter[str]]) -> None:
        """Take in the values of other records."""
        values, missing = found
        self.missing.update(missing)
        for name, own in self.values.items():
            own.merge(values[name])


def cut_columns(component: Component, recipe: Recipe) -> list[str]:
    """The columns at which blocks are cut: numbers; where there are none, other values with an order; else codes."""
    kinds = {name: recipe.columns[name].kind for name in component.quasi}
    for wanted in (("numeric", "integer"), ("ordinal", "datetime"), ("nominal", "boolean")):
        if names := [name for name, kind in kinds.items() if kind in wanted]:
            return names
    return []


def routed_columns(divisions: Sequence[Division], recipe: Recipe) -> list[str]:
    """The columns that decide about the part of a record."""
    cut = [name for division in divisions for name in cut_columns(division.component, recipe)]
    own_value = recipe.missing.policy == "own-value"
    return list(dict.fromkeys([*cut, *(recipe.quasi if own_value else recipe.within)]))


def _raw(column: Column, scales: Mapping[str, Scale]) -> Floats:
    """A column as cuts see it: its own numbers or codes, so that every part of the table has the same."""
    if column.is_ordered:
        return scales[column.name].filled(column.numbers)
    return np.where(column.missing, -1.0, column.numbers)


def _cuts(columns: Sequence[Column], gaps: int, component: Component, scales: Mapping[str, Scale]) -> Floats:
    """The columns at which blocks are cut, those without values left out of account."""
    p = len(component.quasi)
    out = []
    for column in columns:
        blank = gaps >> (p - 1 - component.quasi.index(column.name)) & 1
        out.append(np.zeros(len(column.numbers)) if blank else _raw(column, scales))
    return np.column_stack(out)


def _scaled(
    raw: Floats, columns: Sequence[Column], scales: Mapping[str, Scale], importance: Mapping[str, float]
) -> Floats:
    """The same in units that can be compared, as wide as they are important."""
    widths = [scales[c.name].width if c.is_ordered else float(len(c.categories)) for c in columns]
    middles = [scales[c.name].middle if c.is_ordered else 0.0 for c in columns]
    scaled: Floats = (raw - np.array(middles)) / np.array([w or 1.0 for w in widths])
    return scaled * np.sqrt([importance.get(c.name, 1.0) for c in columns])


def _cut(
    number: int,
    component: Component,
    cells: Cells,
    recipe: Recipe,
    whole: Whole,
    sample: Sample | None,
    keys: Sequence[Key],
) -> Division:
    """The cells as parts; those with more records than a block may have get a tree, learnt from the sample."""
    size = block_size(recipe, component.k)
    trees: list[Tree | None] = [None] * len(cells.cells)
    if sample is not None and size is not None:
        cell_of = np.array([cells.of_key[key] for key in keys], np.int64)[sample.keys]
        columns = [sample.columns[name] for name in cut_columns(component, recipe)]
        for c, cell in enumerate(cells.cells):
            rows = np.flatnonzero(cell_of == c)
            if cell.records > size and len(rows):
                own = [column.at(rows) for column in columns]
                raw = _cuts(own, cell.gaps, component, whole.scales)
                tree = learn(_scaled(raw, own, whole.scales, recipe.importance), cell.records, size, raw)
                trees[c] = tree if tree.blocks > 1 else None
    blocks = tuple(np.zeros(1 if tree is None else tree.blocks, np.int64) for tree in trees)
    counts = [np.array([cell.records]) for cell in cells.cells]
    division = Division(number, component, cells, tuple(trees), blocks, (), tuple(counts), ())
    return _with_parts(division, size, whole=recipe.unit_column is not None)


def _with_parts(division: Division, size: int | None, whole: bool = False) -> Division:
    """Number the parts: blocks in their order; one of too many equal records is cut by the order of its records.

    Not so if blocks are to stay whole: records that follow each other are often those of one unit.
    """
    parts: list[Part] = []
    first = []
    for c, counts in enumerate(division.sizes):
        begin = len(parts)
        uncut = size is None or whole
        pieces = [1 if uncut else piece_count(n, size or n, division.component.k) for n in counts.tolist()]
        first.append(begin + np.concatenate(([0], np.cumsum(pieces))))
        for records, m in zip(counts.tolist(), pieces, strict=True):
            for piece in range(m):
                number = None if size is None else len(parts) - begin
                parts.append(Part(c, number, records // m + (piece < records % m)))
    return replace(division, first=tuple(first), parts=tuple(parts))


class BlockCounts:
    """How many records each block of each division has, which values of guarded columns, and how many units."""

    def __init__(
        self, divisions: Sequence[Division], recipe: Recipe, whole: Whole, known: Sequence[Reference], sample: Sample
    ) -> None:
        self._divisions, self._recipe, self._whole = divisions, recipe, whole
        self._guarded, self._unit = guarded_columns(recipe), recipe.unit_column
        self.offsets = [np.concatenate(([0], np.cumsum([len(b) for b in d.blocks]))) for d in divisions]
        self.counts = [np.zeros(int(o[-1]), np.int64) for o in self.offsets]
        self._histograms = [Histograms(known, sample, int(o[-1])) if known else None for o in self.offsets]
        self._units = [UnitSets[int](division.component.k) for division in divisions]
        unit = [] if self._unit is None else [self._unit]
        self.columns = [*routed_columns(divisions, recipe), *self._guarded, *unit]

    def add(self, records: Records) -> None:
        """Take in some records."""
        for d, division in enumerate(self._divisions):
            cell, leaf = leaves(division, records, self._recipe, self._whole)
            place = np.where(cell < 0, -1, self.offsets[d][cell] + leaf)
            self.counts[d] += np.bincount(place[place >= 0], minlength=len(self.counts[d]))
            if (histogram := self._histograms[d]) is not None:
                histogram.add(place, [records.column(name) for name in self._guarded])
            if self._unit is not None:
                self._units[d].add(place, range(int(self.offsets[d][-1])), records.units(self._unit))

    @property
    def found(self) -> tuple[list[Ints], list[list[Ints]], list[UnitSets[int]]]:
        """The counts of records and of values in each block, and the units."""
        return self.counts, [[] if h is None else h.counts for h in self._histograms], self._units

    def merge(self, found: tuple[list[Ints], list[list[Ints]], list[UnitSets[int]]]) -> None:
        """Take in the counts of other records."""
        for d, (counts, histograms, units) in enumerate(zip(*found, strict=True)):
            self.counts[d] += counts
            if (own := self._histograms[d]) is not None:
                own.counts = [a + b for a, b in zip(own.counts, histograms, strict=True)]
            self._units[d].merge(units)

    def reached(self, division: int, offset: int) -> Callable[[int, int], bool] | None:
        """Whether blocks of a cell, as one, can keep the guards and have enough units; None if nothing is asked."""
        return _reached(self._histograms[division], self._units[division] if self._unit is not None else None, offset)


def _counted(divisions: Sequence[Division], recipe: Recipe, found: BlockCounts) -> list[Division]:
    """The divisions once their blocks are counted: those with too few records, or too few values, are joined."""
    out = []
    for d, division in enumerate(divisions):
        blocks, sizes = [], []
        for c in range(len(division.cells.cells)):
            a, b = int(found.offsets[d][c]), int(found.offsets[d][c + 1])
            counts = found.counts[d][a:b]
            number = joined(counts, division.component.k, found.reached(d, a))
            blocks.append(number)
            sizes.append(np.bincount(number, counts).astype(np.int64))
        size = block_size(recipe, division.component.k)
        counted = replace(division, blocks=tuple(blocks), sizes=tuple(sizes))
        out.append(_with_parts(counted, size, whole=recipe.unit_column is not None))
    return out


def _reached(
    histogram: Histograms | None, units: UnitSets[int] | None, offset: int
) -> Callable[[int, int], bool] | None:
    """Whether blocks, as one, can keep the guards and have enough units; None if nothing is asked of them."""
    if histogram is None and units is None:
        return None

    def reached(first: int, last: int) -> bool:
        blocks = range(offset + first, offset + last + 1)
        if units is not None and units.count(blocks) < units.most:
            return False
        return histogram is None or histogram.reached(np.array(blocks))

    return reached


def leaves(division: Division, records: Records, recipe: Recipe, whole: Whole) -> tuple[Ints, Ints]:
    """The cell of each record (-1: suppressed), and its leaf in the tree of that cell."""
    cell = division.cells.of(records, recipe)
    leaf = np.zeros(len(records), np.int64)
    names = cut_columns(division.component, recipe)
    for c, tree in enumerate(division.trees):
        if tree is None:
            continue
        everyone = len(division.trees) == 1 and not (cell < 0).any()
        rows = slice(None) if everyone else np.flatnonzero(cell == c)
        columns = [records.column(n) if everyone else records.column(n).at(rows) for n in names]  # type: ignore[arg-type]
        gaps = division.cells.cells[c].gaps
        leaf[rows] = route(_cuts(columns, gaps, division.component, whole.scales), tree)
    return cell, leaf


class Router:
    """The part of each record. Records must come in their order: large blocks of equal records are cut by it.

    `seen` says how many records of such blocks (cell and block) came before the first that is shown here.
    """

    def __init__(self, plan: Plan, division: Division, seen: Counter[tuple[int, int]] | None = None) -> None:
        self._plan, self._division = plan, division
        self.columns = routed_columns([division], plan.recipe)
        self._seen: Counter[tuple[int, int]] = Counter(seen)

    def parts(self, records: Records) -> Ints:
        """The part of each record; -1 for those that are suppressed."""
        division = self._division
        cell, leaf = leaves(division, records, self._plan.recipe, self._plan.whole)
        out = np.full(len(records), -1, np.int64)
        for c in range(len(division.cells.cells)):
            whole = len(division.cells.cells) == 1 and not (cell < 0).any()
            rows = np.arange(len(records)) if whole else np.flatnonzero(cell == c)
            block = division.blocks[c][leaf[rows]]
            out[rows] = division.first[c][block]
            pieces = np.diff(division.first[c])
            for b in np.flatnonzero(pieces > 1).tolist():
                inside = rows[block == b]
                rank = self._seen[c, b] + np.arange(len(inside))
                self._seen[c, b] += len(inside)
                out[inside] += _piece(rank, int(division.sizes[c][b]), int(pieces[b]))
        if self._plan.together is not None:
            out[self._plan.together.left_out[records.numbers]] = -1
        return out


def _piece(rank: Ints, records: int, pieces: int) -> Ints:
    """The piece of a block that its record of this rank is in: as equal as can be, the larger ones first."""
    least, larger = divmod(records, pieces)
    edge = larger * (least + 1)
    return np.where(rank < edge, rank // (least + 1), larger + (rank - edge) // max(1, least))


def in_parts(part: Ints, parts: Iterable[int]) -> Iterator[tuple[int, Ints]]:
    """The rows of each of these parts, in their order."""
    parts = list(parts)
    if len(parts) == 1 and not len(part[part != parts[0]]):
        yield parts[0], np.arange(len(part))
        return
    few_bits = part.astype(np.int16) if part.max() < 2**15 else part  # which NumPy sorts several times as fast
    order = np.argsort(few_bits, kind="stable")
    sorted_parts = part[order]
    for number in parts:
        low, high = np.searchsorted(sorted_parts, [number, number + 1])
        yield number, order[low:high]


def typed_columns(recipe: Recipe) -> list[str]:
    """The columns that are read as numbers."""
    extra = [] if recipe.weights is None else [recipe.weights.column]
    return [*recipe.quasi, *recipe.of_role("confidential"), *extra]


def needed_columns(recipe: Recipe) -> list[str]:
    """The columns that a part is solved by: these, and what k counts."""
    unit = [] if recipe.unit_column is None else [recipe.unit_column]
    return list(dict.fromkeys([*typed_columns(recipe), *unit]))


def surveyed_columns(recipe: Recipe) -> list[str]:
    """The columns that the survey reads."""
    return [*needed_columns(recipe), *identifiers_to_count(recipe)]
