"""The survey: one look at all records, whatever the order and the size of the pieces in which they come.

What it adds up is exact: whole numbers, or sums without rounding. So it does not matter how the table was split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import progress
from ..errors import CoterieError, PromiseError
from ..recipe import Recipe
from ..tables.columns import Column, joined_columns
from ..tables.identities import Repeats
from ..tables.kinds import MOST_CATEGORIES, Typed, UnfitError
from ..tables.records import Places, Records
from ..tables.spellings import Spellings
from .noise import Digits
from .scales import Moments, Scale, Totals, as_float
from .unit_counts import UnitSets, UnitSurvey, count_identifiers, refuse_repeated
from .values import Values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Key(NamedTuple):
    """What decides where a record may be grouped: its stratum, and which of its quasi-identifiers are missing.

    `stratum` holds the values of the strata's columns (texts of nominal ones, None where missing); `gaps` has a bit for
    each masked quasi-identifier, the first one highest, and is 0 unless missing values are values of their own.
    """

    stratum: tuple[Any, ...]
    gaps: int

    def order(self) -> tuple[Any, ...]:
        """Sorts keys by the values of strata, missing ones last, then by gaps."""
        return (*((v is None, 0 if v is None else v) for v in self.stratum), self.gaps)


def masked_columns(recipe: Recipe) -> list[str]:
    """The quasi-identifiers that are microaggregated: all but the columns of strata."""
    return [q for q in recipe.quasi if q not in recipe.within]


def keys_of(records: Records, recipe: Recipe) -> tuple[Ints, list[Key]]:
    """The number of each record's key, and the keys."""
    code = np.zeros(len(records), np.int64)
    for name in recipe.within:
        column = records.column(name)
        values = np.where(column.missing, np.inf, column.numbers)
        code = _with(code, np.unique(values, return_inverse=True)[1].reshape(-1))
    gaps: list[int] | None = None
    if recipe.missing.policy == "own-value":
        own, gaps = _gaps_of(records, masked_columns(recipe))
        code = _with(code, own)
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    strata = [[_value(records.column(name), i) for name in recipe.within] for i in first.tolist()]
    if gaps is None:
        return code.reshape(-1), [Key(tuple(s), 0) for s in strata]
    return code.reshape(-1), [Key(tuple(s), gaps[own[i]]) for s, i in zip(strata, first.tolist(), strict=True)]


def _with(code: Ints, more: Ints) -> Ints:
    both: Ints = np.unique(code * (int(more.max(initial=0)) + 1) + more, return_inverse=True)[1].reshape(-1)
    return both


def _value(column: Column, i: int) -> Any:
    number = column.numbers[i]
    if np.isnan(number):
        return None
    return column.categories[int(number)] if column.kind == "nominal" else float(number)


def _gaps_of(records: Records, names: list[str]) -> tuple[Ints, list[int]]:
    """The pattern of missing values of each record, and the patterns as bits."""
    code, patterns = np.zeros(len(records), np.int64), [0]
    for name in names:
        missing = records.column(name).missing
        patterns = [p << 1 | bit for p in patterns for bit in (0, 1)]
        kept, code = np.unique(2 * code + missing, return_inverse=True)  # only what occurs is kept
        patterns = [patterns[i] for i in kept.tolist()]
    return code.reshape(-1), patterns


@dataclass(frozen=True, eq=False)
class Sample:
    """Every so many records of the table: the columns at which blocks are cut, and the key of each."""

    columns: Mapping[str, Column]
    keys: Ints


