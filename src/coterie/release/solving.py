"""Solving the parts of a table: chunk by chunk as the engine gives them, the parts of a chunk on threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import progress as progress_
from ..algorithms.confidential.guarded import UnreachableError
from ..algorithms.regions import at_most
from ..engines import Chunk, Engine
from ..errors import CoterieError, PromiseError
from ..protection.assemble import Assembled, Grouping, GroupTable, strata_of_parts
from ..protection.grouping import unreachable
from ..protection.guarding import guarded_columns
from ..protection.plan import Division, Part, Plan, Router, in_parts, needed_columns, typed_columns
from ..protection.solve import Solved, solve
from ..tables.columns import Column
from ..tables.records import Records
from .tally import Tally

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Released:
    """Some records with the columns that are released in another way than they were."""

    records: Records
    after: Mapping[str, Column]
    number: int  # counts the pieces in which the release comes
    before: int = 0  # records in the pieces before


def solve_all(
    engine: Engine, plan: Plan, columns: Sequence[str], tally: Tally, threads: int | None = None
) -> Iterator[Released]:
    """Solve every part, and give the released records piece by piece; what there is to tell goes to the tally.

    Where records belong to several groupings, those before the last are remembered for every record: a number. Parts
    are solved on as many threads as there are cores, unless `threads` says otherwise.
    """
    workers = threads or os.cpu_count() or 1
    *others, last = plan.divisions
    remembered: list[GroupTable] = []
    read = list(dict.fromkeys([*needed_columns(plan.recipe), *columns]))
    for division in others:
        table = GroupTable(np.full(engine.records, -1, np.int32))
        for chunk in _chunks(engine, plan, division, needed_columns(plan.recipe)):
            for rows, solved in _solved(chunk, plan, division, tally, workers):
                assert table.of_record is not None
                table.of_record[chunk.records.numbers[rows]] = table.add(solved) + solved.labels
        remembered.append(table)
    first = 0
    for number, chunk in enumerate(_chunks(engine, plan, last, read)):
        own, left, group = grouped(chunk, plan, last, tally, workers)
        kept = chunk.records if len(left) == len(chunk.records) else chunk.records.take(left)
        groupings = [Grouping(t, t.of_record[kept.numbers], np.arange(t.groups)) for t in remembered]  # type: ignore[index]
        groupings.append(Grouping(own, group, first + np.arange(own.groups)))
        first += own.groups
        yield release_chunk(kept, groupings, chunk.part[left], plan, tally, number, records_before(chunk, last))


def grouped(chunk: Chunk, plan: Plan, division: Division, tally: Tally, threads: int) -> tuple[GroupTable, Ints, Ints]:
    """Solve the parts of a chunk: its groups, the rows that are left, and the group of each of these."""
    own, group = GroupTable(), np.full(len(chunk.records), -1, np.int64)
    for rows, solved in _solved(chunk, plan, division, tally, threads):
        group[rows] = own.add(solved) + solved.labels
    left = np.flatnonzero(group >= 0)
    return own, left, group[left]


def records_before(chunk: Chunk, division: Division) -> int:
    """How many records of the release come before those of a chunk: parts have sizes, and follow one another."""
    return sum(part.records for part in division.parts[: chunk.parts.start])


def release_chunk(
    kept: Records, groupings: Sequence[Grouping], part: Ints, plan: Plan, tally: Tally, number: int, before: int
) -> Released:
    """What is released of records whose groups in all divisions are known; `part` is that of the last one."""
    after: Mapping[str, Column] = Assembled(kept, groupings, strata_of_parts(plan.divisions[-1])[part], plan)
    if not tally.all_there:  # few records, whose columns are asked for more than once
        after = dict(after)
    tally.add_released(kept, after, groupings)
    return Released(kept, after, number, before)


def _chunks(engine: Engine, plan: Plan, division: Division, columns: Sequence[str]) -> Iterator[Chunk]:
    sizes = [part.records for part in division.parts]
    progress_.more(sum(sizes))
    return engine.chunks(columns, Router(plan, division), sizes, division.neighbours)


def _solved(chunk: Chunk, plan: Plan, division: Division, tally: Tally, threads: int) -> Iterator[tuple[Ints, Solved]]:
    """The parts of a chunk, in their order, solved on threads; and the loss at one border between two of them."""
    rows = dict(in_parts(chunk.part, chunk.parts))
    for name in typed_columns(plan.recipe):
        chunk.records.typed(name)  # read once, before threads ask for it
    if plan.recipe.unit_column is not None:
        chunk.records.units(plan.recipe.unit_column)
    pair = division.neighbours
    probe = pair if tally.measures_borders and pair is not None and pair[0] in chunk.parts else None

    def one(number: int) -> Solved:
        with at_most(threads if len(division.parts) == 1 else 1):
            return _solve(chunk.records, rows[number], division.parts[number], division, plan)

    def both(a: int, b: int) -> Solved:
        together = np.sort(np.concatenate([rows[a], rows[b]]))
        part = division.parts[a]
        return _solve(chunk.records, together, Part(part.cell, part.number, len(together)), division, plan)

    apart = 0.0
    for number, solved in _in_order(chunk.parts, one, len(division.parts), threads):
        tally.add(division, solved)
        if probe is not None and number in probe:
            apart += solved.loss.of_method.sse
        yield rows[number], solved
    if probe is not None:
        tally.add_border(division, apart, both(*probe).loss.of_method.sse, sum(len(rows[n]) for n in probe))


def _solve(records: Records, rows: Ints, part: Part, division: Division, plan: Plan) -> Solved:
    if len(rows) != part.records:
        raise CoterieError("The input must not change while it is read.", "a different number of records")
    short: PromiseError
    try:
        return solve(records if len(rows) == len(records) else records.take(rows), part, division, plan)
    except UnreachableError as error:
        short = unreachable(error, plan.recipe, guarded_columns(plan.recipe), len(division.parts))
    raise short


def _in_order(parts: range, run: Callable[[int], Solved], of: int, threads: int) -> Iterator[tuple[int, Solved]]:
    """The solutions of parts in their order: one in this thread, several on threads."""
    if of == 1 or threads == 1:
        for number in parts:
            yield number, run(number)  # the method itself tells how far it is
        return
    with ThreadPoolExecutor(min(len(parts), threads)) as pool:
        waiting: list[tuple[int, Future[Solved]]] = []
        try:
            for number in parts:
                waiting.append((number, pool.submit(run, number)))
                if len(waiting) > 2 * threads:
                    yield _next(waiting)
            while waiting:
                yield _next(waiting)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _next(waiting: list[tuple[int, Future[Solved]]]) -> tuple[int, Solved]:
    number, future = waiting.pop(0)
    solved = future.result()
    progress_.done(len(solved.labels))
    return number, solved
