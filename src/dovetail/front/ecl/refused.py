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
_MACRO = "write out what the macro gives"
_FOREIGN = "write it in ECL, or compute the column before the join"
_ALWAYS: Mapping[str, str] = {
    "beginc++": _FOREIGN,
    **dict.fromkeys(
        ("#if", "#declare", "#set", "#loop", "#expand", "#append", "#for"), _MACRO
    ),
}
# Behind := they open something; elsewhere they are names like others.
_BODIES: Mapping[str, str] = {
    "macro": _MACRO,
    "functionmacro": _MACRO,
    "embed": _FOREIGN,
    "interface": "write its definitions into a MODULE",
    "service": _FOREIGN,
    "type": "a type of ECL's own",
}
_IFBLOCK = "write two records, one for each form of the row"
UNKNOWN = "a name with brackets is a function, a transform, or a data set with a filter"
_COUNTED = "TABLE(rows, {key, total := SUM(GROUP, field)}, key) counts by key"
_CHOSEN = "CHOOSEN(rows, n), or a filter"
_COLUMN = "compute the column before the program"
_PARSED = "read the text into columns before the program"
INSTEAD: Mapping[str, str] = {
    "enum": "a definition for each: red := 1; green := 2;",
    "choosesets": "CHOOSEN(rows(condition), n) + CHOOSEN(rows(other), m)",
    **dict.fromkeys(("thisnode", "allnodes"), "leave it out: it changes no rows"),
    "transfer": _COLUMN,
    "normalize": "JOIN with DATASET(n, TRANSFORM(..)) and ALL gives a row n times",
    "mergejoin": "JOIN([..], STEPPED(..), TRANSFORM(LEFT), SORTED(..)) matches alike",
    "merge": "SORT(one + other, fields)",
    "combine": "number both by PROJECT with COUNTER, and JOIN on the number",
    "aggregate": _COUNTED,
    "having": "count by key with TABLE(rows, {key, n := COUNT(GROUP)}, key), and JOIN",
    "dictionary": "JOIN with LOOKUP finds one row by its key",
    "when": "SEQUENTIAL(action, OUTPUT(rows))",
    "apply": "OUTPUT(rows)",
    "fail": "LIMIT(n, FAIL(code, 'message')), or a field of ONFAIL's transform",
    "nonempty": "rows + others(condition)",
    "limit": "CHOOSEN(rows, n), or LIMIT(n) in a JOIN",
    "catch": "a filter before",
    "loop": "write the steps one after the other",
    "graph": "write the steps one after the other",
    **dict.fromkeys(("enth", "sample"), _CHOSEN),
    **dict.fromkeys(("random", "hash", "hash32", "hash64", "hashcrc"), _COLUMN),
    **dict.fromkeys(("hashmd5", "realformat", "regexreplace", "regexfind"), _COLUMN),
    **dict.fromkeys(("variance", "covariance", "correlation"), _COUNTED),
    **dict.fromkeys(("parse", "xmldecode", "fromxml", "fromjson"), _PARSED),
    **dict.fromkeys(("soapcall", "httpcall", "pipe"), _PARSED),
    "#stored": "write the value into its definition",
    "#constant": "write the value into its definition",
}


def refuse_foreign(text: str) -> None:
    """Refuses the first word of the text that opens what is not understood."""
    for found in _WORD.finditer(text):
        word = (found["word"] or "").lower()
        hint = _ALWAYS.get(word, "")
        if word in _BODIES and text[: found.start()].rstrip().endswith(":="):
            hint = _BODIES[word]
        if word == "ifblock" and text[found.end() :].lstrip().startswith("("):
            hint = _IFBLOCK
        if hint:
            raise DialectError(
                f'"{found["word"]}" is outside of what is understood of ECL',
                "records, data sets, transforms, joins and outputs",
                hint,
                place=place_at(text, found.start(), len(word)),
            )


def place_at(text: str, start: int, length: int) -> Place:
    """Returns the line and the column of a place in a text."""
    before = text[:start]
    line = before.count("\n") + 1
    return Place(text, line, start - (before.rfind("\n") + 1) + 1, length)
