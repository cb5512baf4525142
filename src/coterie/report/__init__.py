"""The facts of a release, shown as HTML (public and internal), terminal text and pictures. No record's value."""

from .html import render_compare, render_internal, render_public
from .public import public
from .text import as_table, as_text, terminal

__all__ = ["as_table", "as_text", "public", "render_compare", "render_internal", "render_public", "terminal"]
