"""microaggregate: checks, trivial cases, the method, canonical labels, and the result."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import progress as progress_
from ..algorithms.guarantee import Guarantee
from ..algorithms.kd_blocks import SIZE, in_blocks, loss_at_faces
from ..algorithms.limits import Limits
from ..algorithms.registry import METHODS, Found, Method, find
from ..errors import CoterieError, PrivacyWarning
from ..measures import loss
from .matrix import Matrix, encode
from .numeric_table import Numbers, read
from .proof import check_seconds, known
from .released import alike, released
from .result import Methods, Result

if TYPE_CHECKING:
    from ..algorithms.optimal.lower_bound import Proven

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CENTRES = ("mean", "median")
DISTORTIONS = ("squared", "euclidean")
DIVERSITIES = ("centre", "pairwise")
REFINE = ("none", "quick", "thorough")


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
    distortion: Literal["squared", "euclidean"] = "squared",
    diversity: Literal["centre", "pairwise"] = "centre",
    rounding: Literal["integers"] | int | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool = False,
    **params: Any,
) -> Result:
    """Group records into groups of at least k and replace each by its group's centre.

    Parameters
    ----------
    X : ndarray, pandas or polars DataFrame, pyarrow Table
        Records by numeric columns, without missing values. All columns are grouped together and replaced.
    k : int
        The least number of records in a group, at least 2 and at most the number of records.
    method : str
        A name of `coterie.methods()`. A named method gives exactly its paper's result.
    refine : {"none", "quick", "thorough"}
        Whether local search improves the groups afterwards, and how long. Groups have k to 2k - 1 records then, and the
        SSE is never larger than before.
    seconds : float, optional
        Stop refining, or the method if it is "exact" or "auto", after that long, with the best found by then.
        Without it, the same seed gives the same result on every machine.
    blocks : int or "auto", optional
        Cut the records into blocks of at most so many (150,000, if "auto") by a kd-tree learnt from a sample, and group
        each on its own, on threads. For tables of a million records and more. `params` then says how many blocks
        there were, and in "faces" by how many percent the loss grew, as measured at one face between two blocks.
    threads : int, optional
        How many blocks are grouped at a time; as many as there are processors, unless said. The result is the same.
    standardize : bool
        Whether distances are taken between columns of mean 0 and variance 1, or between the columns as they are.
    centre : {"mean", "median"}
        What stands for a group: the mean, or the median of every column.
    distortion : {"squared", "euclidean"}
        Whether `information_loss` sums squared or plain distances; also what "auto" and a list of gammas minimize.
    diversity : {"centre", "pairwise"}
        Whether it is held against the distances to the centre of all or those between all pairs of records. Pairs of
        plain distances take O(n² p) time.
    rounding : None, "integers" or int
        None releases centres as they are (integer columns come back as floats); "integers" rounds integer columns, half
        to even, and keeps their type; a number rounds all columns to so many decimals. Losses are those of the
        centres before rounding.
    random_state : int, Generator or None
        The seed of randomized methods and of refining. The result of the others is the same for any.
    progress : bool
        Whether to show a progress bar.
    **params
        The method's own parameters, as `coterie.methods()` lists them.

    Returns
    -------
    Result
        Labels, the aggregated table in the container and units of X, and what was lost.

    Raises
    ------
    CoterieError
        If an argument is not as described. The message never holds a record's value.

    Warns
    -----
    PrivacyWarning
        If records are not k-anonymous, because the method groups every column on its own.

    Notes
    -----
    The options centre, distortion and diversity are the model of Thaeter and Reischuk (2018), section 1,
    doi 10.18420/sicherheit2018_05. They say what is released and how loss is measured; the way in which a method
    builds its groups is its paper's.

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
    k = check_k(k)
    _check_options(standardize, centre, distortion, diversity, rounding, progress)
    limits = Limits(_check_search(refine, seconds, chosen, centre, distortion))
    size = check_blocks(blocks, threads, k, chosen)
    standardize, rounding = bool(standardize), rounding if rounding in (None, "integers") else int(rounding)
    rng = _generator(random_state)
    numbers = read(X)
    chosen.check_fits(k, len(numbers.names))
    _check_enough(len(numbers.values), k)
    matrix = encode(numbers.values, standardize)
    with progress_.bar(progress):
        progress_.more(len(numbers.values))
        run = partial(_group, k=k, method=chosen, params=params, limits=limits, centre=centre, distortion=distortion)
        grouping = run(matrix, rng=rng) if size is None else _in_blocks(matrix, k, size, threads, run, rng)
        if refine != "none" and len(numbers.values) >= 2 * k:
            grouping = _refined(matrix, k, grouping, refine, rng, limits)
    options = {
        "standardize": standardize,
        "centre": centre,
        "distortion": distortion,
        "diversity": diversity,
        "rounding": rounding,
    }
    return _result(numbers, matrix, k, chosen.name, _cut_short(grouping, limits), options, began)


