"""What of ECL is not understood here, found before the text is read.

The language is far larger than its joins. A word that opens something of the rest is
refused where it stands, with what to do instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dovetail.errors import DialectError, Place

_PASSED = r"""'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*.*?\*/"""
_WORD = re.compile(rf"{_PASSED}|(?P<word>#?[A-Za-z_][\w+]*)", re.DOTALL)
_JOINS = "write the definitions that the joins need into the text itself"
_MACRO = "write out what the macro gives"
_FOREIGN = "write it in ECL, or compute the column before the join"
_HINTS: Mapping[str, str] = {
    "macro": _MACRO,
    "functionmacro": _MACRO,
    "beginc++": _FOREIGN,
    "embed": _FOREIGN,
    "import": _JOINS,
    "module": _JOINS,
    "interface": _JOINS,
    "service": _FOREIGN,
    "ifblock": "write two records, one for each form of the row",
    "pattern": _FOREIGN,
    "#if": _MACRO,
    "#declare": _MACRO,
    "#set": _MACRO,
    "#loop": _MACRO,
    "#expand": _MACRO,
    "#append": _MACRO,
    "#for": _MACRO,
}


def refuse_foreign(text: str) -> None:
    """Refuses the first word of the text that opens what is not understood."""
    for found in _WORD.finditer(text):
        word = found["word"] or ""
        if word.lower() in _HINTS:
            place = place_at(text, found.start(), len(word))
            raise DialectError(
                f'"{word}" is outside of what is understood of ECL',
                "records, data sets, transforms, joins and outputs",
                _HINTS[word.lower()],
                place=place,
            )


def place_at(text: str, start: int, length: int) -> Place:
    """Returns the line and the column of a place in a text."""
    before = text[:start]
    line = before.count("\n") + 1
    return Place(text, line, start - (before.rfind("\n") + 1) + 1, length)
