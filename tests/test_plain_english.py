"""Plain English: phrases that must not come back, with what to write instead.

PROSE is for documentation, MESSAGES for what the program says (messages, help, reports, the page).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

EVERYWHERE = [
    (
        r"\bOf all that is random\b|; else the (?:recipe|file|table)'s\b",
        "Default: the recipe's, or a new one.",
    ),
    (
        r"\bloses nothing, 100\b",
        "give the range: 0 %: values unchanged; 100 %: one common value for all",
    ),
    (r"\bBest of its kind\b|\bnone is better in\b", "on the risk-utility frontier (not dominated)"),
    (r"\bWarm with a\b|\bstronger upwards\b", "orange, +: correlation increased"),
    (r"\beach as one group, don't\b|\bGot: others\b", "say what was given"),
    (r"\bif it is there\b", "for every member"),
    (r"\bthe way of the data\b", "data flow"),
    (r"\bhow far it is\b", "Show a progress bar."),
    (r"\bthe first of equal\b|\bof equal ones\b", "ties go to the first"),
    (r"\bkept and guarded\b", "kept unchanged; classes where it is constant are counted and reported"),
    (r"\b(?:researcher|custodian)'s (?:way|face|tool)\b|\bthin face\b", "for research, for custodians"),
    (r"\bsays? (?:all )?there is to say\b|\bthere is to say\b", "cannot be combined with"),
    (r"\bcould not be hidden\b|\bhides? among\b", "set to missing (local suppression); smallest equivalence class"),
    (r"\bwith the same gaps\b", "every pattern of missing values"),
    (r"\bone a line\b|\btaken off\.", "one per line; removed"),
    (r"\btell something\b|\bmay do\b(?=[.;,])", "disclose something; be enough"),
]

MESSAGES = [
    *EVERYWHERE,
    (r"\bwhoever\b", "anyone who, an intruder who"),
    (r"\b(?:at least|at most|up to|to|of) so many\b", "this many"),
    (r"\bhides? among\b|\bhides? in a group\b", "shares its values with; smallest equivalence class"),
    (r"\b(?:the same|fill|a|with|in|of) gaps?\b(?! in percent)", "missing values; optimality gap"),
    (r"\bwhat there is to say\b|\ball (?:that )?there is\b", "everything"),
    (r"\bis said (?:by|once|twice)\b", "is given"),
    (r"\bwith commas between\b", "comma-separated"),
    (r"\bof equal ones\b", "ties go to the first"),
    (r"\bhow far it is\b", "Show a progress bar."),
    (r"\bmust be texts\b|\blist of texts\b", "must be strings"),
    (r"\bwhich is none\b", "which is not one"),
    (r"(?<!There )\bis no (?:number|date|option|part|column|bundle)\b", "is not a"),
    (r"\bcome out\b|\bcame out\b", "are the same, differ"),
    (r"\bplain distances\b|\bdistances not squared\b", "Euclidean distances"),
    (r"\bTypical move\b|\bmasked so\b|\bBlanked\b", "the profession's terms"),
    (r"\bgroups? .{0,20}\bon its own\b|\bevery column alone\b", "each column separately"),
    (r"\bat the most\b|\bat the least\b", "at most, at least"),
]

PROSE = [
    *EVERYWHERE,
    (r"\bwhoever\b", "anyone who, an intruder who"),
    (r"(?:^|[.:;] )Who (?:knows|has|can|links|knew)\b", "Anyone who, An intruder who"),
    (r"\ball (?:that )?there is to\b", "everything"),
    (r"\bwhat there is\b", "say what it is"),
    (r"\bso many (?:records|different|values|columns|decimals|of)\b", "this many, at most n"),
    (r"\b(?:at least|at most|up to|about|to) so many\b", "at least this many, at most this many"),
    (r"\bof equal ones\b|\bof several the first\b|\bof equally\b", "ties go to the first"),
    (r"\bequal distances go\b", "ties go to the lowest index"),
    (
        r"(?:^|[.;] )Of (?:a|an|the|these|all|more|files|numbers|texts|CSV|whole|one|two|those|CSV and)\b[^.,;]{0,60},",
        "For a ..., In a ...",
    ),
    (r"(?<!optimality )\bgaps?\b(?!_)", "missing value; optimality gap"),
    (
        r"\bblank(?:ed|s|ing)\b(?= (?:value|cell|because|until|the few|further))|\bvalues? (?:are |were )?blanked\b",
        "set to missing (local suppression)",
    ),
    (
        r"\bhid(?:es?|den|ing) among\b|\bhides? (?:in|who)\b",
        "shares its quasi-identifiers with; smallest equivalence class",
    ),
    (r"\bkept and guarded\b", "kept unchanged; classes where it is constant are counted and reported"),
    (r"\bheld against\b|\bhold(?:s)? (?:the two|it|mu-approx) against\b", "compared with"),
    (r"\bas it is\b(?!,? so)|\bas they are\b(?=[.;,)])|\bas they were\b(?=[.;,)])", "unchanged"),
    (r"\bbut for\b", "except for, apart from"),
    (r"\bmust be given\b|\bmust be said\b", "required; must be set"),
    (r"\bsay so\b(?= if)|\bsays? (?:the engine|otherwise,|all that)\b", "set, choose"),
    (r"\basked for\b", "requested"),
    (
        r"\b(?:is|are|was|were) told\b|\btells? (?:it|no more|nothing|much|more|who)\b|\bmay tell\b|\bto tell who\b",
        "reported, shown; discloses",
    ),
    (r"\bgives? (?:it|them|itself) away\b|\bgive away\b", "discloses"),
    (r"\bknown without\b", "disclosed without"),
    (r"\bwhose care\b|\bmeanwhile\b", "plain statement"),
    (r"\blend(?:s|ing)?\b|\blent\b|\bborrow(?:s|ed)?\b", "records move from one pattern to another"),
    (r"\btwins?\b", "reference implementation"),
    (
        r"\bthe one door\b|\bmove in behind\b|\brooms? of the house\b|\brules of the house\b|\bhouse's rule\b"
        r"|\bformer house\b",
        "no metaphors",
    ),
    (r"\bresearcher's (?:way|face|tool)\b|\bcustodian's (?:way|face)\b|\bthin face\b", "for research, for custodians"),
    (r"\bpacked\b", "compressed"),
    (
        r"\bpart fields\b|\bno matter\b|\bif that can be\b|\bif need be\b|\bwhere wanted\b|\bsuch as need\b",
        "idiomatic English",
    ),
    (r"\bcomes? again\b", "repeats"),
    (
        r"\bcomes? out (?:the same|as|different|to)\b|\bcame out\b(?! the same)",
        "matches, is reproduced, is released as",
    ),
    (
        r"\b(?:is|are) no (?:numbers?|person|persons|identifiers?|sampling|"
        r"signature|cliff|probabilities|quasi-identifiers?|random|estimate|good|verdict|multiple)\b",
        "is not a ...",
    ),
    (r"\bnothing is left of\b|\bis gone\b|\bare gone\b", "lost, no longer occurs"),
    (r"\bfades?\b", "becomes rarer"),
    (r"\bdoubles outside\b|\bin a word\b", "plain statement"),
    (r"\bsuch that\b", "so that"),
    (r"\bdo as well\b|\bas ever\b", "also work; as usual"),
    (
        r"\bone file a\b|\bbytes a value\b|\bone line a\b|\bms a stratum\b|\brecord a block\b|\btemplate a page\b",
        "for each, per",
    ),
    (r"\bplain distances?\b|\bdistances not squared\b", "Euclidean distances"),
    (r"\b(?:lies?|lay) (?:in|where)\b(?= (?:its|the package|they))", "is in, is stored in"),
    (r"\blaid over\b|\blays? .{0,40} over each other\b", "combined"),
    (r"\bamounts and moments\b|\bamount or moment\b", "numbers and dates"),
    (r"\bby the clock\b", "wall time"),
    (r"\b(?:takes?|taken) for granted\b", "assumes"),
    (r"\bis what it was without\b", "is the same as none"),
    (r"\bwith commas between\b", "comma-separated"),
    (r"\bmasked so\b", "microaggregated"),
    (r"\bTypical move\b", "mean absolute change (IL1s)"),
    (r"\bmust be texts\b", "must be strings"),
]


def prose_of(text: str) -> Iterator[str]:
    """Paragraphs, list items and table cells without code, one line each."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"`[^`]*`", "X", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)|(?<!\\)\|", text):
        yield " ".join(block.split())


def messages_of(path: Path) -> Iterator[tuple[int, str]]:
    """String literals that are no docstrings, with their lines; placeholders become X."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and _documents(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "X" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def _documents(node: ast.AST) -> bool:
    first = node.body[0] if getattr(node, "body", None) else None  # type: ignore[attr-defined]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def found_in(text: str, phrases: list[tuple[str, str]]) -> list[str]:
    """What stands there that should not, and what to write instead."""
    out = []
    for pattern, better in phrases:
        match = re.search(pattern, text, 0 if pattern.startswith("(") else re.I)
        if match:
            out.append(f"'{match[0].strip()}': {better}  [{text[:80]}]")
    return out


PAGES = [
    *(
        ROOT / f"{name}.md"
        for name in ("README", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT", "ROADMAP", "CHANGELOG")
    ),
    *sorted((ROOT / ".github").rglob("*.md")),
    *sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")),
    *sorted((ROOT / "docs").rglob("*.rst")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PAGES = [page for page in PAGES if page.parent.name != "generated"]

# From the first versions: what people could not understand at once.
RIDDLES = """hides among 5 records
A recipe says all there is to say.
Of all that is random; else the recipe's, or one that is drawn.
with commas between
Column names must be texts. Got: others.
of equal ones the first
Whether to show how far it is.
up to so many records
kept and guarded
0 % loses nothing, 100 % all
Best of its kind: none is better in loss and in links
Loss by plain distances
Typical move (IL1s)
11 columns were masked so
Blanked because they could not be hidden
Warm with a plus: stronger upwards
the researcher's face
records found by whoever knows these of all
Of records with the same gaps, there must be at least k
Got: 1 strata, each as one group, don't
knows it, if it is there
rooms of the house, the way of the data"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documentation_is_in_plain_english(page: Path) -> None:
    found = [one for text in prose_of(page.read_text(encoding="utf-8")) for one in found_in(text, PROSE)]
    assert not found, "\n".join(found)


def test_messages_are_in_plain_english() -> None:
    sources = sorted((ROOT / "src" / "coterie").rglob("*.py"))
    found = [
        f"{path.relative_to(ROOT)}:{line}: {one}"
        for path in sources
        for line, text in messages_of(path)
        for one in found_in(" ".join(text.split()), MESSAGES)
    ]
    assert not found, "\n".join(found)


def test_pages_and_reports_are_in_plain_english() -> None:
    found = []
    for path in sorted((ROOT / "src" / "coterie").rglob("*.j2")):
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", path.read_text(encoding="utf-8"), flags=re.S)
        for block in re.split(r"<[^>]*>", text):
            found += [f"{path.name}: {one}" for one in found_in(" ".join(block.split()), MESSAGES)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text", RIDDLES.splitlines())
@pytest.mark.parametrize("phrases", [PROSE, MESSAGES], ids=["prose", "messages"])
def test_no_riddle_would_pass(phrases: list[tuple[str, str]], text: str) -> None:
    assert found_in(text, phrases)


@pytest.mark.parametrize(("phrases", "text"), [(PROSE, "Whoever knows it."), (MESSAGES, "at least so many values")])
def test_the_list_finds_what_it_lists(phrases: list[tuple[str, str]], text: str) -> None:
    assert found_in(text, phrases)
