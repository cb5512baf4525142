"""The risk that a record is found: classes of records that look alike, and what a class tells about its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..facts.measures import ClassRisk, ConfidentialRisk, Guess, Inference, Linkability, Linkage, SinglingOut
from ..tables.columns import Column
from .standard_units import Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Scenario(NamedTuple):
    """What an intruder is taken to know: the values of these columns; k is the promise made about it."""

    name: str
    quasi: tuple[str, ...]
    k: int


class ScenarioLike(Protocol):
    """Anything with the name, the quasi-identifiers and the k of a scenario."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def quasi(self) -> Sequence[str]:
        """The columns that are known."""

    @property
    def k(self) -> int:
        """The size that no class may fall below."""


def values(column: Column) -> Ints:
    """The values of a column numbered by size; a missing value is a value of its own, the last."""
    _, number = np.unique(column.numbers, return_inverse=True)  # np.unique takes all NaN for one value, the last
    return number.astype(np.int64, copy=False)


def classes(columns: Sequence[Column]) -> Ints:
    """For every record the number of its class: the records with the same values in all of these columns.

    A missing value is a value of its own: two records that both lack it are alike in it. Without columns all records
    would be one class, but of how many is not known: at least one is needed. O(n log n) for each column.
    """
    return combined([values(column) for column in columns])


def combined(numbers: Sequence[NDArray[np.integer]]) -> Ints:
    """The classes of records with the same numbers everywhere, numbered from 0 without gaps."""
    out, count = numbers[0].astype(np.int64), int(numbers[0].max(initial=0)) + 1
    for number in numbers[1:]:
        size = int(number.max(initial=0)) + 1
        if count > 2**62 // size:
            out, count = _compact(out)
        out, count = out * size + number, count * size
    return _compact(out)[0]


def _compact(numbers: Ints) -> tuple[Ints, int]:
    different, out = np.unique(numbers, return_inverse=True)
    return out.astype(np.int64, copy=False), len(different)


_BINS = [*range(1, 10), *(m * 10**e for e in range(1, 18) for m in (1, 2, 5))]


def class_sizes(sizes: Ints, often: Ints | None = None) -> dict[str, int]:
    """How many classes there are of each size: 1 to 9, then 10-19, 20-49, 50-99, 100-199 and so on; none left out.

    `often` says of how many classes each of the sizes is, if not of one.
    """
    counts = np.bincount(np.searchsorted(_BINS, sizes[sizes > 0], side="right") - 1, often, len(_BINS))
    out = {}
    for i in np.flatnonzero(counts).tolist():
        low, high = _BINS[i], _BINS[i + 1] - 1
        out[str(low) if low == high else f"{low}-{high}"] = int(counts[i])
    return out


def risk_of_sizes(sizes: Mapping[int, int], k: int, fewest: Mapping[int, int] | None = None) -> ClassRisk:
    """`class_risk` from how many classes there are of each size.

    With `fewest`, sizes are in units, and this is how many units have a class of so few as their smallest; the number
    of records and of classes that have no unit is not in it.
    """
    if not sizes:
        return ClassRisk(0, 0, 0, 0, None, None, None, 0.0, {}, None if fewest is None else 0)
    found, often = np.array(sorted(sizes), np.int64), np.array([sizes[s] for s in sorted(sizes)], np.int64)
    m, smallest = int(often.sum()), int(found[0])
    heads = dict(sizes) if fewest is None else dict(fewest)
    count = int((found * often).sum()) if fewest is None else sum(heads.values())
    expected = float(m) if fewest is None else float(sum(c / size for size, c in sorted(heads.items())))
    below = sum(c * (size if fewest is None else 1) for size, c in heads.items() if size < k)
    return ClassRisk(
        records=int((found * often).sum()),
        classes=m,
        unique=heads.get(1, 0),
        below_k=below,
        smallest=smallest,
        largest_risk=1.0 / smallest,
        mean_risk=expected / count,
        expected_reidentifications=expected,
        sizes=class_sizes(found, often),
        units=None if fewest is None else count,
    )


def class_risk(classes: Ints, k: int, units: Ints | None = None) -> ClassRisk:
    """The risk of records that can only be told from each other by their class.

    A record in a class of size s is found with probability 1/s by an intruder who knows that it is in the file and
    knows its class (the prosecutor's case: Sweeney 2002, doi 10.1142/S0218488502001648; El Emam and Dankar 2008, doi
    10.1197/jamia.M2716). So the expected number of re-identifications, if all records are attacked, is the sum of 1/s
    over all records: the number of classes.

    The largest and the mean risk are those of 1/s over the records, None where there are none.

    With `units` (-1 where a record's is not known), s is the number of different units in a class. A unit is found with
    the largest 1/s of its records' classes; all counts and means are of units. Whoever guesses whose a record is does
    better than 1/s where a unit has several records of the class: `largest_unit_share` is the most that can be right.
    """
    if units is not None:
        return _unit_risk(classes, k, units)
    sizes = np.bincount(classes)
    found, often = np.unique(sizes[sizes > 0], return_counts=True)
    return risk_of_sizes(dict(zip(found.tolist(), often.tolist(), strict=True)), k)