def refine(
    X: Any,
    labels: Any,
    k: int,
    effort: Literal["quick", "thorough"] = "quick",
    *,
    seconds: float | None = None,
    standardize: bool = True,
    rounding: Literal["integers"] | int | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool = False,
) -> Result:
    """Improve a partition from anywhere by local search, and release the records at their groups' means.

    Parameters
    ----------
    X, k, standardize, rounding, random_state, progress
        As for `microaggregate`.
    labels : array of int, of shape (n,)
        The group of each record; every group must have at least k.
    effort : {"quick", "thorough"}
        How many steps are made: the same seed and effort give the same result on every machine.
    seconds : float, optional
        Stop after that long, with the best found by then; the result says so. Ctrl-C does the same.

    Returns
    -------
    Result
        Never worse than `labels`; groups of k to 2k - 1 records.
    """
    began = time.perf_counter()
    k = check_k(k)
    _check_options(standardize, "mean", "squared", "centre", rounding, progress)
    if not isinstance(effort, str) or effort not in REFINE[1:]:
        raise CoterieError("'effort' must be 'quick' or 'thorough'.", _kind_of(effort))
    limits, rng = Limits(check_seconds(seconds)), _generator(random_state)
    numbers = read(X)
    n = len(numbers.values)
    _check_enough(n, k)
    given = np.asarray(labels)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise CoterieError("'labels' must be one integer for each record.", f"{given.dtype} of shape {given.shape}")
    matrix = encode(numbers.values, bool(standardize))
    start = _Grouping(_by_first_appearance(given.astype(np.int64)), {})
    with progress_.bar(progress, "refining"):
        grouping = _refined(matrix, k, start, effort, rng, limits)
    options = {
        "standardize": bool(standardize),
        "centre": "mean",
        "distortion": "squared",
        "diversity": "centre",
        "rounding": rounding if rounding in (None, "integers") else int(rounding),
    }
    return _result(numbers, matrix, k, "refine", _cut_short(grouping, limits), options, began)


def _result(
    numbers: Numbers, matrix: Matrix, k: int, method: str, grouping: _Grouping, options: dict[str, Any], began: float
) -> Result:
    """Release, measure, and put together what there is to tell."""
    labels, guarantee, proven = grouping.labels, grouping.guarantee, grouping.proven
    columns: Iterable[NDArray[Any]] = released(numbers, labels, options["centre"], options["rounding"])
    exposed = 0
    if labels.ndim > 1:
        columns = list(columns)
        exposed = _exposed(columns, k)
    measures = _measures(matrix, labels, options["centre"], options["distortion"], options["diversity"])
    if guarantee is not None and guarantee.factor == 1 and np.isfinite(measures["sse"]):
        guarantee = replace(guarantee, lower_bound=measures["sse"] * (1 - 1e-12))  # found in floating point
    return Result(
        labels=labels,
        data=numbers.like(columns),
        method=method,
        k=k,
        params=grouping.found,
        options=options,
        columns=numbers.names,
        **measures,
        guarantee=guarantee,
        exposed=exposed,
        seconds=time.perf_counter() - began,
        _proven=None if proven is None else known(proven, matrix, options["centre"]),
        _matrix=matrix,
    )


def groups_of(
    X: Floats,
    k: int,
    method: str,
    params: Mapping[str, Any],
    refine: str,
    rng: np.random.Generator,
) -> tuple[Ints, Mapping[str, Any]]:
    """The groups of encoded records, and what the method chose: for those who encode and release by themselves."""
    chosen, limits = find(method), Limits(None)
    grouping = _group(Matrix(X, 1.0), k, chosen, chosen.check(params), rng, limits, "mean", "squared")
    if refine != "none" and len(X) >= 2 * k:
        grouping = _refined(Matrix(X, 1.0), k, grouping, refine, rng, limits)
    return grouping.labels, _cut_short(grouping, limits).found


def methods() -> Methods:
    """The registry: what each method is, its paper, cost, promise and parameters."""
    return Methods(METHODS.values())


