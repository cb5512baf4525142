"""A part of a large table: some blocks, grouped and released on threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.kd_blocks import sse
from ..progress import listening
from ..protection.centres import centre_of_groups, medoids
from ..protection.encoding import encode_columns
from ..protection.grouping import constant_records, grouped_part
from ..recipe import Recipe
from ..tables import kinds
from ..tables.columns import Column
from .survey import Survey, read_part, weights_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solved:
    """The released records of a block, and what they cost."""

    table: Any
    labels: Ints
    sse: float
    sums: Floats  # of every column of the matrix
    squares: float  # of the whole matrix
    constant: int  # records in groups in which a confidential column has one value at most
    before: dict[str, Column]  # of the groups that measures are taken from
    after: dict[str, Column]
    by_weight: Floats | None = None  # the SSE, the weights, squares and sums of the matrix, each record by its weight
    weights: Floats | None = None  # of the groups that measures are taken from


@dataclass(frozen=True, eq=False)
class Job:
    """What is common to all blocks."""

    recipe: Recipe
    k: int
    survey: Survey
    decimal: str
    share: float  # of the groups that measures are taken from

    def matrix(self, typed: dict[str, kinds.Typed]) -> tuple[dict[str, Column], Floats]:
        """The quasi-identifiers with the categories of the whole table, and the matrix that is grouped."""
        columns = {n: self._whole(typed[n].column) for n in self.recipe.quasi}
        return columns, encode_columns(list(columns.values()), self.survey.scales)

    def _whole(self, column: Column) -> Column:
        if column.kind != "nominal":
            return column
        every = self.survey.categories(column.name)
        place = {category: float(i) for i, category in enumerate(every)}
        codes = np.array([place[c] for c in column.categories] + [np.nan])
        own = np.where(column.missing, -1, column.numbers).astype(np.int64)
        return Column(column.name, column.kind, codes[own], every)

    def solve(self, table: Any, number: int) -> Solved:
        """Group and release the records of a block."""
        recipe = self.recipe
        with listening(None):
            confidential = recipe.of_role("confidential")
            typed = read_part(table, (*recipe.quasi, *confidential), recipe, self.decimal, self.survey.steps)
            columns, X = self.matrix(typed)
            method = recipe.method
            assert recipe.seed is not None
            labels, _ = grouped_part(X, self.k, method.name, method.params, method.refine, [recipe.seed, 0, number])
            weights = weights_of(table.column, recipe, self.decimal)
            after = self._released(columns, X, labels, weights)
            kept = {n: typed[n].column for n in confidential}
            for name, column in after.items():
                new = typed[name].write(self._own_codes(column, typed[name].column))
                table = table.set_column(table.column_names.index(name), name, new)
        rng = np.random.default_rng([recipe.seed, 2, number])
        rows = np.flatnonzero((rng.random(int(labels.max()) + 1) < self.share)[labels])
        return Solved(
            table,
            labels,
            sse(X, labels),
            X.sum(axis=0),
            float(np.square(X).sum()),
            constant_records(labels, list(kept.values())),
            _at(rows, {**columns, **kept}),
            _at(rows, {**after, **kept}),
            None if weights is None else _by_weight(X, labels, weights),
            None if weights is None else weights[rows],
        )

    def _released(
        self, columns: dict[str, Column], X: Floats, labels: Ints, weights: Floats | None
    ) -> dict[str, Column]:
        chosen = medoids(X, labels) if self.recipe.centre == "medoid" else None
        out = {}
        for name, column in columns.items():
            if chosen is not None:
                numbers = column.numbers[chosen]
            else:
                numbers = centre_of_groups(column, labels, weights, self.survey.steps[name], self._overall(column))
            out[name] = Column(name, column.kind, numbers, column.categories)
        return out

    def _overall(self, column: Column) -> Floats | None:
        held = self.survey.frequency.get(column.name)
        return None if held is None else np.array([held.get(c, 0.0) for c in column.categories])

    def _own_codes(self, column: Column, own: Column) -> Floats:
        """The numbers of a column in the categories that its block has."""
        if column.kind != "nominal":
            return column.numbers
        place = {category: float(i) for i, category in enumerate(own.categories)}
        codes = np.array([place.get(c, np.nan) for c in column.categories] + [np.nan])
        return codes[np.where(column.missing, -1, column.numbers).astype(np.int64)]


def _by_weight(X: Floats, labels: Ints, w: Floats) -> Floats:
    """What the weighted loss is made of: SSE, sum of weights, of squares, and of every column."""
    total, sse = np.bincount(labels, w), 0.0
    for x in X.T:
        mean = np.bincount(labels, w * x) / total
        sse += float((w * np.square(x - mean[labels])).sum())
    return np.array([sse, w.sum(), (w @ np.square(X)).sum(), *(w @ X)])


def _at(rows: Ints, columns: dict[str, Column]) -> dict[str, Column]:
    return {n: Column(n, c.kind, c.numbers[rows], c.categories) for n, c in columns.items()}


def solve_all(job: Job, table: Any, parts: Sequence[tuple[int, Ints]], threads: int) -> Iterator[Solved]:
    """The blocks of a part as they come, in their order."""
    import pyarrow as pa

    def solve(number: int, rows: Ints) -> Solved:
        take = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])
        return job.solve(table.take(take), number)

    with ThreadPoolExecutor(threads) as pool:
        waiting: list[Any] = []
        try:
            for number, rows in parts:
                waiting.append(pool.submit(solve, number, rows))
                if len(waiting) > 2 * threads:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
