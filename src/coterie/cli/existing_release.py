"""The commands for a release that is there already: analyse, replay, difference."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from ..errors import CoterieError
from ..facts import as_json
from . import cluster_session, flags
from .common import app, interruptible, names_of, tell

_Texts = Optional[list[str]]  # noqa: UP045
_Text = Optional[str]  # noqa: UP045


@app.command()
@interruptible
def analyse(
    release: Annotated[Path, typer.Argument(help="A bundle's folder, or a released file.")],
    file: Annotated[Path, typer.Option("--input", help="The original file.")],
    recipe: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--recipe", help="A recipe (TOML) with analyses; for a file, also with the roles of its columns."),
    ] = None,
    model: Annotated[
        _Texts,
        typer.Option("--model", metavar="FORMULA", help="A model, such as 'income ~ age + C(education)'; repeatable."),
    ] = None,
    family: Annotated[_Text, typer.Option("--family", help="What --model fits: linear (default) or logistic.")] = None,
    table: Annotated[
        _Texts, typer.Option("--table", metavar="COLUMNS", help="Count the combinations of these columns; repeatable.")
    ] = None,
    mean: Annotated[_Texts, typer.Option("--mean", metavar="COLUMN", help="The mean of a column; repeatable.")] = None,
    total: Annotated[
        _Texts, typer.Option("--total", metavar="COLUMN", help="The total of a column; repeatable.")
    ] = None,
    quantiles: Annotated[
        _Texts, typer.Option("--quantiles", metavar="COLUMN", help="Quantiles of a column; repeatable.")
    ] = None,
    at: Annotated[_Text, typer.Option("--at", help="Which quantiles, comma-separated. Default: 0.25,0.5,0.75.")] = None,
    by: Annotated[
        _Texts,
        typer.Option(
            "--by", metavar="COLUMNS", help="Means, totals and quantiles by groups of these columns; repeatable."
        ),
    ] = None,
    unweighted: Annotated[bool, typer.Option("--unweighted", help="Do not use the recipe's sampling weights.")] = False,
    memory: flags.Memory = None,
    json_: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Run analyses on a release and on its original: estimates, and the overlap of their confidence intervals.

    Default: the analyses of the recipe. The result is internal: it may show small counts and values of records.
    """
    from ..release.analyse import analyse as run

    asked = _asked(
        {"model": model, "rows": table, "mean": mean, "total": total, "quantiles": quantiles},
        family,
        _numbers(at),
        None if by is None else [name for text in by for name in names_of(text, "--by") or ()],
        unweighted,
    )
    report = run(release, file, asked or None, recipe=recipe, memory=memory)
    if not quiet:
        tell(report)
    if json_:
        print(as_json(report))


def _numbers(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise CoterieError(
            "--at must be a comma-separated list of numbers.", "others", "for example --at 0.1,0.5"
        ) from None


def _asked(
    given: dict[str, list[str] | None],
    family: str | None,
    at: list[float] | None,
    by: list[str] | None,
    unweighted: bool,
) -> dict[str, dict[str, Any]]:
    """The analyses that options ask for, by names that say what they are."""
    there = {kind for kind, texts in given.items() if texts}
    measured = there & {"mean", "total", "quantiles"}
    for name, value, helps, other in (
        ("--family", family, "model" in there, "--model"),
        ("--at", at, "quantiles" in there, "--quantiles"),
        ("--by", by, bool(measured), "--mean, --total or --quantiles"),
        ("--unweighted", unweighted or None, bool(there), "--table, --mean, --total, --quantiles or --model"),
    ):
        if value is not None and not helps:
            raise CoterieError(f"{name} has no effect here.", hint=f"use it with {other}.")
    asked: dict[str, dict[str, Any]] = {}
    for kind, texts in given.items():
        for text in texts or ():
            rule: dict[str, Any] = {kind: text}
            if kind == "rows":
                names = names_of(text, "--table") or []
                rule = {"rows": names[:-1], "columns": names[-1:]} if len(names) > 1 else {"rows": names}
            if kind == "model" and family is not None:
                rule["family"] = family
            if kind == "quantiles" and at is not None:
                rule["at"] = at
            if kind in measured and by is not None:
                rule["by"] = by
            if unweighted:
                rule["weighted"] = False
            name = text if kind == "model" else f"{'table' if kind == 'rows' else kind} {text}"
            if name in asked:
                raise CoterieError("Each analysis can be requested only once.", "one of them twice")
            asked[name] = rule
    return asked


@app.command()
@interruptible
def replay(
    folder: Annotated[Path, typer.Argument(help="The bundle.")],
    file: Annotated[str, typer.Option("--input", help="The original file.")],
    spark_master: cluster_session.Master = None,
    spark_conf: cluster_session.Conf = None,
    json_: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Repeat a bundle's release from its recipe and compare the bytes. Exit code 1 if they differ."""
    from ..release.replay import replay as run

    with cluster_session.spark((folder / "data").is_dir(), spark_master, spark_conf):
        found = run(folder, cluster_session.place(file), progress=sys.stderr.isatty() and not quiet)
    if not quiet:
        tell(str(found))
    if json_:
        print(json.dumps(found.as_dict(), indent=2))
    if not found.same:
        raise typer.Exit(1)


@app.command()
@interruptible
def difference(
    release: Annotated[Path, typer.Argument(help="The bundle to examine.")],
    file: Annotated[Path, typer.Argument(metavar="INPUT", help="The original file.")],
    before: Annotated[
        list[Path],
        typer.Option(
            "--before",
            metavar="RELEASE INPUT",
            help="An earlier bundle about the same persons, and its original file; repeatable.",
        ),
    ],
    files: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Argument(metavar="EARLIER", help="The INPUT of each --before, in the same order."),
    ] = None,
    by: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--by",
            metavar="COLUMNS",
            help="Column that identifies persons in every input; several are comma-separated. Default: an identifier "
            "or unit common to all recipes.",
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Match records by row number: first with first, and so on.")
    ] = False,
    json_: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Combine a release with earlier ones about the same persons. Exit code 3 if anyone has fewer than k candidates
    left.

    The output is internal: it shows risk.
    """
    from ..release.difference import difference as run

    inputs = files or []  # a parser takes one word after an option: the second stands among the arguments, in order
    if len(inputs) != len(before):
        what = "Every --before needs an earlier release and its input, and RELEASE INPUT come first."
        raise CoterieError(what, f"{len(before)} releases and {len(inputs)} inputs")
    pairs = list(zip(before, inputs, strict=True))
    shown = sys.stderr.isatty() and not quiet
    found = run(release, file, pairs, names_of(by, "--by"), rows=rows, progress=shown)
    if not quiet:
        tell(str(found))
    if json_:
        print(as_json(found.facts))
    if not found.ok:
        raise typer.Exit(3)
