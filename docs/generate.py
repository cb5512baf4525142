"""The pages that are made from the code: options of recipes and commands, methods, schemas, public names.

`write` puts them below docs/reference/generated, which git ignores: whoever changes an option changes its page.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from dataclasses import MISSING, fields
from pathlib import Path

import typer.main
from numpydoc.docscrape import NumpyDocString

import coterie as ct
from coterie import cli
from coterie.algorithms.registry import METHODS
from coterie.formats import csv_text, excel
from coterie.recipe import recipe as whole
from coterie.recipe import sections

HERE = Path(__file__).parent
EXAMPLES = HERE / "reference" / "examples.md"
GROUPS = {
    "Microaggregation": ["microaggregate", "refine", "methods", "Microaggregator", "Result", "Bound"],
    "Release": ["protect", "Recipe", "draft_recipe", "open_source", "Source", "Release", "protect_file"],
    "Before and after": [
        "assess", "Assessment", "compare", "Comparison", "Candidate", "analyse", "AnalysisReport",
        "difference", "Difference",
    ],
    "Check": ["verify", "Verdict", "Check", "replay", "Replayed"],
    "Errors and warnings": ["CoterieError", "RecipeError", "PromiseError", "UnexpectedError", "PrivacyWarning"],
}  # fmt: skip
LONG = ("api", "recipe-options", "command-options", "method-options", "schemas")
SCHEMAS = {
    "analyses": "`coterie analyse --json`, `AnalysisReport.as_dict()`",
    "assessment": "`coterie assess --json`, `Assessment.as_dict()`",
    "candidate": "one candidate of `coterie compare --json`",
    "difference": "`coterie difference --json`, `Difference.as_dict()`",
    "manifest": "`manifest.json` in a bundle",
    "protect": "`coterie protect --json`",
    "public": "the facts that the public report shows",
    "release": "`Release.facts`",
    "result": "`coterie microaggregate --json`, `Result.facts`",
    "verdict": "`verify.json` in a bundle, `coterie verify --json`",
}


def write(docs: Path) -> None:
    """Write every generated page that has changed."""
    folder = docs / "reference" / "generated"
    folder.mkdir(exist_ok=True)
    pages = {
        "recipe-options.md": recipe_options(),
        "command-options.md": command_options(),
        "method-options.md": method_options(),
        "schemas.md": schemas(),
        "contributing.md": outside("CONTRIBUTING.md"),
        "measurements.md": outside("benchmarks/README.md"),
        "datasets.rst": datasets(),
        "api.rst": api_index(),
        **{f"{name}.rst": api_page(name) for names in GROUPS.values() for name in names},
    }
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        place = folder / name
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def _cell(text: object) -> str:
    """A text in a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *(map(_cell, r) for r in rows))]


def outside(path: str) -> str:
    """A text that stands outside of docs/, with its links as seen from here; those to other such texts become words."""
    place = HERE.parent / path

    def moved(found: re.Match[str]) -> str:
        words, file, part = found.groups(default="")
        target = (place.parent / file).resolve()
        if not target.is_relative_to(HERE) and target.suffix == ".md":
            return words
        return f"[{words}]({os.path.relpath(target, HERE / 'reference' / 'generated')}{part})"

    text = place.read_text(encoding="utf-8")
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)", moved, text)


# the recipe


def _meanings(cls: type) -> dict[str, str]:
    """What the docstring of a section says of its fields."""
    described = NumpyDocString(inspect.cleandoc(cls.__doc__ or ""))
    entries = [*described["Attributes"], *described["Parameters"]]
    return {name: " ".join(entry.desc) for entry in entries for name in re.split(r",\s*", entry.name)}


def _summary(cls: type) -> str:
    text = NumpyDocString(inspect.cleandoc(cls.__doc__ or ""))
    return " ".join([*text["Summary"], *text["Extended Summary"]])


def _default(value: object) -> str:
    if value is MISSING:
        return "required"
    if value in (None, 0):
        return ""
    return "`" + json.dumps(value) + "`"


def _options(cls: type, but: tuple[str | None, ...] = (), meanings: dict[str, str] | None = None) -> list[str]:
    known = _meanings(cls) | (meanings or {})
    rows = [
        [f"`{f.name}`", _toml(f.metadata["must"].be), _default(f.default), known.get(f.name, "")]
        for f in fields(cls)
        if f.name not in but
    ]
    filled = any(row[3] for row in rows)
    head = ["option", "must be", "default", "meaning"]
    return _table(head if filled else head[:3], rows if filled else [row[:3] for row in rows])


def _toml(text: str) -> str:
    """Words in quotation marks, and tables, as code."""
    return re.sub(r'\[\{[^}]*\}\]|\{[^}]*\}|"[^"]*"', lambda found: f"`{found.group()}`", text)


