"""Who is who in several releases: records are matched by columns of the inputs, or by their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..recipe import Recipe
from ..tables.identities import NOBODY, Hashes, mixed_bits
from .watching import Watched

Ints = NDArray[np.int64]

BY = (
    "name the column that identifies persons: --by COLUMN (by=, or [previous] by); or match by row number: "
    "--rows (rows=True)."
)


class Matched(NamedTuple):
    """Whose each record of each release is, as numbers below `persons`; by which columns, none: by record number."""

    person: list[Ints]
    persons: int
    by: tuple[str, ...]


def columns_by(by: Any) -> tuple[str, ...]:
    """The columns that tell persons apart, as they may be given."""
    if by is None:
        return ()
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, Iterable) else ()
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        what, hint = "'by' must be a column, or a list of different ones.", "leave it out to have one chosen."
        got = f"an object of type {type(by).__name__}"
        raise CoterieError(what, "none" if isinstance(by, (list, tuple)) and not by else got, hint)
    return names


def check_by(by: Sequence[str], rows: bool, recipes: Sequence[Recipe]) -> None:
    """Refuse columns that an input lacks, and two ways at once."""
    if by and rows:
        raise CoterieError("Match persons either by a column or by row number.", "both", "leave one of them out.")
    for name in by:
        if lacking := sum(name not in recipe.columns for recipe in recipes):
            what = "Every input must have the columns by which persons are matched."
            raise CoterieError(what, f"{lacking} of {len(recipes)} without '{name}'")


def candidates(by: Sequence[str], rows: bool, recipes: Sequence[Recipe]) -> tuple[str, ...]:
    """The columns that may tell who is who: those that were said, or identifiers and units of all releases."""
    if by or rows:
        return tuple(by)
    first, *others = ({*recipe.of_role("identifier"), recipe.unit_column} for recipe in recipes)
    return tuple(name for name in recipes[0].columns if name in first.intersection(*others))


def matched(releases: Sequence[Watched], by: Sequence[str], rows: bool) -> Matched:
    """Match the records of releases; refused where nothing tells who is who, or nobody is in two of them."""
    if not by and not rows:
        by = _found(releases)
        rows = not by
    if rows:
        return _by_row(releases)
    hashes = [_joined([release.ids[name] for name in by]) for release in releases]
    for release, own in zip(releases, hashes, strict=True):
        if nobody := int(np.count_nonzero(own == NOBODY)):
            what = "Every record must have a value that identifies its person."
            raise CoterieError(what, f"{nobody:,} records of '{release.name}' without a value in {_quoted(by)}")
    ids, person = np.unique(np.concatenate(hashes), return_inverse=True)
    cuts = np.cumsum([len(own) for own in hashes])[:-1]
    found = Matched(np.split(person.reshape(-1).astype(np.int64), cuts), len(ids), tuple(by))
    if not any(np.isin(found.person[0], other).any() for other in found.person[1:]):
        what = "At least one person must be both in this release and in an earlier one."
        raise CoterieError(
            what, f"nobody, by {_quoted(by)}", "does the column hold the same values, written alike, in all inputs?"
        )
    return found


def _found(releases: Sequence[Watched]) -> tuple[str, ...]:
    """The first column that tells persons apart in every release; none where all come from the same file."""
    for name in releases[0].ids:
        if all(name == r.recipe.unit_column or _is_unique(r.ids[name]) for r in releases):
            return (name,)
    if releases[0].sha256 is not None and len({release.sha256 for release in releases}) == 1:
        return ()
    what = (
        "Persons must be identified in all inputs: by an identifier without missing or repeated values, or by a unit."
    )
    raise CoterieError(what, "no such column", BY)


def _is_unique(ids: Hashes) -> bool:
    return bool((ids != NOBODY).all()) and len(np.unique(ids)) == len(ids)


def _by_row(releases: Sequence[Watched]) -> Matched:
    counts = {release.input_records for release in releases}
    if len(counts) > 1:
        got = ", ".join(f"{count:,}" for count in sorted(counts)) + " records"
        raise CoterieError(
            "To match by row number, all inputs must have the same number of records.", got, "match by a column."
        )
    return Matched([release.numbers for release in releases], counts.pop(), ())


def _joined(ids: Sequence[Hashes]) -> Hashes:
    """One number for the values of several columns; nobody where one is missing."""
    out, known = ids[0], ids[0] != NOBODY
    with np.errstate(over="ignore"):
        for other in ids[1:]:
            out, known = mixed_bits(out + np.uint64(1)) + other, known & (other != NOBODY)
            out = np.maximum(out, np.uint64(1))
    return np.where(known, out, NOBODY)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
