"""From ECL text to nodes, each with its place; the grammar says where it goes wrong.

The language is far larger than its joins. A word that opens something of the rest is
refused where it stands, with what to do instead. Bodies of macros and of foreign code
follow no grammar of ECL's, so they are cut out before, as what nothing uses may stay;
what calls of macros stand for is read in their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from lark import Token, v_args
from lark.exceptions import UnexpectedInput
from lark.tree import Meta

from dovetail.dialects.ecl import syntax
from dovetail.dialects.ecl.macros import Body, Expanded, Macro, Outside, macros_in
from dovetail.dialects.grammar import (
    SIGNS,
    Parts,
    Rule,
    Rules,
    Source,
    Stop,
    nodes_of,
    of_all,
    parser_of,
)
from dovetail.errors import DialectError

_GRAMMAR = Path(__file__).with_name("grammar.lark")


def read(text: str, file: str = "", *outside: Outside) -> tuple[syntax.Node, ...]:
    """Returns the statements of a text in their order; `file` is where it stands.

    `outside` knows the macros of other texts.
    """
    plain, bodies = _without_foreign(text)
    source = Expanded.of(Source(text, file), plain, bodies, *outside)
    _refuse_words(source)
    try:
        tree = parser_of(_GRAMMAR).parse(source.read)
    except UnexpectedInput as error:
        _refuse(source, error)
    return nodes_of(_EclRules(source).transform(tree))


def macros_of(text: str, file: str) -> Mapping[tuple[str, ...], tuple[Macro, ...]]:
    """Returns the macros of a text by their names."""
    plain, bodies = _without_foreign(text)
    return macros_in(Source(text, file), plain, bodies) if bodies else {}


def imports_of(text: str) -> tuple[syntax.Import, ...]:
    """Returns what a text imports, as far as words tell before it is read."""
    place = Source(text).place(0, 1)
    found = (it["word"] for it in _IMPORT.finditer(text))
    return tuple(syntax.Import(place, _paths_of(it)) for it in found if it)


# Texts and comments, in which no word counts: whichever begins first hides the others.
_PASSED = r"""'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*.*?\*/"""
_WORD = re.compile(rf"{_PASSED}|(?P<word>#?[A-Za-z_][\w+]*)", re.DOTALL)
_IMPORT = re.compile(
    rf"{_PASSED}|(?P<word>\bimport\s[^;]*);", re.DOTALL | re.IGNORECASE
)
_FOREIGN_BODY = re.compile(
    rf"{_PASSED}|:=\s*(?P<word>functionmacro|macro|embed|beginc\+\+)(?![\w+])",
    re.DOTALL | re.IGNORECASE,
)
_ENDS: Mapping[str, str] = {
    "macro": "endmacro",
    "functionmacro": "endmacro",
    "embed": "endembed",
    "beginc++": "endc++",
}
_MACRO = "write out what the macro gives"
_FOREIGN = "write it in ECL, or compute the column before the join"
_NO_CALL = (
    "its calls, m(..), stand below it; of a MODULE or another text it is exported"
)
# What stands for a body that is cut out: its word, and what to do instead.
FOREIGN: Mapping[str, tuple[str, str]] = {
    "$acro": ("MACRO", _NO_CALL),
    "$unctionmacro": ("FUNCTIONMACRO", _NO_CALL),
    "$mbed": ("EMBED", _FOREIGN),
    "$eginc__": ("BEGINC++", _FOREIGN),
}
_ANYWHERE: Mapping[str, str] = {
    "beginc++": _FOREIGN,
    **dict.fromkeys(
        (
            *("#if", "#declare", "#set", "#loop", "#append", "#for", "#export"),
            *("#exportxml", "#apply", "#getdatatype", "#inmodule"),
        ),
        _MACRO,
    ),
}
# Behind := they open something; elsewhere they are names like others.
_BODIES: Mapping[str, str] = {
    # With no end to be found: what has one is cut out.
    "macro": _MACRO,
    "functionmacro": _MACRO,
    "embed": _FOREIGN,
    "service": _FOREIGN,
    "type": "a type of ECL's own",
}
_IFBLOCK = "write two records, one for each form of the row"


