"""What `protect` prints as JSON: the facts of a release, which are internal, and beside them those that are public."""

from __future__ import annotations

from dataclasses import dataclass, field

from .public_facts import PublicFacts
from .release_facts import ReleaseFacts


@dataclass(frozen=True)
class ProtectFacts(ReleaseFacts):
    """All that there is to say of a release: internal, but for what stands under `public`."""

    public: PublicFacts = field(kw_only=True)
