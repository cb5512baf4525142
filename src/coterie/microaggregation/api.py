"""For research: microaggregate, refine and methods."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import progress as progress_
from ..algorithms.limits import Limits
from ..algorithms.registry import METHODS, find
from ..algorithms.run import Grouping, Task, check_blocks, groups_of, refine_from, run
from ..errors import CoterieError, boundary, warn_of_privacy
from ..measures import loss
from ..measures.group_centres import by_group
from . import options as options_
from .bound import Records, known
from .matrix import Matrix, encode
from .numeric_table import Numbers, read
from .released import alike, released
from .result import Methods, Result

__all__ = ["check_blocks", "groups_of", "methods", "microaggregate", "refine"]

Ints = NDArray[np.int64]
Seed = int | np.random.Generator | None


@options_.one_spelling
@boundary
def microaggregate(
    X: Any,
    k: int,
    method: str = "auto",
    *,
    refine: Literal["none", "quick", "thorough"] = "none",
    seconds: float | None = None,
    blocks: int | Literal["auto"] | None = None,
    threads: int | None = None,
    standardize: bool = True,
    centre: Literal["mean", "median"] = "mean",
    center: Literal["mean", "median"] = "mean",  # noqa: ARG001
    distortion: Literal["squared", "euclidean"] = "squared",
    diversity: Literal["centre", "pairwise"] = "centre",
    rounding: Literal["integers"] | int | None = None,
    random_state: Seed = 0,
    seed: Seed = 0,  # noqa: ARG001
    progress: bool = False,
    **params: Any,
) -> Result:
    """Group records into groups of at least k and replace each by its group's centre.

    Parameters
    ----------
    X : ndarray, pandas or polars DataFrame, pyarrow Table
        Records by numeric columns, without missing values. All columns are grouped together and replaced.
    k : int
        Minimum group size, at least 2 and at most the number of records.
    method : str
        A method listed by `coterie.methods()`. A named method gives exactly its paper's result.
    refine : {"none", "quick", "thorough"}
        Whether to improve the groups by local search afterwards, and how long. Groups then have k to 2k - 1 records,
        and the SSE never increases.
    seconds : float, optional
        Time limit for the local search, or for the methods "exact" and "auto", which then return the best partition
        found. Without it, the same seed gives the same result on every machine.
    blocks : int or "auto", optional
        Split the records into blocks of at most this many ("auto": 150,000) with a kd-tree built from a sample, and
        group each block separately, in parallel threads. For tables of a million records and more. `params` then holds
        the number of blocks and, as "faces", by how many percent the loss grew, measured at one face between two
        blocks.
    threads : int, optional
        Number of blocks grouped at a time. Default: the number of processors. Does not change the result.
    standardize : bool
        Whether to scale columns to mean 0 and variance 1 before computing distances.
    centre : {"mean", "median"}
        Released value of a group: the mean, or the median of every column. `center` is the same option.
    distortion : {"squared", "euclidean"}
        Whether `information_loss` sums squared or Euclidean distances; also what "auto" and a list of gammas minimize.
    diversity : {"centre", "pairwise"}
        Whether it is relative to the distances to the overall centre or to those between all pairs of records. All
        pairs of Euclidean distances take O(n² p) time.
    rounding : None, "integers" or int
        None releases centres as they are (integer columns come back as floats); "integers" rounds integer columns, half
        to even, and keeps their type; a number rounds all columns to that many decimals. Losses refer to the centres
        before rounding.
    random_state : int, Generator or None
        Seed of randomized methods and of the local search; other methods do not use it. `seed` is an alias.
    progress : bool
        Show a progress bar.
    **params
        Parameters of the method, as listed by `coterie.methods()`.

    Returns
    -------
    Result
        Labels, the aggregated table in the container and units of X, and what was lost.

    Raises
    ------
    CoterieError
        If an argument is not as described. The message never contains a record's value.

    Warns
    -----
    PrivacyWarning
        If records are not k-anonymous, because the method groups each column separately.

    Notes
    -----
    The options centre, distortion and diversity are the model of Thaeter and Reischuk (2018), section 1, doi
    10.18420/sicherheit2018_05. They define what is released and how loss is measured, not how a method forms its
    groups.

    Examples
    --------
    >>> import coterie as ct
    >>> companies = ct.datasets.load_companies()
    >>> r = ct.microaggregate(companies.X, k=3, method="mdav")
    >>> r.sizes
    array([3, 5, 3])
    """
    began = time.perf_counter()
    chosen = find(method)
    params = chosen.check(params)
    options = options_.check(
        k=k, refine=refine, seconds=seconds, standardize=standardize, centre=centre, distortion=distortion,
        diversity=diversity, rounding=rounding, random_state=random_state, progress=progress,
    )  # fmt: skip
    options_.check_search(options, chosen)
    block_size = check_blocks(blocks, threads, options["k"], chosen)
    task = Task(options["k"], chosen, params, refine, centre, distortion, Limits(options["seconds"]))
    numbers = read(X)
    chosen.check_fits(task.k, len(numbers.names))
    options_.check_enough(len(numbers.values), task.k)
    matrix = encode(numbers.values, options["standardize"])
    with progress_.bar(progress):
        progress_.more(len(numbers.values))
        grouping = run(matrix.values, task, options["random_state"], block_size, threads)
    return _result(X, numbers, matrix, task.k, chosen.name, grouping, options, began)


@options_.one_spelling
@boundary
def refine(
    X: Any,
    labels: Any,
    k: int,
    effort: Literal["quick", "thorough"] = "quick",
    *,
    seconds: float | None = None,
    standardize: bool = True,
    rounding: Literal["integers"] | int | None = None,
    random_state: Seed = 0,
    seed: Seed = 0,  # noqa: ARG001
    progress: bool = False,
) -> Result:
    """Improve any partition by local search, and replace the records by the means of their groups.

    Parameters
    ----------
    X, k, standardize, rounding, random_state or seed, progress
        As for `microaggregate`.
    labels : array of int, of shape (n,)
        The group of each record; every group must have at least k.
    effort : {"quick", "thorough"}
        The number of steps: the same seed and effort give the same result on every machine.
    seconds : float, optional
        Time limit: the best partition found by then is returned, and the result says so. Ctrl-C does the same.

    Returns
    -------
    Result
        Never worse than `labels`; groups of k to 2k - 1 records.
    """
    began = time.perf_counter()
    options = options_.check(
        k=k, effort=effort, seconds=seconds, standardize=standardize, centre="mean", distortion="squared",
        diversity="centre", rounding=rounding, random_state=random_state, progress=progress,
    )  # fmt: skip
    k = options["k"]
    numbers = read(X)
    n = len(numbers.values)
    options_.check_enough(n, k)
    given = np.asarray(labels)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise CoterieError("'labels' must be one integer for each record.", f"{given.dtype} of shape {given.shape}")
    matrix = encode(numbers.values, options["standardize"])
    limits = Limits(options["seconds"])
    with progress_.bar(progress, "refining"):
        grouping = refine_from(matrix.values, given.astype(np.int64), k, effort, options["random_state"], limits)
    return _result(X, numbers, matrix, k, "refine", grouping, options, began)


def methods() -> Methods:
    """All methods, each with its paper, cost, guarantee and parameters."""
    return Methods(METHODS.values())


def _result(
    X: Any,
    numbers: Numbers,
    matrix: Matrix,
    k: int,
    method: str,
    grouping: Grouping,
    options: Mapping[str, Any],
    began: float,
) -> Result:
    """Release, measure, and put together what there is to tell."""
    labels, guarantee, proven = grouping.labels, grouping.guarantee, grouping.proven
    model = {name: options[name] for name in options_.MODEL}
    order = by_group(labels) if labels.ndim == 1 and model["centre"] == "mean" else None
    columns: Iterable[NDArray[Any]] = released(numbers, labels, model["centre"], model["rounding"], order)
    exposed = 0
    if labels.ndim > 1:
        columns = list(columns)
        exposed = _exposed(columns, k)
    measures = _measures(matrix, labels, order, model)
    if guarantee is not None:
        guarantee = guarantee.in_units(matrix.unit)
        if guarantee.factor == 1 and np.isfinite(measures["sse"]):
            guarantee = replace(guarantee, lower_bound=measures["sse"] * (1 - 1e-12))  # found in floating point
    return Result(
        labels=labels,
        data=numbers.like(columns),
        method=method,
        k=k,
        params=grouping.chosen,
        options=model,
        columns=numbers.names,
        **measures,
        guarantee=guarantee,
        exposed=exposed,
        seconds=time.perf_counter() - began,
        _proven=None if proven is None else known(proven, matrix, model["centre"]),
        _records=Records.of(X, numbers, model["standardize"]),
    )


def _exposed(columns: list[NDArray[Any]], k: int) -> int:
    """How many records don't share all their values with k - 1 others, where columns were grouped each on its own."""
    few = int(np.count_nonzero(alike(columns) < k))
    if few:
        warn_of_privacy(
            f"The records are not {k}-anonymous: each column was grouped separately, and {few:,} of "
            f"{len(columns[0]):,} records share all their values with fewer than {k - 1} others."
        )
    return few


