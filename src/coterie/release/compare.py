"""compare: what candidates lose and what risk they leave, on one map."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

from .. import progress as progress_
from ..algorithms.registry import find
from ..algorithms.shared import sharing
from ..analysis.comparing import least_overlap
from ..constraints import least_k
from ..errors import CoterieError, PromiseError, boundary
from ..facts.comparison import Candidate, with_frontier, with_threshold
from ..measures.loss import column_loss
from ..measures.measure import measure_candidate
from ..measures.risk import classes
from ..protection.plan import make_plan
from ..protection.unit_counts import codes
from ..recipe import Recipe
from ..recipe.preparing_rules import as_prepared
from .analysing import Analyses, check_analyses
from .deprecated import renamed
from .drafting import Choices, source_and_recipe
from .flow import ready, surveyed
from .preparation import prepared
from .solving import solve_all
from .source import Source, rules_of
from .tally import Tally
from .varied import check_importance, check_risk, check_sizes, varied


@dataclass(frozen=True, repr=False)
class Comparison:
    """Candidates, each with its loss and its risk.

    Attributes
    ----------
    candidates : tuple of Candidate
    risk : float or None
        The largest re-identification risk that was asked for.
    """

    candidates: tuple[Candidate, ...]
    risk: float | None = None

    @property
    def best(self) -> Candidate | None:
        """The candidate with the least loss among those whose largest risk is at most `risk`; None if there is none."""
        return next((candidate for candidate in self.candidates if candidate.chosen), None)

    @boundary
    def html(self) -> str:
        """A page with the risk-utility map."""
        from ..report.html import render_compare

        return render_compare(self.candidates, self.risk)

    def __str__(self) -> str:
        """As a table."""
        from ..report.candidates import as_text

        return as_text(self.candidates, self.risk)

    __repr__ = __str__

    def __rich__(self) -> Any:
        """As a table for a terminal."""
        from ..report.candidates import as_table

        return as_table(self.candidates, self.risk)


@boundary
def compare(
    table: Any,
    k: list[int] | None = None,
    methods: list[str] | None = None,
    *,
    risk: float | None = None,
    importance: Mapping[str, Sequence[float]] | None = None,
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
    """Protect a table with several methods and several k, and report the loss and the remaining risk of each candidate.

    A candidate whose promise cannot be kept is listed as not possible, with the reason; the others are compared. The
    table is read and surveyed once. Candidates are solved on all cores, and share what they have in common; their
    `seconds` are CPU seconds of grouping, without those of compiling.

    Parameters
    ----------
    table : path, table or Source
    k : list of int
        Required, unless a risk is given.
    methods : list of str
        Methods to try; duplicates are ignored. Default: mdav, mdav* and auto; with a unit, mdav and auto.
    risk : float, optional
        The largest acceptable re-identification risk, above 0 and at most 0.5. The smallest k that achieves it is tried
        as well, and `Comparison.best` is the candidate with the least information loss whose largest risk is at most
        this.
    importance : mapping of str to list of float, optional
        For some quasi-identifiers, the importances to try, such as {"income": [1, 3, 10]}: candidates are all
        combinations with the methods and k. Their information loss gives all columns equal weight, so that they can be
        compared; `Candidate.column_losses_percent` has the loss of each of these columns.
    recipe : Recipe, path or mapping, optional
        Gives roles, kinds and importance; its k (or risk) and its method are replaced. A recipe with scenarios is
        refused, because each has its own k.
    quasi, confidential, drop, keep : list of str
        Instead of a recipe. Columns in no list are kept.
    kind : mapping
        Instead of a recipe: kinds of columns that cannot be guessed, such as {"region": "nominal"}.
    missing, strata, weights, unit
        Instead of a recipe, as its sections: a policy, or {"policy": "own-value", "small": "merge"}; a list of columns,
        or {"within": ["sex"], "small": "merge"}; a column; a column, or "none".
    read : mapping
        How to read a file, if there is no recipe.
    seed : int
        Random seed of all candidates.
    engine, memory
        As for `protect`.
    progress : bool
        Show a progress bar.
    options : mapping
        Deprecated name of `read`.

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
        raise CoterieError("Candidates differ in k, so scenarios with their own k cannot be compared.", "scenarios")
    asked, tried = check_risk(risk), check_importance(importance, chosen)
    sizes, names = check_sizes(k, methods, asked, chosen)
    chosen.check_columns(source.names)
    place = source.choose(engine)
    recipes = [ready(one, place, source.options) for one in varied(chosen, sizes, names, tried, seed)]
    candidates, refused = candidates_of(source, recipes, place, progress, tuple(tried))
    if refused and len(refused) == len(candidates):
        raise refused[0]
    compared = with_frontier(candidates)
    return Comparison(compared if asked is None else with_threshold(compared, least_k(asked)), asked)


