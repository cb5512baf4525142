"""Files larger than memory: looked at, cut into blocks, grouped part by part, written as they come, verified, moved.

Nothing of the input is written anywhere: a part is what a filter on the file gives, and the file is read again for
each.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import progress as progress_
from ..algorithms.kd_blocks import boxes, joined, learn, piece_count, route
from ..engines import Engine, Number
from ..engines.duckdb import FileEngine
from ..errors import CoterieError, PromiseError
from ..facts.release import ReleaseFacts
from ..formats import Format
from ..formats.base import attempt, kind_of
from ..formats.streams import Writer, peek, writing
from ..protection.grouping import block_size, components
from ..recipe import Recipe
from .bundle import AUDIENCE, Written, finish
from .parts import Job, Solved, solve_all
from .pipeline import as_recipe
from .place import check_place, into_place, staging
from .source import sha256
from .spreadsheets import check_policy, without_formulas
from .stream_facts import Told, facts_of
from .survey import in_batches, read_part, survey

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FOR_ROWS = 0.3  # of the memory
_FOR_DUCKDB = 0.25
_LEAST = 256 << 20  # what Python, its libraries and compiled code take, and some
_MEASURED = 100_000  # records, in whole groups of all blocks, that measures are taken from


def needed(path: Path) -> int:
    """About how many bytes a CSV or Parquet file takes to be protected in memory; 0 for other files."""
    kind = kind_of(path)
    if kind == "csv":
        return 12 * path.stat().st_size
    if kind != "parquet":
        return 0
    from pyarrow import parquet

    found, reason = attempt(parquet.read_metadata, path)
    if reason is not None:
        raise CoterieError(f"'{path}' cannot be read as Parquet.", reason or None)
    return 12 * 8 * int(found.num_rows) * int(found.num_columns)


def bytes_of(text: str) -> int:
    """A memory limit as people write it: 2GB, 512MB, 1.5 GiB."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if not found:
        raise CoterieError("A memory limit is a number and a unit.", f"'{text}'", "for example 2GB.")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " "))


@dataclass(frozen=True)
class Streamed:
    """A bundle that was written part by part.

    Attributes
    ----------
    folder : Path
    facts : ReleaseFacts
        What there is to say, without a record's value.
    """

    folder: Path
    facts: ReleaseFacts = field(repr=False)

    def __str__(self) -> str:
        """The facts in a few lines."""
        from ..report.text import as_text

        return as_text(self.facts)

    def __rich__(self) -> Any:
        """The facts for a terminal."""
        from ..report.text import as_table

        return as_table(self.facts)


def engine_of(path: Path, options: Mapping[str, Any] | None, memory: int) -> tuple[FileEngine, Format]:
    """The engine for a file that is read part by part, and its format; who asks for it closes it."""
    form, names = peek(path, options)
    if len(form.details.get("missing", ())) > 1:  # a column that is kept would not keep which of them it has
        what = "A file that is read part by part has one text that means missing."
        raise CoterieError(what, f"{len(form.details['missing'])}", "raise the memory limit.")
    if memory < 2 * _LEAST:
        raise CoterieError(f"The memory limit must be at least {2 * _LEAST >> 20} MiB.", f"{memory >> 20} MiB")
    return FileEngine(path, form, names, int(_FOR_DUCKDB * (memory - _LEAST))), form


