"""Hints for those who have the page alone: the recipe's and the command line's names of things become the page's."""

from __future__ import annotations

import re
from collections.abc import Callable

ROLES = {"quasi": "Quasi-identifier", "confidential": "Confidential", "identifier": "Identifier", "other": "Other"}
KINDS = {
    "numeric": "number",
    "integer": "whole number",
    "ordinal": "ordered categories",
    "nominal": "categories",
    "datetime": "date or time",
    "boolean": "yes or no",
}
_OPEN = {
    "delimiter": "Delimiter",
    "decimal": "Decimal mark",
    "encoding": "Encoding",
    "header": "First line",
    "names": "Names of the columns",
    "missing": "Texts that mean missing",
    "thousands": "Between thousands",
    "prefix": "Before numbers",
    "suffix": "After numbers",
    "sheet": "Sheet",
}  # the fields of the page Open
_SIGNS = {",": "comma", ";": "semicolon", ".": "point", "\t": "tab", " ": "blank"}
_ANY = "|".join(KINDS)
_VALUE = r"""("[^"]*"|'[^']*'|\[[^\]]*\]|true|false)"""

Rule = tuple[str, str | Callable[[re.Match[str]], str]]


def _field(found: re.Match[str]) -> str:
    """A field of the page Open, and what to write there."""
    name, value = found["name"], found["value"]
    if name == "header":
        return "that the first line is a record" if value == "false" else "that the first line holds the names"
    listed = [_SIGNS.get(one, one) for one in re.findall(r"[\"']([^\"']*)[\"']", value) if one not in ("", "…")]
    return f"“{_OPEN[name]}” on the page Open" + (f": {', '.join(listed)}" if listed else "")


_RULES: tuple[Rule, ...] = (
    (
        r'\[missing\] small = "merge" or "suppress" \([^)]*\), or policy = "group"',
        "on the page Promise, under “Missing values”, merge or suppress where they are few, or fill them",
    ),
    (
        r'\[missing\] policy = "own-value" or "group"( \([^)]*\))?',
        "on the page Promise, under “Missing values”, keep them missing, or fill them",
    ),
    (
        r'\[strata\] small = "merge" or "suppress"',
        "on the page Promise, under “Strata”, let small ones be merged or left out",
    ),
    (
        r'\[unit\] column = ".*?" counts different values.*; \[unit\] column = "none" counts records.*\(--unit none\)',
        "say on the page Promise what k counts: different values of a column, or records",
    ),
    (
        r'\[file\] formulas = "neutralize" puts an apostrophe before them, "keep" leaves them',
        "on the page Promise, under “More settings”, let an apostrophe be put before them, or let them be",
    ),
    (r"--force replaces it", "give another name, or tick the box to replace it"),
    (r"name (another|one) with --read sheet=NAME", r"name \1 as “Sheet” on the page Open"),
    (r"verify the bundle, with --input to count them again", "check its bundle instead"),
    (r"--input FILE counts them again", "giving the original file counts them again"),
    (r"--input FILE repeats it", "giving the original file repeats it"),
    (
        r"the draft leaves this decision to you, for the reason given above it\. Write your decision here",
        "it is to be decided",
    ),
    (
        r"only a recipe can say the order of its categories: .*",
        "in which order are its categories? Its own page asks for it",
    ),
    (r"only a recipe can say its format, (.*)", r"how are its dates written, \1? Its own page asks for it"),
    (r" \((?:[^()]|\([^()]*\))*--[a-z](?:[^()]|\([^()]*\))*\)", ""),
    (rf"(?:\[file\] )?\b(?P<name>{'|'.join(_OPEN)}) = (?P<value>{_VALUE})", _field),
    (r"\[file\] encoding", "“Encoding” on the page Open"),
    (rf'\bkind = "({_ANY})"', lambda m: f"the kind “{KINDS[m[1]]}”"),
    (rf'\brole = "({"|".join(ROLES)})"', lambda m: f"the role “{ROLES[m[1]]}”"),
    (r"\(nominal, or ordinal with their order\)", "(categories, or ordered categories)"),
    (rf"\(({_ANY}) or ({_ANY})\)", lambda m: f"({KINDS[m[1]]} or {KINDS[m[2]]})"),
    (rf"\(({_ANY})\)", lambda m: f"({KINDS[m[1]]})"),
    (rf'"({_ANY})"', lambda m: f"“{KINDS[m[1]]}”"),
    (rf'"({"|".join(ROLES)})"', lambda m: f"“{ROLES[m[1]]}”"),
    (r"or is it nominal\?", "or are they categories?"),
    (r"\bHint: ", "What helps: "),
)
_COMPILED = [(re.compile(pattern), said) for pattern, said in _RULES]


def on_page(text: str) -> str:
    """A text as the page says it."""
    for pattern, said in _COMPILED:
        text = pattern.sub(said, text)
    return text
