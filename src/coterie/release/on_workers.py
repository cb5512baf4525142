"""Solving on the workers of a cluster: the same steps as here (`solving.py`), chunk by chunk, wherever a chunk is.

    route -> solve a chunk of the first division -> carry its groups along -> ... -> solve one of the last -> write it

What a record gets from the divisions before the last travels with it. The driver adds up what all chunks have to say.
"""

from __future__ import annotations

import hashlib
import io
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import progress
from ..engines import Chunk
from ..engines.spark import Pass, SparkEngine
from ..errors import CoterieError
from ..facts.bundle_facts import FileFacts
from ..formats.parquet_folder import file_system
from ..protection.assemble import Assembled, Grouping, GroupTable, strata_of_parts
from ..protection.plan import Division, Plan, Router, leaves, needed_columns, routed_columns
from ..recipe import Recipe
from ..tables.records import Records
from .solving import Released, grouped, records_before, release_chunk
from .tally import CHUNK, Found, Tally
from .unit_check import UnitCheck
from .writing import piece_of

Ints = NDArray[np.int64]

_CARRIED = "\ue000carried"  # what a record brings along: under names that no column has


@dataclass(frozen=True)
class Target:
    """Where workers write the release, which columns, and how; nowhere without a folder."""

    folder: str | None
    names: tuple[str, ...]
    codec: str


@dataclass(frozen=True)
class PartFile:
    """A file that a worker has written."""

    name: str
    records: int
    facts: FileFacts


@dataclass(frozen=True, eq=False)
class Told:
    """What a worker says of a chunk."""

    groups: int
    tally: Found
    units: Any
    file: PartFile | None


@dataclass(frozen=True, eq=False)
class SolveChunk:
    """Solves a chunk of one division; of the last one, its records are released and written."""

    plan: Plan
    number: int  # of the division
    details: Mapping[str, Any]
    target: Target
    share: float  # of the groups that are in the sample

    def __call__(self, number: int, chunk: Chunk) -> tuple[Mapping[str, Any] | None, Told]:
        """What is carried along, and what there is to say."""
        plan, division = self.plan, self.plan.divisions[self.number]
        tally = Tally(plan, all_there=False, share=self.share)
        own, left, group = grouped(chunk, plan, division, tally, 1)
        if len(left) != len(chunk.records):
            raise CoterieError(
                "Every record of a chunk must have a group.", f"{len(chunk.records) - len(left)} without"
            )
        grouping = Grouping(own, group, number * CHUNK + np.arange(own.groups))
        units = UnitCheck(plan.recipe, self.details, only=_scenarios(plan.recipe, self.number))
        if self.number < len(plan.divisions) - 1:
            after = Assembled(chunk.records, [grouping], strata_of_parts(division)[chunk.part], plan)
            units.add(Released(chunk.records, after, number), chunk.records.arrow)
            carried = _carried(self.number, grouping)
            return carried, Told(own.groups, tally.found(self.number), units.found, None)
        before = [_brought(one, plan.recipe, chunk.records) for one in plan.divisions[: self.number]]
        first = records_before(chunk, division)
        released = release_chunk(chunk.records, [*before, grouping], chunk.part, plan, tally, number, first)
        units.add(released, chunk.records.arrow)
        file = None if self.target.folder is None else _write(released, plan.recipe, self.target, number)
        return None, Told(own.groups, tally.found(self.number), units.found, file)


def _scenarios(recipe: Recipe, division: int) -> tuple[str, ...]:
    """The scenarios that a division is for."""
    return tuple(recipe.joined[division][0])


def _carried(division: int, grouping: Grouping) -> dict[str, Any]:
    """The group of each record, and what is released for it, as columns."""
    table, group = grouping.table, grouping.group
    out: dict[str, Any] = {f"{_CARRIED}{division}": grouping.ids[group]}
    for name in table.centres:
        out[f"{_CARRIED}{division} centre {name}"] = table.centre(name)[group]
    for name in table.constant:
        out[f"{_CARRIED}{division} constant {name}"] = table.constants(name)[group]
    return out


