"""difference: what is left of k where a release and earlier ones of the same persons are laid over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError, boundary
from ..facts import document
from ..facts.difference_facts import (
    ColumnDifference,
    ComparedRelease,
    DifferenceFacts,
    OverlaidScenario,
    ValueDifference,
)
from ..measures.intersection import Overlaid, Seen, TooManyError, below, determined, overlaid
from ..report.difference_text import as_text
from .again import again, checked_pairs, recipe_of, remembering
from .persons import Matched, candidates, check_by, columns_by, matched
from .watching import Watched

Ints = NDArray[np.int64]
_MOST_SCENARIOS = 64  # combinations of scenarios that are looked at


@dataclass(frozen=True, repr=False)
class Difference:
    """What an intruder can learn by combining a release with earlier releases about the same persons.

    Attributes
    ----------
    facts : DifferenceFacts
        All results. Internal, because they show risk. They contain no record's value.
    """

    facts: DifferenceFacts

    @property
    def ok(self) -> bool:
        """Whether every person of the release has at least k candidates."""
        return self.facts.ok

    @property
    def smallest_set(self) -> int:
        """The smallest set of persons that fit somebody's classes in all releases."""
        return self.facts.smallest_set

    @property
    def below_k(self) -> int:
        """The number of persons in the release with fewer than k candidates."""
        return self.facts.below_k

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        shown: dict[str, Any] = document(self.facts)
        return shown

    def __str__(self) -> str:
        """In plain words."""
        return as_text(self.facts)

    __repr__ = __str__


@boundary
def difference(
    release: str | Path,
    input: Any,
    before: Any,
    by: str | Sequence[str] | None = None,
    *,
    rows: bool = False,
    progress: bool = False,
) -> Difference:
    """Combine a release with earlier releases about the same persons, and count the candidates left for each person.

    Every release is repeated from its input, in memory, to find the class of each record; nothing is written.

    Parameters
    ----------
    release : path
        The bundle.
    input : path or table
        What it was made from.
    before : list of (release, input)
        The earlier bundles with their original tables; or one such pair.
    by : str or list of str, optional
        The column that identifies persons in every input. Default: the first identifier or unit common to all recipes
        that does; or the row number, if all were made from the same file.
    rows : bool
        Match records by row number instead: first with first, and so on.
    progress : bool
        Show a progress bar.

    Raises
    ------
    CoterieError
        If a release cannot be repeated, or nothing identifies the persons.
    """
    names = columns_by(by)
    if not isinstance(rows, bool):
        raise CoterieError(
            "'rows' must be True or False.",
            f"an object of type {type(rows).__name__}",
            "'by' must be a list of column names.",
        )
    pairs = checked_pairs([(release, input), *_listed(before)])
    recipes = [recipe_of(folder) for folder, _ in pairs]
    check_by(names, rows, recipes)
    ids = candidates(names, rows, recipes)
    with remembering():
        watched = [again(folder, table, ids, progress) for folder, table in pairs]
    return Difference(facts_of(watched, names, rows))


def _listed(before: Any) -> list[tuple[Any, Any]]:
    pairs = [before] if isinstance(before, tuple) else before
    if not isinstance(pairs, list) or not pairs or not all(isinstance(p, (tuple, list)) and len(p) == 2 for p in pairs):
        what = "'before' must be a list of earlier releases, each with its input."
        raise CoterieError(what, f"an object of type {type(before).__name__}", 'for example [("first", "first.csv")].')
    return [(folder, table) for folder, table in pairs]


def facts_of(releases: Sequence[Watched], by: Sequence[str], rows: bool) -> DifferenceFacts:
    """The facts; the first is the release that is looked at, the others are earlier ones."""
    who = matched(releases, by, rows)
    there = np.zeros((len(releases), who.persons), bool)
    for j, person in enumerate(who.person):
        there[j, person] = True
    back, left = there[0] & there[1:].any(axis=0), ~there[0] & there[1:].any(axis=0)
    if prod(len(r.recipe.promises) for r in releases) > _MOST_SCENARIOS:
        what = f"At most {_MOST_SCENARIOS} combinations of scenarios can be examined."
        raise CoterieError(what, f"{prod(len(r.recipe.promises) for r in releases):,}", "use fewer scenarios.")
    try:
        cases = [_case(names, releases, who, there) for names in product(*(r.recipe.promises for r in releases))]
        shown = [case.facts for case in cases]
        worst = min(range(len(cases)), key=lambda i: (-shown[i].below_k, shown[i].smallest_set))
        columns = _columns(cases[worst], releases, who, there)
    except TooManyError:
        what = "Persons have too many records in several releases: their combinations do not fit into memory."
        raise CoterieError(what, "more than 100,000,000 of them", "compare fewer releases at a time.") from None
    return DifferenceFacts(
        ok=all(one.below_k == 0 for one in shown),
        matched_by=who.by,
        releases=tuple(
            ComparedRelease(r.name, len(r.numbers), int(np.count_nonzero(own)))
            for r, own in zip(releases, there, strict=True)
        ),
        persons=int(np.count_nonzero(there[0])),
        returning=int(np.count_nonzero(back)),
        new=int(np.count_nonzero(there[0] & ~back)),
        left=int(np.count_nonzero(left)),
        below_k=shown[worst].below_k,
        smallest_set=min(one.smallest_set for one in shown),
        scenarios=tuple(shown),
        quasi=columns,
    )