def protect_file(
    path: str | Path,
    recipe: Any,
    folder: str | Path,
    *,
    memory: int,
    force: bool = False,
    progress: bool = False,
    rows: int | None = None,
) -> Streamed:
    """Protect a CSV or Parquet file without ever holding more of it than a part.

    Parameters
    ----------
    path, recipe
        As for `protect`. What a recipe asks for that needs all records at once is refused, before any work is done.
    folder : path
        Where the bundle goes.
    memory : int
        How many bytes may be used, about.
    force, progress : bool
        Replace the folder; show how far it is.
    rows : int, optional
        How many records a part has; else as many as the memory takes. It decides about the order of rows, no more.
    """
    path, folder = Path(path), Path(folder).absolute()
    recipe = _ready(as_recipe(recipe))
    check_place(folder, force)
    form, names = peek(path, recipe.file.options)
    recipe.check_columns(names)
    check_policy(recipe, form)
    engine, form = engine_of(path, recipe.file.options, memory)
    try:
        run = _Run(engine, form, recipe, memory, rows)
        with staging(folder) as stage:
            data = stage / f"data{path.suffix.lower()}"
            with progress_.bar(progress, "protecting"):
                run.prepare()
                with writing(form, data) as writer:
                    run.write(writer)
            told = run.told(path)
            written = Written(data, form, told.names, recipe, told.sha256, memory, run.rows)
            facts = finish(written, lambda: facts_of(told), progress)
            into_place(stage, folder, force, {data.name, *AUDIENCE})
        return Streamed(folder, facts)
    finally:
        engine.close()


def _ready(recipe: Recipe) -> Recipe:
    """The recipe with blocks and a seed; refuse what needs all records at once, all of it said together."""
    wrong = []
    if recipe.strata is not None:
        wrong.append("strata")
    if recipe.missing.policy == "own-value":
        wrong.append('missing values as "own-value"')
    if len(components(recipe)) > 1:
        wrong.append("scenarios that share no column")
    if any(rule.guarded for rule in recipe.columns.values()):
        wrong.append("l, entropy or t")
    if any(rule.noise is not None for rule in recipe.columns.values()) or recipe.guard.regroup:
        wrong.append("noise or regroup")
    if recipe.method.bound != "none":
        wrong.append("a bound")
    if wrong:
        what = "A file that is read part by part cannot have what needs all its records at once."
        raise CoterieError(what, ", ".join(wrong), "raise the memory limit, or leave these out.")
    document = recipe.as_dict()
    if recipe.method.blocks is None:
        document["method"] = {**document.get("method", {}), "blocks": "auto"}
    if recipe.seed is None:
        document["seed"] = secrets.randbelow(2**53)
    return Recipe(**document)