def _measures(matrix: Matrix, labels: Ints, order: Ints | None, model: Mapping[str, Any]) -> dict[str, float]:
    """The sums behind every loss of the result, in the units of the data that were grouped."""
    X, unit = matrix.values, matrix.unit
    centre, distortion, diversity = model["centre"], model["distortion"], model["diversity"]
    d2 = loss.from_groups(X, labels, centre, order)
    sse, sde = loss.total(d2), loss.total(d2, "euclidean")
    d2 = loss.from_all(X, centre)
    sst, sdt = loss.total(d2), loss.total(d2, "euclidean")
    lost, whole = (sse, sst) if distortion == "squared" else (sde, sdt)
    if diversity == "pairwise":
        whole = loss.diversity(X, centre, distortion, diversity)
    powers = 2 if distortion == "squared" else 1
    return {
        "sse": _in_units(sse, unit, 2),
        "sst": _in_units(sst, unit, 2),
        "loss": loss.percent(sse, sst),
        "loss_euclidean": loss.percent(sde, sdt),
        "distortion": _in_units(lost, unit, powers),
        "diversity": _in_units(whole, unit, powers),
        "information_loss": loss.percent(lost, whole),
    }


def _in_units(value: float, unit: float, powers: int) -> float:
    """A sum of distances in the units of the data; nothing stays nothing, whatever the unit."""
    for _ in range(powers):
        value *= unit
    return value
