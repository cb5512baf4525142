"""The commands for research: methods, microaggregate, reproduce."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ..errors import CoterieError
from ..facts import as_json
from . import flags
from .common import app, blocks_of, console, interruptible, names_of, options_of, tell, warnings_told


@app.command()
def methods(json_: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False) -> None:
    """List the methods with their papers, costs, guarantees and parameters."""
    from ..microaggregation.api import methods as registry

    if json_:
        print(json.dumps(registry().rows(), indent=2, ensure_ascii=False))
    else:
        console().print(registry())


@app.command()
@interruptible
def microaggregate(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file of numbers, with column names.")],
    k: Annotated[int, typer.Option("-k", help="Minimum group size, at least 2.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Output file (.csv or .parquet).")],
    columns: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The columns to aggregate, comma-separated; the others are left out of the output."),
    ] = None,
    method: Annotated[str, typer.Option(help="A name that 'coterie methods' lists.")] = "auto",
    param: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="A parameter of the method, as NAME=VALUE, such as gamma=0.2; repeatable."),
    ] = None,
    refine: Annotated[
        str, typer.Option(help="Local search afterwards: none, quick or thorough. Never increases the loss.")
    ] = "none",
    bound: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Prove a lower bound on the loss of any grouping: fast or tight."),
    ] = None,
    seconds: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Time limit for the search (refine, auto, exact) and for the bound."),
    ] = None,
    blocks: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Group in blocks, in parallel: auto, or the maximum number of records in a block. For large files."
        ),
    ] = None,
    standardize: Annotated[bool, typer.Option(help="Standardize columns before computing distances.")] = True,
    centre: Annotated[str, typer.Option("--centre", "--center", help="Centre of a group: mean or median.")] = "mean",
    distortion: Annotated[
        str, typer.Option(help="Distances in the information loss: squared or euclidean.")
    ] = "squared",
    diversity: Annotated[
        str, typer.Option(help="Reference for the loss: distances to the centre, or pairwise.")
    ] = "centre",
    rounding: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="integers: round integer columns; a number: round all columns to that many decimals."),
    ] = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Random seed of a randomized method, or of --refine. Default: 0."),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Write the group number of each record instead of the values.")
    ] = False,
    read: flags.Read = None,
    delimiter: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Field delimiter of a CSV file. Default: detected."),
    ] = None,
    header: Annotated[
        bool,
        typer.Option("--header", help="The first line of the CSV file holds column names, even if some are numbers."),
    ] = False,
    force: flags.Force = False,
    json_: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Microaggregate a numeric file, for research: no check, no report. Loss, group sizes and time go to stderr."""
    from ..algorithms.registry import find
    from ..microaggregation import files
    from ..microaggregation.api import microaggregate as run

    chosen = find(method)
    params = chosen.check(_params(param))
    if seed is not None and not chosen.draws(params) and refine == "none":
        what = "--seed is for randomized methods and for --refine."
        raise CoterieError(what, f"--method {chosen.name}", "leave it out.")
    if labels and rounding is not None:
        raise CoterieError("--rounding has no effect with --labels.", hint="leave one of them out.")
    target = output.resolve()  # a link stays, and what it leads to is written
    files.check_output(target, file, force)
    source = files.read(file, names_of(columns), _read_options(read, delimiter, header))
    shown = sys.stderr.isatty() and not quiet
    with warnings_told():
        result = run(
            source.table,
            k,
            method,
            standardize=standardize,
            centre=centre,  # type: ignore[arg-type]
            distortion=distortion,  # type: ignore[arg-type]
            diversity=diversity,  # type: ignore[arg-type]
            rounding=_rounding(rounding),  # type: ignore[arg-type]
            seed=seed or 0,
            refine=refine,  # type: ignore[arg-type]
            seconds=seconds if refine != "none" or chosen.limited or bound is None else None,
            blocks=blocks_of(blocks),  # type: ignore[arg-type]
            progress=shown,
            **params,
        )
    files.write(files.groups_table(result) if labels else result.data, target, source.format)
    proven = result.bound(bound, seconds=seconds, progress=shown) if bound is not None else None  # type: ignore[arg-type]
    if not quiet:
        tell(result)
        if proven is not None:
            tell(f"bound           {proven}")
        if source.left_out:
            tell(f"left out        {len(source.left_out)} columns that --columns does not name")
        tell(f"written         {output}{' (the groups of the records)' if labels else ''}")
    if json_:
        facts = result.facts
        print(as_json(facts if proven is None else replace(facts, bound=proven.facts)))


@app.command()
@interruptible
def reproduce(
    table: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Only tables whose name contains this, such as mdav-star-2018 or 'table 5'."),
    ] = None,
    data: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder with the CASC files. Default: COTERIE_CASC_DIR."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Recompute the tables of the five papers and show them beside the published ones. Exit code 1 if a cell is
    wrong."""
    from ..reproduce import published as tables
    from ..reproduce import side_by_side as report

    cells = tables.reproduce(table, data, show_progress=sys.stderr.isatty())
    if json_:
        print(json.dumps(report.as_json(cells), indent=2, ensure_ascii=False))
    else:
        report.show(cells, console())
    if report.failed(cells):
        raise typer.Exit(1)


def _read_options(read: list[str] | None, delimiter: str | None, header: bool) -> dict[str, Any] | None:
    """The options of --read, with those that have a flag of their own."""
    texts = list(read or ())
    if delimiter is not None:
        texts.append(f"delimiter={delimiter}")
    if header:
        texts.append("header=true")
    return options_of(texts)


def _params(param: list[str] | None) -> dict[str, str]:
    params = {}
    for text in param or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CoterieError("--param must be NAME=VALUE.", f"'{text}'", "for example --param gamma=0.2")
        if name in params:
            raise CoterieError("A parameter can be given only once.", f"'{name}' twice")
        params[name] = value
    return params


def _rounding(text: str | None) -> str | int | None:
    try:
        return text if text is None or text == "integers" else int(text)
    except ValueError:
        return text  # the library says what it must be
