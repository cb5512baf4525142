"""Arguments that have a new name: the old one is taken for one more version, with a warning."""

from __future__ import annotations

import warnings
from typing import Any

from ..errors import CoterieError


def renamed(old: str, given: Any, new: str, value: Any) -> Any:
    """The value of an argument that has a new name; the old one is taken for one more version."""
    if given is None:
        return value
    if value is not None:
        raise CoterieError(f"'{old}' is the old name of '{new}'.", "both", f"leave '{old}' out.")
    warnings.warn(f"'{old}' has been renamed to '{new}'.", DeprecationWarning, stacklevel=4)
    return given
