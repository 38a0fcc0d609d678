"""The rows of a picture as a table of HTML, for whoever reads rather than looks."""

from __future__ import annotations

import json
from html import escape

from dovetail.conformance.oracle import Trace, TracedRow
from dovetail.draw.shapes import sayable
from dovetail.draw.words import fate_words, life_words
from dovetail.schema import shown_row

HEADINGS = ("row", "side", "values", "life", "what became of it", "meets")


def table(trace: Trace) -> str:
    """Returns a line for each row, with the numbers of those that it met."""
    head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
    lines = "".join(
        f"<tr>{_cells(number, row, trace)}</tr>"
        for number, row in enumerate(trace.rows)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _cells(number: int, row: TracedRow, trace: Trace) -> str:
    """Returns the cells of one row."""
    cells = (
        str(number),
        row.hand.value,
        json.dumps(shown_row(row.values), ensure_ascii=False),
        life_words(row, trace.axis),
        fate_words(row),
        ", ".join(map(str, _partners(number, trace))),
    )
    return "".join(f"<td>{escape(sayable(cell))}</td>" for cell in cells)


def _partners(number: int, trace: Trace) -> list[int]:
    """Returns the numbers of the rows that a row met."""
    pairs = [(one.left, one.right) for one in trace.meetings]
    others = (other for pair in pairs if number in pair for other in pair)
    return list(dict.fromkeys(other for other in others if other != number))