def units_in(classes: Ints, units: Ints) -> tuple[Ints, Ints, Ints]:
    """The classes and units that come together, each pair once, and how many units each class has."""
    count, known = int(units.max(initial=-1)) + 1, units >= 0
    pairs = np.unique(classes[known] * max(1, count) + units[known])
    where = pairs // max(1, count)
    return where, pairs % max(1, count), np.bincount(where, minlength=int(classes.max(initial=-1)) + 1)


def _unit_risk(classes: Ints, k: int, units: Ints) -> ClassRisk:
    """The same, counting units."""
    where, who, sizes = units_in(classes, units)
    _, unit = np.unique(who, return_inverse=True)
    count = int(unit.max(initial=-1)) + 1
    fewest = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(fewest, unit.reshape(-1), sizes[where])
    risk = 1.0 / fewest
    there = sizes[sizes > 0]
    return ClassRisk(
        records=len(classes),
        classes=int(np.count_nonzero(np.bincount(classes))),
        unique=int(np.count_nonzero(fewest == 1)),
        below_k=int(np.count_nonzero(fewest < k)),
        smallest=int(there.min()) if count else None,
        largest_risk=1.0 / float(there.min()) if count else None,
        mean_risk=float(risk.mean()) if count else None,
        expected_reidentifications=float(risk.sum()),
        sizes=class_sizes(there),
        units=count,
        largest_unit_share=_largest_unit_share(classes, units) if count else None,
    )


def _largest_unit_share(classes: Ints, units: Ints) -> float:
    """The largest share that one unit has of the records of a class."""
    same = combined([classes, alone_if_unknown(units)])
    return float((np.bincount(same)[same] / np.bincount(classes)[classes]).max())


class Contents(NamedTuple):
    """Which values the classes hold: one row for each value of each class, sorted by class, then by value."""

    classes: Ints
    values: Ints
    counts: Ints
    sizes: Ints  # of all classes
    totals: Ints  # of all values, in all records, of which others may be elsewhere

    @property
    def records(self) -> int:
        """How many records there are in all."""
        return int(self.totals.sum())


