"""The flow, from a table and a recipe to a release, the same for every table and every engine:

    open -> Recipe -> prepare -> survey -> plan -> solve each part -> write -> verify -> facts -> bundle

| step | where | what it makes |
|---|---|---|
| open | `source.py`, `formats/`, `tables/` | a Source: a table or a file, opened, hashed and read once |
| prepare | `preparation.py`, `tables/preparing.py` | columns coarsened as the recipe says, for all who come after |
| survey | `protection/survey.py` | what must be known of all records, by sums that don't depend on how they are split |
| plan | `protection/plan.py` | parts: strata, patterns of missing values, blocks |
| solve | `protection/solve.py`, `solving.py` | groups and centres of a part: a pure function of it and the plan |
| write | `writing.py` | the released records, in random order |
| verify | `verification/` | every promise, from what was written, by code that shares nothing with the rest |
| facts | `tally.py`, `telling.py`, `facts/` | all that there is to say, with types |
| bundle | `bundle.py` | a folder, moved into place whole or not at all |

A table in memory is the case in which all parts are there at once: everything but the bundle is made by `protect`. A
file larger than memory is solved part by part while `Release.save` writes it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress as progress_
from ..algorithms.kd_blocks import sample_step
from ..engines import Engine
from ..errors import CoterieError, PromiseError, boundary, warn_of_privacy
from ..protection.components import components
from ..protection.plan import Plan, block_size, make_plan, surveyed_columns
from ..protection.survey import Survey
from ..recipe import Recipe
from ..recipe.previous_rules import seen_from
from ..tables.spellings import spelled
from ..verification import verify_claims
from .analysing import check_analyses
from .labels import refuse_codes_of_missing, warn_of_numbers
from .new_names import check_new_names
from .preparation import prepared
from .promises import claims_of
from .sampling import check_population
from .solving import Released, solve_all
from .source import Source, open_source
from .spreadsheets import check_policy
from .tally import Tally
from .telling import links_records, same_pseudonyms
from .writing import answers, columns_written

if TYPE_CHECKING:
    from .release import Release


@boundary
def protect(
    table: Any,
    recipe: Recipe | str | Path | Mapping[str, Any],
    *,
    engine: str | None = None,
    memory: int | str | None = None,
    key: str | None = None,
    progress: bool = False,
) -> Release:
    """Protect a table as a recipe says, and check the result.

    Parameters
    ----------
    table : DataFrame, pyarrow Table, path or Source
        The records. Files may be CSV, Parquet, Feather and, with the extra `files`, Excel, SPSS, Stata and SAS. A
        folder of Parquet files is one table. With the extra `spark`, a Spark DataFrame.
    recipe : Recipe, path of a TOML file, or mapping
        The role of every column, and the promises to keep.
    engine : {"memory", "duckdb", "spark"}, optional
        The engine: the whole table in memory, a CSV or Parquet file part by part, or Spark's workers. Default: by the
        size of the file; Spark DataFrames are protected on Spark. The released values are the same for the same recipe
        and seed; part by part, blocks = "auto" is written into a recipe that has no blocks.
    memory : int or str, optional
        Approximate memory limit, such as "2GB". Default: six tenths of the machine's memory. On Spark, the limit of
        each worker; default 1GB.
    key : str, optional
        For a Spark DataFrame: the column whose unique values define the order of its rows; or [file] key in the recipe.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Release
        The protected table in the container of the input, the verdict of the check, and measures; `save` writes the
        bundle. For a table too large for memory, `data` is None until `save`, which does the work part by part.

    Raises
    ------
    RecipeError
        If the recipe has mistakes, or does not fit the table.
    PromiseError
        If the promise cannot be kept: nothing is released.
    CoterieError
        If the table cannot be read as the recipe says. No message contains a record's value.

    Warns
    -----
    PrivacyWarning
        If a column that the recipe calls numeric or integer has value labels in the file.
    """
    release = opened(table, recipe, engine=engine, memory=memory, key=key)
    if release.engine == "memory":
        release.make(progress)
    return release


def opened(
    table: Any, recipe: Any, *, engine: str | None = None, memory: int | str | None = None, key: str | None = None
) -> Release:
    """A release before any work is done: the table is opened, the recipe fits it, the engine is known."""
    from .previous import refuse_previous
    from .release import Release

    recipe = as_recipe(recipe)
    source = open_source(table, recipe.file.options, memory=memory, engine=engine)
    recipe = with_key(recipe, source, key)
    recipe.check_columns(source.names)
    check_policy(recipe, source.format)
    refuse_codes_of_missing(recipe, source.format)
    warn_of_numbers(recipe, source.format)
    place = source.choose(engine)
    check_analyses(recipe, place)
    refuse_previous(recipe, place)
    check_new_names(recipe, source.format)
    for told in (links_records(recipe), same_pseudonyms(recipe)):
        if told is not None:
            warn_of_privacy(told)
    return Release(source, ready(recipe, place, source.options), place)


def with_key(recipe: Recipe, source: Source, key: str | None) -> Recipe:
    """The recipe with the key of a DataFrame; refused for other tables, and where two are said."""
    from .cluster_source import ClusterSource, refuse_key

    said = recipe.file.key
    if key is not None and said not in (None, key):
        raise CoterieError("The key must be the one in the recipe.", f"'{key}'", "leave one of them out.")
    found = key if key is not None else said
    if isinstance(source, ClusterSource):
        source.check_key(found)
    elif found is not None:
        raise refuse_key(found)
    if key is None or said is not None:
        return recipe
    document = recipe.as_dict()
    return Recipe(**{**document, "file": {**document.get("file", {}), "key": key}})


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


def ready(recipe: Recipe, engine: str, read: Mapping[str, Any]) -> Recipe:
    """The recipe with a seed, with how the file was read and, where the table is solved part by part, with blocks.

    Paths of earlier releases begin at the root: whoever repeats the release does so from another folder.
    """
    if recipe.previous is not None:
        recipe = Recipe(**seen_from(os.getcwd(), recipe.as_dict()))
    blocks = engine != "memory" and recipe.method.blocks is None
    options = {} if recipe.file.options else {name: value for name, value in read.items() if value is not None}
    keyless = recipe.pseudonym is not None and recipe.unit is not None and recipe.unit.key is None
    if recipe.seed is not None and not blocks and not options and not keyless:
        return recipe
    document = recipe.as_dict()
    if options:  # said when the source was opened; whoever repeats the release has the recipe alone
        document["file"] = {**document.get("file", {}), **options}
    if recipe.seed is None:
        document["seed"] = secrets.randbelow(2**53)
    if keyless:  # not from the seed, which may be said in a recipe that is used twice, and has fewer bits
        document["unit"] = {**document["unit"], "key": secrets.token_hex(16)}
    if blocks:
        document["method"] = {**document.get("method", {}), "blocks": "auto"}
    return Recipe(**document)


def planned(engine: Engine, recipe: Recipe) -> tuple[Survey, Plan]:
    """Prepare columns, survey all records, and plan their parts: the plan's recipe is of what columns have become."""
    recipe = prepared(engine, recipe)
    survey = surveyed(engine, recipe)
    return survey, make_plan(recipe, survey, engine.gather)