def _without_foreign(text: str) -> tuple[str, dict[int, Body]]:
    """Returns a text of the same places without bodies of macros and foreign code.

    In place of each stands a name that no program can have; the bodies of macros are
    by the places of these names.
    """
    bodies: dict[int, Body] = {}
    found = _FOREIGN_BODY.search(text)
    while found:
        end, word = found.end(), found["word"]
        # Where a text or a comment is found, there is no word: it is passed over.
        if word:
            ending = rf"\b{re.escape(_ENDS[word.lower()])}(?![\w+])"
            closing = re.compile(ending, re.IGNORECASE).search(text, end)
            if closing:
                # As long as the body, with its lines: no place behind it moves.
                name = f"${word[1:].replace('+', '_')}"
                blanks = re.sub(r"[^\n]", " ", text[end : closing.end()])
                start, end = found.start("word"), closing.end()
                if "macro" in word.lower():
                    is_function = word.lower() == "functionmacro"
                    bodies[start] = Body(found.end(), closing.start(), is_function)
                text = f"{text[:start]}{name}{blanks}{text[end:]}"
        found = _FOREIGN_BODY.search(text, end)
    return text, bodies


def _refuse_words(source: Expanded) -> None:
    """Refuses the first word of the text that opens what is not understood."""
    text = source.read
    for found in _WORD.finditer(text):
        word = (found["word"] or "").lower()
        hint = _ANYWHERE.get(word, "")
        if word in _BODIES and text[: found.start()].rstrip().endswith(":="):
            hint = _BODIES[word]
        if word == "ifblock" and text[found.end() :].lstrip().startswith("("):
            hint = _IFBLOCK
        if hint:
            raise DialectError(
                f'"{found["word"]}" is outside of what is understood of ECL',
                "records, data sets, transforms, joins and outputs",
                hint,
                place=source.place(found.start(), len(word)),
            )


@dataclass(frozen=True, slots=True)
class _Range:
    """What stands between square brackets behind something."""

    reach: syntax.Reach
    first: syntax.Node
    last: syntax.Node


def _lists(parts: Parts) -> tuple[tuple[syntax.Node, ...], ...]:
    """Returns the lists of nodes among the parts of a rule."""
    return tuple(nodes_of(part) for part in parts if isinstance(part, list))


def _of_each(kind: Callable[..., syntax.Node]) -> Rule:
    """Returns a rule whose node has a field for each node of it."""
    return lambda self, meta, parts: kind(self.place(meta), *nodes_of(parts))


def _operation(sign: str, *, is_negated: bool = False) -> Rule:
    """Returns a rule of an operator whose sign the grammar knows."""

    def made(self: Rules, meta: Meta, parts: Parts) -> syntax.Node:
        place = self.place(meta)
        within = syntax.Operation(place, sign, nodes_of(parts))
        return syntax.Operation(place, "NOT", (within,)) if is_negated else within

    return made


def _from(reach: syntax.Reach) -> Rule:
    """Returns a rule of a range that names its first place alone."""

    def made(self: Rules, meta: Meta, parts: Parts) -> _Range:
        (first,) = nodes_of(parts)
        return _Range(reach, first, syntax.Omitted(self.place(meta)))

    return made


