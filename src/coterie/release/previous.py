"""Earlier releases of the same persons, while another one is made: what would break k beside them is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError, PromiseError, warn_of_privacy
from ..facts.difference_facts import DifferenceFacts, PreviousFacts
from ..measures.intersection import Seen, overlaid
from ..protection.plan import Plan
from ..protection.stable import Together, with_atoms
from ..recipe import Recipe
from ..tables.identities import identities
from .again import again, checked_pairs, recipe_of, remembering
from .difference import facts_of
from .persons import Matched, candidates, check_by, matched
from .solving import Released
from .source import Source
from .tally import Tally
from .watching import Watched, Watcher

Ints = NDArray[np.int64]
THIS = "this release"
WHERE = "[previous] names it; relative paths start from the recipe's folder, or from the working folder."


class Earlier:
    """The earlier releases that a recipe names, made again; and this one, as it is watched."""

    def __init__(self, recipe: Recipe, source: Source, progress: bool = False) -> None:
        assert recipe.previous is not None
        self._recipe, self._rule, self._source = recipe, recipe.previous, source
        pairs = checked_pairs([(one["bundle"], one["input"]) for one in recipe.previous.releases], WHERE)
        recipes = [recipe, *(recipe_of(folder) for folder, _ in pairs)]
        self._by = recipe.previous.by or ()
        check_by(self._by, self._rule.rows, recipes)
        if recipe.previous.groups == "stable" and any(len(one.promises) > 1 for one in recipes):
            what = "Stable groups need earlier releases with a single scenario each."
            raise CoterieError(what, "several scenarios in one of them", 'use groups = "free".')
        self._ids = candidates(self._by, self._rule.rows, recipes)
        with remembering():
            self._releases = [again(folder, table, self._ids, progress) for folder, table in pairs]
        self._watcher = Watcher(THIS, recipe, self._ids, source.sha256)
        self._left_out = 0
        self._k = max(promise.k for promise in recipe.promises.values())

    def arranged(self, plan: Plan, records: int, missing: tuple[str, ...]) -> Plan:
        """The plan; with stable groups, one that keeps those together who were."""
        if self._rule.groups != "stable":
            return plan
        together = self._together(records, missing)
        self._left_out = int(np.count_nonzero(together.left_out))
        return with_atoms(plan, together)

    def _together(self, records: int, missing: tuple[str, ...]) -> Together:
        """Who was with whom in all earlier releases, and who has too few such others for k."""
        ids = {n: identities(n, self._source.arrow(n), by_key=True, missing=missing) for n in self._ids}
        here = Watched(THIS, self._recipe, np.arange(records), {}, {}, {}, ids, records, self._source.sha256)
        who = matched([here, *self._releases], self._by, self._rule.rows)
        _check_single(who)
        promises = [next(iter(r.recipe.promises.values())) for r in self._releases]
        seen = [
            Seen(person, r.classes(list(dict.fromkeys((*r.recipe.within, *promise.quasi)))))
            for person, r, promise in zip(who.person[1:], self._releases, promises, strict=True)
        ]
        over = overlaid(seen, who.persons)
        atoms = np.full(who.persons, len(over.sizes), np.int64)  # persons who are in no earlier release make the last
        atoms[over.person] = over.combination
        k = np.full(who.persons, self._k)
        for person, promise in zip(who.person[1:], promises, strict=True):
            k[person] = np.minimum(k[person], promise.k)
        atom, least = atoms[who.person[0]], k[who.person[0]]
        few = np.bincount(atom, minlength=len(over.sizes) + 1)[atom] < least
        left = records - int(np.count_nonzero(few))
        if few.any() and (self._rule.small == "refuse" or left < self._k):
            raise self._refused(
                int(np.count_nonzero(few)), int(np.count_nonzero(few & (atom == len(over.sizes)))), left
            )
        return Together(atom, few)

    def _refused(self, few: int, new: int, left: int) -> PromiseError:
        what = (
            "Every set of persons who shared their classes in all earlier releases, or were in none, must "
            "have at least k persons in the table."
        )
        got = f"{few:,} person{'' if few == 1 else 's'} with fewer, {new:,} of them in no earlier release"
        if left < self._k:
            return PromiseError(what, f"{got}; {left:,} others", "use a smaller k.")
        return PromiseError(what, got, '[previous] small = "suppress" leaves them out.')

    def add(self, part: Released, column: Callable[[str], Any]) -> None:
        """Take in what is released."""
        self._watcher(part, column)

    def facts(self, records: int, tally: Tally) -> PreviousFacts:
        """What is left of k beside the earlier releases; refused if that is not enough."""
        found = facts_of([self._watcher.done(records), *self._releases], self._by, self._rule.rows)
        if not found.ok:
            raise _broken(found, self._rule.groups == "stable")
        left = max(case.left_below_k for case in found.scenarios)
        if left:
            some = "1 person of earlier releases is" if left == 1 else f"{left:,} persons of earlier releases are"
            warn_of_privacy(
                f"{some} not in this one, and so are fewer than k of their class. For an intruder who knows that "
                "they are not in this release, they have fewer than k candidates; no grouping can change that."
            )
        free = tally.free_loss_percent
        return PreviousFacts(
            self._rule.groups, self._left_out, None if free is None else tally.loss_percent, free, found
        )


def _broken(found: DifferenceFacts, stable: bool) -> PromiseError:
    worst = max(found.scenarios, key=lambda case: case.below_k)
    what = "Combined with the earlier releases, every person must still have at least k candidates."
    got = (
        f"{worst.below_k:,} of {found.persons:,} persons with fewer (k = {worst.k}): {worst.returning_below_k:,} who "
        f"are in an earlier release, {worst.new_below_k:,} who are in none; {worst.alone:,} are alone"
    )
    hint = '[previous] groups = "stable" keeps persons together who were together before.'
    return PromiseError(what, got, "this is a bug in Coterie: please report it." if stable else hint)


def _check_single(who: Matched) -> None:
    """Refuse persons with several records."""
    several = sum(len(person) - len(np.unique(person)) for person in who.person)
    if several:
        what = "Stable groups need one record per person in each release."
        raise CoterieError(what, f"{several:,} further records", 'use groups = "free".')


def refuse_previous(recipe: Recipe, engine: str) -> None:
    """Refuse earlier releases where the work is not done in memory, before any is done."""
    if recipe.previous is not None and engine != "memory":
        what = "Earlier releases are examined in memory: the class of every record in each of them is needed."
        raise CoterieError(what, f"engine {engine}", "use engine memory with a higher limit, or leave [previous] out.")
