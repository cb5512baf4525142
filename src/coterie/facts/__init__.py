"""What is known of a result, a release, an assessment or a comparison: frozen dataclasses, units in the names.

Producers make them once; text, JSON and HTML are views of them. They hold no record's value.
"""

from .document import VERSION, as_json, document, schema

__all__ = ["VERSION", "as_json", "document", "schema"]
