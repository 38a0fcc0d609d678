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
    "merge": "SORT(one + other, fields)",
    "aggregate": _COUNTED,
    "having": "count by key with TABLE(rows, {key, n := COUNT(GROUP)}, key), and JOIN",
    "when": "SEQUENTIAL(action, OUTPUT(rows))",
    "apply": "OUTPUT(rows)",
    "fail": "LIMIT(n, FAIL(code, 'message')), or a field of ONFAIL's transform",
    "nonempty": "rows + others(condition)",
    "catch": "LIMIT(rows, n, SKIP) and LIMIT(rows, n, ONFAIL(transform)) do not fail",
    "loop": "write the steps one after the other",
    "graph": "write the steps one after the other",
    **dict.fromkeys(("enth", "sample"), _CHOSEN),
    **dict.fromkeys(("hashmd5", "realformat"), _COLUMN),
    **dict.fromkeys(("variance", "covariance", "correlation"), _COUNTED),
    **dict.fromkeys(("parse", "xmldecode", "fromxml", "fromjson"), _PARSED),
    **dict.fromkeys(("soapcall", "httpcall", "pipe"), _PARSED),
    "#stored": "write the value into its definition",
    "#constant": "write the value into its definition",
}


_ENDS: Mapping[str, str] = {
    "macro": "endmacro",
    "functionmacro": "endmacro",
    "embed": "endembed",
    "beginc++": "endc++",
}
_FOREIGN_BODY = re.compile(
    rf"""{_PASSED}|:=\s*(?P<word>functionmacro|macro|embed|beginc\+\+)(?![\w+])""",
    re.DOTALL | re.IGNORECASE,
)


def without_foreign(text: str) -> str:
    """Returns a text of the same places without bodies of macros and foreign code.

    In place of each stands a name that no program can have.
    """
    found = _FOREIGN_BODY.search(text)
    while found:
        end = found.end()
        for closing in _closing(text, found):
            word = f"${found['word'][1:].replace('+', '_')}"
            body = re.sub(r"[^\n]", " ", text[end : closing.end()])
            text = f"{text[: found.start('word')]}{word}{body}{text[closing.end() :]}"
            end = closing.end()
        found = _FOREIGN_BODY.search(text, end)
    return text


def _closing(text: str, found: re.Match[str]) -> list[re.Match[str]]:
    """Returns where a body of foreign code ends, if it does."""
    end = _ENDS.get((found["word"] or "").lower())
    if end is None:
        return []
    closing = re.compile(rf"\b{re.escape(end)}(?![\w+])", re.IGNORECASE)
    return [*closing.finditer(text, found.end())][:1]


# What stands for a body that is left out: its word, and what to do instead.
FOREIGN: Mapping[str, tuple[str, str]] = {
    "$acro": ("MACRO", _MACRO),
    "$unctionmacro": ("FUNCTIONMACRO", _MACRO),
    "$mbed": ("EMBED", _FOREIGN),
    "$eginc__": ("BEGINC++", _FOREIGN),
}


def refuse_foreign(text: str) -> None:
    """Refuses the first word of the text that opens what is not understood."""
    for found in _WORD.finditer(text):
        word = (found["word"] or "").lower()
        hint = _ALWAYS.get(word, "")
        if (
            word in _BODIES
            and word not in FOREIGN
            and text[: found.start()].rstrip().endswith(":=")
        ):
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
