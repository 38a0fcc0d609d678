"""Shapes of SVG as elements: numbers are rounded, words are classes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

Fact = str | float
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
    element.text = sayable(words)
    return element


def titled(element: Element, words: str) -> Element:
    """Returns the element with what a pointer on it shows."""
    title = SubElement(element, "title")
    title.text = sayable(words)
    element.remove(title)
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
