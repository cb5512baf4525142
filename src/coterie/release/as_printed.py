"""What `protect` prints as JSON: all facts of a release, and beside them those that are public."""

from __future__ import annotations

from dataclasses import fields

from ..facts.protect_facts import ProtectFacts
from ..facts.release_facts import ReleaseFacts
from ..report.public import public


def with_public(facts: ReleaseFacts) -> ProtectFacts:
    """The facts, and under `public` what of them may be shown to others."""
    own = {field.name: getattr(facts, field.name) for field in fields(facts)}
    return ProtectFacts(**own, public=public(facts))