Compared = tuple[list[Candidate], list[PromiseError]]


def candidates_of(
    source: Source, recipes: list[Recipe], place: str, progress: bool = False, weighed: Sequence[str] = ()
) -> Compared:
    """What each recipe loses and leaves at risk.

    They have their seeds, and differ in k, method and the importance of columns alone; `weighed` are the columns whose
    importance is told, and whose own loss.
    """
    if recipes[0].previous is not None:
        what = "compare does not take earlier releases into account."
        raise CoterieError(what, "[previous]", "leave it out here; protect checks the candidate that you choose.")
    check_analyses(recipes[0], place)
    with progress_.bar(progress, "comparing"):
        if place == "memory" and not recipes[0].scenarios:
            return _in_memory(source, recipes, weighed)
        return _one_by_one(source, recipes, place, weighed)


def _in_memory(source: Source, recipes: list[Recipe], weighed: Sequence[str]) -> Compared:
    """All candidates from one survey, several at a time."""
    engine = source.engine("memory", rules_of(recipes[0]))
    asked, first = recipes[0], prepared(engine, recipes[0])
    edges = {name: step.edges for name, step in engine.reading.preparing.items()}
    recipes = [first, *(as_prepared(recipe, edges) for recipe in recipes[1:])]
    survey = surveyed(engine, recipes[0], max(recipe.k for recipe in recipes))
    everyone = next(engine.scan(recipes[0].quasi))
    alike = classes([everyone.column(name) for name in recipes[0].quasi])  # before: the same for all
    analyses = Analyses(source, engine, asked, first) if asked.analysis else None
    progress_.more(len(recipes) * engine.records)

    def one(recipe: Recipe) -> Candidate:
        tally = Tally(make_plan(recipe, survey, engine.gather), all_there=True)
        (part,) = solve_all(engine, tally.plan, [], tally, threads=1)
        overlap = None if analyses is None else least_overlap(analyses.of_part(part))
        sample = tally.sample()
        same = alike if sample.records == engine.records else None
        units = None if sample.units is None else codes(sample.units)
        steps = tally.plan.whole.steps
        lost, linked, largest = measure_candidate(
            sample.before, sample.after, recipe.quasi, same, recipe.seed or 0, steps, units
        )
        losses = {n: column_loss(sample.before[n], sample.after[n], steps.get(n)) for n in weighed}
        return replace(
            _named(recipe, weighed),
            loss_percent=lost,
            linked_share=linked,
            largest_risk=largest,
            seconds=tally.seconds,
            column_losses_percent=losses,
            least_overlap_share=overlap,
        )

    candidates: list[Candidate] = []
    refused: list[PromiseError] = []
    with sharing(), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        # those that search begin first: they take longest, and what they begin with others find done
        longest = sorted(recipes, key=lambda recipe: not find(recipe.method.name).limited)
        futures = {id(recipe): pool.submit(copy_context().run, _or_refused, one, recipe) for recipe in longest}
        for recipe in recipes:
            _note(_named(recipe, weighed), futures[id(recipe)].result(), candidates, refused)
            progress_.done(engine.records)
    return candidates, refused


def _or_refused(run: Callable[[Recipe], Candidate], recipe: Recipe) -> Candidate | PromiseError:
    try:
        with progress_.listening(None):
            return run(recipe)
    except PromiseError as error:
        return PromiseError(error.what, error.got, error.hint)


def _named(recipe: Recipe, weighed: Sequence[str]) -> Candidate:
    """A candidate of which only is known what it is."""
    importance = {name: recipe.columns[name].importance or 1.0 for name in weighed}
    return Candidate(recipe.method.name, recipe.k, importance=importance)


def _note(
    named: Candidate, answer: Candidate | PromiseError, candidates: list[Candidate], refused: list[PromiseError]
) -> None:
    if isinstance(answer, PromiseError):
        refused.append(answer)
        answer = replace(named, not_possible=" ".join(str(answer).split()))
    candidates.append(answer)


def _one_by_one(source: Source, recipes: list[Recipe], place: str, weighed: Sequence[str]) -> Compared:
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
        return replace(
            _named(recipe, weighed),
            loss_percent=measures.loss.loss_percent,
            linked_share=measures.risk.linkage.share,
            largest_risk=largest,
            seconds=release._known()[1].seconds,
            column_losses_percent={n: measures.loss.columns[n].loss_percent for n in weighed},
            least_overlap_share=least_overlap(release.facts.analyses or ()),
        )

    for recipe in recipes:
        _note(_named(recipe, weighed), _or_refused(one, recipe), candidates, refused)
    return candidates, refused