def recipe_options() -> str:
    """Every option of a recipe, from the dataclasses that read and check it."""
    lines = [
        "# Recipe options",
        "",
        "Every option with its allowed values and its default, taken from the code that checks recipes. "
        "[The recipe](../../recipe.md) explains them in context.",
        "",
        "## Outside every section",
        "",
        *_options(whole._Whole, meanings=_meanings(ct.Recipe)),
        "",
        "## [columns.NAME]",
        "",
        _summary(sections.ColumnRule) + ' A text alone is the role: `name = "identifier"`.',
        "",
        *_options(sections.ColumnRule),
        "",
        "## [scenarios.NAME]",
        "",
        _summary(sections.ScenarioRule),
        "",
        *_options(sections.ScenarioRule),
        "",
        "## [analysis.NAME]",
        "",
        _summary(sections.AnalysisRule),
        "",
        *_options(sections.AnalysisRule),
    ]
    for name, (cls, rest, alone) in whole._SECTIONS.items():
        short = f" `{name} = …` alone sets `{alone}`." if alone else ""
        lines += ["", f"## [{name}]", "", _summary(cls) + short, "", *_options(cls, but=(rest,))]
        if name == "method":
            lines += ["", "Every other key is a parameter of the method: [methods](method-options.md)."]
        if name == "file":
            rows = [
                [f"`{key}`", ", ".join(kind for kind, keys in _readers() if key in keys)] for key in _all_read_options()
            ]
            lines += ["", "How the file is read; [what each means](../../recipe.md#file).", ""]
            lines += _table(["option", "files"], rows)
    return "\n".join(lines) + "\n"


def _readers() -> list[tuple[str, tuple[str, ...]]]:
    return [("CSV", csv_text.OPTIONS), ("Excel", excel.OPTIONS), ("SPSS, Stata, SAS", ("encoding",))]


def _all_read_options() -> list[str]:
    return list(dict.fromkeys(key for _, keys in _readers() for key in keys))


# the command line


def command_options() -> str:
    """Every command with its arguments and options, as the parser knows them."""
    lines = [
        "# Command options",
        "",
        "Every command and option, as the program's own parser has them. "
        "[The command line](../../command-line.md) explains them in context; exit codes are "
        "[here](../exit-codes.md).",
    ]
    for name, command in typer.main.get_command(cli.app).commands.items():
        words, *more = inspect.cleandoc(command.help or "").split("\n\n")
        lines += ["", f"## coterie {name}", "", *(line for part in (words, *more) for line in (part, ""))]
        rows = [_parameter(p) for p in command.params if p.name != "help"]
        lines += _table(["option", "default", "meaning"], rows) if rows else ["It has no options."]
    return "\n".join(lines) + "\n"


def _parameter(p: object) -> list[str]:
    names = ", ".join(f"`{o}`" for o in (*p.opts, *p.secondary_opts)) if p.param_type_name == "option" else ""
    label = names or f"`{(p.metavar or p.name).upper()}`"
    default = p.default
    told = "required" if p.required else ""
    if not told and default not in (None, False, (), []) and not callable(default):
        told = f"`{default}`"
    return [
        label + (" (may be repeated)" if p.multiple and "repeatable" not in (p.help or "") else ""),
        told,
        _help_words(p.help or ""),
    ]


def _help_words(text: str) -> str:
    """Help in Markdown: asterisks and underscores mean themselves."""
    return re.sub(r"([*_<>])", r"\\\1", text)


# methods, schemas


