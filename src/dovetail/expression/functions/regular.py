"""Regular expressions that mean the same to everyone who reads them, Java among them.

Dialects of patterns differ in corners, so only their common part is taken: letters,
classes, groups, alternatives, counts, `^` and `$`. A pattern is cut into these
pieces and written again with Java's meaning spelled out; anything else is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dovetail.errors import SpecError, UnsupportedError

# What Java takes for the end of a line: a dot is any letter but these.
_ENDS = r"\n\r\u0085\u2028\u2029"
_CLASSES = {"d": "0-9", "w": "a-zA-Z0-9_", "s": r" \t\n\x0b\f\r"}
_PIECE = re.compile(
    r"""
    (?P<klass>\[\^?(?:\\[!-/:-@\[-`{-~]|\\[dwstnrf]|-(?!-)|[^\\\[\]&~|-])+\])
    | (?P<sort>\\[dwsDWS])
    | (?P<escape>\\[tnrf]|\\[!-/:-@\[-`{-~])
    | (?P<group>\((?:\?:)?(?!\?)|\)|\|)
    | (?P<start>\^(?![*+?{]))
    | (?P<end>\$(?![*+?{]))
    | (?P<dot>\.)
    | (?P<count>(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??(?![*+?{]))
    | (?P<letter>[^\\\[\](){}*+?|^$.])
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=1000)
def regular(text: str) -> re.Pattern[str]:
    """Returns the compiled pattern, or raises where it is none, or not everyone's."""
    try:
        return re.compile(translated(text))
    except re.error as error:
        raise SpecError(f'"{text}" is no regular expression: {error}') from error


def translated(text: str) -> str:
    """Returns a pattern of Java's in Python's notation."""
    parts, place = [], 0
    while place < len(text):
        found = _PIECE.match(text, place)
        if not found:
            what = f'"{text[place:]}" in the regular expression "{text}"'
            raise UnsupportedError(what)
        parts.append(_written(str(found.lastgroup), found[0]))
        place = found.end()
    return "".join(parts)


def _written(piece: str, text: str) -> str:
    """Returns one piece of a pattern in Python's notation."""
    match piece:
        case "klass":
            return re.sub(r"\\([dws])", lambda sort: _CLASSES[sort[1]], text)
        case "sort":
            negated = "^" if text[1].isupper() else ""
            return f"[{negated}{_CLASSES[text[1].lower()]}]"
        case "start":
            return r"\A"
        case "end":
            return rf"(?=(?:\r\n|[{_ENDS}])?\Z)"
        case "dot":
            return f"[^{_ENDS}]"
        case "letter":
            return re.escape(text)
        case _:
            return text
