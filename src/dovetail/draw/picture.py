"""A join as it was played, drawn: as SVG, in a notebook, in a file, and as a table.

The table of HTML is for whoever reads rather than looks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring
from zlib import crc32

from dovetail import spec
from dovetail.conformance.oracle import Axis, Trace, trace
from dovetail.draw import labels, shapes
from dovetail.draw.marks import Linking
from dovetail.draw.scale import Tick, ticks
from dovetail.draw.sheet import STRIP, Sheet, legend
from dovetail.errors import SpecError, UnsupportedError
from dovetail.schema import shown_row
from dovetail.spec.arguments import path as path_of

MOST_ROWS = 100
LONGEST_TITLE = 95
# How far the lanes are apart: links need room to cross each other.
CROSSING, TOUCHING = 44.0, 22.0
SIGNS = 20.0
AXIS = 54.0
CAPTIONS = {
    Axis.ROW_TIME: "row time, in UTC",
    Axis.PROCESSING_TIME: "processing time, in seconds",
    Axis.ARRIVAL: "order of arrival, by the number of the event",
    Axis.AS_OF_TIME: "the time that asof compares, in UTC",
    Axis.AS_OF_NUMBER: "the number that asof compares",
}


def picture(play: spec.Play, name: str = "") -> Picture:
    """Returns the picture of a play, or refuses one that has no two small sides."""
    if not isinstance(play.join, spec.JoinSpec):
        raise UnsupportedError(
            "a join of several sets has no two sides to draw", "a join of two sides"
        )
    traced = trace(play)
    for hand in spec.HANDS:
        count = sum(row.hand is hand for row in traced.rows)
        # More rows than that nobody could tell apart.
        if count > MOST_ROWS:
            raise SpecError(
                f"the {hand.value} side has {count} rows",
                f"at most {MOST_ROWS} a side in a picture",
                "choose some rows of a few keys",
            )
    sheet = Sheet.of(play, play.join, traced)
    title = labels.title_of(play.join, name)
    column = shapes.Column()
    column.prose(labels.shortened(title, LONGEST_TITLE), "name")
    column.prose(f"{sheet.condition}; on the clock {sheet.join.clock.value}", "quiet")
    column.flow(legend(sheet), SIGNS)
    inside = list(_lanes(sheet, column))
    # Only now is it known how far down the page reaches. What comes later in the
    # picture lies above: the ground first, words last.
    root = _root(title, labels.summary(traced), column.bottom)
    root.append(shapes.shape("rect", "ground", width="100%", height="100%"))
    root.extend([*inside, *column.shapes])
    return Picture(tostring(root, encoding="unicode"), table(traced))


def _root(title: str, description: str, height: float) -> Element:
    """Returns an empty picture with its style, and its words for who cannot see it."""
    # Names are of the whole page that a picture stands on: another one's must differ.
    mark = f"dovetail-{crc32(f'{title} {description}'.encode()):08x}"
    root = shapes.shape(
        "svg",
        "dovetail",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {shapes.written(shapes.WIDTH)} {shapes.written(height)}",
        width=shapes.WIDTH,
        height=height,
        style="max-width:100%;height:auto",
        role="img",
        aria_labelledby=f"{mark}-title {mark}-desc",
    )
    for tag, words in (("title", title), ("desc", description)):
        SubElement(root, tag, {"id": f"{mark}-{tag}"}).text = shapes.sayable(words)
    SubElement(root, "style").text = shapes.style_sheet()
    return root


def _lanes(sheet: Sheet, column: shapes.Column) -> Iterator[Element]:
    """Yields grid, links, bounds and rows, and writes what is around them."""
    # From the top down: a band is taken when it is known how high it is.
    left, right = (sheet.lanes[hand] for hand in spec.HANDS)
    left.write_heading(column)
    above = column.band(STRIP if left.shows_bound else 0)
    top = column.band(left.height)
    column.band(CROSSING if sheet.trace.meetings else TOUCHING)
    edges = {
        spec.Hand.LEFT: top + left.height,
        spec.Hand.RIGHT: column.band(right.height),
    }
    below = column.band(STRIP if right.shows_bound else 0)
    right.write_heading(column)
    yield from _grid(sheet, (top, below), column)
    marks = {mark.number: mark for mark in sheet.marks}
    links = Linking(sheet.scale, marks, sheet.heights(edges))
    yield from links.all(sheet.trace.meetings)
    yield from left.bound_line(top, above, sheet.scale)
    yield from right.bound_line(edges[spec.Hand.RIGHT], below, sheet.scale)
    # Rows lie upon links: a link ends where its row is seen to begin.
    for hand, lane in sheet.lanes.items():
        yield from lane.rows(edges[hand])


def _grid(
    sheet: Sheet, ends: tuple[float, float], column: shapes.Column
) -> Iterator[Element]:
    """Yields the lines of the grid, and writes the axis below everything."""
    top = column.band(AXIS)
    for tick in ticks(sheet.trace.axis, sheet.scale):
        across = sheet.scale.place(tick.moment)
        yield shapes.shape("line", "grid", x1=across, y1=ends[0], x2=across, y2=ends[1])
        column.add(_tick_words(tick, across, top))
    edges = {"x1": sheet.scale.start, "x2": sheet.scale.stop}
    yield shapes.shape("line", "axis", y1=top + 2, y2=top + 2, **edges)
    foot = top + AXIS - 6
    caption = CAPTIONS[sheet.trace.axis]
    place = sheet.scale.stop
    column.add([shapes.text(caption, "quiet", x=place, y=foot, text_anchor="end")])


def _tick_words(tick: Tick, across: float, top: float) -> Iterator[Element]:
    """Yields the words of a tick, and below them its date."""
    ends = {"x1": across, "x2": across}
    yield shapes.shape("line", "axis", y1=top + 2, y2=top + 7, **ends)
    for words, foot, css in ((tick.words, 20, "tick"), (tick.date, 34, "tick quiet")):
        if words:
            # Words in the middle below their mark, but never beyond the page.
            half = len(words) * shapes.LETTER / 2 + shapes.MARGIN / 2
            middle = min(max(across, half), shapes.WIDTH - half)
            yield shapes.text(words, css, x=middle, y=top + foot, text_anchor="middle")


@dataclass(frozen=True, slots=True)
class Picture:
    """A join as it was played: the drawing, and its rows as a table to be read out."""

    svg: str
    table: str

    def __repr__(self) -> str:
        """Returns what it is; the drawing itself is long."""
        return f"Picture of {len(self.svg)} characters of SVG; save(..) writes it"

    def __str__(self) -> str:
        """Returns the SVG."""
        return self.svg

    def _repr_svg_(self) -> str:
        """Returns what a notebook shows where it takes SVG only."""
        return self.svg

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the drawing, and its rows folded away."""
        return (
            f'<figure style="margin:0;max-width:1000px">{self.svg}'
            f"<details><summary>The same in words</summary>{self.table}</details>"
            "</figure>"
        )

    def save(self, path: str | Path) -> None:
        """Writes the picture into a file: .svg, or .html with its rows as a table."""
        file = Path(path_of("path", path, 'picture.save("join.svg")'))
        page = (
            '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>dovetail picture</title></head>\n"
            f"<body>{self._repr_html_()}</body>\n</html>\n"
        )
        contents = {".svg": self.svg, ".html": page}
        if file.suffix.lower() not in contents:
            raise SpecError(
                f'a picture cannot be written to "{file}"',
                "a file that ends in .svg or .html",
                'write for example picture.save("join.svg")',
            )
        try:
            file.write_text(contents[file.suffix.lower()], encoding="utf-8")
        except OSError as error:
            raise SpecError(
                f'the picture cannot be written to "{file}": {error.strerror}',
                "a folder that is there and may be written to",
                "picture.save writes no folders",
            ) from error


HEADINGS = ("row", "side", "values", "life", "what became of it", "meets")


def table(trace: Trace) -> str:
    """Returns a line for each row, with the numbers of those that it met."""
    # By number, so that the table and the links of the picture name rows alike.
    lines = [f"<tr>{''.join(f'<th>{heading}</th>' for heading in HEADINGS)}</tr>"]
    met: dict[int, list[int]] = {number: [] for number in range(len(trace.rows))}
    for one in trace.meetings:
        met[one.left].append(one.right)
        met[one.right].append(one.left)
    for number, row in enumerate(trace.rows):
        cells = (
            str(number),
            row.hand.value,
            json.dumps(shown_row(row.values), ensure_ascii=False),
            labels.life_words(row, trace.axis),
            labels.outcome_words(row),
            # Rows may meet more than once; each is named once.
            ", ".join(map(str, dict.fromkeys(met[number]))),
        )
        told = "".join(f"<td>{escape(shapes.sayable(cell))}</td>" for cell in cells)
        lines.append(f"<tr>{told}</tr>")
    head, body = lines[0], "".join(lines[1:])
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