def _brought(division: Division, recipe: Recipe, records: Records) -> Grouping:
    """The groups that some records have in a division before, as they have brought them along."""
    start = f"{_CARRIED}{division.number}"
    ids, first, group = np.unique(records.arrow(start).to_numpy(), return_index=True, return_inverse=True)
    table = GroupTable(groups=len(ids))
    for name in division.component.quasi:
        table.centres[name] = [records.arrow(f"{start} centre {name}").to_numpy()[first]]
    for name in recipe.of_role("confidential"):
        table.constant[name] = [records.arrow(f"{start} constant {name}").to_numpy()[first]]
    return Grouping(table, group.reshape(-1), ids, elsewhere=True)


def _write(released: Released, recipe: Recipe, target: Target, number: int) -> PartFile:
    """Write a file of the release, under a name that no other attempt at the same chunk has."""
    from pyarrow import parquet

    table = piece_of(released, target.names, recipe, False)
    sink = io.BytesIO()
    parquet.write_table(table.combine_chunks(), sink, compression=target.codec)
    data = sink.getvalue()
    name = f"part-{number:05d}-{uuid.uuid4().hex[:12]}.parquet"
    system, folder = file_system(str(target.folder))
    with system.open_output_stream(f"{folder}/{name}") as stream:
        stream.write(data)
    facts = FileFacts(hashlib.sha256(data).hexdigest(), len(data), "public")
    return PartFile(name, table.num_rows, facts)


def solve_on_workers(
    engine: SparkEngine, plan: Plan, details: Mapping[str, Any], target: Target
) -> tuple[Tally, UnitCheck, list[PartFile]]:
    """Solve all parts where the records are, and write them: what was added up, the check of units, the files."""
    progress.more(sum(part.records for division in plan.divisions for part in division.parts))
    tally, units = Tally(plan, all_there=False), UnitCheck(plan.recipe, details)
    passes = [
        Pass([p.records for p in d.parts], d.neighbours, SolveChunk(plan, d.number, details, target, tally.share))
        for d in plan.divisions
    ]
    columns = [*needed_columns(plan.recipe), *target.names]
    told = engine.passes(columns, _Routers(plan, _ranks(engine, plan)), passes)
    first: list[dict[int, int]] = [{} for _ in plan.divisions]
    for d, chunks in enumerate(told):
        for number, one in chunks:
            first[d][number] = tally.groups[d]
            tally.merge(one.tally, first)
            units.merge(one.units)
    progress.done(sum(part.records for division in plan.divisions for part in division.parts))
    return tally, units, [one.file for _, one in told[-1] if one.file is not None]


class _Routers:
    """The routers of a task; those that cut large blocks by the order of records know who came before."""

    def __init__(self, plan: Plan, seen: Sequence[Sequence[Counter[tuple[int, int]]]]) -> None:
        self._plan, self._seen = plan, seen

    def __call__(self, task: int) -> list[Router]:
        """One for each division."""
        return [
            Router(self._plan, division, self._seen[task][division.number] if self._seen else None)
            for division in self._plan.divisions
        ]


def _ranks(engine: SparkEngine, plan: Plan) -> list[list[Counter[tuple[int, int]]]]:
    """For each task and division, how many records of blocks that are cut have come in the tasks before."""
    if not any((np.diff(first) > 1).any() for division in plan.divisions for first in division.first):
        return []
    columns = routed_columns(plan.divisions, plan.recipe)
    out = []
    seen: list[Counter[tuple[int, int]]] = [Counter() for _ in plan.divisions]
    for _, found in engine.looks(columns, _CutBlocks(plan)):
        out.append([Counter(own) for own in seen])
        for own, more in zip(seen, found, strict=True):
            own.update(more)
    return out


class _CutBlocks:
    """How many records of each block that is cut there are."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.found: list[Counter[tuple[int, int]]] = [Counter() for _ in plan.divisions]

    def add(self, records: Records) -> None:
        """Take in some records."""
        for division, counts in zip(self._plan.divisions, self.found, strict=True):
            cell, leaf = leaves(division, records, self._plan.recipe, self._plan.whole)
            for c, first in enumerate(division.first):
                block = division.blocks[c][leaf[cell == c]]
                for b in np.flatnonzero(np.diff(first) > 1).tolist():
                    counts[c, b] += int(np.count_nonzero(block == b))

    def merge(self, found: list[Counter[tuple[int, int]]]) -> None:
        """Take in the counts of other records."""
        for own, more in zip(self.found, found, strict=True):
            own.update(more)
