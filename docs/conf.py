"""How Sphinx builds the site: `make docs`. Nothing here asks the network for anything, nor do the built pages."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True  # what is in this folder ships

import generate  # noqa: E402
import tidy  # noqa: E402

import coterie  # noqa: E402

project = "Coterie"
author = "The Coterie developers"
project_copyright = "the Coterie developers. BSD-3-Clause"
version = release = coterie.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["reference/examples.md"]  # each example is on the page of its name
templates_path = ["_templates"]
nitpicky = True
default_role = "literal"  # as in Markdown
smartquotes = False  # values such as "memory" are to be copied

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4  # the names that links in the Markdown expect
suppress_warnings = ["myst.header", "misc.highlighting_failure"]  # the latter: … in a shortened recipe

autodoc_typehints = "none"  # numpydoc sections say what a parameter is
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Types of other packages: their inventories lie on the network.
nitpick_ignore_regex = [("py:.*", r"(?!coterie\.).*")]

html_theme = "pydata_sphinx_theme"
html_title = "Coterie"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # a page that is opened as a file may not fetch others
html_use_index = False  # the list of public names is the index
html_math_renderer = "text"
# Pages of one thing each have a short way back instead of a long list beside them; the whole must stay small.
html_sidebars = {"index": [], "gallery": [], "benchmark": [], "measures/*": [], "reference/generated/[A-Za-z_]*": []}
html_sidebars |= {f"reference/generated/{name}": ["sidebar-nav-bs"] for name in generate.LONG}
html_theme_options = {
    "logo": {"text": "Coterie"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "primary_sidebar_end": [],
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app):
    """Write the generated pages before the build, and clean the built ones after it."""
    app.add_html_math_renderer("text", (tidy.inline_math, None), (tidy.block_math, None))
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir)))
    app.connect("source-read", tidy.settle_links)
    app.connect("autodoc-process-docstring", generate.add_example, priority=100)
    app.connect("doctree-read", tidy.describe_tables)
    app.connect("build-finished", tidy.finish)