def contents(classes: Ints, numbers: Ints) -> Contents:
    """Count the values in every class; both are numbered from 0 without gaps."""
    m = int(numbers.max(initial=0)) + 1
    pairs, counts = np.unique(classes * m + numbers, return_counts=True)
    return Contents(pairs // m, pairs % m, counts.astype(np.int64), np.bincount(classes), np.bincount(numbers))


def answers(held: Contents) -> Contents:
    """The same without the last value, that of the missing ones; a class may then be empty."""
    here = held.values < len(held.totals) - 1
    of, counts = held.classes[here], held.counts[here]
    sizes = np.zeros_like(held.sizes)
    np.add.at(sizes, of, counts)
    return Contents(of, held.values[here], counts, sizes, held.totals[:-1])


def distinct_values(held: Contents) -> Ints:
    """How many different values each class holds: distinct l-diversity.

    Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302.
    """
    return np.bincount(held.classes, minlength=len(held.sizes))


def entropy_l(held: Contents) -> Floats:
    """exp of the entropy of the values in each class: the largest l for which it is entropy l-diverse.

    Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302: - sum p log p >= log l. 0 for a class without any value.
    """
    p = held.counts / held.sizes[held.classes]
    entropy = np.bincount(held.classes, -p * np.log(p), minlength=len(held.sizes))
    return np.where(held.sizes > 0, np.exp(entropy), 0.0)


def closeness(held: Contents, ordered: bool) -> Floats:
    """The earth mover's distance between the values of each class and those of all records: t-closeness.

    Li, Li, Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856. Ordered values: the m different values of the file
    lie 1/(m-1) apart, and the distance is the sum over all v of |P(v) - Q(v)|, the cumulated shares in the class and in
    the file, over m - 1. Others: all values lie 1 apart, and it is half the sum of |p - q|.
    """
    share = held.totals / held.records
    if not ordered:
        q = share[held.values]
        differing = np.bincount(held.classes, np.abs(held.counts / held.sizes[held.classes] - q))
        absent = 1.0 - np.bincount(held.classes, q)
        return np.asarray(0.5 * (differing + np.maximum(absent, 0.0)), np.float64)
    if len(share) == 1:
        return np.zeros(len(held.sizes))
    return _area_between(held) / (len(share) - 1)


def _area_between(c: Contents) -> Floats:
    """For each class, the sum of |P(v) - Q(v)| over all values v but the last.

    P is constant from one value of the class to the next, and Q grows: where they cross is found by bisection, and the
    sums of Q on both sides by its own cumulated sum. So it takes O(n log n) for all classes together, not classes
    times values. The values before the first of a class, where P is 0, are the first term.
    """
    q = np.cumsum(c.totals) / c.records
    sums = np.concatenate(([0.0], np.cumsum(q)))
    first = np.concatenate(([True], c.classes[1:] != c.classes[:-1]))
    starts = np.flatnonzero(first)
    before = np.cumsum(c.counts) - c.counts
    done = before + c.counts - np.repeat(before[starts], np.diff(np.append(starts, len(first))))
    level = done / c.sizes[c.classes]
    low = c.values
    high = np.append(c.values[1:], len(q) - 1)
    high[np.append(first[1:], True)] = len(q) - 1  # up to the last value but one: there P = Q = 1
    cross = np.clip(np.searchsorted(q, level), low, high)
    above = level * (cross - low) - (sums[cross] - sums[low])
    below = (sums[high] - sums[cross]) - level * (high - cross)
    return sums[low[starts]] + np.bincount(c.classes, above + below)


def confidential_risk(column: Column, classes: Ints, scenario: str = "all") -> ConfidentialRisk:
    """What the classes tell about a confidential column, without finding anyone.

    Counted are classes with one value at most, whose members are known to have it if any (homogeneity: Machanavajjhala
    et al. 2007), and their records; then the worst class by `distinct_values`, `entropy_l` and `closeness`. Missing
    values don't count, as for the promises about them; for t they are a value of their own, among ordered values the
    last.
    """
    number = len(np.bincount(classes))
    if not number:
        return ConfidentialRisk(scenario, column.name, column.kind, 0, None, None, None, None, None)
    return risk_of_contents(contents(classes, values(column)), column, bool(column.missing.any()), scenario)


def risk_of_contents(held: Contents, column: Column, gaps: bool, scenario: str = "all") -> ConfidentialRisk:
    """The same from what classes hold; with gaps, the last value is that of the missing ones."""
    number = len(held.sizes)
    there = answers(held) if gaps else held
    distinct = distinct_values(there)
    return ConfidentialRisk(
        scenario,
        column.name,
        column.kind,
        number,
        constant_classes=int(np.count_nonzero(distinct <= 1)),
        constant_records=int(held.sizes[distinct <= 1].sum()),
        least_distinct=int(distinct.min()),
        least_entropy_l=float(entropy_l(there).min()),
        largest_t=float(closeness(held, column.is_ordered).max()),
    )


class Tried(NamedTuple):
    """How well guessing did: the share of right guesses, or of the variance that is explained."""

    what: str
    share: float | None
    baseline_share: float | None

    @property
    def gain(self) -> float:
        """What the classes add to the baseline."""
        return -1.0 if self.share is None or self.baseline_share is None else self.share - self.baseline_share


def guesses(column: Column, classes: Ints) -> Tried:
    """How well a value is guessed from the class of its record, against guessing without.

    Categories: the guess is the most frequent one in the class, the baseline the most frequent of all; both as the
    share of guesses that are right. Amounts and moments: the guess is the mean of the class; what counts is the share
    of the variance that it explains (R squared), and the baseline is what classes of as many records explain
    on average if drawn by lot, (classes - 1) / (records - 1).

    A missing value is a category; missing amounts are left out.
    """
    if column.has_codes:
        held, n = contents(classes, values(column)), len(classes)
        most = np.zeros(len(held.sizes), np.int64)
        np.maximum.at(most, held.classes, held.counts)
        right, base = (int(most.sum()) / n, int(held.totals.max()) / n) if n else (None, None)
        return Tried("right guesses", right, base)
    scale = Scale(column.numbers)
    if scale.constant:
        return Tried("variance explained", None, None)
    here = ~column.missing
    z, (label, m) = scale(column.numbers[here]), _compact(classes[here])
    means = np.bincount(label, z) / np.bincount(label)
    within = float(np.sum((z - means[label]) ** 2))
    return Tried("variance explained", 1.0 - within / (len(z) - 1), (m - 1) / (len(z) - 1))


_NOT_SINGLING = (
    "It considers only the columns in the scenarios: an intruder who knows another column, or an unchanged value, "
    "may still single out a record."
)
_NOT_LINKING = (
    "It tries one attack, the nearest record, with the whole original file at hand; other attacks, or one tailored "
    "to the method, may link more."
)
_NOT_INFERENCE = (
    "It shows what a class reveals about its members, not what an intruder knows besides; a guess can be good "
    "because of what the whole file shows, even about people who are not in it."
)


def singling_out(before: Sequence[Ints], after: Sequence[Ints], units: Ints | None = None) -> SinglingOut:
    """How many records are alone in their class in at least one scenario: each item gives one scenario's classes.

    With `units`, how many units have a class in which there is no other. One of the three risks named by the Article 29
    Working Party, Opinion 05/2014 on anonymisation techniques (WP216).
    """
    was, now = _alone(before, units), _alone(after, units)
    n, noun = len(after[0]) if after else 0, "records"
    if units is not None:
        n, noun = len(np.unique(units[units >= 0])), "units"
    sentence = f"{was:,} of {n:,} {noun} were alone with their quasi-identifiers in the original; "
    return SinglingOut(was, now, f"{sentence}{now:,} are in the release.", _NOT_SINGLING)


def _alone(scenarios: Sequence[Ints], units: Ints | None) -> int:
    if not scenarios:
        return 0
    if units is None:
        return int(np.count_nonzero(np.any([np.bincount(c)[c] == 1 for c in scenarios], axis=0)))
    alone = []
    for c in scenarios:
        where, who, sizes = units_in(c, units)
        alone.append(who[sizes[where] == 1])
    return len(np.unique(np.concatenate(alone)))


def linkability(before: Ints, linked: Linkage, units: Ints | None = None) -> Linkability:
    """The share of records that an intruder with the original values would link: by exact match, before, and after.

    Before: the original to itself, so 1/size of the class of all quasi-identifiers on average; with `units`, the share
    of the class's records that are the same unit's. After: what `linkage.distance_linkage` found. Article 29 Working
    Party, Opinion 05/2014 (WP216).
    """
    n = len(before)
    was = _same_class(before, units) if n else None
    now = linked.share
    sentence = "There is no column to link by."
    if was is not None and now is not None:
        some = f"a sample of {linked.records:,} records" if linked.sampled else "all records"
        sentence = (
            f"Linking each record to the nearest original would be right for {_share(was)} of the records before "
            f"and for {_share(now)} in the release (measured on {some})."
        )
    return Linkability(was, now, sentence, _NOT_LINKING)


def _same_class(classes: Ints, units: Ints | None) -> float:
    """The share of right links where a record is linked to any of its class by lot."""
    if units is None:
        return len(np.bincount(classes)) / len(classes)
    same = combined([classes, alone_if_unknown(units)])
    return float((np.bincount(same)[same] / np.bincount(classes)[classes]).mean())


def alone_if_unknown(units: Ints) -> Ints:
    """Units with a number of its own for every record whose unit is not known."""
    known = int(units.max(initial=-1)) + 1
    return np.where(units < 0, known + np.arange(len(units)), units)


def inference(columns: Sequence[Column], classes: Sequence[Ints]) -> Inference:
    """How well each confidential column is guessed from the class of a record, in the scenario where that is easiest.

    Article 29 Working Party, Opinion 05/2014 (WP216).
    """
    found = {column.name: _easiest(column, classes) for column in columns}
    constant = {name: one.constant_share or 0.0 for name, one in found.items()}
    sentence = "No column is confidential."
    if constant:
        worst = max(constant, key=lambda name: constant[name])
        sentence = (
            f"Attribute disclosure: '{worst}' has at most one value in the equivalence class of "
            f"{_share(constant[worst])} of the records, and is known for every member."
            if constant[worst] > 0
            else "No equivalence class has the same confidential value in all its records."
        )
    return Inference(found, sentence, _NOT_INFERENCE)


def _easiest(column: Column, scenarios: Sequence[Ints]) -> Guess:
    """The guesses in the scenario where most is gained over the baseline, and the most records in constant classes."""
    tries = [guesses(column, c) for c in scenarios]
    found = [confidential_risk(column, c) for c in scenarios]
    constant = [(f.constant_records or 0) / len(c) for f, c in zip(found, scenarios, strict=True) if len(c)]
    if not tries:
        return Guess(None, None, None, None)
    best = max(tries, key=lambda one: one.gain)
    return Guess(best.what, best.share, best.baseline_share, max(constant, default=None))


def _share(x: float) -> str:
    """A share in per cent, never rounded to nothing or to all."""
    if 0 < x < 0.0001:
        return "less than 0.01 %"
    if 0.9995 <= x < 1:
        return "more than 99.9 %"
    return f"{100 * x:.2f} %" if x < 0.1 else f"{100 * x:.1f} %"
