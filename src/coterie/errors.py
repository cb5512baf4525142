"""Errors and warnings: what is wrong, what was given, and what to do about it; and the boundary that no others pass.

Libraries quote values in their messages: "Could not convert 'Smith' with type str". Every function and method that
users call stands behind `boundary`. An error that is not Coterie's own gets no farther than that: it is told by its
type and the lines of code that it came through, without its message, its cause and its context.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import unicodedata
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_PACKAGE = Path(__file__).parent
_ON_WINDOWS = os.name == "nt"
_SHOWN = 6  # places in a message; the innermost ones


def printable(text: str, lines: bool = False) -> str:
    r"""A text as it may be shown: what a terminal or a browser would obey, or not show, is written out, as in \x1b.

    These are control characters, marks that turn the direction of writing, characters without width, and halves of
    characters. Names of columns and categories can hold anything.

    Parameters
    ----------
    text : str
    lines : bool
        Whether line ends are meant, as between the lines of a report, and stay.
    """
    return _with_escapes(text, lines, lambda sign: sign.encode("unicode_escape", "backslashreplace").decode("ascii"))


def printable_json(text: str) -> str:
    r"""JSON as it may be shown: the same, with \u escapes, so that it still means what it meant.

    Beyond line ends, such characters stand in quotes alone.
    """
    return _with_escapes(text, True, lambda sign: json.dumps(sign)[1:-1])


def printable_toml(text: str) -> str:
    r"""TOML as it may be shown: the same, with \u escapes. They stand in basic strings or comments alone."""
    return _with_escapes(
        text, True, lambda sign: f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
    )


def _with_escapes(text: str, lines: bool, escape: Callable[[str], str]) -> str:
    odd = {sign for sign in set(text) if not sign.isprintable() and unicodedata.category(sign) != "Zs"}  # blanks stay
    odd -= {"\n"} if lines else set()
    return text.translate({ord(sign): escape(sign) for sign in odd}) if odd else text


def in_shell(option: str, value: str) -> str:
    """An option with its value as one types it in a shell, in quotes where names hold blanks and the like."""
    bare = all(sign.isalnum() or sign in "_-.=,:/%+@" for sign in value) and bool(value)
    if _ON_WINDOWS and not set(value) & set('"$`%'):  # in double quotes, both of its shells take it as it is
        plain = value.replace("\\", "/").replace(":/", "/", 1)
        bare = all(sign.isalnum() or sign in "_-.=/+@" for sign in plain) and bool(value)
        return f"{option} {value}" if bare else f'{option} "{value}"'
    return f"{option} {value if bare else shlex.quote(value)}"


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

    _lines = False  # whether the message has several

    def __init__(self, what: str, got: str | None = None, hint: str | None = None) -> None:
        self.what, self.got, self.hint = what, got, hint
        parts = [what]
        if got is not None:
            parts.append(f"Got: {got}" if got.endswith(".") else f"Got: {got}.")
        if hint is not None:
            parts.append(f"Hint: {hint}")
        super().__init__(printable(" ".join(parts), self._lines))

    def __reduce__(self) -> tuple[type[CoterieError], tuple[str, str | None, str | None]]:
        """Pickle by the three parts, so that the error survives a process pool."""
        return type(self), (self.what, self.got, self.hint)


class PromiseError(CoterieError):
    """The promise cannot be kept, so no release is made."""


class UnexpectedError(CoterieError):
    """An unexpected failure, most likely a bug: it tells where it happened and nothing about the data.

    Attributes
    ----------
    kind : str
        The type of the error.
    places : tuple of str
        The lines of code that it came through, the innermost last.
    """

    kind: str = ""
    places: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: BaseException) -> UnexpectedError:
        """What may be said of an error."""
        kind, places = type(error).__name__, _places(error.__traceback__)
        if isinstance(error, UnexpectedError):  # from a boundary inside
            kind, places = error.kind, (*places, *error.places)
        hint = "this is a bug in Coterie: please report it, with these lines of code, and without your data."
        made = cls("Coterie failed.", f"{kind} at {' > '.join(places[-_SHOWN:])}", hint)
        made.kind, made.places = kind, places
        return made


class PrivacyWarning(UserWarning):
    """The result is valid, but something weakens the protection that readers may expect."""

    def __init__(self, *words: object) -> None:
        super().__init__(*(printable(word) if isinstance(word, str) else word for word in words))


def warn_of_privacy(words: str) -> None:
    """Warn whoever called Coterie, at the line that did: Python shows a warning once for each line."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(words, PrivacyWarning, stacklevel=level)


# What a handler of a library's errors lets pass: Coterie's own, and those that have nothing to do with the data
NOT_OF_THE_DATA = (CoterieError, MemoryError, ImportError)
_PASSING = (CoterieError, PrivacyWarning, DeprecationWarning)


def boundary(function: Callable[P, T]) -> Callable[P, T]:
    """Let no error of a library pass with its words: it becomes one of Coterie's, without cause and context.

    Coterie's own errors pass, and so do interrupts; whatever they were raised from stays behind.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            ours = isinstance(error, _PASSING) and not isinstance(error, UnexpectedError)
            if ours or _is_call(error):
                error.__cause__ = error.__context__ = None
                raise
            told = told_of(error)
        except BaseException as stop:  # Ctrl-C
            stop.__cause__ = stop.__context__ = None
            raise
        del args, kwargs  # some notebooks show what the frames of an error hold
        raise told

    return run


def told_of(error: BaseException) -> Exception:
    """The error that is raised instead of one that is not Coterie's."""
    if isinstance(error, MemoryError):
        return MemoryError("There is not enough memory.")
    if isinstance(error, ImportError):
        what = "All libraries that Coterie needs must load."
        hint = "the installation is incomplete, or there is not enough memory (ulimit -v)."
        return CoterieError(what, f"{type(error).__name__} of '{error.name}'" if error.name else None, hint)
    if isinstance(error, SystemError):  # of Python itself, as where a library can't be loaded whole
        what = "Python or a library that Coterie needs failed."
        return CoterieError(what, type(error).__name__, "is there enough memory (ulimit -v)?")
    if isinstance(error, OSError):
        if error.errno and error.errno > 0:
            return CoterieError("The system refused to read or write.", os.strerror(error.errno))
        what = "The system must let Coterie read, write, and load its libraries."
        return CoterieError(what, type(error).__name__, "is there enough memory (ulimit -v)?")
    return UnexpectedError.of(error)


def _is_call(error: Exception) -> bool:
    """Whether a function was called with the wrong arguments: Python names them, and nothing has begun."""
    trace = error.__traceback__
    return isinstance(error, TypeError) and trace is not None and trace.tb_next is None


def _places(trace: TracebackType | None) -> tuple[str, ...]:
    out = []
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        inside = path.relative_to(_PACKAGE) if path.is_relative_to(_PACKAGE) else Path(*path.parts[-2:])
        if inside != Path("errors.py"):
            out.append(f"{inside.as_posix()}:{trace.tb_lineno}")
        trace = trace.tb_next
    return tuple(out)
