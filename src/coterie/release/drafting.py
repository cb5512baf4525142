"""Recipes from a look at a table: a draft to edit, or one from roles that were said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import CoterieError, boundary, in_shell, printable_toml
from ..formats.header import ROW
from ..recipe import Recipe, RecipeError
from ..recipe.draft import Look, draft_of, questions_for, rules_for
from ..recipe.fields import Mistake
from ..recipe.rules import NO_UNIT, close_to, no_such_columns
from ..recipe.sections import ColumnRule
from ..recipe.single_settings import check_settings, with_settings
from ..recipe.suggested import Suggestions, suggested
from ..tables.columns import KINDS
from .cluster_source import ClusterSource
from .deprecated import renamed
from .flow import as_recipe
from .looks import looks
from .number_texts import check_number_texts, questions_about_numbers
from .source import Source, open_source


@boundary
def draft_recipe(
    table: Any,
    k: int = 5,
    read: Mapping[str, Any] | None = None,
    *,
    kind: Mapping[str, str] | None = None,
    memory: int | str | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """The text of a recipe (TOML) with a suggestion for every column, and the reason beside it.

    Where only a person can know what a column is, its role or kind is "?", with the reason above it. A recipe
    with such a line is refused.

    Parameters
    ----------
    table : path, table or Source
    k : int
        The size of the smallest equivalence class.
    read : mapping, optional
        How to read a file, where that cannot be detected: delimiter, encoding, decimal, missing and so on.
    kind : mapping, optional
        Kinds of columns that are already known, such as {"region": "nominal"}; these columns are masked or guarded.
    memory : int or str, optional
        Approximate memory limit, such as "2GB"; a file that needs more is read part by part.
    options : mapping, optional
        Deprecated name of `read`.
    """
    source = open_source(table, renamed("options", options, "read", read), memory=memory)
    return printable_toml(draft_of(suggestions(source, kind), k))


@boundary
def suggestions(source: Source, kinds: Mapping[str, str] | None = None) -> Suggestions:
    """What a draft suggests and asks, as data.

    Parameters
    ----------
    source : Source
    kinds : mapping, optional
        The kinds of columns that are known already.
    """
    seen = looks(source)
    mistakes = _about_kinds(kinds, list(seen), dict.fromkeys(seen, "quasi"), "'{}'".format)
    if mistakes:
        raise RecipeError(mistakes, "the columns")
    guessed = {name: one.kind for name, one in seen.items() if name not in (kinds or {})}
    stray = questions_about_numbers(source, guessed)
    seen = {name: one._replace(stray=stray.get(name)) for name, one in seen.items()}
    return suggested(seen, source.options, kinds)


@dataclass(frozen=True)
class Choices:
    """What is asked for without a recipe, in the words of one. None stands for what was not said.

    Attributes
    ----------
    k : int
    risk : float
        Instead of k: the largest re-identification risk, from which k follows.
    quasi, confidential, drop, keep : sequence of str
        The columns of each role: quasi-identifiers, confidential columns, identifiers, others.
    method : str
    missing, strata : str, list or mapping
        As the recipe's sections. Strata that no role names are quasi-identifiers.
    weights : str
        The column of sampling weights.
    population : mapping
        The population that the table is a sample of, as the recipe's section.
    unit : str
        The column whose different values k counts, or "none" where it counts records.
    formulas : str
        What to do with text that a spreadsheet would run as a formula.
    kind : mapping
        The kinds of quasi-identifiers and confidential columns that are not to be guessed, or can't be.
    read : mapping
        How a file is read.
    settings : mapping
        Anything else of a recipe, such as {"columns": {"age": {"top": 90}}}.
    """

    k: int | None = None
    risk: float | None = None
    quasi: Sequence[str] | None = None
    confidential: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    keep: Sequence[str] | None = None
    method: str | None = None
    missing: Any = None
    strata: Any = None
    weights: str | None = None
    population: Any = None
    unit: str | None = None
    formulas: str | None = None
    kind: Mapping[str, str] | None = None
    read: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] | None = None

    @property
    def given(self) -> list[str]:
        """The names of what was said."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return [name for name, value in values.items() if value is not None and (name != "read" or value)]

    @property
    def within(self) -> list[str]:
        """The columns that make strata; what is no list of names, the recipe refuses."""
        within = self.strata.get("within") if isinstance(self.strata, Mapping) else self.strata
        return [name for name in within if isinstance(name, str)] if isinstance(within, (list, tuple)) else []


