"""Errors and warnings: what is wrong, what was given, and what to do about it."""

from __future__ import annotations


class CoterieError(ValueError):
    """Something that Coterie refuses to do.

    The message says what must hold, what was given instead (names, counts and types, never the
    value of a record) and, where there is one, a hint.

    Parameters
    ----------
    what : str
        What must hold, as a sentence.
    got : str, optional
        What was given instead.
    hint : str, optional
        What the caller can do.
    """

    def __init__(self, what: str, got: str | None = None, hint: str | None = None) -> None:
        self.what, self.got, self.hint = what, got, hint
        parts = [what]
        if got is not None:
            parts.append(f"Got: {got}" if got.endswith(".") else f"Got: {got}.")
        if hint is not None:
            parts.append(f"Hint: {hint}")
        super().__init__(" ".join(parts))

    def __reduce__(self) -> tuple[type[CoterieError], tuple[str, str | None, str | None]]:
        """Pickle by the three parts, so that the error survives a process pool."""
        return type(self), (self.what, self.got, self.hint)


class PromiseError(CoterieError):
    """What was asked for is understood, and cannot be kept: no release is made."""


class PrivacyWarning(UserWarning):
    """The result is valid, but something about it weakens what readers may take it to promise."""