def check_k(k: Any) -> int:
    """K as an int, if it is one and at least 2."""
    if not isinstance(k, Integral) or isinstance(k, bool):
        raise CoterieError("k must be an integer.", f"an object of type {type(k).__name__}")
    if k < 2:
        raise CoterieError("k must be at least 2.", f"k = {k}", "a group of one hides nobody.")
    return int(k)


def _check_enough(n: int, k: int) -> None:
    if n < k:
        raise CoterieError(
            "There must be at least k records.",
            f"{n} sample{'s' if n > 1 else ''} (n_samples={n}) and k = {k}",
            "take a smaller k, or don't release these records.",
        )


def _check_options(
    standardize: Any, centre: Any, distortion: Any, diversity: Any, rounding: Any, progress: Any
) -> None:
    flags = {"standardize": standardize, "progress": progress}
    choices = {
        "centre": (centre, CENTRES),
        "distortion": (distortion, DISTORTIONS),
        "diversity": (diversity, DIVERSITIES),
    }
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise CoterieError(f"'{name}' must be True or False.", f"an object of type {type(value).__name__}")
    for name, (value, allowed) in choices.items():
        if not isinstance(value, str) or value not in allowed:
            shown = repr(value) if isinstance(value, str) else f"an object of type {type(value).__name__}"
            raise CoterieError(f"'{name}' must be {' or '.join(map(repr, allowed))}.", shown)
    decimals = isinstance(rounding, Integral) and not isinstance(rounding, bool) and abs(int(rounding)) <= 300
    if not (rounding is None or decimals or (isinstance(rounding, str) and rounding == "integers")):
        raise CoterieError(
            "'rounding' must be None, 'integers' or a number of decimals.",
            repr(rounding)
            if isinstance(rounding, (str, int, float))
            else f"an object of type {type(rounding).__name__}",
        )


def _generator(random_state: Any) -> np.random.Generator:
    try:
        if isinstance(random_state, (bool, float)):
            raise TypeError
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        got = f"an object of type {type(random_state).__name__}"
        raise CoterieError("'random_state' must be an integer >= 0, a numpy Generator or None.", got) from None


def _exposed(columns: list[NDArray[Any]], k: int) -> int:
    """How many records don't share all their values with k - 1 others, where columns were grouped each on its own."""
    few = int(np.count_nonzero(alike(columns) < k))
    if few:
        warnings.warn(
            f"The records are not {k}-anonymous: every column was grouped on its own, and {few:,} of "
            f"{len(columns[0]):,} records share all their values with fewer than {k - 1} others.",
            PrivacyWarning,
            stacklevel=4,
        )
    return few


class _Grouping(NamedTuple):
    labels: Ints
    found: Mapping[str, Any]
    guarantee: Guarantee | None = None
    proven: Proven | None = None


def _check_search(refine: Any, seconds: Any, method: Method, centre: str, distortion: str) -> float | None:
    """Refuse what would have no effect, or what refining can't do; give the seconds."""
    if not isinstance(refine, str) or refine not in REFINE:
        raise CoterieError(f"'refine' must be one of {', '.join(map(repr, REFINE))}.", _kind_of(refine))
    if refine != "none" and (centre, distortion) != ("mean", "squared"):
        what = "Refining makes squared distances to means small."
        raise CoterieError(what, f"centre='{centre}', distortion='{distortion}'", "use refine='none'.")
    if refine != "none" and method.name == "individual-ranking":
        raise CoterieError("Refining needs groups of records.", "individual-ranking, which groups every column alone")
    if seconds is not None and refine == "none" and not method.limited:
        what = "'seconds' limits refining, and the methods auto and exact."
        raise CoterieError(what, f"method='{method.name}', refine='none'", "leave it out: the others run to their end.")
    return check_seconds(seconds)


