"""Blocks: records cut by a kd-tree that is learnt from a sample, each block solved by any method, the groups joined.

A union of groups of at least k over disjoint blocks is a partition into groups of at least k; only the loss can grow,
at the faces between blocks. Cuts are known by their columns and values, so that a table in memory, a file and a cluster
come to the same blocks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .regions import at_most

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZE = 150_000  # records in a block, unless said: as many as memory's caches, and methods beyond O(n), take well
SAMPLE = 200_000  # records that cuts are learnt from
PER_BLOCK = 32  # records of the sample in a block, at least: a cut at the median of fewer is off by too much


class Tree(NamedTuple):
    """Cuts, parents before their children. Records with X[column] <= value go to the left, the others to the right.

    A child is another cut, or -1 - the number of a block. Blocks are numbered from left to right, so that those with
    neighbouring numbers are neighbours in space.
    """

    column: Ints
    value: Floats
    left: Ints
    right: Ints
    blocks: int


def sample_step(n: int, size: int) -> int:
    """Every how many records one is taken into the sample: all of few, SAMPLE of many, PER_BLOCK for every block."""
    return max(1, n // max(SAMPLE, PER_BLOCK * n // size))


def learn(sample: Floats, n: int, size: int, raw: Floats | None = None) -> Tree:
    """Cut n records, of which this is a sample, into blocks of about `size` to half of it.

    A block is cut at the median of the column in which it is widest (largest variance; of equal ones the first). One
    whose records are all equal stays whole. `raw` are the same records in the units that cuts are wanted in, if others:
    those of a file, so that whoever reads it finds the same blocks.
    """
    raw = sample if raw is None else raw
    parts: list[tuple[int, float, int, int]] = []
    blocks = 0

    def cut(rows: Ints) -> int:
        nonlocal blocks
        found = _widest_cut(sample[rows], raw[rows]) if len(rows) * (n / len(sample)) > size else None
        if found is None:
            blocks += 1
            return -blocks
        number = len(parts)
        parts.append((found[0], found[1], 0, 0))
        low = raw[rows, found[0]] <= found[1]
        left = cut(rows[low])
        parts[number] = (found[0], found[1], left, cut(rows[~low]))
        return number

    cut(np.arange(len(sample)))
    column, value, left, right = (np.array([p[i] for p in parts]) for i in range(4))
    return Tree(
        column.astype(np.int64), value.astype(np.float64), left.astype(np.int64), right.astype(np.int64), blocks
    )


def _widest_cut(part: Floats, raw: Floats) -> tuple[int, float] | None:
    """The column of largest variance, and a value that has about half of the records at or below it and some above."""
    spread = part.var(axis=0)
    for j in np.argsort(-spread, kind="stable").tolist():
        values = np.sort(raw[:, j])
        if values[0] == values[-1]:
            continue
        middle = values[(len(values) - 1) // 2]
        if middle == values[-1]:  # the upper half is one value: cut below it
            middle = values[np.searchsorted(values, middle) - 1]
        return j, float(middle)
    return None


def route(X: Floats, tree: Tree) -> Ints:
    """The block of each record."""
    from ..kernels.kd_route import follow

    out = np.zeros(len(X), np.int64)
    if len(tree.column):
        follow(np.ascontiguousarray(X), tree.column, tree.value, tree.left, tree.right, out)
    return out


def joined(counts: Ints, k: int, reached: Callable[[int, int], bool] | None = None) -> Ints:
    """A new number for each block, so that each has at least k records: those with fewer join the next one.

    `reached` says whether the blocks from one to another, as one, keep what else is asked of them; they grow until they
    do. The last ones join those before. Blocks with no record at all join as well.
    """
    keeps = reached or (lambda *_: True)
    starts, begin, records = [0], 0, 0
    for b, count in enumerate(counts.tolist()):
        records += count
        if records >= k and keeps(begin, b) and b + 1 < len(counts):
            begin, records = b + 1, 0
            starts.append(begin)
    while len(starts) > 1 and (counts[starts[-1] :].sum() < k or not keeps(starts[-1], len(counts) - 1)):
        starts.pop()
    return np.searchsorted(np.array(starts), np.arange(len(counts)), side="right") - 1


def piece_count(records: int, size: int, k: int) -> int:
    """Into how many parts a block is divided by the order of its records: one of equal records has no cut."""
    return max(1, records // max(size, 2 * k)) if records > 2 * size else 1


def members(blocks: Ints, size: int, k: int) -> list[Ints]:
    """The records of each block, in their order."""
    order = np.argsort(blocks.astype(np.min_scalar_type(int(blocks.max()))), kind="stable")  # of few bits: quick
    parts = np.split(order, np.cumsum(np.bincount(blocks))[:-1])
    return [piece for part in parts for piece in np.array_split(part, piece_count(len(part), size, k))]


def solved(
    X: Floats, parts: Sequence[Ints], solve: Callable[[Floats, int], Ints], threads: int | None = None
) -> Iterator[tuple[int, Ints]]:
    """The groups of each block as they come, in the order of the blocks, found on threads.

    `solve` gets the records of a block and its number. The result does not depend on the number of threads.
    """
    allowed = threads or os.cpu_count() or 1
    workers = min(allowed, len(parts))
    if workers <= 1:
        for b, rows in enumerate(parts):
            with at_most(allowed):
                labels = solve(np.ascontiguousarray(X[rows]), b)
            yield b, labels
        return

    def alone(block: Floats, b: int) -> Ints:
        with at_most(allowed // workers):
            return solve(block, b)

    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(alone, np.ascontiguousarray(X[rows]), b) for b, rows in enumerate(parts[: 2 * workers])]
        for b in range(len(parts)):
            if (later := b + 2 * workers) < len(parts):
                waiting.append(pool.submit(alone, np.ascontiguousarray(X[parts[later]]), later))
            try:
                yield b, waiting[b].result()
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            waiting[b] = None  # type: ignore[call-overload]


def in_blocks(
    X: Floats,
    k: int,
    solve: Callable[[Floats, int], Ints],
    *,
    size: int = SIZE,
    threads: int | None = None,
    cuts: tuple[Floats, Floats] | None = None,
    done: Callable[[int], None] = lambda _: None,
) -> Blocked:
    """The groups of all records, found block by block; `cuts` are the columns to cut, scaled and raw, if not X."""
    scaled, raw = (X, X) if cuts is None else cuts
    step = sample_step(len(X), size)
    tree = learn(scaled[::step], len(X), size, raw[::step])
    found = route(raw, tree)
    number = joined(np.bincount(found, minlength=tree.blocks), k)
    parts = members(number[found], size, k)
    labels, groups = np.empty(len(X), np.int64), 0
    for b, own in solved(X, parts, solve, threads):
        labels[parts[b]] = own + groups
        groups += int(own.max()) + 1
        done(len(parts[b]))
    return Blocked(labels, parts)


class Blocked(NamedTuple):
    """The groups of all records, and the records of each block. Neighbouring blocks follow each other."""

    labels: Ints
    parts: list[Ints]


def loss_at_faces(X: Floats, found: Blocked, solve: Callable[[Floats, int], Ints]) -> dict[str, float]:
    """What blocks lose, measured at one face: two neighbouring blocks, the smallest pair, are grouped as one.

    Returns `faces`, by how many percent the SSE of the two is larger than that of the one, and `compared`, the records
    in them. A block has more faces than one, so the whole loses some times as much.
    """
    pairs = [len(a) + len(b) for a, b in zip(found.parts, found.parts[1:], strict=False)]
    b = int(np.argmin(pairs))
    rows = np.concatenate(found.parts[b : b + 2])
    whole = sse(X[rows], solve(np.ascontiguousarray(X[rows]), b))
    apart = sse(X[rows], found.labels[rows])
    return {"faces": 100.0 * (apart / whole - 1.0) if whole > 0 else 0.0, "compared": len(rows)}


def sse(X: Floats, labels: Ints) -> float:
    """The sum of squared distances to the groups' means."""
    own = np.unique(labels, return_inverse=True)[1].reshape(-1)
    size = np.bincount(own)
    total = 0.0
    for j in range(X.shape[1]):
        mean = np.bincount(own, X[:, j]) / size
        total += float(np.square(X[:, j] - mean[own]).sum())
    return total
