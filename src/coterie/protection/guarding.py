"""Guards in a part of the table: l and entropy of its own groups, t against the whole table.

A part can be grouped only if all its records as one group keep the guards (the union of groups that keep them does).
So blocks in which that is not sure are joined with their neighbours, by histograms, before anything is grouped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..algorithms.confidential.guards import Condition, watch_of
from ..errors import PromiseError
from ..kernels.watch import Watch
from ..recipe import Recipe
from ..tables.columns import Column
from .survey import Sample
from .values import Values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_BINS = 1024  # of a column with more values: enough to see whether a block is like the table


@dataclass(frozen=True, eq=False)
class Reference:
    """A guarded column in the whole table. `values` and `table` (with the missing ones last) are there if t is."""

    name: str
    condition: Condition
    values: Values | None
    table: Ints | None

    def codes(self, column: Column) -> Ints:
        """The values of some records as numbers, -1 where missing: in the order of all values, if t is asked for."""
        return codes_of(column) if self.values is None else self.values.codes(column)


def codes_of(column: Column) -> Ints:
    """The different values numbered in order; -1 where missing."""
    codes = np.full(len(column.numbers), -1)
    there = ~column.missing
    codes[there] = np.unique(column.numbers[there], return_inverse=True)[1].reshape(-1)
    return codes


def guarded_columns(recipe: Recipe) -> list[str]:
    """The confidential columns that something must hold of in every group."""
    return [name for name in recipe.of_role("confidential") if recipe.columns[name].guarded]


def references(recipe: Recipe, every: Mapping[str, Values], missing: Mapping[str, int]) -> tuple[Reference, ...]:
    """What groups are held against: values of columns with t, and missing ones, of the records that are left."""
    out = []
    for name in guarded_columns(recipe):
        rule = recipe.columns[name]
        ordered = rule.kind not in ("nominal", "boolean")
        if rule.t is not None and ordered and missing[name]:
            what = f"t-closeness of the ordered column '{name}' is not defined for missing values."
            raise PromiseError(what, f"{missing[name]} missing", "drop these records, or use l.")
        values = every.get(name)
        table = None if values is None else np.append(values.table(), missing[name])
        out.append(Reference(name, Condition(ordered, rule.l, rule.entropy, rule.t), values, table))
    return tuple(out)


def watch_part(known: Sequence[Reference], columns: Sequence[Column], units: Ints | None = None, k: int = 0) -> Watch:
    """The guards over the records of a part; with units, that every group has at least k of them, as the last."""
    codes = [reference.codes(column) for reference, column in zip(known, columns, strict=True)]
    conditions, tables = [r.condition for r in known], [r.table for r in known]
    if units is not None:
        codes, conditions, tables = [*codes, units], [*conditions, Condition(False, k)], [*tables, None]
    return watch_of(conditions, codes, tables)


class Histograms:
    """How often the values of guarded columns come in each block, coarse where there are many."""

    def __init__(self, known: Sequence[Reference], sample: Sample, blocks: int) -> None:
        self._known = known
        self._bins = [_bins_of(reference, sample.columns.get(reference.name)) for reference in known]
        self.counts = [np.zeros((blocks, count + 1), np.int64) for _, count, _ in self._bins]

    def add(self, block: Ints, columns: Sequence[Column]) -> None:
        """Count the values of some records in their blocks; those of block -1 don't count."""
        left = block >= 0
        for counts, (bin_of, count, _), column in zip(self.counts, self._bins, columns, strict=True):
            bins = np.where(column.missing, count, bin_of(column))
            np.add.at(counts, (block[left], bins[left]), 1)

    def reached(self, blocks: Ints) -> bool:
        """Whether the records of these blocks, as one group, surely keep all guards."""
        return all(
            _holds(reference.condition, counts[blocks].sum(axis=0), counts.sum(axis=0), widths)
            for reference, counts, (_, _, widths) in zip(self._known, self.counts, self._bins, strict=True)
        )


Binner = Callable[[Column], Ints]


def _bins_of(reference: Reference, sample: Column | None) -> tuple[Binner, int, Ints]:
    """From a column to bins, how many there are, and how many different values each stands for."""
    if reference.values is not None:
        values = reference.values
        table = values.table()
        cut = _BINS if reference.condition.ordered and len(table) > _BINS else len(table)
        start = np.cumsum(table) - table
        bin_of = (start * cut // max(1, int(table.sum()))) if cut < len(table) else np.arange(len(table))
        _, bin_of, widths = np.unique(bin_of, return_inverse=True, return_counts=True)
        bin_of = np.append(bin_of.reshape(-1), len(widths))  # code -1: the bin of missing values, maybe the only one
        return (lambda column: bin_of[values.codes(column)]), len(widths), widths
    assert sample is not None
    if sample.kind == "nominal":
        place = {text: i for i, text in enumerate(sample.categories)}
        others = len(place)  # texts that the sample lacks count as one

        def by_text(column: Column) -> Ints:
            number = np.array([place.get(text, others) for text in column.categories] + [others], np.int64)
            return number[np.where(column.missing, -1, column.numbers).astype(np.int64)]

        return by_text, others + 1, np.ones(others + 1, np.int64)
    present = sample.numbers[~sample.missing]
    edges = np.unique(np.sort(present)[:: max(1, len(present) // _BINS)])
    return (lambda column: np.searchsorted(edges, column.numbers)), len(edges) + 1, np.ones(len(edges) + 1, np.int64)


def _holds(condition: Condition, own: Ints, whole: Ints, widths: Ints) -> bool:
    """Whether records with these counts surely keep a guard; the last count is that of the missing values."""
    present = own[:-1]
    if condition.l is not None and np.count_nonzero(present) < condition.l:
        return False
    if condition.entropy is not None:
        share = present[present > 0] / max(1, present.sum())
        if not len(share) or np.exp(-(share * np.log(share)).sum()) < condition.entropy * (1 + 1e-9):
            return False
    if condition.t is None or not own.sum():
        return bool(own.sum())
    if not condition.ordered:
        return bool(0.5 * np.abs(own / own.sum() - whole / whole.sum()).sum() <= condition.t * (1 - 1e-9))
    values = int(widths.sum())
    if values == 1:
        return True
    p, q = np.cumsum(present) / present.sum(), np.cumsum(whole[:-1]) / whole[:-1].sum()
    before_p, before_q = np.append(0.0, p[:-1]), np.append(0.0, q[:-1])
    inside = np.maximum(p - before_q, q - before_p) * (widths - 1)  # wherever in the bin the values lie
    return bool((inside + np.abs(p - q)).sum() / (values - 1) <= condition.t * (1 - 1e-9))
