"""Write the JSON schema of every document that Coterie prints or saves, from the dataclasses: `make schemas`."""

from __future__ import annotations

import json
from pathlib import Path

from coterie.facts import schema
from coterie.facts.bundle_facts import SealedManifest
from coterie.facts.comparison import Candidate
from coterie.facts.difference_facts import DifferenceFacts
from coterie.facts.protect_facts import ProtectFacts
from coterie.facts.public_facts import PublicFacts
from coterie.facts.release_facts import ReleaseFacts
from coterie.facts.result_facts import ResultFacts
from coterie.release.analyse import AnalysisReport
from coterie.release.assess import Assessment
from coterie.verification.verdict import VerdictFacts

FOLDER = Path(__file__).with_name("schemas")
DOCUMENTS: dict[str, type] = {
    "analyses": AnalysisReport,
    "assessment": Assessment,
    "candidate": Candidate,
    "difference": DifferenceFacts,
    "manifest": SealedManifest,
    "protect": ProtectFacts,
    "public": PublicFacts,
    "release": ReleaseFacts,
    "result": ResultFacts,
    "verdict": VerdictFacts,
}


def texts() -> dict[str, str]:
    """The name and the text of every schema."""
    return {name: json.dumps(schema(cls), indent=2, ensure_ascii=False) + "\n" for name, cls in DOCUMENTS.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
