"""The custodian's commands: recipe, protect, verify, assess, compare, replay."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ..errors import CoterieError
from ..facts import as_json
from .common import app, interruptible, names_of, options_of, tell, warnings_told

_File = Annotated[Path, typer.Argument(help="CSV, Parquet, Feather; with the extra 'files' also SPSS, Stata, SAS.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the facts as JSON on stdout.")]
_Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing on stderr but errors and warnings.")]
_Names = Optional[str]  # noqa: UP045
_Read = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--read", help="How a file is read: NAME=VALUE, such as encoding=cp1252, missing=NA; repeatable."),
]
_Quasi = Annotated[_Names, typer.Option(help="The quasi-identifiers, with commas between.")]
_Confidential = Annotated[_Names, typer.Option(help="The confidential columns, which are kept and guarded.")]
_Drop = Annotated[_Names, typer.Option(help="Columns that are dropped: identifiers.")]
_Keep = Annotated[_Names, typer.Option(help="Columns that are kept as they are.")]


@app.command()
@interruptible
def recipe(
    file: _File,
    k: Annotated[int, typer.Option("-k", help="The least number of records that look alike.")] = 5,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Where the draft goes; else to stdout."),
    ] = None,
    read: _Read = None,
    memory: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A limit such as 2GB: a CSV or Parquet file that needs more is looked at part by part."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")] = False,
) -> None:
    """Draft a recipe by looking at a file: a role and a kind for every column, with the reasons, for you to decide."""
    from ..formats.atomic import atomically
    from ..release.drafting import draft_recipe

    text = draft_recipe(file, k, options_of(read), memory=memory)
    if output is None:
        print(text)
        return
    if output.exists() and not force:
        raise CoterieError("The output file exists already.", f"'{output}'", "--force replaces it.")
    atomically(output.absolute(), lambda path: _write(path, text))
    tell(f"written         {output}: look at every line, then coterie protect {file} --recipe {output} -o FOLDER")


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


@app.command()
@interruptible
def protect(
    file: _File,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="The folder that the bundle goes to."),
    ] = None,
    recipe: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--recipe", help="What every column is, and what must hold, as TOML."),
    ] = None,
    k: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("-k", help="Without a recipe: the least number of records that look alike."),
    ] = None,
    quasi: _Quasi = None,
    confidential: _Confidential = None,
    drop: _Drop = None,
    keep: _Keep = None,
    read: _Read = None,
    method: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Without a recipe: a name that 'coterie methods' lists; default auto."),
    ] = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Of all that is random; else the recipe's, or one that is drawn."),
    ] = None,
    memory: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A limit such as 2GB: a CSV or Parquet file that needs more is protected part by part."),
    ] = None,
    engine: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where the work is done: memory or duckdb (part by part). Default: by size."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and write nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the bundle if it exists.")] = False,
    json_: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Protect a file: a bundle with the data, the recipe, the proof and the reports, whole or not at all."""
    from ..recipe import Recipe
    from ..release.flow import protect as run
    from ..release.place import check_place
    from ..release.source import open_source

    if (output is None) == (not dry_run):
        raise CoterieError("Say where the bundle goes, -o FOLDER, or --dry-run.", "both" if output else "neither")
    if output is not None:
        check_place(output, force)
    simple: dict[str, Any] = {"-k": k, "--quasi": quasi, "--confidential": confidential, "--drop": drop, "--keep": keep}
    simple |= {"--method": method, "--read": options_of(read)}
    chosen: Any = None
    if recipe is not None:
        given = [name for name, value in simple.items() if value is not None]
        if given:
            raise CoterieError(
                "A recipe says all there is to say.", f"--recipe and {', '.join(given)}", "change the recipe."
            )
        chosen = Recipe.load(recipe)
    source = open_source(file, simple["--read"] if chosen is None else chosen.file.options, memory=memory)
    if chosen is None:
        chosen = _simple_recipe(source, simple, quiet)
    if seed is not None:
        chosen = chosen.with_seed(seed)
    shown = sys.stderr.isatty() and not quiet
    with warnings_told():
        release = run(source, chosen, engine=engine, progress=shown)
        if output is None:
            release.rehearse(progress=shown)
        else:
            release.save(output, force=force, progress=shown)
    if not quiet:
        tell(release)
        tell("dry run         nothing was written" if output is None else _handing_out(output))
    if json_:
        print(as_json(release.facts))


def _simple_recipe(source: Any, simple: dict[str, Any], quiet: bool) -> Any:
    """A recipe from the command line's shortcuts, with the kinds that the columns look like."""
    from ..release.drafting import recipe_from_roles

    if simple["-k"] is None or simple["--quasi"] is None:
        hint = f"coterie recipe {source.path} drafts one."
        raise CoterieError("Give a --recipe, or at least -k and --quasi.", "neither", hint)
    roles = {}
    for role, option in (
        ("quasi", "--quasi"),
        ("confidential", "--confidential"),
        ("identifier", "--drop"),
        ("other", "--keep"),
    ):
        for name in names_of(simple[option], option) or ():
            if name in roles:
                raise CoterieError("A column has one role.", f"'{name}' in two lists")
            roles[name] = role
    chosen = recipe_from_roles(source, roles, simple["-k"], simple["--method"] or "auto")
    if not quiet:
        kinds = ", ".join(f"{n} {r.kind}" for n, r in chosen.columns.items() if r.kind)
        tell(f"kinds           {kinds} (as they look; a recipe can say otherwise)")
    return chosen