def method_options() -> str:
    """The registry: one line a method, and its parameters."""
    lines = [
        "# Methods and their parameters",
        "",
        "The registry that `microaggregate`, the command line, recipes and the benchmark all read. "
        "[Methods](../../methods.md) says when to use which.",
    ]
    for method in METHODS.values():
        also = f" Also spelt {', '.join(f'`{a}`' for a in method.aliases)}." if method.aliases else ""
        lines += ["", f"## {method.name}", "", _sentence(method.what) + also, ""]
        rows = [["paper", method.paper], ["cost", method.cost], ["promise", method.promise]]
        rows += [["takes", f"k = {method.only_k} only"]] if method.only_k else []
        rows += [["takes", "one column only"]] if method.only_columns else []
        rows += [["random", "seeded by `random_state`"]] if method.randomized else []
        for name, p in method.parameters.items():
            default = p.default if isinstance(p.default, str) else repr(p.default)
            rows.append([f"`{name}`", f"{p.meaning}; {p.must_be}; default `{default}`"])
        lines += _table(["", ""], rows)
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def schemas() -> str:
    """The JSON schemas, with their first level of fields."""
    lines = [
        "# JSON schemas",
        "",
        "Every JSON document that Coterie prints or writes has a schema (JSON Schema 2020-12), made from the same "
        "dataclasses as the document. Names end in their unit: `_percent`, `_share` (0 to 1), `_sd`, `_seconds`.",
        "",
    ]
    texts = {name: json.loads((HERE / "schemas" / f"{name}.json").read_text(encoding="utf-8")) for name in SCHEMAS}
    assert {p.stem for p in (HERE / "schemas").glob("*.json")} == set(SCHEMAS), "a schema without a line on its page"
    lines += _table(
        ["schema", "of"], [[f"[{name}.json](../../schemas/{name}.json)", of] for name, of in SCHEMAS.items()]
    )
    for name, text in texts.items():
        lines += ["", f"## {name}", "", f"{_sentence(SCHEMAS[name])[:-1]}.", ""]
        required = set(text.get("required", ()))
        rows = [
            [f"`{key}`", _type(value), "yes" if key in required else "no"]
            for key, value in text.get("properties", {}).items()
        ]
        lines += _table(["field", "type", "always there"], rows)
    return "\n".join(lines) + "\n"


def _type(schema: dict) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rsplit('/', 1)[-1]}`"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{json.dumps(v)}`" for v in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "anything")
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"array of {_type(schema['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


# public names


def api_index() -> str:
    """The public names in groups, and their pages."""
    listed = {name for names in GROUPS.values() for name in names} | {"__version__", "datasets"}
    assert listed == set(ct.__all__), f"not on a page, or on one and not public: {listed ^ set(ct.__all__)}"
    lines = ["Python", "======", "", "``import coterie as ct`` gives these names. They are stable: see the roadmap", ""]
    lines[3] = "``import coterie as ct`` gives these names, and no others are public."
    for group, names in GROUPS.items():
        lines += ["", group, "-" * len(group), "", ".. list-table::", "   :widths: 28 72", ""]
        for name in names:
            kind = "class" if inspect.isclass(getattr(ct, name)) else "func"
            kind = "exc" if group.startswith("Errors") else kind
            lines += [f"   * - :py:{kind}:`~coterie.{name}`", f"     - {_first(getattr(ct, name))}"]
    lines += ["", "Data sets", "---------", "", ":doc:`datasets` has the sets of the papers.", ""]
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   {name}" for names in GROUPS.values() for name in names] + ["   datasets"]
    return "\n".join(lines) + "\n"


def _first(thing: object) -> str:
    text = " ".join(inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0].split())
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)


def api_page(name: str) -> str:
    """The page of a public name."""
    thing = getattr(ct, name)
    title = f"coterie.{name}"
    lines = [title, "=" * len(title), "", ".. currentmodule:: coterie", ""]
    if not inspect.isclass(thing):
        lines += [f".. autofunction:: {name}"]
    elif issubclass(thing, BaseException):
        lines += [f".. autoexception:: {name}", "   :show-inheritance:"]
    else:
        lines += [f".. autoclass:: {name}", "   :members:", "   :exclude-members: set_fit_request, set_output"]
    return "\n".join(lines) + "\n"


def datasets() -> str:
    """The data sets: one page for all."""
    names = [name for name in ct.datasets.__all__ if name != "DATASETS"]
    lines = ["coterie.datasets", "================", "", ".. currentmodule:: coterie.datasets", ""]
    lines += ["The sets that the papers use: small ones that they print, loaders of the CASC reference sets, and", ""]
    lines[-2] += " seeded"
    lines[-1] = "simulators of the others. ``datasets.DATASETS`` holds them all by name."
    lines += ["The CASC files are not part of the package: the variable ``COTERIE_CASC_DIR`` says where they are."]
    lines += ["", *examples()["datasets"]]
    for name in names:
        kind = "autoclass" if inspect.isclass(getattr(ct.datasets, name)) else "autofunction"
        lines += ["", f".. {kind}:: {name}"]
    return "\n".join(lines) + "\n"


# examples: one page, executed by the tests; each stands on the page of its name, too


def examples() -> dict[str, list[str]]:
    """The lines of each name's example."""
    parts = re.split(r"^## (\S+)\n", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        found[name] = "\n\n".join(blocks).splitlines()
    return found


def add_example(app, what, name, thing, options, lines) -> None:  # noqa: ARG001, sphinx calls it so
    """Append the example of a public name to its docstring, where it has none of its own."""
    name = name.removeprefix("coterie.")
    if any(line.strip() == "Examples" for line in lines):
        return
    if (example := examples().get(name)) is not None:
        lines += ["", "Examples", "--------", *example, ""]
