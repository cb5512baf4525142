"""Facts as JSON, and the JSON schema of each type: both are read off the dataclasses."""

from __future__ import annotations

import json
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from ..errors import printable_json

VERSION = 1  # of the documents; it grows when a key is renamed or removed


def document(facts: Any) -> Any:
    """Facts as JSON has them, with the version; of a sequence of facts, a list of such documents.

    Fields that had another name in version 0.1 are there by both names, for one version.
    """
    if isinstance(facts, (list, tuple)):
        return [document(one) for one in facts]
    return {"version": VERSION, **_plain(facts)}


def as_json(facts: Any) -> str:
    """The document as text."""
    return printable_json(json.dumps(document(facts), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """Objects, arrays, strings and finite numbers; null in place of NaN and infinities, which JSON does not know."""
    if is_dataclass(value):
        out = {field.name: _plain(getattr(value, field.name)) for field in _shown(type(value))}
        return out | {key: out[field] for key, field in _old(type(value)).items()}
    if isinstance(value, Mapping):
        return {str(key): _plain(inside) for key, inside in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inside) for inside in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _shown(cls: Any) -> list[Any]:
    return [field for field in fields(cls) if not field.name.startswith("_")]


def _old(cls: Any) -> Mapping[str, str]:
    names: Mapping[str, str] = getattr(cls, "old", {})
    return names


def schema(cls: type) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the documents of a type of facts."""
    parts: dict[str, Any] = {}
    whole = _described(cls, parts)
    whole["properties"] = {"version": {"const": VERSION}, **whole["properties"]}
    whole["required"] = ["version", *whole["required"]]
    known = {"$defs": dict(sorted(parts.items()))} if parts else {}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": cls.__name__, **whole, **known}


def _described(cls: Any, parts: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    properties = {field.name: _allowed(hints[field.name], parts) for field in _shown(cls)}
    properties |= {key: {**properties[field], "deprecated": True} for key, field in _old(cls).items()}
    return {
        "description": (cls.__doc__ or "").strip().splitlines()[0],
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SIMPLE = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}


def _allowed(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """What a value of that type may be."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return {}
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_allowed(one, parts) for one in inside]}
    if origin is tuple:
        return {"type": "array", "items": _allowed(inside[0], parts)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _allowed(inside[1], parts)}
    if hint.__name__ not in parts:
        parts[hint.__name__] = {}  # a type that holds itself would not end
        parts[hint.__name__] = _described(hint, parts)
    return {"$ref": f"#/$defs/{hint.__name__}"}