def _handing_out(output: Path) -> str:
    data = next(path.name for path in sorted(output.iterdir()) if path.stem == "data")
    return f"written         {output}: hand out {data}, report.html, verify.json; keep the rest, it is internal"


@app.command()
@interruptible
def verify(
    release: Annotated[Path, typer.Argument(help="A bundle's folder, or a released file.")],
    k: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("-k", help="For a file: the least number of records that look alike."),
    ] = None,
    quasi: _Quasi = None,
    within: Annotated[
        _Names, typer.Option(help="For a file: columns that count into every class, such as strata.")
    ] = None,
    confidential: Annotated[
        _Names, typer.Option(help="For a file: columns of which classes with one value at most are counted.")
    ] = None,
    recipe: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--recipe", help="For a file: check all that this recipe promises, in place of the above."),
    ] = None,
    read: _Read = None,
    json_: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Check a release on its bytes: every promise of a bundle or a recipe, or k. Exit code 3 if one is not kept."""
    from ..release.checking import verify as run

    if not release.exists():
        raise CoterieError("The release must be a bundle's folder or a file.", f"'{release}', which does not exist")
    if not release.is_dir() and recipe is None and (k is None or quasi is None):
        raise CoterieError("Of a file, say what is claimed: -k and --quasi, or --recipe.", "one of them or none")
    given: dict[str, Any] = {"quasi": names_of(quasi, "--quasi"), "k": k, "dialect": _dialect(read), "recipe": recipe}
    if within is not None:
        given["within"] = names_of(within, "--within")
    if confidential is not None:
        given["confidential"] = {name: {"kind": "nominal"} for name in names_of(confidential, "--confidential") or ()}
    verdict = run(release, **given)
    if not quiet:
        tell(verdict)
    if json_:
        print(as_json(verdict.facts))
    if not verdict.ok:
        raise typer.Exit(3)


def _dialect(read: list[str] | None) -> dict[str, Any] | None:
    """How a CSV file is read by verify, which knows no header where it is told the names."""
    options = options_of(read)
    if options is None:
        return None
    quote = {"quote": options["quote"] or None} if "quote" in options else {}
    return {**options, **quote, **({"header": False} if "names" in options else {})}


@app.command()
@interruptible
def assess(
    file: _File,
    recipe: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--recipe", help="Says the roles, kinds and scenarios."),
    ] = None,
    k: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("-k", help="Without a recipe: classes below it are counted; default 5."),
    ] = None,
    quasi: _Quasi = None,
    confidential: _Confidential = None,
    read: _Read = None,
    json_: _Json = False,
) -> None:
    """Assess the risk of a raw file: how many records are alone, or among few, in their quasi-identifiers."""
    from ..release.assess import assess as run

    told = names_of(confidential, "--confidential")
    facts = run(file, recipe, names_of(quasi, "--quasi"), told, k, options_of(read))
    if json_:
        print(as_json(facts))
    else:
        tell(facts)


@app.command()
@interruptible
def compare(
    file: _File,
    k: Annotated[str, typer.Option("--k", "-k", help="The k to try, with commas between.")] = "3,5,10",
    methods: Annotated[str, typer.Option(help="The methods to try, with commas between.")] = "mdav,mdav*,auto",
    recipe: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--recipe", help="Says the roles and kinds; its k and method are not used."),
    ] = None,
    quasi: _Quasi = None,
    confidential: _Confidential = None,
    read: _Read = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Where the page with the map goes (.html)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")] = False,
    json_: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Compare candidates: what each method and k loses, and what risk it leaves, as table, JSON and picture."""
    from ..formats.atomic import atomically
    from ..release.compare import compare as run

    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise CoterieError("The page must end in .html.", f"'{output.name}'")
    if output is not None and output.exists() and not force:
        raise CoterieError("The output file exists already.", f"'{output}'", "--force replaces it.")
    found = run(
        file,
        [_whole(text) for text in names_of(k, "--k") or ()],
        names_of(methods, "--methods") or [],
        recipe=recipe,
        quasi=names_of(quasi, "--quasi"),
        confidential=names_of(confidential, "--confidential"),
        options=options_of(read),
        seed=seed,
        progress=sys.stderr.isatty() and not quiet,
    )
    if output is not None:
        atomically(output.absolute(), lambda path: _write(path, found.html()))
    if json_:
        print(as_json(found.candidates))
    if not quiet:
        tell(found)
        if output is not None:
            tell(f"written         {output}")


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise CoterieError("--k must be whole numbers with commas between.", f"'{text}'")
    return int(text)


@app.command()
@interruptible
def replay(
    folder: Annotated[Path, typer.Argument(help="The bundle.")],
    file: Annotated[Path, typer.Option("--input", help="The file that it was made from.")],
    json_: _Json = False,
    quiet: _Quiet = False,
) -> None:
    """Make a bundle's data again from its recipe, and compare the bytes. Exit code 1 if they differ."""
    from ..release.replay import replay as run

    found = run(folder, file, progress=sys.stderr.isatty() and not quiet)
    if not quiet:
        tell(str(found))
    if json_:
        print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
    if not found.same:
        raise typer.Exit(1)
