"""Recipe: read from TOML or Python, checked as a whole, written as TOML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import CoterieError, boundary, printable, printable_toml
from . import rules
from .fields import AT_LEAST_0, AT_LEAST_2, FLAG, Mistake, ask, one_of, read_section, shown
from .lines import has_long_names, line_of
from .previous_rules import seen_from
from .risk_rules import k_of_risk, read_k, risk_alone, written
from .sections import (
    AnalysisRule,
    ColumnRule,
    FileRule,
    GuardRule,
    MethodRule,
    MissingRule,
    OutputRule,
    PopulationRule,
    PreviousRule,
    PromiseRule,
    ScenarioRule,
    StrataRule,
    UnitRule,
    WeightsRule,
)


class RecipeError(CoterieError):
    """All mistakes in a recipe.

    Attributes
    ----------
    mistakes : list of Mistake
        Where, what must hold, what was given, what to do.
    """

    _lines = True

    def __init__(self, mistakes: Sequence[Mistake], where: str = "the recipe", text: str | None = None) -> None:
        self.mistakes, self._found_in = list(mistakes), (where, text)
        listed = [_sentence(m, text) for m in mistakes]
        many = f"There are {len(listed)} mistakes in {where}:" if len(listed) > 1 else f"There is a mistake in {where}:"
        super().__init__("\n  ".join([many, *listed]))

    def __reduce__(self) -> Any:
        """Pickle by the mistakes and the text that they were found in."""
        return type(self), (self.mistakes, *self._found_in)


def _sentence(mistake: Mistake, text: str | None) -> str:
    line = line_of(text, mistake.path) if text is not None else None
    place = ".".join(mistake.path) or "the whole"
    parts = [f"line {line}, {place}: {mistake.what}" if line else f"{place}: {mistake.what}"]
    if mistake.got is not None:
        parts.append(f"Got: {mistake.got}.")
    if mistake.hint is not None:
        parts.append(f"Hint: {mistake.hint}")
    return printable(" ".join(parts))


@dataclass(frozen=True)
class _Whole:
    """The options that stand outside every section."""

    k: int | None = ask(AT_LEAST_2, None)  # or what follows from a risk
    centre: str = ask(one_of("mean", "medoid"), "mean")
    shuffle: bool = ask(FLAG, True)
    seed: int | None = ask(AT_LEAST_0, None)


_SECTIONS = {
    "promise": (PromiseRule, None, "risk"),
    "method": (MethodRule, "params", "name"),
    "strata": (StrataRule, None, "within"),
    "missing": (MissingRule, None, "policy"),
    "weights": (WeightsRule, None, "column"),
    "population": (PopulationRule, None, None),
    "unit": (UnitRule, None, "column"),
    "guard": (GuardRule, None, "rule"),
    "previous": (PreviousRule, None, None),
    "file": (FileRule, "options", None),
    "output": (OutputRule, None, None),
}  # the section, the field that takes all other keys, and the one that may be given alone


@dataclass(frozen=True, init=False)
class Recipe:
    """The role of every column of a table, and how the table is to be protected.

    Parameters
    ----------
    columns : mapping
        For every column of the table a `ColumnRule`, or a mapping of its fields, such as
        ``{"age": {"role": "quasi", "kind": "integer"}, "name": {"role": "identifier"}}``.
    k : int
        The size of the smallest equivalence class.
    promise : mapping, optional
        Instead of k: {"risk": 0.09}, the largest re-identification risk. `k` is then the smallest that achieves it,
        here 12.
    centre : {"mean", "medoid"}
        Released value of a group: the mean, the rounded mean, the median category, the most frequent category or the
        mean date, depending on the kind; or the observed record nearest to the centre.
    shuffle : bool
        Whether rows are released in a random order.
    seed : int, optional
        Random seed. Default: drawn at random and kept in the release's recipe.
    method, strata, missing, weights, population, unit, guard, previous, file, output : mapping
        The sections of the same names: `MethodRule`, `StrataRule`, `MissingRule`, `WeightsRule`, `PopulationRule`,
        `UnitRule`, `GuardRule`, `PreviousRule`, `FileRule`, `OutputRule`.
    scenarios : mapping of mappings
        Several sets of quasi-identifiers, each with its own k, all of which must hold: `ScenarioRule`.
    analysis : mapping of mappings
        Analyses to run before and after: `AnalysisRule`.

    Raises
    ------
    RecipeError
        Lists all mistakes at once.
    """

    k: int
    promise: PromiseRule | None
    columns: Mapping[str, ColumnRule]
    centre: str
    shuffle: bool
    seed: int | None
    method: MethodRule
    strata: StrataRule | None
    missing: MissingRule
    weights: WeightsRule | None
    population: PopulationRule | None
    unit: UnitRule | None
    guard: GuardRule
    previous: PreviousRule | None
    file: FileRule
    output: OutputRule
    scenarios: Mapping[str, ScenarioRule] = field(default_factory=dict)
    analysis: Mapping[str, AnalysisRule] = field(default_factory=dict)

    def __init__(self, /, **document: Any) -> None:  # a file may hold any name, "self" too
        mistakes: list[Mistake] = []
        values = _read(document, mistakes)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        rules.check(self, mistakes)
        if mistakes:
            raise RecipeError(mistakes)

    @classmethod
    @boundary
    def loads(cls, text: str, where: str = "the recipe", folder: str | Path | None = None) -> Recipe:
        """Read a recipe from TOML text; paths of earlier releases are relative to `folder`, if given."""
        import tomllib

        if has_long_names(text):
            raise CoterieError(f"{where} must be TOML.", "names nested too deeply")
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise CoterieError(f"{where} must be TOML.", str(error)) from None
        except ValueError:  # Python reads no longer ones
            raise CoterieError(f"{where} must be TOML.", "a number with thousands of digits") from None
        except RecursionError:
            raise CoterieError(f"{where} must be TOML.", "lists or tables nested too deeply") from None
        try:
            recipe = cls(**document if folder is None else seen_from(folder, document))
        except RecipeError as error:
            mistakes = error.mistakes
        else:
            object.__setattr__(recipe, "_read_from", (where, text))
            return recipe
        raise RecipeError(mistakes, where, text)

    @classmethod
    @boundary
    def load(cls, path: str | Path) -> Recipe:
        """Read a recipe from a TOML file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise CoterieError(f"The recipe '{path}' cannot be read.", error.strerror) from None
        except UnicodeDecodeError:
            raise CoterieError(f"The recipe '{path}' must be UTF-8.") from None
        return cls.loads(text, f"'{path.name}'", path.parent)

    def dumps(self) -> str:
        """The recipe as TOML: what differs from the defaults, and every column."""
        import tomlkit

        return printable_toml(tomlkit.dumps(self.as_dict()))

    def save(self, path: str | Path) -> None:
        """Write the recipe as TOML."""
        from ..formats.atomic import atomically

        atomically(Path(path), self._write)

    def _write(self, path: str) -> None:
        Path(path).write_text(self.dumps(), encoding="utf-8", newline="\n")

    def as_dict(self) -> dict[str, Any]:
        """The recipe as `Recipe(**document)` takes it."""
        document: dict[str, Any] = {"k": self.k} if self.promise is None else {}
        for name in ("centre", "shuffle", "seed"):
            if getattr(self, name) != _default(_Whole, name):
                document[name] = getattr(self, name)
        for name, (cls, rest, _) in _SECTIONS.items():
            section = getattr(self, name)
            if section is not None and section != _plain(cls):
                document[name] = _differing(section, rest)
        document["columns"] = {name: _differing(rule) for name, rule in self.columns.items()}
        if self.scenarios:
            document["scenarios"] = {name: written(_differing(rule)) for name, rule in self.scenarios.items()}
        if self.analysis:
            document["analysis"] = {name: _differing(rule) for name, rule in self.analysis.items()}
        return document

    def with_seed(self, seed: int) -> Recipe:
        """The same with a certain seed."""
        return Recipe(**{**self.as_dict(), "seed": seed})

    def of_role(self, role: str) -> tuple[str, ...]:
        """The names of the columns of a role."""
        return tuple(name for name, rule in self.columns.items() if rule is not None and rule.role == role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, those that no group may mix included."""
        return self.of_role("quasi")

    @property
    def within(self) -> tuple[str, ...]:
        """The columns whose values no group may mix."""
        return self.strata.within if self.strata is not None else ()

    @property
    def unit_column(self) -> str | None:
        """The column whose different values are counted to k; None where records are."""
        return None if self.unit is None or self.unit.column == rules.NO_UNIT else self.unit.column

    @property
    def importance(self) -> dict[str, float]:
        """The weights of quasi-identifiers in squared distances, where they are not 1."""
        given = {name: self.columns[name].importance for name in self.quasi}
        return {name: weight for name, weight in given.items() if weight is not None and weight != 1.0}

    @property
    def pseudonym(self) -> str | None:
        """The column of units, where a pseudonym is released in place of each identifier."""
        return None if self.unit is None or self.unit.release is None else self.unit_column

    @property
    def released(self) -> dict[str, str]:
        """The columns that are released, by the names of the input, and what they are called in the release."""
        kept = {n: r for n, r in self.columns.items() if r.role != "identifier" or n == self.pseudonym}
        return {name: rule.rename or name for name, rule in kept.items()}

    @property
    def promises(self) -> dict[str, ScenarioRule]:
        """The scenarios; where none is named, all quasi-identifiers together."""
        return dict(self.scenarios) or {"all": ScenarioRule(self.quasi, self.k)}

    @property
    def joined(self) -> list[tuple[list[str], set[str], int]]:
        """The scenarios' names, masked columns and largest k, joined where they share a column that is masked."""
        joined: list[tuple[list[str], set[str], int]] = []
        for name, scenario in self.promises.items():
            names, columns, k = [name], set(scenario.quasi) - set(self.within), scenario.k
            for other in [j for j in joined if j[1] & columns]:
                joined.remove(other)
                names, columns, k = other[0] + names, other[1] | columns, max(other[2], k)
            joined.append((names, columns, k))
        return joined

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a table with a column that the recipe doesn't name, or without one that it does."""
        if not any(name in self.columns for name in names):
            mistake = rules.no_such_columns(len(self.columns), len(names))
            raise RecipeError([mistake], *getattr(self, "_read_from", ()))
        mistakes = [
            Mistake(("columns", name), "The recipe must give every column of the table a role.", "no such entry",
                    'for example role = "identifier" drops it.')
            for name in names if name not in self.columns
        ] + [
            Mistake(("columns", name), "The table must have every column that the recipe names.", "no such column",
                    rules.close_to(name, names))
            for name in self.columns if name not in names
        ]  # fmt: skip
        if mistakes:
            raise RecipeError(mistakes, *getattr(self, "_read_from", ()))


def _read(document: Mapping[str, Any], mistakes: list[Mistake]) -> dict[str, Any]:
    """The fields of a recipe; mistakes are noted."""
    own = {f.name for f in fields(_Whole)}
    known = own | {"columns", "draft", "scenarios", "analysis"} | set(_SECTIONS)
    if document.get("draft"):
        what = "A draft consists of suggestions that a person must decide on."
        mistakes.append(Mistake(("draft",), what, "draft = true", "check every line, then remove this one."))
    for name in document:
        if name not in known:
            hint = rules.close_to(name, sorted(known)) or f"the sections are {', '.join(sorted(known))}."
            mistakes.append(Mistake((name,), "This is not a section of a recipe.", None, hint))
    whole = read_section(_Whole, {n: v for n, v in document.items() if n in own and v is not None}, (), mistakes)
    values: dict[str, Any] = {f.name: getattr(whole, f.name, None) for f in fields(_Whole)}
    for name, (cls, rest, alone) in _SECTIONS.items():
        given = document.get(name)
        if given is None:
            values[name] = _plain(cls)
            continue
        if isinstance(given, cls):
            given = _differing(given, rest)
        elif alone is not None and not isinstance(given, Mapping):
            given = {alone: given}
        if cls is PromiseRule:
            given = risk_alone(given, mistakes)
        section = _section(cls, given, (name,), mistakes, rest)
        values[name] = _plain(cls) if section is None else section  # the mistake is noted; what else is wrong?
    for name, rule in (("columns", ColumnRule), ("scenarios", ScenarioRule), ("analysis", AnalysisRule)):
        values[name] = _mapping(rule, document.get(name), (name,), mistakes)
    values["k"] = read_k(values["k"], values["promise"], document, mistakes)
    values["scenarios"] = {
        name: None if rule is None else k_of_risk(rule, ("scenarios", name), mistakes)
        for name, rule in values["scenarios"].items()
    }
    if not document.get("columns"):
        mistakes.append(Mistake(("columns",), "The recipe must give the columns a role.", "none"))
    return values


_MEANT = {  # what may be meant by a single value
    "previous": 'for example [previous] groups = "stable", releases = [{ bundle = "first", input = "first.csv" }].',
    "population": "for example [population] fraction = 0.05.",
    "promise": "for example [promise] risk = 0.09.",
}


def _section(cls: Any, given: Any, path: tuple[str, ...], mistakes: list[Mistake], rest: str | None = None) -> Any:
    if not isinstance(given, Mapping):
        hint = _MEANT.get(path[0])
        mistakes.append(Mistake(path, "This must be a section with options.", shown(given), hint))
        return None
    return read_section(cls, given, path, mistakes, rest)


def _mapping(cls: Any, given: Any, path: tuple[str, ...], mistakes: list[Mistake]) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        mistakes.append(Mistake(path, "This must contain a section for every name.", shown(given)))
        return {}
    out = {}
    for name, entry in given.items():
        if isinstance(entry, str) and cls is ColumnRule:
            entry = {"role": entry}
        if isinstance(entry, cls):  # nothing was checked when it was made
            entry = written(_differing(entry))
        out[str(name)] = _section(cls, entry, (*path, str(name)), mistakes)
    return out


def _default(cls: Any, name: str) -> Any:
    return next(f.default for f in fields(cls) if f.name == name)


def _plain(cls: Any) -> Any:
    """A section that was not given: its defaults, or nothing where it needs more than these or says nothing."""
    if cls is PopulationRule or any(f.default is MISSING and f.default_factory is MISSING for f in fields(cls)):
        return None
    return cls()


def _differing(section: Any, rest: str | None = None) -> dict[str, Any]:
    """A section as a mapping of what differs from its defaults."""
    out: dict[str, Any] = {}
    for f in fields(section):
        value = getattr(section, f.name)
        if f.name == rest:
            out.update(value)
        elif f.default is MISSING or value != f.default:
            out[f.name] = list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, dict) else value
    return out
