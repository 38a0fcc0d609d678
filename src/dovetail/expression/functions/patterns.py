"""Texts by regular expressions, which must be written out: RLIKE, REGEXP_EXTRACT.

A pattern is a constant, so that it is known before anything runs whether all engines
read it alike. Dialects of patterns differ in corners, so only their common part is
taken: letters, classes, groups, alternatives, counts, `^` and `$`. A pattern is cut
into these pieces and written again with Java's meaning spelled out; anything else is
refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.tree import Call, Literal, Node

ENTRIES = entry.Entries()

Pattern = re.Pattern[str]

# What Java takes for the end of a line: a dot is any letter but these.
_ENDS = r"\n\r\u0085\u2028\u2029"
_REFERENCE = re.compile(r"\$([0-9])")
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
def regular(text: str) -> Pattern:
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
        parts.append(_in_python(str(found.lastgroup), found[0]))
        place = found.end()
    return "".join(parts)


def _in_python(piece: str, text: str) -> str:
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
            # Java's `$` also stands before one last end of a line
            return rf"(?=(?:\r\n|[{_ENDS}])?\Z)"
        case "dot":
            return f"[^{_ENDS}]"
        case "letter":
            return re.escape(text)
        case _:
            return text


def _pattern(node: Node) -> Pattern | None:
    """Returns the compiled pattern of a literal, None of null."""
    if not isinstance(node, Literal) or node.type not in (kinds.STRING, kinds.NULL):
        raise UnsupportedError("a regular expression that is no constant")
    return None if node.value is None else regular(node.value)


def _searching(text: str) -> entry.Rule:
    """Returns the rule of a shape whose second argument is a pattern of everyone's."""
    rule = entry.shape(text)

    def checked(arguments: entry.Arguments) -> entry.Signature | None:
        signature = rule(arguments)
        if signature is not None:
            _pattern(arguments[1])
        return signature

    return checked


def _counting(text: str) -> entry.Rule:
    """Returns the rule of a shape whose pattern matches no empty text."""
    rule = _searching(text)

    def checked(arguments: entry.Arguments) -> entry.Signature | None:
        signature = rule(arguments)
        pattern = _pattern(arguments[1]) if signature else None
        # Java finds more empty matches than Python does
        if pattern and pattern.search(""):
            raise UnsupportedError("a regular expression that matches nothing, here")
        return signature

    return checked


def _replacing_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types REGEXP_REPLACE: what stands instead is written, groups by one digit."""
    signature = _counting("string, string, string -> string")(arguments)
    if signature is None:
        return None
    instead, pattern = arguments[2], _pattern(arguments[1])
    if not isinstance(instead, Literal):
        raise UnsupportedError("a replacement that is no constant")
    told = str(instead.value or "")
    # Java takes digits into `$12` as long as there is such a group
    known = re.fullmatch(r"(?:[^\\$]|\$[0-9](?![0-9]))*", told)
    numbers = [int(one) for one in _REFERENCE.findall(told)]
    if not known or any(one > (pattern.groups if pattern else 9) for one in numbers):
        raise UnsupportedError(f'references in the replacement "{told}"')
    return signature


def _replaced(pattern: Pattern, text: str, instead: str) -> str:
    """Returns a text with what stands instead, groups where it names them."""

    def filled(found: re.Match[str]) -> str:
        # a group that took no part is nothing
        return _REFERENCE.sub(lambda sign: found[int(sign[1])] or "", instead)

    return pattern.sub(filled, text)


def _group_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types REGEXP_EXTRACT: the number of the group is written, and there is one."""
    signature = _searching("string, string, int -> string")(arguments)
    if signature is None:
        return None
    group, pattern = arguments[2], _pattern(arguments[1])
    if not isinstance(group, Literal):
        raise UnsupportedError("a group that is no constant")
    if pattern is None or group.value is None:
        return signature
    return signature if group.value in range(pattern.groups + 1) else None


def _compiled(find: entry.Compute) -> entry.Evaluation:
    """Returns the evaluation of a function that is told the compiled pattern."""

    def evaluate(call: Call) -> entry.Compute:
        pattern = _pattern(call.arguments[1])
        return lambda text, _pattern, *rest: find(pattern, text, *rest)

    return evaluate


@ENTRIES.row("regexp group", _group_rule, told=_compiled, takes=3)
def _group(pattern: Pattern, text: str, group: int) -> str:
    found = pattern.search(text)
    return (found[group] or "") if found else ""


@ENTRIES.macro("regexp_extract", ("regexp group",), takes=2, optional=1)
def _extract(build: entry.Build, text: Node, pattern: Node, *group: Node) -> Node:
    number = group or (Literal(1, kinds.INT),)
    return build("regexp group", text, pattern, *number)


@ENTRIES.row(
    "split", _counting("string, string -> array<string>"), told=_compiled, takes=2
)
def _split(pattern: Pattern, text: str) -> list[str]:
    # `re.split` would give the groups of the pattern, too
    found, start = [], 0
    for match in pattern.finditer(text):
        found.append(text[start : match.start()])
        start = match.end()
    return [*found, text[start:]]


@ENTRIES.row(
    "regexp_substr", _searching("string, string -> string"), told=_compiled, takes=2
)
def _first(pattern: Pattern, text: str) -> str | None:
    found = pattern.search(text)
    return found[0] if found else None


@ENTRIES.row(
    "regexp_instr", _searching("string, string -> int"), told=_compiled, takes=2
)
def _place(pattern: Pattern, text: str) -> int:
    found = pattern.search(text)
    return found.start() + 1 if found else 0


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    entry.typed(
        "rlike",
        _searching("string, string -> boolean"),
        _compiled(lambda pattern, text: pattern.search(text) is not None),
    ),
    entry.typed(
        "regexp_replace",
        _replacing_rule,
        _compiled(_replaced),
        takes=3,
    ),
    entry.typed(
        "regexp_count",
        _counting("string, string -> int"),
        _compiled(lambda pattern, text: sum(1 for _ in pattern.finditer(text))),
        takes=2,
    ),
    entry.alias("regexp_like", "rlike"),
    entry.alias("regexp", "rlike"),
)
