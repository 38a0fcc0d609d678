"""A picture as a reader finds it: rows, links, texts, by what the SVG says."""

import re
from xml.etree.ElementTree import fromstring

from dovetail import draw
from dovetail.spec.rules import checked

SVG = "{http://www.w3.org/2000/svg}"


def root_of(play, name="a picture"):
    """The root of a play's picture."""
    return fromstring(str(draw.picture(checked(play), name)))


def grouped(root, word):
    """The elements of a class, as (attributes, element)."""
    return [
        (element.attrib, element)
        for element in root.iter()
        if word in element.get("class", "").split()
    ]


def rows_of(root):
    """The classes of each drawn row, by its number."""
    found = [
        (int(facts["data-row"]), set(facts["class"].split()))
        for facts, _ in grouped(root, "row")
        if "data-row" in facts
    ]
    return dict(sorted(found, key=lambda row: row[0]))


def links_of(root):
    """The pairs of numbers that links join."""
    return [
        (int(facts["data-left"]), int(facts["data-right"]))
        for facts, _ in grouped(root, "meeting")
    ]


def texts_of(root):
    """Every line of text."""
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def numbers_of(root):
    """Every coordinate in the picture."""
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "d"}:
                yield from map(float, re.findall(r"-?\d+(?:\.\d+)?", value))