class _Case(NamedTuple):
    """One scenario of each release: the columns that are known, the k of each, and what follows."""

    columns: list[list[str]]
    k: Ints
    facts: OverlaidScenario


def _case(names: Sequence[str], releases: Sequence[Watched], who: Matched, there: Any) -> _Case:
    rules = [r.recipe.promises[name] for r, name in zip(releases, names, strict=True)]
    columns = [list(dict.fromkeys((*r.recipe.within, *s.quasi))) for r, s in zip(releases, rules, strict=True)]
    sizes = np.array([rule.k for rule in rules])
    k = np.where(there, sizes[:, None], np.iinfo(np.int64).max).min(axis=0)  # the least of those somebody is in
    seen = _seen(columns, releases, who)
    over = overlaid(seen, who.persons)
    few, back = below(over, k), there[1:].any(axis=0)
    here, left = there[0], ~there[0] & back
    facts = OverlaidScenario(
        scenarios=tuple(names),
        k=int(sizes[0]),
        smallest_set=int(over.smallest[here].min()),
        alone=int(np.count_nonzero(over.smallest[here] == 1)),
        below_k=int(np.count_nonzero(few & here)),
        returning_below_k=int(np.count_nonzero(few & here & back)),
        new_below_k=int(np.count_nonzero(few & here & ~back)),
        left_smallest_set=int(over.smallest[left].min()) if left.any() else None,
        left_below_k=int(np.count_nonzero(few & left)),
        confidential=_confidential(releases, seen, over),
    )
    return _Case(columns, k, facts)


def _seen(columns: Sequence[Sequence[str]], releases: Sequence[Watched], who: Matched) -> list[Seen]:
    return [Seen(person, r.classes(own)) for person, r, own in zip(who.person, releases, columns, strict=True)]


def _confidential(releases: Sequence[Watched], seen: Sequence[Seen], over: Overlaid) -> tuple[ValueDifference, ...]:
    """The confidential columns of the release that an earlier one has, too, as numbers or as texts alike."""
    out = []
    for name, own in releases[0].values.items():
        alike = [r.values.get(name) if _is_number(r, name) == _is_number(releases[0], name) else None for r in releases]
        if own is None or all(values is None for values in alike[1:]):
            continue
        known = [np.empty(0, np.uint64) if values is None else values for values in alike]
        codes = np.unique(np.concatenate([np.zeros(1, np.uint64), *known]), return_inverse=True)[1].reshape(-1)[1:] - 1
        cuts = np.cumsum([len(values) for values in known])[:-1]
        pieces = [None if a is None else p for a, p in zip(alike, np.split(codes.astype(np.int64), cuts), strict=True)]
        found = determined(pieces, seen, over)
        out.append(
            ValueDifference(name, None, None) if found is None else ValueDifference(name, found.persons, found.before)
        )
    return tuple(out)


def _is_number(release: Watched, name: str) -> bool:
    return name in release.as_numbers


def _columns(case: _Case, releases: Sequence[Watched], who: Matched, there: Any) -> tuple[ColumnDifference, ...]:
    """What each quasi-identifier has to do with it: how many persons are below k with it alone, and without it."""

    def count(columns: Sequence[Sequence[str]]) -> int:
        if case.facts.below_k == 0:  # who knows less is left with more
            return 0
        over = overlaid(_seen(columns, releases, who), who.persons)
        return int(np.count_nonzero(below(over, case.k) & there[0]))

    out = []
    for name in dict.fromkeys(n for own in case.columns for n in own):
        alone = [[n for n in own if n == name] for own in case.columns]
        others = [[n for n in own if n != name] for own in case.columns]
        out.append(
            ColumnDifference(
                name=name,
                releases=sum(name in own for own in case.columns),
                changed_persons=_changed(name, releases, who),
                alone_below_k=count(alone),
                without_below_k=count(others) if any(others) else None,
            )
        )
    return tuple(out)


def _changed(name: str, releases: Sequence[Watched], who: Matched) -> int | None:
    """How many persons have another value in this release's input than in that of an earlier one."""
    own = releases[0].before.get(name)
    if own is None:
        return None
    first, differs, asked = _sums(own, who.person[0], who.persons), np.zeros(who.persons, bool), 0
    for release, person in zip(releases[1:], who.person[1:], strict=True):
        other = release.before.get(name)
        if other is not None and _is_number(release, name) == _is_number(releases[0], name):
            asked, second = asked + 1, _sums(other, person, who.persons)
            both = np.isin(np.arange(who.persons), person) & np.isin(np.arange(who.persons), who.person[0])
            differs |= both & (first != second)
    return int(np.count_nonzero(differs)) if asked else None


def _sums(hashes: Any, person: Ints, persons: int) -> Any:
    """One number for all values of each person, whatever their order."""
    out = np.zeros(persons, np.uint64)
    np.add.at(out, person, hashes)
    return out
