"""protect: from a table and a recipe to a release. The whole way in one place."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import progress as progress_
from ..errors import CoterieError, PromiseError
from ..formats import without_user_missing
from ..protection.centres import centre_of_groups, medoids
from ..protection.encoding import cut_columns, encode_columns
from ..protection.grouping import Component, Grouped, components, group
from ..protection.missing import blanked, patterns_of
from ..protection.noise import noisy
from ..protection.scales import scale_of
from ..protection.strata import merge_small, refuse_small, strata_of
from ..recipe import Recipe
from ..tables import kinds
from ..tables.columns import Column
from ..verification import verify_claims
from .checking import claims_of
from .release import Release, Story
from .source import Opened, open_source
from .spreadsheets import check_policy, without_formulas
from .survey import weights_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def protect(table: Any, recipe: Recipe | str | Path | Mapping[str, Any], *, progress: bool = False) -> Release:
    """Protect a table as a recipe says, and check the result.

    Parameters
    ----------
    table : DataFrame, pyarrow Table or path
        The records. Of a file, CSV, Parquet, Feather and, with the extra `files`, SPSS, Stata and SAS are read.
    recipe : Recipe, path of a TOML file, or mapping
        What every column is, and what must hold.
    progress : bool
        Whether to show how far it is.

    Returns
    -------
    Release
        The protected table in the container of the input, the verdict of the check, measures; `save` writes the bundle.

    Raises
    ------
    RecipeError
        If the recipe is wrong, or does not fit the table.
    PromiseError
        If the promise cannot be kept: nothing is released.
    CoterieError
        If the table cannot be read as the recipe says. No message holds a record's value.
    """
    recipe = as_recipe(recipe)
    with progress_.bar(progress, "reading"):
        source = open_source(table, recipe.file.options)
        recipe.check_columns(source.table.names)
        check_policy(recipe, source.format)
        if recipe.seed is None:
            recipe = recipe.with_seed(secrets.randbelow(2**53))
        before = _read(source, recipe)
        rows = _surviving(before, recipe)
        before = before.at(rows)
    with progress_.bar(progress, "grouping"):
        strata = _strata(before, recipe)
        gaps, grouped = _group(before, strata, recipe)
    with progress_.bar(progress, "releasing"):
        after = _released(before, gaps, strata, grouped, recipe)
        data = _table(source, before, after, rows, recipe)
        if source.is_text:
            data = without_formulas(data, recipe)
    with progress_.bar(progress, "verifying"):
        verdict = verify_claims(_answers(data, source, recipe), claims_of(recipe, source.details))
    if not verdict.ok:
        raise PromiseError(
            "The release must keep its promises.", str(verdict), "this is a bug in Coterie: please report it."
        )
    story = Story(
        input_name=source.name,
        input_records=source.table.records,
        input_columns=len(source.table.names),
        suppressed=source.table.records - len(rows),
        blanked=sum(int(np.count_nonzero(g & ~before.columns[n].missing)) for n, g in gaps.items()),
        before=before.columns,
        after={**before.columns, **after},
        weights=before.weights,
        grouped=tuple(grouped),
        strata=int(strata.max()) + 1,
        merged=int(strata_of([before.columns[n] for n in recipe.within], before.records).max()) - int(strata.max()),
        gaps=_other_gaps(source, recipe),
        input_sha256=source.sha256,
    )
    return Release(data, recipe, verdict, story, source.format, source.suffix)


def as_recipe(recipe: Any) -> Recipe:
    """A Recipe from whatever stands for one."""
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, Mapping):
        return Recipe(**recipe)
    if isinstance(recipe, (str, Path)):
        return Recipe.load(recipe)
    raise CoterieError(
        "'recipe' must be a Recipe, the path of one, or a mapping.", f"an object of type {type(recipe).__name__}"
    )


@dataclass(frozen=True)
class _Before:
    """What was read: the columns that matter, the way back for each, the weights."""

    columns: dict[str, Column]
    typed: dict[str, kinds.Typed]
    weights: Floats | None

    @property
    def records(self) -> int:
        return len(next(iter(self.columns.values())).numbers)

    def at(self, rows: Ints) -> _Before:
        columns = {n: Column(n, c.kind, c.numbers[rows], c.categories) for n, c in self.columns.items()}
        return _Before(columns, self.typed, None if self.weights is None else self.weights[rows])


def _read(source: Opened, recipe: Recipe) -> _Before:
    """The quasi-identifiers, the confidential columns and the weights as numbers."""
    typed = {
        name: kinds.read(name, source.arrow(name), rule, source.decimal)
        for name, rule in recipe.columns.items()
        if rule.role in ("quasi", "confidential")
    }
    columns = {name: t.column for name, t in typed.items()}
    if recipe.missing.policy == "refuse":
        gaps = {name: int(columns[name].missing.sum()) for name in recipe.quasi if columns[name].missing.any()}
        if gaps:
            what = "Quasi-identifiers must have no missing values, unless the recipe says what to do."
            got = ", ".join(f"{count} in '{name}'" for name, count in gaps.items())
            raise PromiseError(what, got, '[missing] policy = "own-value" or "group".')
    return _Before(columns, typed, weights_of(source.arrow, recipe, source.decimal))


def _largest_k(recipe: Recipe) -> int:
    return max(component.k for component in components(recipe))


def _surviving(before: _Before, recipe: Recipe) -> Ints:
    """The rows that are left when strata, or records with the same gaps, are suppressed where they are too few.

    Strata come first: small ones are refused or merged, where so asked for, before gaps are looked at.
    """
    rows = np.arange(before.records)
    small = None if recipe.strata is None else recipe.strata.small
    suppress_gaps = recipe.missing.policy == "own-value" and recipe.missing.small == "suppress"
    if suppress_gaps and small == "refuse":
        _strata(before, recipe)
    while len(rows) and (suppress_gaps or small == "suppress"):
        keep = np.ones(len(rows), bool)
        part = before.at(rows)
        if small == "merge":
            strata = _strata(part, recipe)
        else:
            strata = strata_of([part.columns[n] for n in recipe.within], len(rows))
        if small == "suppress":
            keep &= np.bincount(strata)[strata] >= _largest_k(recipe)
        if suppress_gaps:
            for component in components(recipe):
                own = _with_patterns(strata, part, component)
                keep &= np.bincount(own)[own] >= component.k
        if keep.all():
            break
        rows = rows[keep]
    k = _largest_k(recipe)
    if len(rows) < k:
        got = f"{before.records} records" + (f", {len(rows)} after suppression" if len(rows) < before.records else "")
        raise PromiseError(
            f"There must be at least k = {k} records to release.", got, "take a smaller k, or another policy."
        )
    return rows


def _with_patterns(strata: Ints, part: _Before, component: Component) -> Ints:
    """Strata and patterns of gaps in the component's columns together, numbered from 0 on."""
    pattern = patterns_of(np.column_stack([part.columns[n].missing for n in component.quasi]))
    both: Ints = np.unique(strata * (int(pattern.max()) + 1) + pattern, return_inverse=True)[1].reshape(-1)
    return both