_ROLES = {"quasi": "quasi", "confidential": "confidential", "drop": "identifier", "keep": "other"}
_LISTED = 20  # names in an error: enough to see which, and a wide table does not fill the screen
_K = 5  # where somebody only looks and says none: a common choice


def source_and_recipe(
    table: Any,
    recipe: Any,
    choices: Choices,
    *,
    memory: int | str | None = None,
    looking: bool = False,
    called: Callable[[str], str] = "'{}'".format,
    engine: str | None = None,
) -> tuple[Source, Recipe]:
    """Open a table, with the recipe that was given or that follows from choices.

    Parameters
    ----------
    table : path, table or Source
    recipe : Recipe, path, mapping or None
    choices : Choices
        Instead of a recipe: one or the other.
    memory : int or str, optional
        Approximate memory limit in bytes.
    looking : bool
        For those who release nothing: columns that no role names are kept, and k is 5 unless it is given.
    called : function
        How errors write the name of an argument.
    engine : str, optional
        Where the work will be done. On Spark, a recipe is needed: nobody looks at the table here.
    """
    if recipe is None and (engine == "spark" or isinstance(table, ClusterSource)):
        hint = "coterie recipe FILE drafts one from one of the files."
        raise CoterieError(f"On Spark, {called('recipe')} is needed.", "none", hint)
    if recipe is not None:
        if choices.given:
            others = ", ".join(called(name) for name in choices.given)
            raise CoterieError(f"{called('recipe')} cannot be combined with {others}.", hint="change the recipe.")
        chosen = as_recipe(recipe)
        return open_source(table, chosen.file.options, memory=memory, engine=engine), chosen
    if choices.k is not None and choices.risk is not None:
        raise CoterieError(f"Give either {called('k')} or {called('risk')}: k follows from the risk.", "both")
    needed = ["quasi"] if looking or choices.risk is not None else ["k", "quasi"]
    lacking = [called(name) for name in needed if getattr(choices, name) is None]
    if lacking:
        path = table.path if isinstance(table, Source) else table
        hint = f"coterie recipe {path} drafts one." if isinstance(path, (str, Path)) else "draft_recipe drafts one."
        others = " and ".join(called(name) for name in needed)
        raise CoterieError(f"Give {called('recipe')}, or at least {others}.", f"no {' and no '.join(lacking)}", hint)
    check_settings(choices.settings or {}, looking, called)
    roles = _roles(choices, called)
    source = open_source(table, choices.read, memory=memory)
    if looking:
        _check_some(roles, looks(source))
        roles = dict.fromkeys(looks(source), "other") | roles
    names = ("missing", "strata", "weights", "population", "unit")
    sections = {name: getattr(choices, name) for name in names}
    if choices.formulas is not None:
        sections["file"] = {"formulas": choices.formulas}
    k = _K if choices.k is None and choices.risk is None else choices.k
    if choices.risk is not None:
        sections["promise"] = {"risk": choices.risk}
    if choices.method is not None:
        sections["method"] = choices.method
    settings = choices.settings
    return source, recipe_from_roles(source, roles, k, choices.kind, called=called, settings=settings, **sections)


def _roles(choices: Choices, called: Callable[[str], str]) -> dict[str, str]:
    """The role of every column that was named. A column has one."""
    where: dict[str, str] = {}
    for option in _ROLES:
        names = getattr(choices, option)
        if isinstance(names, str):
            raise CoterieError(f"{called(option)} must be a list of column names.", "a string")
        for name in names or ():
            if where.get(name) == option:
                raise CoterieError("A column can be named only once.", f"'{name}' twice in {called(option)}")
            if name in where:
                lists = f"{called(where[name])} and {called(option)}"
                raise CoterieError("A column can have only one role.", f"'{name}' in two lists: {lists}")
            where[name] = option
    unit = {} if choices.unit in (None, NO_UNIT) else {choices.unit: "identifier"}  # dropped, unless kept by name
    return dict.fromkeys(choices.within, "quasi") | unit | {name: _ROLES[option] for name, option in where.items()}


def _check_some(roles: Mapping[str, str], seen: Mapping[str, Look]) -> None:
    """Refuse names of which no column has one, before any name of the table is told: it may be a record's value."""
    if not any(name in seen for name in roles):
        raise RecipeError([no_such_columns(len(roles), len(seen))], "the columns")


