"""compare: what candidates lose and what risk they leave, on one map."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from .. import progress as progress_
from ..algorithms.registry import find
from ..algorithms.shared import sharing
from ..errors import CoterieError, PromiseError, boundary
from ..facts.comparison import Candidate, with_frontier
from ..measures.measure import measure_candidate
from ..measures.risk import classes
from ..protection.plan import make_plan
from ..protection.unit_counts import codes
from ..recipe import Recipe
from .deprecated import renamed
from .drafting import Choices, source_and_recipe
from .flow import ready, surveyed
from .solving import solve_all
from .source import Source, rules_of
from .tally import Tally


@dataclass(frozen=True, repr=False)
class Comparison:
    """Candidates, each with its loss and its risk."""

    candidates: tuple[Candidate, ...]

    @boundary
    def html(self) -> str:
        """A page with the risk-utility map."""
        from ..report.html import render_compare

        return render_compare(self.candidates)

    def __str__(self) -> str:
        """As a table."""
        from ..report.candidates import as_text

        return as_text(self.candidates)

    __repr__ = __str__

    def __rich__(self) -> Any:
        """As a table for a terminal."""
        from ..report.candidates import as_table

        return as_table(self.candidates)


@boundary
def compare(
    table: Any,
    k: list[int],
    methods: list[str],
    *,
    recipe: Any = None,
    quasi: list[str] | None = None,
    confidential: list[str] | None = None,
    drop: list[str] | None = None,
    keep: list[str] | None = None,
    kind: Mapping[str, str] | None = None,
    missing: Any = None,
    strata: Any = None,
    weights: str | None = None,
    unit: str | None = None,
    read: Mapping[str, Any] | None = None,
    seed: int = 0,
    engine: str | None = None,
    memory: int | str | None = None,
    progress: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Comparison:
    """Protect a table by several methods, for several k, and say what each loses and what risk it leaves.

    A candidate whose promise cannot be kept is told as not possible, with the reason; the others are compared. The
    table is read and surveyed once. Candidates are solved on all cores, and share what they have in common; their
    `seconds` are CPU seconds of grouping, without those of compiling.

    Parameters
    ----------
    table : path, table or Source
    k : list of int
    methods : list of str
        Each once, however often they are named.
    recipe : Recipe, path or mapping, optional
        Says roles and kinds; its k and its method are replaced. One with scenarios is refused, as each has its own k.
    quasi, confidential, drop, keep : list of str
        Instead of a recipe. Columns that no list names are kept.
    kind : mapping
        Instead of a recipe, the kinds of columns that cannot be guessed, such as {"region": "nominal"}.
    missing, strata, weights, unit
        Instead of a recipe, as its sections: a policy, or {"policy": "own-value", "small": "merge"}; a list of columns,
        or {"within": ["sex"], "small": "merge"}; a column; a column, or "none".
    read : mapping
        How a file is read, without a recipe that says it.
    seed : int
        Random seed of all candidates.
    engine, memory
        As for `protect`.
    progress : bool
        Show a progress bar.
    options : mapping
        The old name of `read`.

    Raises
    ------
    PromiseError
        If no candidate is possible.
    """
    read = renamed("options", options, "read", read)
    choices = Choices(
        quasi=quasi,
        confidential=confidential,
        drop=drop,
        keep=keep,
        kind=kind,
        missing=missing,
        strata=strata,
        weights=weights,
        unit=unit,
        read=read,
    )
    source, chosen = source_and_recipe(table, recipe, choices, memory=memory, looking=True)
    if chosen.scenarios:
        raise CoterieError("Candidates differ in k, so scenarios, which have their own, are not compared.", "scenarios")
    if not k or not methods:
        raise CoterieError("Give at least one k and one method.", f"{len(k)} and {len(methods)}")
    chosen.check_columns(source.names)
    kept = {n: v for n, v in chosen.as_dict().items() if n not in ("k", "method", "seed")}
    place = source.choose(engine)
    recipes = [
        ready(Recipe(**kept, k=size, method=method, seed=seed), place, source.options)
        for size in dict.fromkeys(k)
        for method in dict.fromkeys(methods)
    ]
    candidates, refused = candidates_of(source, recipes, place, progress)
    if refused and len(refused) == len(candidates):
        raise refused[0]
    return Comparison(with_frontier(candidates))


Compared = tuple[list[Candidate], list[PromiseError]]


def candidates_of(source: Source, recipes: list[Recipe], place: str, progress: bool = False) -> Compared:
    """What each recipe loses and leaves at risk. They have their seeds, and differ in k and method alone."""
    with progress_.bar(progress, "comparing"):
        if place == "memory" and not recipes[0].scenarios:
            return _in_memory(source, recipes)
        return _one_by_one(source, recipes, place)


def _in_memory(source: Source, recipes: list[Recipe]) -> Compared:
    """All candidates from one survey, several at a time."""
    engine = source.engine("memory", rules_of(recipes[0]))
    survey = surveyed(engine, recipes[0], max(recipe.k for recipe in recipes))
    everyone = next(engine.scan(recipes[0].quasi))
    alike = classes([everyone.column(name) for name in recipes[0].quasi])  # before: the same for all
    progress_.more(len(recipes) * engine.records)

    def one(recipe: Recipe) -> Candidate:
        tally = Tally(make_plan(recipe, survey, engine.gather), all_there=True)
        for _ in solve_all(engine, tally.plan, [], tally, threads=1):
            pass
        sample = tally.sample()
        same = alike if sample.records == engine.records else None
        units = None if sample.units is None else codes(sample.units)
        steps = tally.plan.whole.steps
        lost, linked, largest = measure_candidate(
            sample.before, sample.after, recipe.quasi, same, recipe.seed or 0, steps, units
        )
        return Candidate(recipe.method.name, recipe.k, lost, linked, largest, tally.seconds)

    candidates: list[Candidate] = []
    refused: list[PromiseError] = []
    with sharing(), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        # those that search begin first: they take longest, and what they begin with others find done
        first = sorted(recipes, key=lambda recipe: not find(recipe.method.name).limited)
        futures = {id(recipe): pool.submit(copy_context().run, _or_refused, one, recipe) for recipe in first}
        for recipe in recipes:
            _note(recipe, futures[id(recipe)].result(), candidates, refused)
            progress_.done(engine.records)
    return candidates, refused


def _or_refused(run: Callable[[Recipe], Candidate], recipe: Recipe) -> Candidate | PromiseError:
    try:
        with progress_.listening(None):
            return run(recipe)
    except PromiseError as error:
        return PromiseError(error.what, error.got, error.hint)


def _note(
    recipe: Recipe, answer: Candidate | PromiseError, candidates: list[Candidate], refused: list[PromiseError]
) -> None:
    if isinstance(answer, PromiseError):
        refused.append(answer)
        answer = Candidate(recipe.method.name, recipe.k, not_possible=" ".join(str(answer).split()))
    candidates.append(answer)


def _one_by_one(source: Source, recipes: list[Recipe], place: str) -> Compared:
    """One candidate after the other, each as it would be released; nothing is written."""
    from .flow import protect

    candidates: list[Candidate] = []
    refused: list[PromiseError] = []

    def one(recipe: Recipe) -> Candidate:
        release = protect(source, recipe, engine=place)
        release.rehearse()
        measures = release.measures
        risks = [scenario.after.largest_risk for scenario in measures.risk.scenarios]
        largest = max((risk for risk in risks if risk is not None), default=None)
        return Candidate(
            recipe.method.name,
            recipe.k,
            measures.loss.loss_percent,
            measures.risk.linkage.share,
            largest,
            release._known()[1].seconds,
        )

    for recipe in recipes:
        _note(recipe, _or_refused(one, recipe), candidates, refused)
    return candidates, refused
