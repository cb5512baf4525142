"""What somebody asks for: a session, a path, a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from ..errors import CoterieError
from .guard import MOST_FIELDS
from .session import Session


class Form:
    """The fields of a form or of a query."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields: dict[str, list[str]] = {}
        for name, value in fields:
            self._fields.setdefault(name, []).append(value)

    @classmethod
    def parse(cls, body: bytes) -> Form:
        """A form as browsers send it."""
        try:
            text = body.decode("ascii")
            return cls(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
        except ValueError:  # UnicodeError is one
            raise CoterieError("A form must be as browsers send it.") from None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All fields, those of a name together."""
        return tuple((name, value) for name, values in self._fields.items() for value in values)

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def text(self, name: str, default: str = "") -> str:
        """A field without blanks around it; line ends as \\n."""
        return self.raw(name, default).replace("\r\n", "\n").strip()

    def raw(self, name: str, default: str = "") -> str:
        """A field as it is: a delimiter may be a blank."""
        return self._fields.get(name, [default])[0]

    def texts(self, name: str) -> list[str]:
        """All fields of a name."""
        return list(self._fields.get(name, ()))

    def lines(self, name: str) -> list[str]:
        """The lines of a field, without empty ones."""
        return [line.strip() for line in self.text(name).split("\n") if line.strip()]

    def number(self, name: str, default: int = 0) -> int:
        """A whole number that a link or a button of ours has sent."""
        found = whole(self.text(name))
        return default if found is None else found


def whole(text: str) -> int | None:
    """A whole number, if the text is one of a size that our pages send; there are digits that are no numbers."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@dataclass
class Asked:
    """A request that has passed the guard."""

    session: Session
    method: str
    path: str
    parts: Mapping[str, str]
    query: Form
    form: Form
    problem: CoterieError | None = None  # of the form that was sent, for the page that is shown again
    stop: object = field(default=None, repr=False)  # ends the server

    def number(self, name: str) -> int:
        """A number in the path."""
        found = whole(self.parts[name])
        if found is None:
            raise CoterieError("There must be something at this address.", "nothing")
        return found