def recipe_from_roles(
    source: Source,
    roles: Mapping[str, str],
    k: int | None,
    kinds: Mapping[str, str] | None = None,
    *,
    called: Callable[[str], str] = "'{}'".format,
    settings: Mapping[str, Any] | None = None,
    **sections: Any,
) -> Recipe:
    """A recipe for roles that were said, with kinds that were said or that columns look like. All must be named.

    A column that may be of several kinds is refused until its kind is said.

    `sections` are those of a recipe, such as missing="own-value"; None leaves one out. `settings` are laid into the
    whole, as a part of a recipe's document.
    """
    seen = looks(source)
    _check_some(roles, seen)
    mistakes = [
        Mistake(("columns", name), "The table must have this column.", "no such column", close_to(name, list(seen)))
        for name in roles
        if name not in seen
    ]
    unnamed = [name for name in seen if name not in roles]
    if unnamed:
        lists = ", ".join(called(option) for option in _ROLES)
        listed = ", ".join(f"'{name}'" for name in unnamed[:_LISTED])
        more = f" and {len(unnamed) - _LISTED:,} more" if len(unnamed) > _LISTED else ""
        got = f"{listed}{more} in none"
        what, hint = f"Every column must be in one of {lists}.", _about_row(unnamed, called)
        mistakes.append(Mistake(("columns",), what, got, hint))
    mistakes += _about_kinds(kinds, list(seen), roles, called)
    if not mistakes:  # what is no number, and in which lines, comes before questions about kinds
        guessed = [n for n, role in roles.items() if role in ("quasi", "confidential") and n not in (kinds or {})]
        check_number_texts(source, {name: seen[name].kind for name in guessed})
        mistakes += _undecided(roles, seen, kinds, called)
    if mistakes:
        raise RecipeError(mistakes, "the columns")
    ordered = {name: roles[name] for name in seen}
    file = {**source.options, **sections.pop("file", {})}
    given = {name: value for name, value in sections.items() if value is not None}
    columns = {name: _said(rule) for name, rule in rules_for(ordered, seen, kinds).items()}
    document, mistakes = with_settings({"columns": columns, **given}, settings or {})
    if mistakes:
        raise RecipeError(mistakes, "the settings")
    return Recipe(k=k, file=file, **document)


def _said(rule: ColumnRule) -> dict[str, Any]:
    """What a rule says that was made for roles."""
    return {key: value for key in ("role", "kind", "order", "format") if (value := getattr(rule, key)) is not None}


def _about_row(unnamed: Sequence[str], called: Callable[[str], str]) -> str | None:
    """What a column is that nobody gave this name."""
    if ROW not in unnamed:
        return None
    what = f"a first column without a name, such as R's row names, is called '{ROW}'"
    return f"{what}: {called('drop')} {ROW}."


def _about_kinds(
    kinds: Mapping[str, str] | None, names: Sequence[str], roles: Mapping[str, str], called: Callable[[str], str]
) -> list[Mistake]:
    """What is wrong with kinds that were said: no such column or kind, or a column that has none."""
    if kinds is not None and not isinstance(kinds, Mapping):
        raise CoterieError(f"{called('kind')} must map columns to kinds.", f"a {type(kinds).__name__}")
    mistakes = []
    for name, kind in (kinds or {}).items():
        path = ("columns", str(name), "kind")
        if name not in names:
            hint = close_to(str(name), list(names))
            mistakes.append(Mistake(path, "The table must have this column.", "no such column", hint))
        elif kind not in KINDS:
            got = f"'{kind}'" if isinstance(kind, str) else f"a {type(kind).__name__}"
            mistakes.append(Mistake(path, f"{called('kind')} must be one of {', '.join(KINDS)}.", got))
        elif roles.get(name) not in ("quasi", "confidential"):
            what = "Only quasi-identifiers and confidential columns have a kind."
            mistakes.append(Mistake(path, what, f'role = "{roles[name]}"' if name in roles else None, "leave it out."))
    return mistakes


def _undecided(
    roles: Mapping[str, str],
    seen: Mapping[str, Look],
    kinds: Mapping[str, str] | None,
    called: Callable[[str], str],
) -> list[Mistake]:
    """Columns whose kind only a person can know, and how to say it."""
    mistakes = []
    for name, question in questions_for(roles, seen, kinds).items():
        if called("kind").startswith("--"):
            hint = f"{in_shell(called('kind'), name + '=KIND')} says it, or a recipe."
        else:
            hint = f'{called("kind")} says it, {{"{name}": …}}, or a recipe.'
        mistakes.append(Mistake(("columns", name), f"You must decide its kind: {question}", None, hint))
    return mistakes