def _kind_of(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"an object of type {type(value).__name__}"


def check_blocks(blocks: Any, threads: Any, k: int, method: Method) -> int | None:
    """The most records in a block, or None where the table is grouped as a whole."""
    if blocks is None:
        if threads is not None:
            raise CoterieError("'threads' are for blocks.", "no blocks", "say blocks='auto', or leave threads out.")
        return None
    if threads is not None and (not isinstance(threads, Integral) or isinstance(threads, bool) or threads < 1):
        raise CoterieError("'threads' must be an integer of at least 1.", _kind_of(threads))
    if method.by_column:
        raise CoterieError("Blocks are of records.", f"{method.name}, which groups every column alone")
    if isinstance(blocks, str) and blocks == "auto":
        return max(SIZE, 10 * k)
    if not isinstance(blocks, Integral) or isinstance(blocks, bool) or blocks < 2 * k:
        must = f"'blocks' must be 'auto', or the most records in a block: an integer of at least 2k = {2 * k}."
        raise CoterieError(must, str(blocks) if isinstance(blocks, Integral) else _kind_of(blocks))
    return int(blocks)


def _in_blocks(
    matrix: Matrix,
    k: int,
    size: int,
    threads: int | None,
    run: Callable[..., _Grouping],
    rng: np.random.Generator,
) -> _Grouping:
    """The groups of every block, joined; what it loses more than without blocks, as measured on two of them."""
    seed = int(rng.integers(2**63))

    def solve(X: Floats, b: int) -> Ints:
        with progress_.listening(None):  # the bar counts blocks
            return run(Matrix(X, matrix.unit), rng=np.random.default_rng([seed, b])).labels

    found = in_blocks(matrix.values, k, solve, size=size, threads=threads, done=progress_.done)
    if len(found.parts) == 1:
        return run(matrix, rng=rng)
    measured = loss_at_faces(matrix.values, found, solve)
    chosen = {"blocks": len(found.parts), "block_size": max(map(len, found.parts)), **measured}
    return _Grouping(_by_first_appearance(found.labels), chosen)


def _refined(
    matrix: Matrix, k: int, start: _Grouping, effort: str, rng: np.random.Generator, limits: Limits
) -> _Grouping:
    """A grouping improved by local search. What was promised of it holds all the more."""
    from ..algorithms.refine import refine as search

    progress_.more(len(matrix.values))
    found = search(matrix.values, start.labels, k, effort=effort, rng=rng, limits=limits)
    chosen = {**start.found, "refine": effort, "steps": found.steps}
    return _Grouping(_by_first_appearance(found.labels), chosen, start.guarantee, start.proven)


def _cut_short(grouping: _Grouping, limits: Limits) -> _Grouping:
    """Say so where the search was stopped before its end."""
    if limits.cut_short is None:
        return grouping
    return grouping._replace(found={**grouping.found, "cut_short": limits.cut_short})


def _group(
    matrix: Matrix,
    k: int,
    method: Method,
    params: Mapping[str, Any],
    rng: np.random.Generator,
    limits: Limits,
    centre: str,
    distortion: str,
) -> _Grouping:
    """Run the method, unless there is only one way to group; number the groups by first appearance.

    What is found beside the labels: the method's parameters, with what it chose; and what it promises, which is about
    distances to means.
    """
    n = len(matrix.values)
    if n < 2 * k:  # no method, no parameters
        only = Guarantee(1.0, "fewer than 2k records make one group") if centre == "mean" else None
        one = np.zeros(matrix.values.shape if method.by_column else n, np.int64)
        return _Grouping(_numbered(one), {}, None if method.by_column else only)
    own = dict(params)
    if method.compares:
        own["loss"] = lambda labels: loss.distortion(matrix.values, labels, centre, distortion)
    if method.randomized:
        own["rng"] = rng
    if method.limited:
        own["limits"] = limits
    found = method.load()(matrix.values, k, **own)
    labels, chosen, guarantee, proven = found if isinstance(found, Found) else Found(found, {})
    guarantee = guarantee.in_units(matrix.unit) if guarantee is not None and centre == "mean" else None
    return _Grouping(_numbered(labels), {**params, **chosen}, guarantee, proven)


def _numbered(labels: Ints) -> Ints:
    """Groups numbered by first appearance; where columns have their own, column after column."""
    if labels.ndim == 1:
        return _by_first_appearance(labels)
    out, groups = np.empty_like(labels), 0
    for j in range(labels.shape[1]):
        out[:, j] = _by_first_appearance(labels[:, j]) + groups
        groups = int(out[:, j].max()) + 1
    return out


def _by_first_appearance(labels: Ints) -> Ints:
    n = len(labels)
    if labels.min() < 0 or labels.max() >= n:
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.full(labels.max() + 1, n)
    first[labels[::-1]] = np.arange(n)[::-1]  # what is written last stays
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[labels]


def _measures(matrix: Matrix, labels: Ints, centre: str, distortion: str, diversity: str) -> dict[str, float]:
    """The sums behind every loss of the result, in the units of the data that were grouped."""
    X, unit = matrix.values, matrix.unit
    d2 = loss.from_groups(X, labels, centre)
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