def _strata(before: _Before, recipe: Recipe) -> Ints:
    """The stratum of each record, merged where too small and so asked for."""
    strata = strata_of([before.columns[n] for n in recipe.within], before.records)
    if recipe.strata is None:
        return strata
    k = _largest_k(recipe)
    if recipe.strata.small == "merge" and np.bincount(strata).min() < k:
        return merge_small(encode_columns([before.columns[n] for n in recipe.quasi]), strata, k)
    refuse_small(strata, k, "Every stratum must have at least k records.", '[strata] small = "merge" or "suppress".')
    return strata


def _group(before: _Before, strata: Ints, recipe: Recipe) -> tuple[dict[str, Any], list[Grouped]]:
    """Which cells are missing in the end, column by column, and the groups of every component."""
    assert recipe.seed is not None
    gaps, grouped = {}, []
    confidential = [before.columns[n] for n in recipe.of_role("confidential")]
    for number, component in enumerate(components(recipe)):
        own = [before.columns[n] for n in component.quasi]
        X, cells = encode_columns(own), strata
        missing = np.column_stack([c.missing for c in own])
        if recipe.missing.policy == "own-value":
            missing = _filled_patterns(missing, X, strata, component.k, recipe)
            own = [_blank(c, missing[:, j]) for j, c in enumerate(own)]
            X = encode_columns(own)
            cells = np.unique(strata * len(X) + patterns_of(missing), return_inverse=True)[1].reshape(-1)
        cuts = None
        if recipe.method.blocks is not None:  # by sums that come out the same however a file is read
            scales = {c.name: scale_of(c.numbers, c.name) for c in own if c.kind not in ("nominal", "boolean")}
            X, cuts = encode_columns(own, scales), cut_columns(own, scales)
        gaps.update({n: missing[:, j] for j, n in enumerate(component.quasi)})
        progress_.more(len(X))
        grouped.append(group(component, X, cells, recipe, confidential, recipe.seed + number, cuts))
    return gaps, grouped


