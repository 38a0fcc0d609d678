"""Texts by regular expressions, which must be written out: RLIKE, REGEXP_EXTRACT.

A pattern is a constant, so that it is known before anything runs whether all engines
read it alike (`regular.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import BOOLEAN, INT, NULL, STRING
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entry,
    Evaluation,
    Function,
    Macro,
    Rule,
    Signature,
    alias,
    expects,
)
from dovetail.expression.functions.regular import regular
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.schema import ArrayType, AtomicType

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


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    """Tells whether a pattern is found in a text."""
    return pattern.search(text) is not None


def _extracted(pattern: re.Pattern[str], text: str, group: int) -> str:
    """Returns a group of the first match, empty where there is none."""
    found = pattern.search(text)
    return (found[group] or "") if found else ""


def _replaced(pattern: re.Pattern[str], text: str, instead: str) -> str:
    """Returns a text with every match replaced."""
    return pattern.sub(lambda _found: instead, text)


def _counted(pattern: re.Pattern[str], text: str) -> int:
    """Returns the number of matches."""
    return sum(1 for _ in pattern.finditer(text))


def _piece(pattern: re.Pattern[str], text: str) -> str | None:
    """Returns the first match, null where there is none."""
    found = pattern.search(text)
    return found[0] if found else None


def _place(pattern: re.Pattern[str], text: str) -> int:
    """Returns where the first match begins, from 1, 0 where there is none."""
    found = pattern.search(text)
    return found.start() + 1 if found else 0


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


def _split(pattern: re.Pattern[str], text: str) -> list[str]:
    """Returns what stands between the matches."""
    found, start = [], 0
    for match in pattern.finditer(text):
        found.append(text[start : match.start()])
        start = match.end()
    return [*found, text[start:]]


def _of_text(result: Kind) -> Rule:
    """Returns the rule of a function of a text and a pattern."""
    return _pattern_rule(expects(result, STRING, STRING))


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
FUNCTIONS: tuple[Entry, ...] = (
    Function("rlike", _of_text(BOOLEAN), _searching(_matches)),
    Function(
        "regexp group",
        _group_rule,
        _searching(_extracted),
        takes=3,
    ),
    Function(
        "regexp_replace",
        _replacing_rule,
        _searching(_replaced),
        takes=3,
    ),
    Function("split", _SPLIT, _searching(_split), takes=2),
    Function("regexp_count", _COUNT, _searching(_counted), takes=2),
    Function("regexp_substr", _of_text(STRING), _searching(_piece), takes=2),
    Function("regexp_instr", _of_text(INT), _searching(_place), takes=2),
    Macro("regexp_extract", _extract, ("regexp group",), takes=2, optional=1),
    alias("regexp_like", "rlike"),
    alias("regexp", "rlike"),
)
