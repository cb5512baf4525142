"""What the tests of reports share: a reader of pages, and facts with another value somewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Reads a page, and stops where tags are not balanced."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attrs, self.ids, self.text = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attrs += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attrs += attrs

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    @property
    def words(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


def put(facts, path, new):
    """The facts with another value at that path."""
    if not path:
        return new
    name, rest = path[0], path[1:]
    if is_dataclass(facts):
        return replace(facts, **{name: put(getattr(facts, name), rest, new)})
    if isinstance(facts, Mapping):
        return {**facts, name: put(facts.get(name, {}), rest, new)}
    return tuple(put(part, rest, new) if i == name else part for i, part in enumerate(facts))
