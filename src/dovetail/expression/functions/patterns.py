"""Texts by regular expressions, which must be written out: RLIKE, REGEXP_EXTRACT.

A pattern is a constant, so that it is known before anything runs whether all engines
read it alike. Dialects of patterns differ in corners, so only their common part is
taken: letters, classes, groups, alternatives, counts, `^` and `$`. A pattern is cut
into these pieces and written again with Java's meaning spelled out; anything else is
refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression.coercion import BOOLEAN, INT, NULL, STRING
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entries,
    Entry,
    Evaluation,
    Rule,
    Signature,
    alias,
    expects,
)
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.schema import ArrayType, AtomicType

ENTRIES = Entries()

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


Found = Callable[..., Value]
_REFERENCE = re.compile(r"[\\$]")


def _pattern_rule(rule: Rule) -> Rule:
    """Returns a rule whose second argument must be a pattern of everyone's."""

    def checked(arguments: Arguments) -> Signature | None:
        signature = rule(arguments)
        if signature is not None:
            _pattern(arguments[1])
        return signature

    return checked


def _pattern(node: Node) -> re.Pattern[str] | None:
    """Returns the compiled pattern of a literal, None of null."""
    if not isinstance(node, Literal) or node.type not in (STRING, NULL):
        raise UnsupportedError("a regular expression that is no constant")
    return None if node.value is None else regular(node.value)


def _searching(find: Callable[..., Value]) -> Evaluation:
    """Returns the evaluation of a function of a text and a compiled pattern."""

    def evaluate(call: Call) -> Found:
        pattern = _pattern(call.arguments[1])
        return lambda text, _pattern, *rest: find(pattern, text, *rest)

    return evaluate


def _filled_rule(rule: Rule) -> Rule:
    """Returns a rule whose pattern matches no empty text, of which Java finds more."""

    def checked(arguments: Arguments) -> Signature | None:
        signature = _pattern_rule(rule)(arguments)
        pattern = _pattern(arguments[1]) if signature else None
        if pattern and pattern.search(""):
            raise UnsupportedError("a regular expression that matches nothing, here")
        return signature

    return checked


def _replacing_rule(arguments: Arguments) -> Signature | None:
    """Types REGEXP_REPLACE: what stands instead is written, without references."""
    signature = _filled_rule(expects(STRING, STRING, STRING, STRING))(arguments)
    if signature is None:
        return None
    instead = arguments[2]
    if not isinstance(instead, Literal):
        raise UnsupportedError("a replacement that is no constant")
    if instead.value is not None and _REFERENCE.search(str(instead.value)):
        raise UnsupportedError(f'references in the replacement "{instead.value}"')
    return signature


def _of_text(result: Kind) -> Rule:
    """Returns the rule of a function of a text and a pattern."""
    return _pattern_rule(expects(result, STRING, STRING))


@ENTRIES.macro("regexp_extract", ("regexp group",), takes=2, optional=1)
def _extract(build: Build, arguments: Arguments) -> Node:
    """Writes REGEXP_EXTRACT with the number of its group, 1 where none is given."""
    group = arguments[2:] or (Literal(1, INT),)
    return build("regexp group", *arguments[:2], *group)


def _group_rule(arguments: Arguments) -> Signature | None:
    """Types REGEXP_EXTRACT: the number of the group is written, and there is one."""
    rule = _pattern_rule(expects(STRING, STRING, STRING, INT))
    signature = rule(arguments)
    if signature is None:
        return None
    group, pattern = arguments[2], _pattern(arguments[1])
    if not isinstance(group, Literal):
        raise UnsupportedError("a group that is no constant")
    if pattern is None or group.value is None:
        return signature
    return signature if group.value in range(pattern.groups + 1) else None


_SPLIT = _filled_rule(expects(ArrayType(AtomicType.STRING), STRING, STRING))
_COUNT = _filled_rule(expects(INT, STRING, STRING))


@ENTRIES.function("rlike", _of_text(BOOLEAN), told=_searching)
def _matches(pattern: re.Pattern[str], text: str) -> bool:
    """Tells whether a pattern is found in a text."""
    return pattern.search(text) is not None


@ENTRIES.function("regexp group", _group_rule, told=_searching, takes=3)
def _extracted(pattern: re.Pattern[str], text: str, group: int) -> str:
    """Returns a group of the first match, empty where there is none."""
    found = pattern.search(text)
    return (found[group] or "") if found else ""


@ENTRIES.function("regexp_replace", _replacing_rule, told=_searching, takes=3)
def _replaced(pattern: re.Pattern[str], text: str, instead: str) -> str:
    """Returns a text with every match replaced."""
    return pattern.sub(lambda _found: instead, text)


@ENTRIES.function("split", _SPLIT, told=_searching, takes=2)
def _split(pattern: re.Pattern[str], text: str) -> list[str]:
    """Returns what stands between the matches."""
    found, start = [], 0
    for match in pattern.finditer(text):
        found.append(text[start : match.start()])
        start = match.end()
    return [*found, text[start:]]


@ENTRIES.function("regexp_count", _COUNT, told=_searching, takes=2)
def _counted(pattern: re.Pattern[str], text: str) -> int:
    """Returns the number of matches."""
    return sum(1 for _ in pattern.finditer(text))


@ENTRIES.function("regexp_substr", _of_text(STRING), told=_searching, takes=2)
def _piece(pattern: re.Pattern[str], text: str) -> str | None:
    """Returns the first match, null where there is none."""
    found = pattern.search(text)
    return found[0] if found else None


@ENTRIES.function("regexp_instr", _of_text(INT), told=_searching, takes=2)
def _place(pattern: re.Pattern[str], text: str) -> int:
    """Returns where the first match begins, from 1, 0 where there is none."""
    found = pattern.search(text)
    return found.start() + 1 if found else 0


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    alias("regexp_like", "rlike"),
    alias("regexp", "rlike"),
)
