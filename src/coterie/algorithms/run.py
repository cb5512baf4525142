"""Running a method on encoded records: one group or many, blocks, local search, numbering of groups.

For both ways in: `microaggregate`, and `protect` through `groups_of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import progress
from ..constraints import Must, WrongError, check, optional, whole
from ..errors import CoterieError
from ..measures.loss import distortion
from .guarantee import Guarantee
from .kd_blocks import SIZE, in_blocks, loss_at_faces
from .limits import Limits
from .regions import at_most
from .registry import Found, Method, find
from .shared import shared

if TYPE_CHECKING:
    from .optimal.lower_bound import Proven

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

THREADS = optional(whole(1))


@dataclass(frozen=True)
class Task:
    """What is to be done with records.

    Methods that choose between partitions (`compares` in the registry) make the distortion about these centres small.
    """

    k: int
    method: Method
    params: Mapping[str, Any]
    refine: str = "none"
    centre: str = "mean"
    distortion: str = "squared"
    limits: Limits = field(default_factory=Limits)


class Grouping(NamedTuple):
    """Groups numbered by first appearance, the parameters with what the method chose, and what is known of the SSE."""

    labels: Ints
    chosen: Mapping[str, Any]
    guarantee: Guarantee | None = None
    proven: Proven | None = None


def run(
    X: Floats, task: Task, rng: np.random.Generator, block_size: int | None = None, threads: int | None = None
) -> Grouping:
    """Group the records, in blocks of at most `block_size` if that is given, and refine the groups if asked to."""
    grouping = _grouped(X, task, rng) if block_size is None else _in_blocks(X, task, rng, block_size, threads)
    if task.refine != "none" and len(X) >= 2 * task.k:
        with at_most(threads):
            grouping = refined(X, grouping, task.k, task.refine, rng, task.limits)
    return _cut_short(grouping, task.limits)


def groups_of(
    X: Floats, k: int, method: str, params: Mapping[str, Any], refine: str, rng: np.random.Generator
) -> tuple[Ints, Mapping[str, Any]]:
    """The groups of encoded records, and what the method chose: for those who encode and release by themselves."""
    named = find(method)
    grouping = run(X, Task(k, named, named.check(params), refine), rng)
    return grouping.labels, grouping.chosen


def refine_from(X: Floats, labels: Ints, k: int, effort: str, rng: np.random.Generator, limits: Limits) -> Grouping:
    """A partition from anywhere, improved by local search."""
    start = Grouping(by_first_appearance(labels), {})
    return _cut_short(refined(X, start, k, effort, rng, limits), limits)


def check_blocks(blocks: Any, threads: Any, k: int, method: Method) -> int | None:
    """The most records in a block, or None where the table is grouped as a whole."""
    if blocks is None:
        if threads is not None:
            raise CoterieError(
                "'threads' applies only to blocks.", "no blocks", "set blocks='auto', or leave threads out."
            )
        return None
    check("threads", THREADS, threads)
    if method.by_column:
        raise CoterieError(
            "Blocks need a method that groups whole records.", f"{method.name}, which groups each column separately"
        )

    def read(value: Any) -> int:
        if isinstance(value, str):
            if value == "auto":
                return max(SIZE, 10 * k)
            raise WrongError
        return int(whole(2 * k).read(value))

    must = Must(f"'auto', or the maximum number of records in a block: an integer of at least 2k = {2 * k}", read)
    size: int = check("blocks", must, blocks)
    return size


def _grouped(X: Floats, task: Task, rng: np.random.Generator) -> Grouping:
    """Run the method, unless there is only one way to group.

    What methods promise is about distances to means, and left out where other centres are released.
    """
    method, about_means = task.method, task.centre == "mean"
    if len(X) < 2 * task.k:  # no method, no parameters
        only = Guarantee(1.0, "fewer than 2k records make one group") if about_means and not method.by_column else None
        return Grouping(_numbered(np.zeros(X.shape if method.by_column else len(X), np.int64)), {}, only)
    given = dict(task.params)
    if method.compares:
        given["loss"] = lambda labels: distortion(X, labels, task.centre, task.distortion)
    if method.randomized:
        given["rng"] = rng
    if method.limited:
        given["limits"] = task.limits
    run = method.load()
    returned = run(X, task.k, **given) if given else shared(method.name, X, task.k, run)
    labels, chosen, guarantee, proven = returned if isinstance(returned, Found) else Found(returned, {})
    return Grouping(_numbered(labels), {**task.params, **chosen}, guarantee if about_means else None, proven)


def _in_blocks(X: Floats, task: Task, rng: np.random.Generator, size: int, threads: int | None) -> Grouping:
    """The groups of every block, joined; what it loses more than without blocks, as measured on two of them."""
    seed = int(rng.integers(2**63))

    def solve(block: Floats, b: int) -> Ints:
        with progress.listening(None):  # the bar counts blocks
            return _grouped(block, task, np.random.default_rng([seed, b])).labels

    blocked = in_blocks(X, task.k, solve, size=size, threads=threads, done=progress.done)
    if len(blocked.parts) == 1:
        return _grouped(X, task, rng)
    measured = loss_at_faces(X, blocked, solve)
    chosen = {"blocks": len(blocked.parts), "block_size": max(map(len, blocked.parts)), **measured}
    return Grouping(by_first_appearance(blocked.labels), chosen)


def refined(X: Floats, start: Grouping, k: int, effort: str, rng: np.random.Generator, limits: Limits) -> Grouping:
    """A grouping improved by local search. What was promised of it holds all the more."""
    from .refine import refine as search

    progress.more(len(X))
    result = search(X, start.labels, k, effort=effort, rng=rng, limits=limits)
    chosen = {**start.chosen, "refine": effort, "steps": result.steps}
    return Grouping(by_first_appearance(result.labels), chosen, start.guarantee, start.proven)


def _cut_short(grouping: Grouping, limits: Limits) -> Grouping:
    """Say so where the search was stopped before its end."""
    if limits.cut_short is None:
        return grouping
    return grouping._replace(chosen={**grouping.chosen, "cut_short": limits.cut_short})


def _numbered(labels: Ints) -> Ints:
    """Groups numbered by first appearance; where columns have their own, column after column."""
    if labels.ndim == 1:
        return by_first_appearance(labels)
    out, groups = np.empty_like(labels), 0
    for j in range(labels.shape[1]):
        out[:, j] = by_first_appearance(labels[:, j]) + groups
        groups = int(out[:, j].max()) + 1
    return out


def by_first_appearance(labels: Ints) -> Ints:
    """The same groups, numbered from 0 in the order in which the records name them."""
    n = len(labels)
    if labels.min() < 0 or labels.max() >= n:
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.full(labels.max() + 1, n)
    first[labels[::-1]] = np.arange(n)[::-1]  # what is written last stays
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[labels]
