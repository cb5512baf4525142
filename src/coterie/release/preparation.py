"""Preparing columns, in the flow: one look at all records where that is needed, then a recipe and a reading for it.

What is looked for depends on how the table was split in no way: least and largest numbers, and how many records, or
units, each category has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines import Engine
from ..errors import CoterieError, warn_of_privacy
from ..facts.prepared_facts import PreparedFacts
from ..protection.unit_counts import UnitSets
from ..recipe import ColumnRule, Recipe
from ..recipe.preparing_rules import as_prepared, becomes_text
from ..tables.bands import MOST_BANDS, edges_between, known_edges, plain
from ..tables.kinds import categories_of
from ..tables.preparing import Preparing
from ..tables.records import Records
from ..tables.text_keys import text_key
from .source import rules_of

if TYPE_CHECKING:
    from .tally import Tally

Found = tuple[dict[str, tuple[float, float]], dict[str, Counter[str]], dict[str, UnitSets[str]]]
_MOST = 1_000_000  # different values of a column whose categories are counted


def prepared(engine: Engine, recipe: Recipe) -> Recipe:
    """The recipe for what prepared columns have become; the engine hands these out from now on."""
    if not prepared_columns(recipe):
        return recipe
    looked = _looked(engine, recipe)
    edges = {name: found for name in prepared_columns(recipe) if (found := _edges(name, recipe, looked))}
    steps = {
        name: Preparing(rule, edges.get(name, ()), _rare(name, rule, looked))
        for name, rule in recipe.columns.items()
        if rule.prepared
    }
    work = as_prepared(recipe, edges)
    engine.reading = engine.reading.with_preparing(rules_of(work), steps, _originals(recipe))
    return work


def prepared_facts(recipe: Recipe, tally: Tally) -> tuple[PreparedFacts, ...]:
    """What was done to each column, and how many of the released values it changed."""
    out = []
    for name in prepared_columns(recipe):
        changed, values, landed = (int(n) for n in tally.prepared.get(name, (0, 0, 0)))
        share = changed / values if values else None
        masked = recipe.columns[name].role == "quasi" and name not in recipe.within
        done = done_to(recipe.columns[name], recipe)
        replaces_all = _banded(recipe.columns[name]) and becomes_text(recipe.columns[name])
        out.append(PreparedFacts(name, done, values, changed, share, landed, replaces_all, masked))
    return tuple(out)


def prepared_notes(recipe: Recipe, tally: Tally) -> list[str]:
    """What whoever holds the data must know of prepared columns."""
    out = []
    if any(recipe.columns[name].role == "quasi" for name in prepared_columns(recipe)):
        out.append(
            "The risk before refers to the original table; the loss compares the release with the prepared values."
        )
    for name in prepared_columns(recipe):
        rule, landed = recipe.columns[name], int(tally.prepared.get(name, (0, 0, 0))[2])
        if rule.rare is not None and rule.recode is None and 0 < landed < rule.rare:
            out.append(
                f"In '{name}', the category that rare ones were joined to has {landed:,} records, fewer than "
                f"{rule.rare:,}: name one that has more as others."
            )
    return out


def done_to(rule: ColumnRule, recipe: Recipe) -> tuple[str, ...]:
    """What the rule says is done, in its order. Names of categories are not told: one may be that of a few persons."""
    out = []
    for bound, label, beyond in ((rule.bottom, rule.bottom_label, "below"), (rule.top, rule.top_label, "above")):
        if bound is not None:
            out.append(f"values {beyond} {bound} set to {bound}" if label is None or _banded(rule) else
                       f"values {beyond} {bound}, and {bound}, replaced by '{label}'")  # fmt: skip
    if rule.round is not None:
        out.append(f"rounded to multiples of {plain(rule.round)}")
    if _banded(rule):
        out.append(
            f"put into {_bands_said(rule)}, released by their {'middles' if rule.bands_as == 'middle' else 'labels'}"
        )
    if rule.precision is not None:
        out.append(f"set to the beginning of the {rule.precision}")
    if rule.recode is not None:
        out.append("categories recoded" + ("" if rule.others is None else f", all others to '{rule.others}'"))
    if rule.rare is not None:
        who = "records" if recipe.unit_column is None else "units"
        out.append(f"categories of fewer than {rule.rare:,} {who} joined to '{rule.others}'")
    return tuple(out)


def _banded(rule: ColumnRule) -> bool:
    return rule.bands is not None or rule.width is not None


def _bands_said(rule: ColumnRule) -> str:
    if rule.width is not None:
        return f"bands of width {plain(rule.width)}"
    return f"bands that begin at {', '.join(map(plain, rule.bands or ()))}"


def prepared_columns(recipe: Recipe) -> list[str]:
    """The columns that are prepared."""
    return [name for name, rule in recipe.columns.items() if rule.prepared]


def original_rule(rule: ColumnRule) -> ColumnRule:
    """How a prepared column is read as it was: its order, if it has one, is that of what it becomes."""
    plain = ColumnRule(rule.role if rule.role == "confidential" else "other", rule.kind, format=rule.format)
    return replace(plain, kind="nominal") if rule.kind == "ordinal" else plain


def _originals(recipe: Recipe) -> dict[str, ColumnRule]:
    return {name: original_rule(recipe.columns[name]) for name in prepared_columns(recipe)}


def raw_rules(recipe: Recipe) -> dict[str, ColumnRule]:
    """The rules of columns that are read as numbers, for a look at the table as it is."""
    rules = rules_of(recipe)
    return {name: original_rule(rule) if rule.prepared else rule for name, rule in rules.items()}


def as_it_is(recipe: Recipe) -> tuple[str, ...]:
    """What to say of the risk of a table where a recipe prepares quasi-identifiers; nothing where it does not."""
    if not any(recipe.columns[name].role == "quasi" for name in prepared_columns(recipe)):
        return ()
    return ("This is the risk of the original table, before any column is prepared.",)


def _looked(engine: Engine, recipe: Recipe) -> Look:
    look = Look(recipe)
    if not look.columns:
        return look
    reading = engine.reading
    engine.reading = reading.with_preparing({**reading.rules, **_originals(recipe)}, {}, {})
    try:
        return engine.gather(look.read, look)
    finally:
        engine.reading = reading


class Look:
    """Gathers what must be known of all records before a column can be prepared."""

    def __init__(self, recipe: Recipe) -> None:
        rules = recipe.columns
        self._ranged = [n for n, r in rules.items() if r.width is not None and known_edges(r) is None]
        self._counted = {n: r for n, r in rules.items() if r.prepared and (r.recode is not None or r.rare is not None)}
        self._unit = recipe.unit_column if any(r.rare is not None for r in self._counted.values()) else None
        self.ranges: dict[str, tuple[float, float]] = {}
        self.counts: dict[str, Counter[str]] = {}  # by what the file has
        self.units: dict[str, UnitSets[str]] = {}  # by what it is recoded to

    @property
    def columns(self) -> list[str]:
        """The columns that it looks at."""
        return [*self._ranged, *self._counted]

    @property
    def read(self) -> list[str]:
        """These, and what k counts."""
        return [*self.columns, *([] if self._unit is None else [self._unit])]

    def add(self, records: Records) -> None:
        """Take in some records."""
        for name in self._ranged:
            numbers = records.column(name).numbers
            there = numbers[~np.isnan(numbers)]
            if len(there):
                self._widen(name, (float(there.min()), float(there.max())))
        for name, rule in self._counted.items():
            texts, codes, _ = categories_of(_plain(records, name))
            often = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
            self._count(name, dict(zip(texts, often, strict=True)))
            if self._unit is not None and rule.rare is not None:
                step = Preparing(rule)
                sets = self.units.setdefault(name, UnitSets(rule.rare))
                sets.add(codes, [step.image(text) for text in texts], records.units(self._unit))

    def _widen(self, name: str, found: tuple[float, float]) -> None:
        low, high = self.ranges.get(name, found)
        self.ranges[name] = min(low, found[0]), max(high, found[1])

    def _count(self, name: str, found: Mapping[str, int]) -> None:
        counts = self.counts.setdefault(name, Counter())
        counts.update(found)
        if len(counts) > _MOST:
            what = f"Only a column with at most {_MOST:,} categories can be recoded."
            raise CoterieError(what, f"more in '{name}'", "is it an identifier?")

    @property
    def found(self) -> Found:
        """Ranges, counts and units."""
        return self.ranges, self.counts, self.units

    def merge(self, found: Found) -> None:
        """Take in what another has found in other records."""
        for name, ends in found[0].items():
            self._widen(name, ends)
        for name, counts in found[1].items():
            self._count(name, counts)
        for name, units in found[2].items():
            self.units.setdefault(name, UnitSets(units.most)).merge(units)


def _plain(records: Records, name: str) -> Any:
    from ..tables.arrow import as_array

    array = as_array(records.reading.plain(records.arrow(name)))
    if str(array.type) == "string_view":
        import pyarrow as pa

        return array.cast(pa.large_string())
    return array


def _edges(name: str, recipe: Recipe, look: Look) -> tuple[float, ...] | None:
    """Where the bands of a column begin; None if it has none."""
    rule = recipe.columns[name]
    if (known := known_edges(rule)) is not None or rule.width is None:
        return known
    low, high = look.ranges.get(name, (0.0, 0.0))
    low = low if rule.bottom is None else max(low, float(rule.bottom))
    high = high if rule.top is None else min(high, float(rule.top))
    # a table without values beyond a bound gets the bands of its own range
    edges = edges_between(min(low, high), max(low, high), rule.width)
    if edges is None:
        what = f"The column '{name}' can have at most {MOST_BANDS:,} bands."
        raise CoterieError(what, "more", "give it a larger width, or top and bottom.")
    return edges


def _rare(name: str, rule: ColumnRule, look: Look) -> frozenset[str]:
    """The categories, after recoding, that too few records have, or records of too few units."""
    counts = look.counts.get(name)
    if counts is None:
        return frozenset()
    _refuse_other_spellings(name, rule, counts)
    _warn_of_idle_recode(name, rule, counts)
    step, sums = Preparing(rule), Counter[str]()
    for text, often in counts.items():
        sums[step.image(text)] += often
    units = look.units.get(name)
    if rule.rare is None:
        return frozenset()
    few = (c for c, often in sums.items() if (often if units is None else len(units.get(c, ()))) < (rule.rare or 0))
    return frozenset(category for category in few if category != rule.others)


def _warn_of_idle_recode(name: str, rule: ColumnRule, counts: Counter[str]) -> None:
    """Warn of a recode of categories that no record has: it does nothing, and would look as if it had.

    It is not refused: from a release would then follow that some record had one.
    """
    if rule.recode is not None and counts and not any(old in counts for old in rule.recode):
        warn_of_privacy(
            f"No record has any of the categories that recode names for '{name}', so recode has no effect. Use the "
            "values in the file: codes, not their labels; case matters."
        )


def _refuse_other_spellings(name: str, rule: ColumnRule, counts: Counter[str]) -> None:
    """Refuse categories that are recoded ones in another spelling: they would stay, though they were to go."""
    if rule.recode is None or rule.others is not None:
        return
    keys = {text_key(old) for old in rule.recode}
    released = {*rule.recode.values()}
    others = [text for text in counts if text not in rule.recode and text not in released and text_key(text) in keys]
    if others:
        what = (
            f"recode must name all spellings of a category of '{name}', including differences in case, in "
            "blanks, and 1.0 for 1."
        )
        got = f"{sum(counts[text] for text in others):,} values in other spellings of these categories"
        raise CoterieError(what, got, "name these as well, or give others.")
