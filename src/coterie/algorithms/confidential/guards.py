"""What a group's confidential values must be like, and whether they are.

Sources: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), l-diversity, ACM TKDD 1(1),
doi 10.1145/1217299.1217302; Li, Li, Venkatasubramanian (2007), t-closeness, ICDE,
doi 10.1109/ICDE.2007.367856.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...constraints import GUARDS, check
from ...errors import CoterieError
from ...kernels import watch as kernels
from ...kernels.watch import Watch

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Guard:
    """Conditions on one confidential column that every group must meet.

    Parameters
    ----------
    name : str
        The column, for messages.
    codes : ndarray of int64, of shape (n,)
        The value of each record, as a number that says which and, if `ordered`, in what order; -1 where it is missing.
        All records of the table: it is what groups are held against.
    ordered : bool
        Whether t takes values to have an order (numeric, integer, ordinal, datetime) or not (nominal, boolean).
    l : int, optional
        Distinct l-diversity: a group has at least l different values. Missing is none.
    entropy : float, optional
        Entropy l-diversity: exp of the entropy of a group's values, missing left out, is at least this.
    t : float, optional
        t-closeness: the distance between the distribution p in a group and q in the table is at most t. Ordered, with m
        different values in the table: sum over i < m of abs(sum over j <= i of (p_j - q_j)), over m - 1; 0 if m = 1.
        Not ordered: half the sum of abs(p_j - q_j), missing being a value of its own.
    """

    name: str
    codes: Ints = field(repr=False)
    ordered: bool
    l: int | None = None  # noqa: E741
    entropy: float | None = None
    t: float | None = None

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 1 or codes.dtype.kind not in "iu" or len(codes) == 0 or codes.min() < -1:
            what = f"The codes of '{self.name}' must be one integer for each record, from -1 (missing) up."
            raise CoterieError(what, f"{codes.dtype} of shape {codes.shape}")
        object.__setattr__(self, "codes", codes.astype(np.int64))
        self._check_limits()
        if self.t is not None and self.ordered and (codes < 0).any():
            what = f"t-closeness of '{self.name}', an ordered column, is not defined for missing values."
            got = f"{np.count_nonzero(codes < 0):,} records without a value"
            raise CoterieError(what, got, "use l, treat the column as nominal, or leave these records out.")

    def _check_limits(self) -> None:
        if self.l is None and self.entropy is None and self.t is None:
            raise CoterieError(f"A guard of '{self.name}' needs l, entropy or t.", "none of them")
        for name, must in GUARDS.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, check(name, must, value, f"{name} of '{self.name}'"))

    @property
    def conditions(self) -> str:
        """What it asks for, in words for a message."""
        asked = {"l": self.l, "entropy": self.entropy, "t": self.t}
        return ", ".join(f"{name} = {value}" for name, value in asked.items() if value is not None)


class Condition(NamedTuple):
    """What must hold of a column in every group: as for `Guard`."""

    ordered: bool
    l: int | None = None  # noqa: E741
    entropy: float | None = None
    t: float | None = None


def watch_of(conditions: Sequence[Condition], codes: Sequence[Ints], tables: Sequence[Ints | None]) -> Watch:
    """What kernels need to know of some records of a table.

    `codes` are the values of the records, numbered in order, -1 where missing; `tables` say how often each value comes
    in the whole table, the missing ones last. Where there is none, nothing is held against the table, and it is taken
    from the records.
    """
    own, counts, values = np.empty((len(codes), len(codes[0])), np.int64), [], []
    for g, (code, table) in enumerate(zip(codes, tables, strict=True)):
        m = int(code.max(initial=-1)) + 1 if table is None else len(table) - 1
        own[g] = np.where(code < 0, m, code)
        counts.append(np.bincount(own[g], minlength=m + 1) if table is None else table)
        values.append(m)
    below = np.empty((len(codes), max(map(len, counts))), np.int64)
    for g, count in enumerate(counts):
        below[g] = count.sum()
        below[g, : len(count)] = np.cumsum(count)
    area = np.zeros((len(codes), below.shape[1] + 1), np.int64)
    np.cumsum(below, axis=1, out=area[:, 1:])
    return Watch(
        codes=own,
        values=np.array(values),
        below=below,
        area=area,
        ordered=np.array([c.ordered for c in conditions]),
        distinct=np.array([c.l or 0 for c in conditions], np.int64),
        entropy=np.array([c.entropy or 0.0 for c in conditions], np.float64),
        t=np.array([np.inf if c.t is None else c.t for c in conditions]),
    )


def watch(guards: Sequence[Guard]) -> Watch:
    """What kernels need to know of the guards and of the whole table. Memory O(n) a guard."""
    codes = []
    tables = []
    for guard in guards:
        present = guard.codes >= 0
        code = np.full(len(guard.codes), -1)
        code[present] = np.unique(guard.codes[present], return_inverse=True)[1].reshape(-1)
        codes.append(code)
        tables.append(np.bincount(np.where(present, code, code.max() + 1), minlength=int(code.max()) + 2))
    return watch_of([Condition(g.ordered, g.l, g.entropy, g.t) for g in guards], codes, tables)


def part_of(whole: Watch, records: Ints) -> Watch:
    """The same guards over some of the records, still held against the whole table."""
    return whole._replace(codes=np.ascontiguousarray(whole.codes[:, records]))


def measured(whole: Watch, g: int, labels: Ints) -> Floats:
    """For each group 0, 1, ...: different values, exp of their entropy, distance from the table, shortfall of guard g.

    O(n log n) in all.
    """
    order = np.lexsort((whole.codes[g], labels))
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 2))
    out = np.empty((len(starts) - 1, 4))
    kernels.measure(whole, g, order, starts, out)
    return out


def distinct(guard: Guard, labels: Ints) -> Ints:
    """How many different values each group 0, 1, ... has; missing is none."""
    return measured(watch([guard]), 0, labels)[:, 0].astype(np.int64)


def entropy_l(guard: Guard, labels: Ints) -> Floats:
    """Exp of the entropy of each group's values, missing left out; 0 for a group without a value."""
    return measured(watch([guard]), 0, labels)[:, 1]


