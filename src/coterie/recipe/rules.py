"""What must hold between the parts of a recipe: every option has an effect, or is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..algorithms.registry import find
from ..errors import CoterieError
from . import output_rules
from .analysis_rules import check_analyses
from .fields import Mistake
from .fields import close_to as close_to
from .importance_rules import check_importance
from .population_rules import check_population
from .preparing_rules import check_preparing, check_what_becomes
from .previous_rules import check_previous
from .totals_rules import check_totals

if TYPE_CHECKING:
    from .recipe import Recipe
    from .sections import ColumnRule


NO_UNIT = "none"  # as the unit's column: each record is a unit of its own


def check(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """Note all mistakes. What could not be read is None here, and noted already."""
    for name, rule in recipe.columns.items():
        if rule is not None:
            _check_column(name, rule, mistakes)
    if recipe.columns and not recipe.quasi and None not in recipe.columns.values():
        what = "At least one column must be a quasi-identifier."
        mistakes.append(Mistake(("columns",), what, "none", 'without one, nothing is protected. Set role = "quasi".'))
    _check_strata(recipe, mistakes)
    _check_weights(recipe, mistakes)
    check_population(recipe, mistakes)
    _check_unit(recipe, mistakes)
    check_preparing(recipe, mistakes)
    _check_scenarios(recipe, mistakes)
    _check_method(recipe, mistakes)
    _check_blocks(recipe, mistakes)
    _check_guard(recipe, mistakes)
    output_rules.check(recipe, mistakes)
    check_totals(recipe, mistakes)
    check_importance(recipe, mistakes, _can_be_joined(recipe))
    check_analyses(recipe, mistakes)
    check_previous(recipe, mistakes)
    if recipe.missing.small != "refuse" and recipe.missing.policy != "own-value":
        what = "'small' applies to patterns of missing values, which matter only with policy = \"own-value\"."
        mistakes.append(Mistake(("missing", "small"), what, f'policy = "{recipe.missing.policy}"'))
    if recipe.centre == "medoid" and recipe.missing.policy == "group":
        what = "A medoid is an observed record, so it cannot fill in missing values."
        mistakes.append(Mistake(("centre",), what, 'policy = "group"', 'use centre = "mean", or "own-value".'))
    if recipe.centre == "medoid":
        for name, rule in recipe.columns.items():
            if rule is not None and rule.decimals is not None:
                what = "A medoid is an observed record, so nothing is rounded."
                mistakes.append(Mistake(("columns", name, "decimals"), what, 'centre = "medoid"', "leave one out."))
    if not mistakes:
        check_what_becomes(recipe, mistakes)


def _check_column(name: str, rule: ColumnRule, mistakes: list[Mistake]) -> None:
    def wrong(key: str, what: str, got: str | None = None, hint: str | None = None) -> None:
        mistakes.append(Mistake(("columns", name, key), what, got, hint))

    if rule.role in ("quasi", "confidential") and rule.kind is None:
        wrong(
            "kind",
            f"A {rule.role} column needs a kind.",
            "none",
            "numeric, integer, ordinal, nominal, datetime or boolean.",
        )
    if rule.kind is not None and rule.role == "identifier":
        wrong("kind", "An identifier is dropped, so its kind has no effect.", f'kind = "{rule.kind}"', "leave it out.")
    if rule.kind is not None and rule.role == "other" and not rule.prepared:
        wrong(
            "kind", "The column is kept unchanged, so its kind has no effect.", f'kind = "{rule.kind}"', "leave it out."
        )
    if rule.kind == "ordinal" and rule.order is None and rule.role != "identifier":
        wrong("order", "An ordinal column needs its order: the categories from lowest to highest.", "none")
    if rule.order is not None and rule.kind != "ordinal":
        wrong("order", "Only an ordinal column has an order.", f"kind = {rule.kind or 'none'}", "leave it out.")
    if rule.order is not None and rule.role == "confidential" and (twice := _same_values(rule.order)):
        what = (
            "The order of a confidential column must name each value once; upper case, blanks and leading "
            "zeros do not make a value distinct."
        )
        wrong(
            "order",
            what,
            f"{twice:,} that repeat another one in a different spelling",
            "unify the spellings in the data.",
        )
    if rule.decimals is not None and (rule.role, rule.kind) != ("quasi", "numeric"):
        wrong("decimals", "decimals applies only to numeric quasi-identifiers.", _is(rule), "leave it out.")
    if rule.format is not None and (rule.kind != "datetime" or rule.role == "identifier"):
        wrong(
            "format", "Only a column of dates or times has a format.", f"kind = {rule.kind or 'none'}", "leave it out."
        )
    elif rule.format is not None:
        _check_format(rule.format, wrong)
    _check_words(rule, wrong)
    for key in ("l", "entropy", "t", "noise"):
        if getattr(rule, key) is not None and rule.role != "confidential":
            wrong(key, "Only confidential columns can be guarded.", _is(rule), 'role = "confidential"?')
    if rule.noise is not None and rule.role == "confidential" and rule.kind not in ("numeric", "integer"):
        wrong("noise", "Noise can be added to numbers only.", f'kind = "{rule.kind}"')
    if rule.noise is not None and rule.guarded:
        what = (
            "Noise applies to groups in which the column is constant: l and entropy leave no such group, and "
            "noise would change t."
        )
        wrong("noise", what, "one of these, too", "leave one out.")


def _same_values(order: tuple[str, ...]) -> int:
    """How many categories are one value with another one."""
    from ..tables.text_keys import text_key

    return len(order) - len({text_key(text) for text in order})


def _check_words(rule: ColumnRule, wrong: Callable[..., None]) -> None:
    """The words for yes and no in a boolean column: both, and no word for both."""
    given = [key for key in ("true", "false") if getattr(rule, key) is not None]
    if given and (rule.kind != "boolean" or rule.role == "identifier"):
        wrong(
            given[0],
            "Only a boolean column has true and false words.",
            f"kind = {rule.kind or 'none'}",
            "leave it out.",
        )
    elif len(given) == 1:
        other = "false" if given == ["true"] else "true"
        wrong(given[0], "true and false must be given together.", f"no {other}", f'{other} = ["…"]')
    elif set(rule.true or ()) & set(rule.false or ()):
        wrong("true", "A word must mean either true or false.", "a word in both lists")


_LETTERS = {
    "yyyy": "%Y", "jjjj": "%Y", "aaaa": "%Y", "yy": "%y", "jj": "%y", "mmmm": "%B", "mmm": "%b", "mm": "%m", "m": "%m",
    "dd": "%d", "tt": "%d", "d": "%d", "hh": "%H", "ss": "%S", "mi": "%M", "nn": "%M",
}  # fmt: skip


def _check_format(form: str, wrong: Callable[..., None]) -> None:
    """A format as strptime knows it: letters of other programs would be taken for text that every date holds."""
    parts = re.findall(r"%[-#]?(.)", form.replace("%%", ""))
    unknown = [part for part in parts if part not in "aAbBcdDfFGHIjmMnpSTuUVwWxXyYzZ"]
    others = re.sub(r"%[-#]?.", " ", form)
    if parts and not unknown and "%" not in others and not re.search(r"(?i)dd|mm|yy|jj|tt|hh", others):
        return
    what = 'A format writes each part of a date with a percent sign, such as "%d.%m.%Y".'
    wrong("format", what, f"'{form}'" if len(form) <= 40 else "another text", f'format = "{_translated(form)}"?')


def _translated(form: str) -> str:
    """What a format of another program probably means."""
    known = re.sub(
        r"(?i)y+|j{2,}|a{2,}|m+|d+|t{2,}|h+|s+|n+", lambda found: _LETTERS.get(found[0].lower(), found[0]), form
    )
    hours = known.find("%H")
    if hours >= 0:  # after hours, mm are minutes
        known = known[:hours] + known[hours:].replace("%m", "%M")
    return known if "%" in known and "%" not in form and len(known) <= 40 else "%d.%m.%Y"


def _is(rule: ColumnRule) -> str:
    return f'role = "{rule.role}"' + (f', kind = "{rule.kind}"' if rule.kind else "")


def _check_strata(recipe: Recipe, mistakes: list[Mistake]) -> None:
    for name in recipe.within:
        rule = recipe.columns.get(name)
        if rule is None and name in recipe.columns:
            continue
        if rule is None:
            mistakes.append(
                Mistake(
                    ("strata", "within"),
                    "Strata must be columns of the table.",
                    f"'{name}'",
                    close_to(name, list(recipe.columns)),
                )
            )
        elif rule.role != "quasi":
            what = "A stratum column must be a quasi-identifier."
            mistakes.append(
                Mistake(
                    ("strata", "within"), what, f"'{name}' of role \"{rule.role}\"", f'[columns.{name}] role = "quasi"'
                )
            )
    if recipe.quasi and set(recipe.quasi) <= set(recipe.within):
        what = "There must be a quasi-identifier besides the strata, to be microaggregated."
        mistakes.append(Mistake(("strata", "within"), what, "all quasi-identifiers"))


def _check_weights(recipe: Recipe, mistakes: list[Mistake]) -> None:
    if recipe.weights is None:
        return
    name = recipe.weights.column
    rule = recipe.columns.get(name)
    if rule is None and name in recipe.columns:
        return
    if rule is None:
        mistakes.append(
            Mistake(
                ("weights", "column"),
                "The weights must be a column of the table.",
                f"'{name}'",
                close_to(name, list(recipe.columns)),
            )
        )
    elif rule.role not in ("other", "identifier"):
        what = "Weights can be kept or dropped, but not masked."
        mistakes.append(
            Mistake(("weights", "column"), what, _is(rule), 'role = "other" keeps it, "identifier" drops it.')
        )
    if recipe.centre == "medoid":
        mistakes.append(
            Mistake(
                ("weights", "column"), "A medoid is an observed record, so weights have no effect.", 'centre = "medoid"'
            )
        )


_METHODS_FOR_UNITS = ("auto", "mdav")


def _check_unit(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """A unit is a column that is kept or dropped; what forms groups must know how to count it."""

    def wrong(path: tuple[str, ...], what: str, got: str, hint: str | None = None) -> None:
        mistakes.append(Mistake(path, what, got, hint))

    name = recipe.unit_column
    if recipe.unit is not None and name is None and NO_UNIT in recipe.columns:
        what = f"'{NO_UNIT}' is ambiguous: it can mean that each record is a unit, or a column of that name."
        wrong(("unit", "column"), what, "a column of that name", "rename the column in the data.")
    if name is None or (name in recipe.columns and recipe.columns[name] is None):
        return
    rule = recipe.columns.get(name)
    if rule is None:
        close = close_to(name, list(recipe.columns))
        wrong(
            ("unit", "column"),
            "The unit must be a column of the table.",
            f"'{name}'",
            close or 'or "none": each record is a unit.',
        )
    elif rule.role == "quasi":
        what = "The unit is counted, so it cannot be microaggregated."
        wrong(("unit", "column"), what, _is(rule), 'role = "identifier" drops it, "other" keeps it.')
    elif recipe.weights is not None and recipe.weights.column == name:
        wrong(("unit", "column"), "A column cannot be both the unit and the weights.", f"'{name}' as both")
    elif recipe.unit is not None and recipe.unit.release is not None and rule.role != "identifier":
        what = "A pseudonym replaces an identifier."
        wrong(("unit", "release"), what, _is(rule), f'[columns.{name}] role = "identifier", or leave release out.')
    method = recipe.method.name
    if method not in _METHODS_FOR_UNITS:
        what = "With a unit, only methods that count units can be used: auto or mdav."
        wrong(("method", "name"), what, f"'{method}'", 'method = "auto", or [unit] column = "none".')
    if recipe.guard.rule == "t-first":
        what = "The rule 't-first' ignores units."
        wrong(("guard", "rule"), what, "a unit", 'use "merge" or "k-first".')
    if recipe.guard.regroup:
        what = "regroup counts records, not units."
        wrong(("guard", "regroup"), what, "a unit", "use l instead.")


def _check_scenarios(recipe: Recipe, mistakes: list[Mistake]) -> None:
    if not recipe.scenarios:
        return
    for name, scenario in recipe.scenarios.items():
        if scenario is None:
            continue
        for column in scenario.quasi:
            rule = recipe.columns.get(column)
            if rule is None and column in recipe.columns:
                continue
            if rule is None or rule.role != "quasi":
                got = f"'{column}'" if rule is None else f"'{column}' of role \"{rule.role}\""
                what = "A scenario must consist of quasi-identifiers."
                mistakes.append(Mistake(("scenarios", name, "quasi"), what, got, close_to(column, list(recipe.quasi))))
        if set(scenario.quasi) <= set(recipe.within):
            what = "A scenario must have a quasi-identifier besides the strata, which belong to every scenario."
            mistakes.append(Mistake(("scenarios", name, "quasi"), what, ", ".join(scenario.quasi)))
        if recipe.k is not None and scenario.k < recipe.k:
            what = "The k of a scenario must be at least the general k."
            mistakes.append(
                Mistake(("scenarios", name, "k"), what, f"{scenario.k}, and k = {recipe.k}", "lower k to it.")
            )
    if None in recipe.scenarios.values():
        return
    named = {column for scenario in recipe.scenarios.values() for column in scenario.quasi} | set(recipe.within)
    for column in recipe.quasi:
        if column not in named:
            what = "Every quasi-identifier must be in a scenario."
            mistakes.append(Mistake(("columns", column), what, "in none", 'name it in one, or give it role = "other".'))


def _check_method(recipe: Recipe, mistakes: list[Mistake]) -> None:
    try:
        method = find(recipe.method.name)
    except CoterieError as error:
        mistakes.append(Mistake(("method", "name"), error.what, error.got, error.hint))
        return
    if method.by_column:
        what = "The method must group whole records."
        mistakes.append(Mistake(("method", "name"), what, f"'{method.name}', which groups each column separately"))
    for name, value in recipe.method.params.items():
        try:
            method.check({name: value})
        except CoterieError as error:
            mistakes.append(Mistake(("method", name), error.what, error.got, error.hint))
    if method.only_columns is not None and _can_be_joined(recipe):
        for names, columns, _ in recipe.joined:
            if len(columns) != method.only_columns or any(recipe.columns[c].kind == "nominal" for c in columns):
                what = f"'{method.name}' takes a single quasi-identifier besides the strata, which must not be nominal."
                got = (", ".join(sorted(columns)) or "none") + _in(names, recipe)
                mistakes.append(Mistake(("method", "name"), what, got, '"auto" and most other methods take several.'))
    if method.only_k is not None:
        for name, scenario in recipe.promises.items():
            if scenario is not None and scenario.k != method.only_k:
                got = f"k = {scenario.k}" + (f" in scenario '{name}'" if recipe.scenarios else "")
                mistakes.append(
                    Mistake(("method", "name"), f"'{method.name}' works only for k = {method.only_k}.", got)
                )


def _can_be_joined(recipe: Recipe) -> bool:
    """Whether the scenarios could be read, and are made of columns that could be."""
    return all(s is not None for s in recipe.promises.values()) and all(
        recipe.columns.get(c) is not None for s in recipe.promises.values() for c in s.quasi
    )


def _in(names: Sequence[str], recipe: Recipe) -> str:
    return f" in scenario '{' + '.join(names)}'" if recipe.scenarios else ""


def _check_blocks(recipe: Recipe, mistakes: list[Mistake]) -> None:
    blocks = recipe.method.blocks
    if blocks is None:
        return
    largest = max((s.k for s in recipe.promises.values() if s is not None and s.k is not None), default=2)
    if isinstance(blocks, int) and blocks < 2 * largest:
        what = f"A block must have room for two groups, 2k = {2 * largest} records."
        mistakes.append(Mistake(("method", "blocks"), what, str(blocks)))


def _check_guard(recipe: Recipe, mistakes: list[Mistake]) -> None:
    guarded = [name for name, rule in recipe.columns.items() if rule is not None and rule.guarded]
    guard = recipe.guard
    if guard.rule != "merge" and not guarded:
        what = "A guard rule needs a confidential column with l, entropy or t."
        mistakes.append(Mistake(("guard", "rule"), what, "none", "give a column one of these, or leave the rule out."))
    if not guard.split and not guarded:
        what = "split needs a confidential column with l, entropy or t."
        mistakes.append(Mistake(("guard", "split"), what, "no such column", "leave it out."))
    if guard.regroup and not recipe.of_role("confidential"):
        what = "regroup needs a confidential column."
        mistakes.append(Mistake(("guard", "regroup"), what, "no confidential column"))
    elif guard.regroup and all(r.l or r.entropy for r in recipe.columns.values() if r and r.role == "confidential"):
        what = "regroup is for groups in which a confidential column is constant; l and entropy leave no such group."
        mistakes.append(
            Mistake(("guard", "regroup"), what, "l or entropy for every confidential column", "leave it out.")
        )
    if guard.rule != "merge":
        if replace(recipe.method, blocks=None) != type(recipe.method)():
            what = f"The rule '{guard.rule}' forms the groups itself, so a method has no effect."
            mistakes.append(
                Mistake(("guard", "rule"), what, f"method '{recipe.method.name}'", 'rule = "merge" takes any method.')
            )
        if guard.regroup:
            mistakes.append(
                Mistake(
                    ("guard", "regroup"), f"The rule '{guard.rule}' forms the groups itself, so this has no effect."
                )
            )
    if guard.rule == "t-first":
        ordered = [n for n in guarded if recipe.columns[n].kind not in ("nominal", "boolean")]
        if len(guarded) != 1 or len(ordered) != 1 or recipe.columns[guarded[0]].t is None:
            what = "The rule 't-first' needs exactly one confidential column, ordered and with t."
            mistakes.append(
                Mistake(("guard", "rule"), what, f"{len(guarded)} guarded columns", 'use "merge" or "k-first".')
            )


def no_such_columns(named: int, there: int) -> Mistake:
    """What to say where no column has a name that was given: what a file has in their place may be a record."""
    what = "The table must have every column that is named."
    got = f"none of {named} among its {there} columns"
    hint = (
        "does the first line hold the names of the columns? If it is a record, say names in [file] "
        "(--read header=false --read names=a,b,…)."
    )
    return Mistake(("columns",), what, got, hint)
