"""Facts used to be dictionaries. For one version, their keys go on working, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar


class Keyed:
    """A frozen dataclass that can also be read by key: `facts["loss"]` is `facts.loss_percent`.

    `old` says which field an old key means, where the field's name is another.
    """

    old: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, old: Mapping[str, str] | None = None) -> None:
        cls.old = old or {}

    def keys(self) -> Iterator[str]:
        """The keys that the dictionary had."""
        named = {field: key for key, field in self.old.items()}
        return (named.get(field.name, field.name) for field in fields(self))  # type: ignore[arg-type]

    __iter__ = keys

    def __contains__(self, key: object) -> bool:
        return key in set(self.keys())

    def __getitem__(self, key: str) -> Any:
        field = self._field(key)
        if field is None:
            raise KeyError(key)
        warnings.warn(f'["{key}"] is deprecated: use .{field}.', DeprecationWarning, stacklevel=2)
        return self._value(field)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        field = self._field(key)
        if field is None:
            return default
        warnings.warn(f'get("{key}") is deprecated: use .{field}.', DeprecationWarning, stacklevel=2)
        return self._value(field)

    def values(self) -> Iterator[Any]:
        """The values."""
        return (self[key] for key in self)

    def items(self) -> Iterator[tuple[str, Any]]:
        """The keys with their values."""
        return ((key, self[key]) for key in self)

    def _field(self, key: str) -> str | None:
        return self.old.get(key, key) if key in self else None

    def _value(self, field: str) -> Any:
        value = getattr(self, field)
        if isinstance(value, Mapping) and any(isinstance(name, int) for name in value):  # keys of JSON are strings
            return {str(name): inside for name, inside in value.items()}
        return value


class Called(Keyed):
    """Facts that used to be a method: `facts()` gives the dictionary that it gave, without a warning."""

    def __call__(self) -> dict[str, Any]:
        """The facts as a dictionary, by their old names."""
        out: dict[str, Any] = _dictionary(self)
        return out


def _dictionary(value: Any) -> Any:
    if isinstance(value, Keyed):
        return {key: _dictionary(getattr(value, value.old.get(key, key))) for key in value}
    if isinstance(value, Mapping):
        return {name: _dictionary(inside) for name, inside in value.items()}
    return [_dictionary(inside) for inside in value] if isinstance(value, tuple) else value