def surveyed(engine: Engine, recipe: Recipe, k: int | None = None) -> Survey:
    """Look at all records, and let the engine know what was seen; k is the largest that plans are made for."""
    check_population(recipe, engine.records)
    size = min((block_size(recipe, c.k) or engine.records for c in components(recipe)), default=engine.records)
    progress_.more(engine.records)
    survey = engine.gather(surveyed_columns(recipe), Survey(recipe, sample_step(engine.records, max(1, size)), k))
    engine.reading = engine.reading.with_survey(survey.steps, survey.categories(), spelled(survey.spellings))
    return survey


def released(engine: Engine, plan: Plan, tally: Tally, more: Sequence[str] = ()) -> Iterator[Released]:
    """Solve all parts, and give the released records piece by piece: in memory, one piece.

    `more` names columns that are not released and must be there, too.
    """
    return solve_all(engine, plan, [*columns_written(engine.names, plan.recipe), *more], tally)


def checked(data: Any, source: Source, recipe: Recipe) -> Any:
    """The verdict on a released table in memory."""
    verdict = verify_claims(answers(data, source, recipe), claims_of(recipe, source.details))
    if not verdict.ok:
        hint = "this is a bug in Coterie: please report it."
        raise PromiseError("The release must meet its promises.", " ".join(str(verdict).split()), hint)
    return verdict