def _filled_patterns(missing: Any, X: Floats, strata: Ints, k: int, recipe: Recipe) -> Any:
    """The gaps once every pattern has k records in its stratum: else refused, or further cells blanked."""
    if recipe.missing.small != "merge":
        cells = np.unique(strata * len(X) + patterns_of(missing), return_inverse=True)[1].reshape(-1)
        what = "Of records with the same gaps, there must be at least k (in a stratum)."
        refuse_small(cells, k, what, '[missing] small = "merge" or "suppress", or policy = "group".')
        return missing
    out = missing.copy()
    for s in range(int(strata.max()) + 1):
        rows = np.flatnonzero(strata == s)
        out[rows] = blanked(missing[rows], X[rows], k)
    return out


def _blank(column: Column, missing: Any) -> Column:
    return Column(column.name, column.kind, np.where(missing, np.nan, column.numbers), column.categories)


def _released(
    before: _Before, gaps: Mapping[str, Any], strata: Ints, grouped: list[Grouped], recipe: Recipe
) -> dict[str, Column]:
    """The masked columns: quasi-identifiers at the centres of their groups, strata that were merged, noise."""
    after: dict[str, Column] = {}
    for found in grouped:
        chosen = medoids(found.X, found.labels) if recipe.centre == "medoid" else None
        for name in found.component.quasi:
            column = _blank(before.columns[name], gaps[name])
            if chosen is not None:
                numbers = column.numbers[chosen]
            else:
                numbers = centre_of_groups(column, found.labels, before.weights, before.typed[name].step)
            after[name] = Column(name, column.kind, numbers, column.categories)
    chosen = _medoids_of_strata(before, strata, grouped, recipe)
    for name in recipe.within:
        column = before.columns[name]
        if chosen is not None:
            numbers = column.numbers[chosen]
        else:
            numbers = centre_of_groups(column, strata, before.weights, before.typed[name].step)
        after[name] = Column(name, column.kind, numbers, column.categories)
    rng = np.random.default_rng([recipe.seed or 0, 1])
    for name in recipe.of_role("confidential"):
        noise = recipe.columns[name].noise
        if noise is not None:
            after[name] = noisy(before.columns[name], noise, [found.labels for found in grouped], rng)
    return after


def _medoids_of_strata(before: _Before, strata: Ints, grouped: list[Grouped], recipe: Recipe) -> Ints | None:
    """The records whose values in the columns of strata are released, where these are records' own.

    Those of the groups, so that the whole is a record as it was; with several groupings, one for each stratum.
    """
    if recipe.centre != "medoid" or not recipe.within:
        return None
    if len(grouped) == 1:
        return medoids(grouped[0].X, grouped[0].labels)
    return medoids(encode_columns([before.columns[n] for n in recipe.within]), strata)


def _answers(data: Any, source: Opened, recipe: Recipe) -> Any:
    """The released table without the codes that its file declares as missing in confidential columns: no answers."""
    if source.format is None:
        return data
    return without_user_missing(data, source.format, list(recipe.of_role("confidential")))


def _other_gaps(source: Opened, recipe: Recipe) -> dict[str, int]:
    """Missing values of columns that are kept as they are; of objects of all sorts, nobody knows."""
    gaps = {}
    for name in recipe.of_role("other"):
        with suppress(CoterieError):
            gaps[name] = source.arrow(name).null_count
    return gaps


def _table(source: Opened, before: _Before, after: Mapping[str, Column], rows: Ints, recipe: Recipe) -> Any:
    """The released table."""
    names = [n for n in source.table.names if recipe.columns[n].role != "identifier"]
    order = np.arange(len(rows))
    if recipe.shuffle:
        order = np.random.default_rng([recipe.seed or 0, 0]).permutation(len(rows))
    masked = {n: before.typed[n].write(c.numbers[order]) for n, c in after.items()}
    return source.table.build(names, masked, rows[order])
