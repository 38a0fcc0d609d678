"""A mark as shapes: a bar or a dot, a notch at the row's own time, its label."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from dovetail.conformance.oracle import Axis, RowOutcome
from dovetail.draw.labels import Label
from dovetail.draw.marks import DOT, LINE, NOTCH, SHORTEST, THICK, Mark
from dovetail.draw.shapes import group, path, sayable, shape, text, titled, written
from dovetail.draw.words import whole_row
from dovetail.spec.join import Hand

POINTED = 7.0
BASELINE = 3.8  # from the middle of a line to the foot of its letters
CLASSES = {
    RowOutcome.MATCHED: "matched",
    RowOutcome.UNMATCHED: "unmatched",
    RowOutcome.OPEN: "open",
    RowOutcome.LATE: "late",
}


def drawn(mark: Mark, middle: float, axis: Axis) -> Element:
    """Returns a mark on a line, whose middle is at a height."""
    css = f"row {mark.row.hand.value} {CLASSES[mark.row.outcome]}"
    parts = [_body(mark, middle), *_notch(mark, middle), *_label(mark, middle)]
    row = group(css, parts, data_row=str(mark.number))
    return titled(row, whole_row(mark.row, axis))


def label_text(label: Label, across: float, middle: float) -> Element:
    """Returns a label as a line of text, its reason set apart."""
    words = text(label.values, "label", x=across, y=middle + BASELINE)
    if label.reason:
        reason = SubElement(words, "tspan", {"class": "reason"})
        reason.text = sayable(f" {label.reason}" if label.values else label.reason)
    return words


def _label(mark: Mark, middle: float) -> list[Element]:
    """Returns the label of a mark, on ground of its own outside a bar."""
    words = label_text(mark.label, mark.label_at, middle)
    if mark.is_labelled_inside:
        return [words]
    ground = shape(
        "rect",
        "ground",
        x=mark.label_at - 1,
        y=middle - THICK / 2,
        width=mark.label.width + 2,
        height=THICK,
    )
    return [ground, words]


def _body(mark: Mark, middle: float) -> Element:
    """Returns a bar, pointed where it goes on beyond the page; a dot; or a cross."""
    if mark.row.outcome is RowOutcome.LATE:
        return cross(mark.middle, middle)
    if mark.is_dot:
        return dot(mark.middle, middle)
    if mark.lives:
        return group("lives", _beads(mark, middle))
    return bar((mark.start, mark.stop), middle, mark)


def dot(across: float, middle: float) -> Element:
    """Returns the sign of a row that is alive at one moment."""
    return shape("circle", "dot", cx=across, cy=middle, r=DOT - 0.5)


def _beads(mark: Mark, middle: float) -> Iterator[Element]:
    """Yields several lives on one string."""
    yield _string((mark.start, mark.stop), middle)
    for life in mark.lives:
        css = "hollow" if life in mark.lonely else ""
        start, stop = life
        is_short = stop - start < SHORTEST
        body = dot(start, middle) if is_short else bar(life, middle, mark)
        yield group(f"life {css}".strip(), [body])


def _string(ends: tuple[float, float], middle: float) -> Element:
    """Returns a thin line between two places."""
    return shape("line", "bar", x1=ends[0], x2=ends[1], y1=middle, y2=middle)


def bar(ends: tuple[float, float], middle: float, mark: Mark) -> Element:
    """Returns a bar between two places."""
    (start, stop), half = ends, THICK / 2
    before = POINTED if mark.comes_from_before else 0
    behind = POINTED if mark.goes_on else 0
    corners = [
        (start + before, middle - half),
        (stop - behind, middle - half),
        *([(stop, middle)] if behind else []),
        (stop - behind, middle + half),
        (start + before, middle + half),
        *([(start, middle)] if before else []),
    ]
    return path(corners, "bar", closed=True)


def cross(across: float, middle: float) -> Element:
    """Returns the sign of a row that takes no part."""
    near, far = across - DOT + 1, across + DOT - 1
    up, down = middle - DOT + 1, middle + DOT - 1
    strokes = f"M{written(near)} {written(up)} L{written(far)} {written(down)}"
    other = f"M{written(near)} {written(down)} L{written(far)} {written(up)}"
    return shape("path", "cross", d=f"{strokes} {other}")


def _notch(mark: Mark, middle: float) -> list[Element]:
    """Returns a notch at the row's own time: on the outer edge, or tied to the bar."""
    if not mark.has_notch:
        return []
    across = mark.own
    out = -1 if mark.row.hand is Hand.LEFT else 1
    if not mark.start <= across <= mark.stop:
        near = mark.start if across < mark.start else mark.stop
        return [
            _string((across, near), middle),
            _arrow(across, middle + out * NOTCH, out),
        ]
    return [_arrow(across, middle + out * THICK / 2, out)]


def _arrow(across: float, edge: float, out: int) -> Element:
    """Returns an arrowhead that points at the middle of the page."""
    corners = [
        (across - NOTCH, edge),
        (across + NOTCH, edge),
        (across, edge - out * 1.4 * NOTCH),
    ]
    return path(corners, "notch", closed=True)


def height_of(line: int, hand: Hand, edge: float) -> float:
    """Returns the middle of a line; lines count away from the middle of the page."""
    away = (line + 0.5) * LINE
    return edge - away if hand is Hand.LEFT else edge + away
