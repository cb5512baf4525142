"""The custodian's commands up to a release: recipe, protect, verify, assess, compare."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ..errors import CoterieError, in_shell
from ..facts import as_json
from . import cluster_session, flags
from .common import app, interruptible, names_of, options_of, tell, warnings_told


@app.command()
@interruptible
def recipe(
    file: flags.File,
    k: Annotated[int, typer.Option("-k", help="The size of the smallest equivalence class.")] = 5,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Output file for the draft. Default: stdout."),
    ] = None,
    kind: flags.Kinds = None,
    read: flags.Read = None,
    memory: flags.Memory = None,
    force: flags.Force = False,
) -> None:
    """Draft a recipe from a file: a suggested role and kind for every column, with reasons, for you to decide.

    Where only you can know, the draft has "?" and the reason; it is refused until you decide.
    """
    from ..formats.atomic import atomically
    from ..release.drafting import draft_recipe

    _check_output(output, force)
    text = draft_recipe(file, k, options_of(read), kind=flags.kinds_of(kind), memory=memory)
    if output is None:
        print(text)
        return
    atomically(output.absolute(), lambda path: _write(path, text))
    tell(f"written         {output}: check every line, then {_next(file, output)}")


def _next(file: Path, output: Path) -> str:
    """The command that comes after a draft, as one types it."""
    return f"{in_shell('coterie protect', str(file))} {in_shell('--recipe', str(output))} -o FOLDER"


def _check_output(output: Path | None, force: bool) -> None:
    """Refuse, before any work is done, to replace a file unasked."""
    if output is None and force:
        raise CoterieError("--force has no effect without -o.", hint="leave it out.")
    if output is not None:
        from ..formats.atomic import check_name

        check_name(output)
    if output is not None and output.exists() and not force:
        raise CoterieError("The output file exists already.", f"'{output}'", "--force replaces it.")


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8", newline="\n")


@app.command()
@interruptible
def protect(
    file: flags.Place,
    output: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("-o", "--output", metavar="FOLDER", help="The folder of the bundle. On Spark also a URI."),
    ] = None,
    recipe: flags.RecipeFile = None,
    k: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("-k", help="Without a recipe: the size of the smallest equivalence class."),
    ] = None,
    risk: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option("--risk", help="Instead of -k: the largest re-identification risk, such as 0.09 (k = 12)."),
    ] = None,
    quasi: flags.Quasi = None,
    confidential: flags.Confidential = None,
    drop: flags.Drop = None,
    keep: flags.Keep = None,
    kind: flags.Kinds = None,
    strata: flags.Strata = None,
    missing: flags.Missing = None,
    weights: flags.Weights = None,
    unit: flags.Unit = None,
    formulas: flags.Formulas = None,
    settings: flags.Settings = None,
    method: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Without a recipe: a name that 'coterie methods' lists. Default: auto."),
    ] = None,
    read: flags.Read = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Random seed. Default: the recipe's, or a new one."),
    ] = None,
    memory: flags.Memory = None,
    engine: flags.EngineName = None,
    spark_master: cluster_session.Master = None,
    spark_conf: cluster_session.Conf = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything except write; use instead of -o.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the bundle if it exists.")] = False,
    json_: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Protect a file: write a bundle with the data, the recipe, the check and the reports; all of it or nothing.

    Without a recipe, -k (or --risk) and --quasi are required, and every column must be in one of the four lists.
    """
    from ..release.drafting import source_and_recipe
    from ..release.flow import protect as run

    if (output is None) == (not dry_run):
        raise CoterieError("Give either -o FOLDER or --dry-run.", "both" if output else "neither")
    if output is None and force:
        raise CoterieError("--force has no effect with --dry-run.", hint="leave it out.")
    _check_folder(output, force, engine)
    columns = {"quasi": quasi, "confidential": confidential, "drop": drop, "keep": keep}
    texts = {"weights": weights, "unit": unit, "formulas": formulas, "method": method}
    said = flags.choices(k, read, strata, missing, columns, kind, risk, settings=settings, **texts)
    place = cluster_session.place(file)
    source, chosen = source_and_recipe(place, recipe, said, memory=memory, called=flags.option, engine=engine)
    if recipe is None and not quiet:
        kinds = ", ".join(f"{name} {rule.kind}" for name, rule in chosen.columns.items() if rule.kind)
        tell(f"kinds             {kinds} (--kind COLUMN=KIND says otherwise)")
    if seed is not None:
        chosen = chosen.with_seed(seed)
    shown = sys.stderr.isatty() and not quiet
    on_spark = isinstance(place, str) or engine == "spark"
    with warnings_told(), cluster_session.spark(on_spark, spark_master, spark_conf):
        release = run(source, chosen, engine=engine, progress=shown)
        if output is None:
            release.rehearse(progress=shown)
        else:
            release.save(cluster_session.place(output), force=force, progress=shown)
    if not quiet:
        tell(release)
        tell("dry run         nothing was written" if output is None else _handing_out(output))
    if json_:
        from ..release.public_json import with_public

        print(as_json(with_public(release.facts)))


