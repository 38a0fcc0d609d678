"""What stands behind the record in DATASET('file', record, ..): how it is written.

THOR and FLAT leave it to the ending of the file. In CSV columns go by their place,
unless CSV(HEADING(1)) says that the first line names them, or it plainly does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.nodes import (
    Braces,
    Call,
    Items,
    Node,
    Omitted,
    word_of,
    words_of,
)
from dovetail.spec.layouts import AnyLayout, CsvLayout, Heading, JsonLayout, Layout

_PLAIN = {"thor", "flat", "unsorted", "__compressed__", "__grouped__", "preload"}
_ESCAPED = {"\\t": "\t", "\\\\": "\\"}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; an optional one that is not there has no rows."""

    layout: Layout = AnyLayout()
    is_optional: bool = False


def reading_of(context: Context, options: Iterable[Node]) -> Reading:
    """Returns what the options of DATASET say of its file."""
    found = Reading()
    for option in options:
        match word_of(option):
            case _ if isinstance(option, Omitted):
                pass
            case "csv":
                found = replace(found, layout=_csv(context, option))
            case "json":
                found = replace(found, layout=JsonLayout())
            case "opt":
                found = replace(found, is_optional=True)
            case word if word not in _PLAIN:
                raise refusal(
                    option,
                    f'"{words_of(option).upper() or "this"}" of a file',
                    "THOR, FLAT, CSV(..), JSON or OPT",
                    "write other files as CSV, JSON or Parquet before the program",
                )
    return found


def _csv(context: Context, node: Node) -> CsvLayout:
    """Returns what CSV(..) says."""
    found = CsvLayout()
    for option in node.arguments if isinstance(node, Call) else ():
        change = _CSV.get(word_of(option))
        if change is None or not isinstance(option, Call) or not option.arguments:
            raise refusal(
                option,
                f'"{words_of(option).upper() or "this"}" of CSV',
                "HEADING(0), HEADING(1), SEPARATOR(','), QUOTE('\"') or TERMINATOR",
            )
        found = change(context, option, found)
    return found


def _heading(context: Context, node: Call, found: CsvLayout) -> CsvLayout:
    """Returns the layout with the first line as names, or without."""
    count = context.count(node.arguments[0])
    if count > 1:
        raise refusal(node, f"a heading of {count} lines", "0 or 1")
    return replace(found, heading=Heading.NAMES if count else Heading.NONE)


def _separator(context: Context, node: Call, found: CsvLayout) -> CsvLayout:
    """Returns the layout with what stands between values."""
    return replace(found, separator=_letter(context, node))


def _quote(context: Context, node: Call, found: CsvLayout) -> CsvLayout:
    """Returns the layout with what stands around values."""
    return replace(found, quote=_letter(context, node))


def _terminator(context: Context, node: Call, found: CsvLayout) -> CsvLayout:
    """Returns the layout as it is: rows end where lines end, as they must."""
    ends = [context.constant(one) for one in _listed(node.arguments[0])]
    if {str(one).replace("\n", "\\n").replace("\r", "\\r") for one in ends} - {
        "\\n",
        "\\r\\n",
        "\\n\\r",
        "\\r",
    }:
        raise refusal(node, "rows that end elsewhere than lines", "'\\n' or '\\r\\n'")
    return found


def _letter(context: Context, node: Call) -> str:
    """Returns the one letter that an option says."""
    found = str(context.constant(node.arguments[0]))
    letter = _ESCAPED.get(found, found)
    if len(letter) != 1:
        raise refusal(node, f'{node.word.upper()} of "{found}"', "one letter")
    return letter


def _listed(node: Node) -> tuple[Node, ...]:
    """Returns the items of a list, or the one that stands there."""
    return node.items if isinstance(node, Braces | Items) else (node,)


_CSV: Mapping[str, Callable[[Context, Call, CsvLayout], CsvLayout]] = {
    "heading": _heading,
    "separator": _separator,
    "quote": _quote,
    "terminator": _terminator,
}