def closeness(guard: Guard, labels: Ints) -> Floats:
    """The distance of each group's distribution from the table's, as `Guard` defines it for its kind."""
    if guard.ordered and (guard.codes < 0).any():
        raise CoterieError(f"The distance of '{guard.name}', an ordered column, is not defined for missing values.")
    return measured(watch([guard]), 0, labels)[:, 2]


def holds(guard: Guard, labels: Ints) -> Flags:
    """Whether each group 0, 1, ... meets the guard's conditions, with 1e-12 of each limit to spare."""
    kept: Flags = measured(watch([guard]), 0, labels)[:, 3] == 0
    return kept


def least_distance(whole: Watch, g: int, size: int) -> float:
    """The least distance that any group of so many records can have from the table, by guard g's kind of distance.

    Shares in a group are multiples of 1 / size. Ordered: at each value the cumulative share is off the table's by at
    least the distance to the nearest multiple, and the group that is nearest everywhere exists. Without ties and with n
    an odd multiple of the size s it is the bound (n + s)(n - s) / (4 n (n - 1) s) of Soria-Comas et al. (2015). Not
    ordered: shares are rounded down, but for those with the largest remainders. O(m), or O(m log m).
    """
    m, n = int(whole.values[g]), whole.below[g, -1]
    if whole.ordered[g]:
        share = whole.below[g, : m - 1] / n * size
        return float(np.abs(share - np.rint(share)).sum()) / (size * max(1, m - 1))
    share = np.diff(whole.below[g], prepend=0) / n * size
    remainders = np.sort(share - np.floor(share))
    up = round(float(remainders.sum()))
    return float(remainders[: len(remainders) - up].sum()) / size


def least_size(whole: Watch, k: int, of_t: float = 1.0) -> int:
    """A number of records, at least k, below which no group has l values, or a distance of at most `of_t` times t.

    O(m) for each size tried; up to 1 / (2 t) are.
    """
    size: int = max(k, int(whole.distinct.max()), math.ceil(whole.entropy.max()))
    for g in np.flatnonzero(np.isfinite(whole.t)):
        while size < whole.below[g, -1] and least_distance(whole, int(g), size) > of_t * whole.t[g]:
            size += 1
    return size