def _check_folder(output: str | None, force: bool, engine: str | None) -> None:
    """Refuse, before any work is done, a place where the bundle cannot go."""
    from ..release.place import check_place

    place = None if output is None else cluster_session.place(output)
    if isinstance(place, Path):
        check_place(place, force)
    elif place is not None and engine != "spark":
        raise CoterieError("Only Spark can write a bundle to another file system.", f"'{output}'", "--engine spark.")


def _handing_out(output: str) -> str:
    place = cluster_session.place(output)
    names = ["data"] if isinstance(place, str) else sorted(path.name for path in place.iterdir())
    data = next(name for name in names if Path(name).stem == "data")
    return f"written           {output}: hand out {data}, report.html, verify.json; keep the rest, it is internal"


@app.command()
@interruptible
def verify(
    release: Annotated[str, typer.Argument(help="A bundle's folder, or a released file. On Spark also a URI.")],
    k: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("-k", help="For a file: the smallest equivalence class allowed."),
    ] = None,
    quasi: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="For a file: quasi-identifiers, comma-separated."),
    ] = None,
    strata: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--strata", "--within", help="For a file: further columns that define equivalence classes, such as strata."
        ),
    ] = None,
    confidential: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="For a file: confidential columns; classes in which one of them is constant are counted."),
    ] = None,
    recipe: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--recipe", help="For a file: check everything this recipe promises, instead of the options above."
        ),
    ] = None,
    unit: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--unit", help="For a file: the unit column; every equivalence class must hold k different values of it."
        ),
    ] = None,
    file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--input", help="For a bundle whose units were dropped: the original file, to count them again."),
    ] = None,
    read: flags.Read = None,
    engine: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--engine", help="Engine for the check: duckdb, or spark for Parquet files. Default: duckdb."),
    ] = None,
    spark_master: cluster_session.Master = None,
    spark_conf: cluster_session.Conf = None,
    json_: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Check the written release: every promise of a bundle or a recipe, or k. Exit code 3 if one is not met."""
    from ..release.check import verify as run

    place = cluster_session.place(release)
    if isinstance(place, Path) and not place.exists():
        raise CoterieError("The release must be a bundle's folder or a file.", f"'{release}', which does not exist")
    if isinstance(place, str) and engine != "spark":
        raise CoterieError("Only Spark can read another file system.", f"'{release}'", "--engine spark.")
    if isinstance(place, Path) and not place.is_dir() and recipe is None and (k is None or quasi is None):
        raise CoterieError("For a file, give the claims to check: -k and --quasi, or --recipe.", "one of them or none")
    given: dict[str, Any] = {"quasi": names_of(quasi, "--quasi"), "k": k, "read": options_of(read), "recipe": recipe}
    given |= {"unit": unit, "input": file, "engine": engine}
    if strata is not None:
        given["within"] = names_of(strata, "--strata")
    if confidential is not None:
        given["confidential"] = {name: {"kind": "nominal"} for name in names_of(confidential, "--confidential") or ()}
    with cluster_session.spark(engine == "spark", spark_master, spark_conf):
        verdict = run(place, **given)
    if not quiet:
        tell(verdict)
    if json_:
        print(as_json(verdict.facts))
    if not verdict.ok:
        raise typer.Exit(3)


@app.command()
@interruptible
def assess(
    file: flags.Place,
    recipe: flags.RecipeFile = None,
    k: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            "-k", help="Without a recipe: count records in equivalence classes smaller than this. Default: 5."
        ),
    ] = None,
    quasi: flags.Quasi = None,
    confidential: flags.Confidential = None,
    drop: flags.Drop = None,
    keep: flags.Keep = None,
    kind: flags.Kinds = None,
    unit: flags.Unit = None,
    weights: flags.AnyWeights = None,
    population_fraction: flags.PopulationFraction = None,
    population_size: flags.PopulationSize = None,
    settings: flags.Settings = None,
    read: flags.Read = None,
    memory: flags.Memory = None,
    engine: flags.EngineName = None,
    spark_master: cluster_session.Master = None,
    spark_conf: cluster_session.Conf = None,
    drivers: Annotated[
        bool,
        typer.Option(
            "--drivers",
            help="Also report what drives the risk: minimal sample uniques (SUDA) and which columns to coarsen first.",
        ),
    ] = False,
    depth: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            "--depth",
            help="With --drivers: the largest number of columns in a minimal sample unique. Default: all of up to "
            "12 quasi-identifiers; a smaller number if there are more.",
        ),
    ] = None,
    scores: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--scores", help="With --drivers: output file (.csv) for the score of each record. It is internal."
        ),
    ] = None,
    force: flags.Force = False,
    json_: flags.Json = False,
) -> None:
    """Assess the risk of an original file: how many records are unique or in small equivalence classes.

    Without a recipe, columns in no list are kept.
    """
    from ..release.assess import assess as run
    from ..release.drafting import source_and_recipe
    from ..release.drivers import check_asked, check_scores_file

    place, called = cluster_session.place(file), flags.option
    on_spark = isinstance(place, str) or engine == "spark"
    _check_drivers(drivers, depth, scores, force)
    check_asked(drivers, depth, on_spark)
    if scores is not None:
        check_scores_file(scores, force, "--force", place if isinstance(place, Path) else None)
    columns = {"quasi": quasi, "confidential": confidential, "drop": drop, "keep": keep}
    drawn = {"fraction": population_fraction, "size": population_size}
    more: dict[str, Any] = {"population": drawn, "settings": settings, "unit": unit, "weights": weights}
    said = flags.choices(k, read, columns=columns, kind=kind, **more)
    source, chosen = source_and_recipe(place, recipe, said, memory=memory, looking=True, called=called, engine=engine)
    with cluster_session.spark(on_spark, spark_master, spark_conf):
        assessment = run(source, chosen, engine=engine, drivers=drivers, most_columns=depth)
    if scores is not None:
        assessment.save_scores(scores, force)
    if json_:
        print(as_json(assessment))
    else:
        tell(assessment)
        if scores is not None:
            tell(f"written         {scores}: internal, it shows which records are at risk")


def _check_drivers(drivers: bool, depth: int | None, scores: Path | None, force: bool) -> None:
    """Refuse, before any work is done, what has no effect or no meaning."""
    for option, given in (("--depth", depth is not None), ("--scores", scores is not None)):
        if given and not drivers:
            raise CoterieError(f"{option} has no effect without --drivers.", hint="leave it out, or add --drivers.")
    if depth is not None and depth < 1:
        raise CoterieError("--depth must be a whole number of at least 1.", str(depth))
    if scores is None and force:
        raise CoterieError("--force has no effect without --scores.", hint="leave it out.")


@app.command()
@interruptible
def compare(
    file: flags.File,
    k: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--k", "-k", help="Values of k to try, comma-separated. Default: 3,5,10; with --risk, values that meet it."
        ),
    ] = None,
    methods: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Methods to try, comma-separated. Default: mdav,mdav*,auto; with a unit, mdav,auto."),
    ] = None,
    risk: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--risk",
            help="Find the candidate with the least information loss whose largest re-identification risk is at "
            "most this.",
        ),
    ] = None,
    importance: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--importance",
            metavar="COLUMN=NUMBERS",
            help="Try these importances of a quasi-identifier, such as income=1,3,10; repeatable.",
        ),
    ] = None,
    recipe: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--recipe", help="A recipe (TOML); its k, method and seed are not used."),
    ] = None,
    quasi: flags.Quasi = None,
    confidential: flags.Confidential = None,
    drop: flags.Drop = None,
    keep: flags.Keep = None,
    kind: flags.Kinds = None,
    strata: flags.Strata = None,
    missing: flags.Missing = None,
    weights: flags.Weights = None,
    unit: flags.Unit = None,
    settings: flags.Settings = None,
    read: flags.Read = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o", "--output", help="Output file (.html) for the page with the risk-utility map. It is internal."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    memory: flags.Memory = None,
    engine: flags.EngineName = None,
    force: flags.Force = False,
    json_: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Compare candidates: the information loss and the remaining risk of each method and k.

    Without a recipe, columns in no list are kept. Exit code 3 if no candidate meets the --risk.
    """
    from ..release.compare import compare as run
    from ..release.drafting import source_and_recipe

    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise CoterieError("The name of the page must end in .html.", f"'{output.name}'")
    _check_output(output, force)
    columns = {"quasi": quasi, "confidential": confidential, "drop": drop, "keep": keep}
    more: dict[str, Any] = {"settings": settings, "unit": unit, "weights": weights}
    said = flags.choices(None, read, strata, missing, columns, kind, **more)
    asked = k if k is not None or risk is not None else "3,5,10"
    sizes = [_whole(text) for text in names_of(asked, "--k") or ()]
    source, chosen = source_and_recipe(file, recipe, said, memory=memory, looking=True, called=flags.option)
    comparison = run(
        source,
        sizes,
        names_of(methods, "--methods"),
        risk=risk,
        importance=flags.importances_of(importance),
        recipe=chosen,
        seed=seed,
        engine=engine,
        progress=sys.stderr.isatty() and not quiet,
    )
    if output is not None:
        _write_page(output, comparison.html())
    if json_:
        print(as_json(comparison.candidates))
    if not quiet:
        tell(comparison)
        if output is not None:
            tell(f"written         {output}: internal, it shows risk")
    if risk is not None and comparison.best is None:
        raise typer.Exit(3)


def _write_page(output: Path, page: str) -> None:
    """Write a page that shows risk: only its owner may read it."""
    from ..formats.atomic import atomically

    atomically(output.absolute(), lambda path: _write(path, page), private=True)


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise CoterieError("--k must be a comma-separated list of whole numbers.", f"'{text}'")
    return int(text)