class _Run:
    """The way of a file through its parts."""

    def __init__(self, engine: Engine, form: Format, recipe: Recipe, memory: int, rows: int | None) -> None:
        self.engine, self._form, self._recipe = engine, form, recipe
        (component,) = components(recipe)
        self._k = component.k
        size = block_size(recipe, self._k)
        assert size is not None
        self._size = size
        self._decimal = str(form.details.get("decimal") or ".")
        self._cuts = [q for q in component.quasi if recipe.columns[q].kind in ("numeric", "integer")]
        self._names = [n for n in engine.names if recipe.columns[n].role != "identifier"]
        dropped = {recipe.weights.column} - set(self._names) if recipe.weights is not None else set()
        self._read = [*self._names, *sorted(dropped)]
        self._memory, self.rows = memory, rows or 0
        self._told = Told(recipe, self._k)

    def prepare(self) -> None:
        """Look at all records, learn where to cut, and count the blocks."""
        n, recipe = self.engine.records, self._recipe
        if n < self._k:
            raise PromiseError(f"There must be at least k = {self._k} records to release.", f"{n} records")
        progress_.more(3 * n)
        seen = survey(self.engine, recipe, self._decimal, self._size)
        raw = np.column_stack([seen.scales[c].filled(seen.sample[c]) for c in self._cuts])
        scaled = np.column_stack([seen.scales[c].scaled(seen.sample[c]) for c in self._cuts])
        self._tree = learn(scaled, n, self._size, raw)
        counts = np.zeros(self._tree.blocks, np.int64)
        for part in in_batches(self.engine, self._cuts, recipe, self._decimal, seen.scales):
            counts += np.bincount(route(part, self._tree), minlength=self._tree.blocks)
            progress_.done(len(part))
        self._number = joined(counts, self._k)
        self._counts = np.bincount(self._number, counts).astype(np.int64)
        self._survey = seen
        self.rows = self.rows or self._affordable()
        pieces = np.array([piece_count(c, self._size, self._k) for c in self._counts.tolist()])
        self._first = np.concatenate(([0], np.cumsum(pieces)))  # the number of each block's first piece
        self._job = Job(recipe, self._k, seen, self._decimal, min(1.0, _MEASURED / n))

    def _affordable(self) -> int:
        """How many records a part may have."""
        batch = next(iter(self.engine.batches(self._read)))
        each = 4 * batch.nbytes / max(1, batch.num_rows) + 32 * len(self._cuts) + 64
        return max(self._size, int(_FOR_ROWS * (self._memory - _LEAST) / each))

    def write(self, writer: Writer) -> None:
        """Group and write part after part."""
        for number, (first, last) in enumerate(self._plan()):
            table = self._part(first, last)
            solved = []
            for one in solve_all(self._job, table, self._pieces(table, first, last), os.cpu_count() or 1):
                self._told.add(one)
                progress_.done(one.table.num_rows)
                solved.append(one)
            writer.write(self._shuffled(solved, number))
        if self._told.records != self.engine.records:
            got = f"{self._told.records:,} of {self.engine.records:,}"
            raise CoterieError("Every record must be in one part.", got, "did the file change while it was read?")

    def _plan(self) -> list[tuple[int, int]]:
        """The parts: blocks that follow one another, as many as have at most so many records."""
        parts, start, held = [], 0, 0
        for b, count in enumerate(self._counts.tolist()):
            if b > start and held + count > self.rows:
                parts.append((start, b - 1))
                start, held = b, 0
            held += count
        return [*parts, (start, len(self._counts) - 1)]

    def _part(self, first: int, last: int) -> Any:
        """The records of these blocks, with the types of the file."""
        leaves = np.flatnonzero((self._number >= first) & (self._number <= last))
        text = self._form.kind == "csv"
        numbers = {c: Number(text, self._decimal, self._survey.scales[c].middle) for c in self._cuts}
        where = [
            {self._cuts[j]: limits for j, limits in box.items()} for box in boxes(self._tree, leaves[0], leaves[-1])
        ]
        return self.engine.select(self._read, where, numbers)

    def _pieces(self, table: Any, first: int, last: int) -> list[tuple[int, Ints]]:
        """The rows of each block in a part, and its number."""
        typed = read_part(table, self._cuts, self._recipe, self._decimal)
        raw = np.column_stack([self._survey.scales[c].filled(typed[c].column.numbers) for c in self._cuts])
        own = self._number[route(raw, self._tree)]
        order = np.argsort(own, kind="stable")
        edges = np.searchsorted(own[order], np.arange(first, last + 2))
        out = []
        for b in range(first, last + 1):
            rows = order[edges[b - first] : edges[b - first + 1]]
            if len(rows) != self._counts[b]:
                raise CoterieError("The input must stay as it is while it is read.", "another number of records")
            pieces = np.array_split(rows, int(self._first[b + 1] - self._first[b]))
            out += [(int(self._first[b]) + i, piece) for i, piece in enumerate(pieces)]
        return out

    def _shuffled(self, solved: Sequence[Solved], number: int) -> Any:
        """The released records of a part, in a random order, without formulas."""
        import pyarrow as pa

        table = pa.concat_tables([one.table.select(self._names) for one in solved]).combine_chunks()
        recipe = self._recipe
        if recipe.shuffle:
            order = np.random.default_rng([recipe.seed or 0, 0, number]).permutation(table.num_rows)
            table = table.take(pa.Array.from_buffers(pa.int64(), len(order), [None, pa.py_buffer(order)]))
        return without_formulas(table, recipe) if self._form.kind == "csv" else table

    def told(self, path: Path) -> Told:
        """What there is to tell."""
        self._told.finish(self.engine.names, self._names, self._survey, self._counts, path.name, sha256(path))
        return self._told
