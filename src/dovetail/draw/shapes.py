"""Shapes of SVG, the page on which bands of them are stacked, and its style sheet.

Numbers are rounded, words are classes. Where a reader's wish for dark is not known the
light colours stay, on a ground of their own. No meaning is in a colour alone: rows
without a partner are dashed, open ones dotted, late ones crossed, and each says why in
words.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol
from xml.etree.ElementTree import Element

Fact = str | float
# All but the letters of XML 1.0.
UNSAYABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def shape(tag: str, css: str = "", **facts: Fact) -> Element:
    """Returns an element with its class; an underscore in a name is a hyphen."""
    element = Element(tag, {"class": css} if css else {})
    for name, fact in facts.items():
        element.set(name.replace("_", "-"), written(fact))
    return element


def group(css: str, children: Iterable[Element], **facts: Fact) -> Element:
    """Returns a group of elements."""
    element = shape("g", css, **facts)
    element.extend(children)
    return element


def text(words: str, css: str, **facts: Fact) -> Element:
    """Returns a line of text."""
    element = shape("text", css, **facts)
    # A value of a user's row may have any letter, XML has not.
    element.text = sayable(words)
    return element


def titled(element: Element, words: str) -> Element:
    """Returns the element with what a pointer on it shows."""
    # SVG takes a title that stands first.
    title = Element("title")
    title.text = sayable(words)
    element.insert(0, title)
    return element


def path(points: Iterable[tuple[float, float]], css: str, *, closed: bool) -> Element:
    """Returns the lines from point to point."""
    steps = " L".join(f"{written(one)} {written(other)}" for one, other in points)
    return shape("path", css, d=f"M{steps}{'Z' if closed else ''}")


def sayable(words: str) -> str:
    """Returns a text with a sign in place of every letter that XML does not have."""
    return UNSAYABLE.sub("\ufffd", words)


def written(fact: Fact) -> str:
    """Returns a number with at most one decimal, a text as it is."""
    return fact if isinstance(fact, str) else f"{fact:.1f}".removesuffix(".0")


WIDTH = 1000.0
MARGIN = 20.0
LETTER = 6.9  # more than letters of 12 points are wide in any common face
PROSE = 17.0
WRAP = int((WIDTH - 2 * MARGIN) / LETTER)


class Item(Protocol):
    """Something with a width, drawn at a place of the line on which it comes to lie."""

    @property
    def width(self) -> float:
        """Returns how much of a line it takes."""

    def at(self, across: float, middle: float) -> Iterator[Element]:
        """Yields its shapes."""


@dataclass(slots=True)
class Column:
    """What is on the page so far, and how far down it reaches."""

    bottom: float = MARGIN
    shapes: list[Element] = field(default_factory=list)

    def band(self, height: float) -> float:
        """Returns the top of a new band below all others."""
        top = self.bottom
        self.bottom += height
        return top

    def add(self, shapes: Iterable[Element]) -> None:
        """Puts shapes on the page, above those that are there."""
        self.shapes.extend(shapes)

    def prose(self, words: str, css: str = "") -> None:
        """Writes a text in as many lines as it needs."""
        for line in textwrap.wrap(words, WRAP):
            foot = self.band(PROSE) + 0.75 * PROSE
            self.add([text(line, css, x=MARGIN, y=foot)])

    def flow(self, items: Iterable[Item], height: float = PROSE) -> None:
        """Sets items side by side, on new lines where one is full."""
        # The first item opens a line; one that is wider than a line has one for itself.
        across, middle = WIDTH, 0.0
        for item in items:
            if across + item.width > WIDTH - MARGIN and across > MARGIN:
                across, middle = MARGIN, self.band(height) + height / 2
            self.add(item.at(across, middle))
            across += item.width


LIGHT = {
    "ground": "#ffffff",
    "ink": "#1f2328",
    "pale": "#59636e",
    "grid": "#e6e9ed",
    "left": "#cfe2fb",
    "left-edge": "#2463aa",
    "right": "#fde2c2",
    "right-edge": "#a3560d",
    "late": "#b3261e",
    "link": "#59636e",
    "bound": "#7a3fc4",
}
DARK = {
    "ground": "#0f141a",
    "ink": "#e8edf2",
    "pale": "#a3adb8",
    "grid": "#28303a",
    "left": "#173f6b",
    "left-edge": "#78b6ff",
    "right": "#5c3911",
    "right-edge": "#f2b069",
    "late": "#ff9088",
    "link": "#a3adb8",
    "bound": "#c6a0ff",
}
MONOSPACE = (
    "ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', Consolas, monospace"
)
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif"
SHAPE = f"""
.dovetail text {{ font: 12px {SANS}; }}
.dovetail .label {{ font: 11px {MONOSPACE}; }}
.dovetail .reason {{ font-style: italic; }}
.dovetail .name {{ font-size: 16px; font-weight: 600; }}
.dovetail .lane {{ font-weight: 600; }}
.dovetail .bar, .dovetail .dot {{ stroke-width: 1.4; }}
.dovetail .unmatched .bar, .dovetail .unmatched .dot {{ stroke-dasharray: 5 3; }}
.dovetail .open .bar, .dovetail .open .dot {{ stroke-dasharray: 1.5 3; }}
.dovetail .hollow .bar, .dovetail .hollow .dot {{ stroke-dasharray: 5 3; }}
.dovetail .link {{ fill: none; stroke-width: 1.3; }}
.dovetail .silent {{ stroke-dasharray: 4 3; }}
.dovetail .bound {{ stroke-width: 1.6; stroke-dasharray: 7 3 1.5 3; }}
.dovetail .cross {{ stroke-width: 2; }}
"""


def style_sheet() -> str:
    """Returns the whole style sheet."""
    # Light first: where nobody says what he wishes it stays.
    dark = "".join(f"  {rule}\n" for rule in _colours(DARK))
    light = "\n".join(_colours(LIGHT))
    return f"{SHAPE}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _colours(hue: dict[str, str]) -> list[str]:
    """Returns the rules that colour a picture."""
    rules = {
        "text": f"fill: {hue['ink']}",
        ".quiet": f"fill: {hue['pale']}",
        ".reason": f"fill: {hue['pale']}",
        ".ground": f"fill: {hue['ground']}",
        ".grid": f"stroke: {hue['grid']}",
        ".axis": f"stroke: {hue['pale']}",
        ".link": f"stroke: {hue['link']}",
        ".end": f"fill: {hue['link']}",
        ".sample": f"fill: none; stroke: {hue['pale']}",
        ".filled": f"fill: {hue['pale']}",
        ".bound": f"stroke: {hue['bound']}",
        ".promise": f"fill: {hue['bound']}",
        ".cross": f"stroke: {hue['late']}",
        ".late .reason": f"fill: {hue['late']}",
    }
    for side in ("left", "right"):
        edge = hue[f"{side}-edge"]
        rules[f".{side} .bar, .dovetail .{side} .dot"] = (
            f"fill: {hue['ground']}; stroke: {edge}"
        )
        rules[f".{side}.matched .bar, .dovetail .{side}.matched .dot"] = (
            f"fill: {hue[side]}"
        )
        rules[f".{side} .notch"] = f"fill: {edge}"
        rules[f".lane.{side}"] = f"fill: {edge}"
    rules[".row .hollow .bar, .dovetail .row .hollow .dot"] = f"fill: {hue['ground']}"
    return [f".dovetail {where} {{ {what}; }}" for where, what in rules.items()]