# The decorator makes a rule of every name of the class that has no _ before it.
@v_args(meta=True)
class _EclRules(Rules):
    """Makes nodes of the rules of ECL's grammar."""

    sequence = of_all(syntax.Sequence)
    items = of_all(syntax.Items)
    braces = of_all(syntax.Braces)
    defaulted = _of_each(syntax.Defaulted)
    arrow = _of_each(syntax.Arrow)
    cast = _of_each(syntax.Cast)
    omitted = _of_each(syntax.Omitted)
    subtraction = _operation("-")
    negative = _operation("NEGATIVE")
    negated = _operation("NOT")
    other_bits = _operation("BNOT")
    between = _operation("BETWEEN")
    not_between = _operation("BETWEEN", is_negated=True)
    not_in = _operation("IN", is_negated=True)
    at = _from(syntax.Reach.ONE)
    from_place = _from(syntax.Reach.END)
    from_any = _from(syntax.Reach.ANY)

    def program(self, _: Meta, parts: Parts) -> Parts:
        """Returns the statements: a list, which is no node."""
        return list(nodes_of(parts))

    body = program

    def arguments(self, _: Meta, parts: Parts) -> Parts:
        """Returns the arguments of a call, none where nothing stands."""
        found = nodes_of(parts)
        is_empty = len(found) == 1 and isinstance(found[0], syntax.Omitted)
        return [] if is_empty else list(found)

    def definition(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a definition; how a workflow keeps its value changes nothing."""
        head, body, *_ = nodes_of(parts)
        return syntax.Definition(self.place(meta), head, body)

    def operation(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns an operator with its operands."""
        sign = next(str(part) for part in parts if isinstance(part, Token))
        return syntax.Operation(self.place(meta), sign.upper(), nodes_of(parts))

    def call(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a call; an argument that is left out stands where it does."""
        place, (of,), (given,) = self.place(meta), nodes_of(parts), _lists(parts)
        omitted = syntax.Omitted(place)
        shown = (omitted if isinstance(it, syntax.Omitted) else it for it in given)
        return syntax.Call(place, of, tuple(shown))

    def option(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns an option: a name, or a call of it."""
        place = self.place(meta)
        name = syntax.Name(place, str(parts[0]))
        lists = _lists(parts)
        return syntax.Call(place, name, lists[0]) if lists else name

    def member(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns something of something."""
        (of,) = nodes_of(parts)
        return syntax.Member(self.place(meta), of, str(parts[-1]))

    def part(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a part of something."""
        (of,) = nodes_of(parts)
        (found,) = [item for item in parts if isinstance(item, _Range)]
        return syntax.Part(self.place(meta), of, found.reach, found.first, found.last)

    def at_several(self, meta: Meta, parts: Parts) -> _Range:
        """Returns the range of one place that several values name."""
        place = self.place(meta)
        several = syntax.Braces(place, nodes_of(parts))
        return _Range(syntax.Reach.ONE, several, syntax.Omitted(place))

    def between_places(self, _: Meta, parts: Parts) -> _Range:
        """Returns the range from a place to another."""
        return _Range(syntax.Reach.TO, *nodes_of(parts))

    def up_to(self, meta: Meta, parts: Parts) -> _Range:
        """Returns the range from the first place to another."""
        first = syntax.Number(self.place(meta), "1")
        return _Range(syntax.Reach.TO, first, *nodes_of(parts))

    def name(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a name."""
        return syntax.Name(self.place(meta), str(parts[0]))

    def whole(self, meta: Meta, _: Parts) -> syntax.Node:
        """Returns RECORD as a word: all fields of the rows at hand."""
        return syntax.Name(self.place(meta), "RECORD")

    def number(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a number."""
        return syntax.Number(self.place(meta), str(parts[0]).lower())

    def text(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a text without its quotes and escapes."""
        prefix, _, rest = str(parts[0]).partition("'")

        def plain(found: re.Match[str]) -> str:
            octal, code, letter = found.groups()
            if letter:
                return _ESCAPES.get(letter, letter)
            return chr(int(octal, 8) if octal else int(code, 16))

        value = _ESCAPE.sub(plain, rest[:-1])
        return syntax.Text(self.place(meta), value, prefix.lower())

    def bracketed(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns what stands in brackets; a function there is called in place."""
        inside: syntax.Node = nodes_of(parts)[0]
        if isinstance(inside, syntax.Function):
            return syntax.Call(self.place(meta), inside, ())
        return inside

    def record(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a record."""
        (fields,) = _lists(parts)
        return syntax.Record(self.place(meta), (), nodes_of(parts), fields)

    def extended(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a record that begins with the fields of another."""
        (base, *options), (fields,) = nodes_of(parts), _lists(parts)
        return syntax.Record(self.place(meta), (base,), tuple(options), fields)

    def block(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a block of assignments."""
        (statements,) = _lists(parts)
        return syntax.Transform(self.place(meta), (), nodes_of(parts), statements)

    def inline(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a transform in brackets: its record, then the assignments."""
        first, *rest = nodes_of(parts)
        return syntax.Transform(self.place(meta), (first,), (), tuple(rest))

    def function(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a function's definitions and its result."""
        (result,), (statements,) = nodes_of(parts), _lists(parts)
        return syntax.Function(self.place(meta), statements, result)

    def module(self, meta: Meta, parts: Parts) -> syntax.Module:
        """Returns a module: what it begins with, and its definitions."""
        *bases, statements = _lists(parts)
        begins = tuple(one for it in bases for one in it)
        return syntax.Module(self.place(meta), begins, statements)

    def interface(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns an interface, which is a module whose definitions others replace."""
        made = self.module(meta, parts)
        return replace(made, is_interface=True)

    def imported(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns the names that another text lends."""
        return syntax.Import(self.place(meta), _paths_of(str(parts[0])))

    def type(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a type of the language, or a set of one."""
        place, last = self.place(meta), parts[-1]
        if len(parts) == 1:
            return syntax.TypeName(place, " ".join(str(last).upper().split()))
        if isinstance(last, syntax.TypeName | syntax.SetType):
            return syntax.SetType(place, last)
        return syntax.SetType(place, syntax.Name(place, str(last)))


# An IMPORT is one token of the grammar, since its names may be words of the language.
_FROM, _AS = re.compile(r"\s+from\s+"), re.compile(r"\s+as\s+")


def _paths_of(text: str) -> tuple[tuple[str, str], ...]:
    """Returns the names that an IMPORT brings, each with its path."""
    names, *origins = _FROM.split(text.lower().removeprefix("import"))
    paths: list[tuple[str, str]] = []
    for one in names.split(","):
        path, *alias = (it.strip() for it in _AS.split(one.strip()))
        whole = ".".join([*(it.strip() for it in origins), path])
        last = path.rpartition(".")[2]
        paths.append((alias[0] if alias else last, whole))
        # IMPORT a.b brings a, too, of which the text may say a.b again.
        first = path.partition(".")[0]
        if not alias and not origins and first != last:
            paths.append((first, first))
    return tuple(paths)


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPE = re.compile(r"\\(?:([0-7]{3})|u([0-9a-fA-F]{4})|(.))")


_SIGNS = {**SIGNS, "END": "END", "ASSIGN": '":="', "RETURN": "RETURN"}
_ESCAPED = re.compile(r"\w{,2}'[^'\\\n]*\\.")
_ON_ESCAPES = (
    "in a text \\ stands before \\, ', \", n, r, t or three octal digits; "
    "in one of U'..' also before u and four digits of base 16"
)
# Signs of other languages, and what ECL has in their place.
_OTHER_SIGNS = tuple(
    (re.compile(sign, re.IGNORECASE), instead)
    for sign, instead in (
        (r"XOR\b", "(a OR b) AND NOT (a AND b) is true where just one of them is"),
        (r"(?<==)=", "one = compares two values"),
        (r"&", "AND stands between two conditions"),
        (r"\|", "OR stands between two conditions"),
        (r"!", "NOT, or ~, stands before a condition"),
        (r"\?", "IF(condition, value, other) chooses"),
        (r'"', "a text stands between single quotes"),
        (r":(?!=)", "a name stands before what a workflow keeps: x := rows : PERSIST"),
        (r"/\*", "a comment ends with */"),
        (r"SELF\b", "assignments of a transform end with a semicolon or a comma"),
    )
)


def _refuse(source: Expanded, error: UnexpectedInput) -> NoReturn:
    """Raises what the grammar has found, in words of the language."""
    text, stop = source.read, Stop.of(source.read, error)
    here = stop.start
    found = "" if stop.is_end else stop.token or text[here : here + 1]
    if "RPAR" in stop.terminals:
        # Of what may follow an argument a name for it is the rarest.
        stop = replace(stop, terminals=stop.terminals - {"ASSIGN"})
    raise stop.told(source, found, _SIGNS, _hint(text, here)) from error


def _hint(text: str, start: int) -> str:
    """Returns what most often is the matter."""
    before = text[:start].rstrip()
    # From what is surely the matter to what only may be.
    if _ESCAPED.match(text, start):
        return _ON_ESCAPES
    for sign, instead in _OTHER_SIGNS:
        if sign.match(text, start):
            return instead
    if text[start : start + 1] == "'" or text[start:].count("'") % 2:
        return "a text ends on its line, with a quote"
    if before == text.rstrip() and text.count("(") > text.count(")"):
        return "a bracket is left open"
    if before == text.rstrip():
        return "RECORD, TRANSFORM, FUNCTION and MODULE stand until END;"
    if before and before[-1] not in ";,(":
        return "a definition or an action ends with a semicolon"
    return ""
