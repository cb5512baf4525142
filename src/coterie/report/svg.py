"""Pieces of SVG: colours that follow the page, short labels, bars as one path.

Paint is said in attributes of its own (fill, stroke): a strict content policy forbids style attributes.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

# Colours of the page where there is one, and these where a picture stands alone. Before and after differ in lightness
# and in form (area, line) too, so that they are told apart in print and by everyone.
BEFORE = "var(--before,#c3cad2)"
AFTER = "var(--after,#0b6390)"
WARM = "var(--warm,#c4560c)"
FAINT = "var(--faint,#6b7480)"
RULE = "var(--rule,#d5dae0)"
FONT = "system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,sans-serif"


def clean(text: str) -> str:
    """Text without control signs, those that turn the writing direction included, escaped."""
    return escape("".join(c if c.isprintable() else " " for c in text))


def short(text: str, length: int) -> str:
    """At most so many signs, the middle left out; signs that take the room of two, as in Chinese, count twice."""
    if len(text) + _wide(text) <= length:
        return text
    head = (length - 1) * 2 // 3
    start, end = text[:head], text[max(len(text) - (length - 1 - head), 0) :]
    while len(start) + _wide(start) > head:
        start = start[:-1]
    while len(end) + _wide(end) > length - 1 - head:
        end = end[1:]
    return f"{start}…{end}"


def _wide(text: str) -> int:
    return sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)


def picture(width: float, height: float, label: str, body: str, kind: str = "", role: str = "img") -> str:
    """An SVG with a name for those who do not see it; with links in it, its role is "group", as an image hides them."""
    cls = f' class="{kind}"' if kind else ""
    return (
        f'<svg{cls} viewBox="0 0 {at(width)} {at(height)}" width="{at(width)}" height="{at(height)}" role="{role}" '
        f'aria-label="{clean(label)}"><title>{clean(label)}</title>{body}</svg>'
    )


def standalone(svg: str) -> str:
    """The same as a file of its own."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" font-family="{FONT}" fill="#1d242c" color="#1d242c"'
    return svg.replace("<svg", head, 1) + "\n"


def at(value: float) -> str:
    """A place, to a tenth."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"


def words(x: float, y: float, text: str, *, size: float = 11, anchor: str = "start", fill: str = "currentColor",
          bold: bool = False, limit: int = 60, halo: bool = False) -> str:  # fmt: skip
    """A line of text, with the whole of it as a tooltip where it is cut."""
    cut = short(text, limit)
    title = f"<title>{clean(text)}</title>" if cut != text else ""
    weight = ' font-weight="600"' if bold else ""
    around = ' paint-order="stroke" stroke="var(--paper,#fff)" stroke-width="3"' if halo else ""
    return (
        f'<text x="{at(x)}" y="{at(y)}" font-size="{at(size)}" text-anchor="{anchor}"{weight} '
        f'fill="{fill}" unicode-bidi="plaintext"{around}>{title}{clean(cut)}</text>'
    )


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = RULE, width: float = 1, dash: str = "") -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    place = f'x1="{at(x1)}" y1="{at(y1)}" x2="{at(x2)}" y2="{at(y2)}"'
    return f'<line {place} stroke-width="{at(width)}"{dashes} stroke="{stroke}"/>'


def bars(boxes: Iterable[tuple[float, float, float, float]], fill: str, stroke: str = "none") -> str:
    """Bars (x, y, width, height) as one path."""
    path = "".join(f"M{at(x)} {at(y)}h{at(w)}v{at(h)}h{at(-w)}z" for x, y, w, h in boxes if w > 0 and h > 0)
    return f'<path d="{path}" fill="{fill}" stroke="{stroke}"/>' if path else ""


def polyline(points: Sequence[tuple[float, float]], stroke: str, width: float = 1.8, dash: str = "") -> str:
    """A line through points."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    path = " ".join(f"{at(x)},{at(y)}" for x, y in points)
    place = f'points="{path}" stroke-width="{at(width)}" stroke-linejoin="round"{dashes}'
    return f'<polyline {place} fill="none" stroke="{stroke}"/>' if len(points) > 1 else ""


def area(points: Sequence[tuple[float, float]], fill: str) -> str:
    """The area inside a line."""
    path = " ".join(f"{at(x)},{at(y)}" for x, y in points)
    return f'<polygon points="{path}" fill="{fill}"/>'


def circle(x: float, y: float, r: float, fill: str = "none", stroke: str = "none", width: float = 1) -> str:
    """A circle; a transparent fill is not seen but can be clicked."""
    return f'<circle cx="{at(x)}" cy="{at(y)}" r="{at(r)}" fill="{fill}" stroke="{stroke}" stroke-width="{at(width)}"/>'


def linked(href: str, name: str, body: str, current: bool = False) -> str:
    """A part of a picture that leads somewhere; its name is a tooltip too."""
    mark = ' aria-current="true"' if current else ""
    return f'<a href="{clean(href)}" aria-label="{clean(name)}"{mark}><title>{clean(name)}</title>{body}</a>'


def marker(shape: int, x: float, y: float, r: float, fill: str, title: str, hollow: bool = False) -> str:
    """A dot, with a tooltip if it has a title; its shape tells the series apart without colour."""
    corners: dict[int, list[tuple[float, float]]] = {
        1: [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        2: [(0, -1.25), (1.2, 0.9), (-1.2, 0.9)],
        3: [(0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)],
        4: [(0, 1.25), (1.2, -0.9), (-1.2, -0.9)],
        5: [(-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
            (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)],
    }  # fmt: skip
    paint = f'stroke-width="1.6" fill="{"var(--paper,#fff)" if hollow else fill}" stroke="{fill}"'
    name = f"<title>{clean(title)}</title>" if title else ""
    if (kind := shape % 6) == 0:
        return f'<circle cx="{at(x)}" cy="{at(y)}" r="{at(r)}" {paint}>{name}</circle>'
    points = " ".join(f"{at(x + r * a)},{at(y + r * b)}" for a, b in corners[kind])
    return f'<polygon points="{points}" {paint}>{name}</polygon>'


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers from low to high."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(d * power for d in (1, 2, 5, 10) if d * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]