@dataclass
class Survey:
    """What must be known of the whole table before a part of it can be grouped.

    Parameters
    ----------
    recipe : Recipe
    every : int
        One in so many records is taken into the sample.
    k : int, optional
        The largest that a plan will be made for; the recipe's unless given.
    """

    recipe: Recipe
    every: int
    k: int | None = None
    records: int = 0
    keys: Counter[Key] = field(default_factory=Counter)
    moments: dict[str, Moments] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)
    digits: dict[str, Digits] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)  # of columns with t
    units: UnitSurvey = field(default_factory=UnitSurvey)
    identifiers: dict[str, Repeats] = field(default_factory=dict)  # where the recipe names no unit
    spellings: dict[str, Spellings] = field(default_factory=dict)  # of columns of strata
    _categories: dict[str, dict[str, int]] = field(default_factory=dict)
    _weights: dict[str, Totals] = field(default_factory=dict)
    weight_total: Totals = field(default_factory=Totals)  # of all records, exact
    _styles: dict[str, set[Any]] = field(default_factory=dict)
    _sample: list[tuple[int, dict[str, Column], list[Key]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        most = max(rule.k for rule in self.recipe.promises.values()) if self.k is None else self.k
        self.units_of_keys: UnitSets[Key] = UnitSets(most)

    def add(self, records: Records) -> None:
        """Take in some records."""
        recipe = self.recipe
        weights = weights_of(records, recipe)
        if weights is not None:
            self.weight_total.add(np.zeros(len(weights), np.int64), weights)
        for name in recipe.quasi:
            self._see(records.typed(name))
            self._count(records.typed(name), weights)
        for name in recipe.within:
            column = records.column(name)
            if not column.has_codes:
                self.spellings.setdefault(name, Spellings()).add(column, records.reading.plain(records.arrow(name)))
        for name in recipe.of_role("confidential"):
            rule = recipe.columns[name]
            self._see(records.typed(name))
            if rule.noise is not None:
                self.digits.setdefault(name, Digits()).add(records.column(name).numbers)
            if rule.t is not None:
                self.values.setdefault(name, Values()).add(records.column(name))
        self.records += len(records)
        count_identifiers(records, recipe, self.identifiers)
        code, keys = keys_of(records, recipe)
        self.keys.update(dict(zip(keys, np.bincount(code, minlength=len(keys)).tolist(), strict=True)))
        if recipe.unit_column is not None:
            self.units.add(records.units(recipe.unit_column))
            self.units_of_keys.add(code, keys, records.units(recipe.unit_column))
        self._take_sample(records, code, keys)
        progress.done(len(records))

    def _see(self, typed: Typed) -> None:
        column, name = typed.column, typed.column.name
        missing = int(np.count_nonzero(column.missing))
        self.missing[name] += missing
        if missing < len(column.numbers):
            self.steps[name] = min(self.steps.get(name, np.inf), typed.step)
        if typed.style is not None:
            self._note_style(column, typed.style)
        if column.is_ordered:
            self.moments.setdefault(name, Moments()).add(column.numbers)

    def _note_style(self, column: Column, style: Any) -> None:
        """Refuse dates, or yes and no, that other records write in another way."""
        styles = self._styles.setdefault(column.name, set())
        styles.update([style] if column.kind == "datetime" else style)
        self._check_styles(column.name)

    def _check_styles(self, name: str) -> None:
        styles, kind = self._styles[name], self.recipe.columns[name].kind
        for sort in ("prefix", "suffix") if kind in ("numeric", "integer") else ():
            if sum(unit.startswith(sort) for unit in styles) > 1:
                what = f"The numbers of '{name}' must have a single unit."
                raise CoterieError(what, f"more than one {sort}", "convert them to one unit first.")
        if kind == "boolean" and len(styles) > 2:
            what = f"The column '{name}' must hold two values, true and false."
            hint = 'list the words, such as true = ["Ja"] and false = ["Nein"]; with further values, kind = "nominal".'
            raise CoterieError(what, f"{len(styles)} different spellings", hint)
        if kind == "datetime" and len(styles) > 1:
            what = f"The dates or times of '{name}' must all be written the same way."
            hint = "write all of them like 2024-12-31."
            raise CoterieError(what, f"{len(styles)} ways", hint)

    def _count(self, typed: Typed, weights: Floats | None) -> None:
        """Add up how often each category comes, by weight."""
        column = typed.column
        if column.kind not in ("nominal", "boolean"):
            return
        place = self._categories.setdefault(column.name, {})
        names = column.categories if column.kind == "nominal" else ("false", "true")
        number = np.array([place.setdefault(c, len(place)) for c in names], np.int64)
        _check_categories(column.name, place)
        there = ~column.missing
        where = number[column.numbers[there].astype(np.int64)]
        totals = self._weights.setdefault(column.name, Totals())
        if weights is None:
            totals.count(np.bincount(where, minlength=len(place)))
        else:
            totals.add(where, weights[there])

    def _take_sample(self, records: Records, code: Ints, keys: list[Key]) -> None:
        if self.recipe.method.blocks is None:
            return
        rows = np.flatnonzero(records.numbers % self.every == 0)
        if len(rows):
            columns = {name: records.column(name).at(rows) for name in sampled_columns(self.recipe)}
            self._sample.append((int(records.numbers[rows[0]]), columns, [keys[c] for c in code[rows].tolist()]))

    @property
    def found(self) -> Survey:
        """All that it has seen: itself."""
        return self

    def merge(self, other: Survey) -> None:
        """Take in what another survey has seen of other records."""
        progress.done(other.records)
        self.records += other.records
        self.keys.update(other.keys)
        self.units.merge(other.units)
        self.units_of_keys.merge(other.units_of_keys)
        for name, repeats in other.identifiers.items():
            self.identifiers.setdefault(name, Repeats()).merge(repeats)
        self.missing.update(other.missing)
        self.weight_total.merge(other.weight_total)
        for name, step in other.steps.items():
            self.steps[name] = min(self.steps.get(name, np.inf), step)
        for name, moments in other.moments.items():
            self.moments.setdefault(name, Moments()).merge(moments)
        for name, digits in other.digits.items():
            self.digits.setdefault(name, Digits()).merge(digits)
        for name, values in other.values.items():
            self.values.setdefault(name, Values()).merge(values)
        for name, spellings in other.spellings.items():
            self.spellings.setdefault(name, Spellings()).merge(spellings)
        for name, place in other._categories.items():
            own = self._categories.setdefault(name, {})
            number = [own.setdefault(category, len(own)) for category in place]
            _check_categories(name, own)
            self._weights.setdefault(name, Totals()).merge(other._weights[name], number)
        for name, styles in other._styles.items():
            self._styles.setdefault(name, set()).update(styles)
            self._check_styles(name)
        self._sample += other._sample

    def heads(self, keys: Iterable[Key]) -> int:
        """How many there are behind the records with these keys, to be held against k: units, or records.

        Units are counted exactly as long as they are fewer than any k that was asked for.
        """
        if self.recipe.unit_column is not None:
            return self.units_of_keys.count(keys)
        return sum(self.keys[key] for key in keys)

    def check(self) -> None:
        """Refuse what no plan can be made for: nobody said what k counts, or what to do with gaps."""
        refuse_repeated(self.identifiers)
        self._check_missing()

    def _check_missing(self) -> None:
        """Refuse missing quasi-identifiers for which there is no policy."""
        gaps = {name: self.missing[name] for name in self.recipe.quasi if self.missing[name]}
        if gaps and self.recipe.missing.policy == "refuse":
            what = "Quasi-identifiers must not have missing values, unless the recipe sets a policy."
            got = ", ".join(f"{count} in '{name}'" for name, count in gaps.items())
            hint = '[missing] policy = "own-value" or "group" (--missing own-value).'
            raise PromiseError(what, got, hint)

    def categories(self) -> dict[str, tuple[str, ...]]:
        """All categories of nominal and boolean quasi-identifiers, in the order of their codes."""
        return {
            name: tuple(sorted(place))
            if self.recipe.columns[name].kind == "nominal"
            else _words(self._styles.get(name, set()), self.recipe.columns[name])
            for name, place in self._categories.items()
        }

    def whole(self) -> Whole:
        """What a part must know of the whole table."""
        overall = {}
        for name, place in self._categories.items():
            nominal = self.recipe.columns[name].kind == "nominal"
            sums = self._weights[name].sums
            names = sorted(place) if nominal else ["false", "true"]
            overall[name] = np.array([as_float(sums[place[c]]) if place[c] < len(sums) else 0.0 for c in names])
        return Whole(
            scales={name: moments.scale() for name, moments in self.moments.items()},
            steps=dict(self.steps),
            categories=self.categories(),
            overall=overall,
            digits={name: digits.places() for name, digits in self.digits.items()},
        )

    def sample(self, keys: list[Key]) -> Sample:
        """The sample, in the order of records; `keys` are all keys, whose positions number those of the sample."""
        parts = sorted(self._sample, key=lambda part: part[0])
        place = {key: i for i, key in enumerate(keys)}
        codes = np.array([place[key] for _, _, own in parts for key in own], np.int64)
        names = sampled_columns(self.recipe)
        return Sample({name: joined_columns([columns[name] for _, columns, _ in parts]) for name in names}, codes)


@dataclass(frozen=True, eq=False)
class Whole:
    """What a part must know of the whole table.

    Attributes
    ----------
    scales : mapping of str to Scale
        Of columns whose values have an order.
    steps : mapping of str to float
        What released values are rounded to.
    categories, overall : mappings
        All categories of nominal and boolean quasi-identifiers, and how often each comes, by weight.
    digits : mapping of str to int or None
        The decimals of columns that get noise.
    """

    scales: Mapping[str, Scale]
    steps: Mapping[str, float]
    categories: Mapping[str, tuple[str, ...]]
    overall: Mapping[str, Floats]
    digits: Mapping[str, int | None]


def _check_categories(name: str, place: Mapping[str, int]) -> None:
    if len(place) > MOST_CATEGORIES:
        what = f"A nominal quasi-identifier can have at most {MOST_CATEGORIES:,} categories."
        raise CoterieError(what, f"'{name}' with {len(place):,} or more", "combine rare ones; or is it an identifier?")


def _words(texts: set[str], rule: Any) -> tuple[str, str]:
    """The words for no and yes."""
    from ..tables.kinds import meaning

    if rule.true:
        return rule.false[0], rule.true[0]
    no = next((t for t in texts if meaning(t) is False), "false")
    return no, next((t for t in texts if meaning(t) is True), "true")


def sampled_columns(recipe: Recipe) -> list[str]:
    """The columns of the sample: masked quasi-identifiers, and confidential columns that something must hold of."""
    guarded = [name for name in recipe.of_role("confidential") if recipe.columns[name].guarded]
    return [*masked_columns(recipe), *guarded] if recipe.method.blocks is not None else []


def weights_of(records: Records, recipe: Recipe) -> Floats | None:
    """The sampling weights of some records."""
    if recipe.weights is None:
        return None
    weights = records.column(recipe.weights.column).numbers
    if not (weights > 0).all():
        raise _wrong_weights(records, recipe.weights.column, weights)
    return weights


def _wrong_weights(records: Records, name: str, weights: Floats) -> CoterieError:
    """What is wrong with weights: gaps, zeros and negative ones, and where they are."""
    gaps, zeros = np.isnan(weights), weights == 0
    parts = {"missing": gaps, "0": zeros, "negative": weights < 0}
    got = ", ".join(f"{int(which.sum()):,} {word}" for word, which in parts.items() if which.any())
    rows = np.flatnonzero(~(weights > 0)).tolist()
    hint = "remove records without a weight, or give them one; or leave [weights] out."
    error = UnfitError(
        f"Weights must be numbers above 0 in every record of '{name}'.", len(rows), f"others ({got})", hint, rows
    )
    where = (records.reading.places or Places()).words([int(records.numbers[row]) for row in error.rows])
    return error.at(where, records.whole)
