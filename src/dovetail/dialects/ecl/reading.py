"""From ECL text to nodes: the grammar reads it, and says where it does not go on.

The place of every node is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NoReturn

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput
from lark.tree import Meta

from dovetail.dialects.ecl import syntax
from dovetail.dialects.ecl.refused import place_at, refuse_foreign, without_foreign
from dovetail.errors import DialectError, Place

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPE = re.compile(r"\\(?:([0-7]{3})|u([0-9a-fA-F]{4})|(.))")
_FROM, _AS = re.compile(r"\s+from\s+"), re.compile(r"\s+as\s+")


@dataclass(frozen=True, slots=True)
class _Range:
    """What stands between square brackets behind something."""

    reach: syntax.Reach
    first: syntax.Node
    last: syntax.Node


Child = syntax.Node | Token | _Range | list["Child"] | None
Parts = list[Child]


def nodes_of(parts: Parts) -> tuple[syntax.Node, ...]:
    """Returns the nodes among the parts of a rule, without its words."""
    return tuple(
        part
        for part in parts
        if part is not None and not isinstance(part, Token | _Range | list)
    )


@v_args(meta=True)
class Nodes(Transformer[Token, Parts]):
    """Makes nodes of the rules of the grammar, each under the rule's name."""

    def __init__(self, text: str, file: str) -> None:
        """Keeps the text, which every place shows, and the name of its file."""
        super().__init__()
        self._text = text
        self._file = file

    def _at(self, meta: Meta) -> Place:
        """Returns the place of a rule."""
        if meta.empty:
            return Place(self._text, 1, 1, file=self._file)
        ends_here = meta.end_line == meta.line
        length = meta.end_column - meta.column if ends_here else 1
        length = max(1, length)
        return Place(self._text, meta.line, meta.column, length, self._file)

    def program(self, _: Meta, parts: Parts) -> Parts:
        """Returns the statements."""
        return list(nodes_of(parts))

    def body(self, _: Meta, parts: Parts) -> list[Child]:
        """Returns the statements of a block, as a list that is no node."""
        return list(nodes_of(parts))

    def arguments(self, _: Meta, parts: Parts) -> list[Child]:
        """Returns the arguments of a call, none where nothing stands."""
        found = nodes_of(parts)
        is_empty = len(found) == 1 and isinstance(found[0], syntax.Omitted)
        return [] if is_empty else list(found)

    def omitted(self, meta: Meta, _: Parts) -> syntax.Node:
        """Returns what stands for an argument that is left out."""
        return syntax.Omitted(self._at(meta))

    def definition(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a definition; how a workflow keeps its value changes nothing."""
        head, body, *_ = nodes_of(parts)
        return syntax.Definition(self._at(meta), head, body)

    def defaulted(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a parameter with a default."""
        head, value = nodes_of(parts)
        if not isinstance(head, syntax.Sequence):
            raise TypeError(head)
        return syntax.Defaulted(self._at(meta), head, value)

    def arrow(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a condition with what follows from it."""
        return syntax.Arrow(self._at(meta), *nodes_of(parts))

    def sequence(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns words side by side."""
        return syntax.Sequence(self._at(meta), nodes_of(parts))

    def operation(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns an operator with its operands."""
        sign = next(str(part) for part in parts if isinstance(part, Token))
        return syntax.Operation(self._at(meta), sign.upper(), nodes_of(parts))

    def subtraction(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a difference."""
        return syntax.Operation(self._at(meta), "-", nodes_of(parts))

    def negative(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a number with its sign turned, or a field sorted downwards."""
        return syntax.Operation(self._at(meta), "NEGATIVE", nodes_of(parts))

    def negated(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns the contrary of a condition."""
        return syntax.Operation(self._at(meta), "NOT", nodes_of(parts))

    def not_in(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns the contrary of IN."""
        within = syntax.Operation(self._at(meta), "IN", nodes_of(parts))
        return syntax.Operation(self._at(meta), "NOT", (within,))

    def between(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a value within bounds."""
        return syntax.Operation(self._at(meta), "BETWEEN", nodes_of(parts))

    def not_between(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns the contrary of BETWEEN."""
        within = syntax.Operation(self._at(meta), "BETWEEN", nodes_of(parts))
        return syntax.Operation(self._at(meta), "NOT", (within,))

    def cast(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a value of another type."""
        kind, operand = nodes_of(parts)
        return syntax.Cast(self._at(meta), kind, operand)

    def call(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a call with its arguments."""
        (of,), (given,) = nodes_of(parts), _lists(parts)
        return syntax.Call(self._at(meta), of, given)

    def option(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns an option: a name, or a call of it."""
        place = self._at(meta)
        name = syntax.Name(place, str(parts[0]))
        lists = _lists(parts)
        return syntax.Call(place, name, lists[0]) if lists else name

    def member(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns something of something."""
        (of,) = nodes_of(parts)
        return syntax.Member(self._at(meta), of, str(parts[-1]))

    def part(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a part of something."""
        (of,) = nodes_of(parts)
        (found,) = [item for item in parts if isinstance(item, _Range)]
        return syntax.Part(self._at(meta), of, found.reach, found.first, found.last)

    def at(self, meta: Meta, parts: Parts) -> _Range:
        """Returns the range of one place."""
        (first,) = nodes_of(parts)
        return _Range(syntax.Reach.ONE, first, syntax.Omitted(self._at(meta)))

    def at_several(self, meta: Meta, parts: Parts) -> _Range:
        """Returns the range of one place that several values name."""
        place = self._at(meta)
        return _Range(
            syntax.Reach.ONE,
            syntax.Braces(place, tuple(nodes_of(parts))),
            syntax.Omitted(place),
        )

    def between_places(self, _: Meta, parts: Parts) -> _Range:
        """Returns the range from a place to another."""
        first, last = nodes_of(parts)
        return _Range(syntax.Reach.TO, first, last)

    def up_to(self, meta: Meta, parts: Parts) -> _Range:
        """Returns the range from the first place to another."""
        (last,) = nodes_of(parts)
        return _Range(syntax.Reach.TO, syntax.Number(self._at(meta), "1"), last)

    def from_place(self, meta: Meta, parts: Parts) -> _Range:
        """Returns the range from a place to the end."""
        (first,) = nodes_of(parts)
        return _Range(syntax.Reach.END, first, syntax.Omitted(self._at(meta)))

    def from_any(self, meta: Meta, parts: Parts) -> _Range:
        """Returns the range from a place as far as needed."""
        (first,) = nodes_of(parts)
        return _Range(syntax.Reach.ANY, first, syntax.Omitted(self._at(meta)))

    def name(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a name."""
        return syntax.Name(self._at(meta), str(parts[0]))

    def whole(self, meta: Meta, _: Parts) -> syntax.Node:
        """Returns RECORD as a word: all fields of the rows at hand."""
        return syntax.Name(self._at(meta), "RECORD")

    def number(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a number."""
        return syntax.Number(self._at(meta), str(parts[0]).lower())

    def text(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a text without its quotes and escapes."""
        prefix, _, rest = str(parts[0]).partition("'")
        value = _ESCAPE.sub(_unescaped, rest[:-1])
        return syntax.Text(self._at(meta), value, prefix.lower())

    def bracketed(self, _: Meta, parts: Parts) -> syntax.Node:
        """Returns what stands in brackets."""
        (inside,) = nodes_of(parts)
        return inside

    def items(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a list."""
        return syntax.Items(self._at(meta), nodes_of(parts))

    def braces(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns what stands in braces."""
        return syntax.Braces(self._at(meta), nodes_of(parts))

    def record(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a record."""
        (fields,) = _lists(parts)
        return syntax.Record(self._at(meta), (), nodes_of(parts), fields)

    def extended(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a record that begins with the fields of another."""
        (base, *options), (fields,) = nodes_of(parts), _lists(parts)
        return syntax.Record(self._at(meta), (base,), tuple(options), fields)

    def block(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a block of assignments."""
        (statements,) = _lists(parts)
        return syntax.Transform(self._at(meta), (), nodes_of(parts), statements)

    def inline(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a transform in brackets: its record, then the assignments."""
        first, *rest = nodes_of(parts)
        return syntax.Transform(self._at(meta), (first,), (), tuple(rest))

    def function(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a function's definitions and its result."""
        (result,), (statements,) = nodes_of(parts), _lists(parts)
        return syntax.Function(self._at(meta), statements, result)

    def module(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a module: what it begins with, and its definitions."""
        *bases, statements = _lists(parts)
        return syntax.Module(
            self._at(meta), tuple(one for it in bases for one in it), statements
        )

    def imported(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns the names that another text lends."""
        return syntax.Import(self._at(meta), tuple(_imports(str(parts[0]))))

    def type(self, meta: Meta, parts: Parts) -> syntax.Node:
        """Returns a type of the language, or a set of one."""
        place, last = self._at(meta), parts[-1]
        if len(parts) == 1:
            return syntax.TypeName(place, " ".join(str(last).upper().split()))
        if isinstance(last, syntax.TypeName | syntax.SetType):
            return syntax.SetType(place, last)
        return syntax.SetType(place, syntax.Name(place, str(last)))


def _imports(text: str) -> Iterator[tuple[str, str]]:
    """Yields the names of an IMPORT, each with the path of what it stands for."""
    names, *origins = _FROM.split(text.lower().removeprefix("import"))
    for one in names.split(","):
        path, *alias = (it.strip() for it in _AS.split(one.strip()))
        whole = ".".join([*(it.strip() for it in origins), path])
        last = path.rpartition(".")[2]
        yield (alias[0] if alias else last, whole)
        first = path.partition(".")[0]
        if not alias and not origins and first != last:
            yield first, first


def _lists(parts: Parts) -> tuple[tuple[syntax.Node, ...], ...]:
    """Returns the lists of nodes among the parts of a rule."""
    return tuple(nodes_of(part) for part in parts if isinstance(part, list))


def _unescaped(found: re.Match[str]) -> str:
    """Returns the letter that an escape stands for."""
    octal, code, letter = found.groups()
    if letter:
        return _ESCAPES.get(letter, letter)
    return chr(int(octal, 8) if octal else int(code, 16))


_GRAMMAR = Path(__file__).with_name("grammar.lark")
_MOST_EXPECTED = 5


def read(text: str, file: str = "") -> tuple[syntax.Node, ...]:
    """Returns the statements of a text in their order; `file` is where it stands."""
    try:
        plain = without_foreign(text)
        refuse_foreign(plain)
        tree = _parser().parse(plain)
    except UnexpectedInput as error:
        _refuse(text, error, file)
    except DialectError as error:
        error.place = replace(error.place, file=file)
        raise
    return nodes_of(Nodes(text, file).transform(tree))


@cache
def _parser() -> Lark:
    """Returns the parser, made when it is first needed."""
    return Lark(
        _GRAMMAR.read_text(encoding="utf-8"),
        start="program",
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _refuse(text: str, error: UnexpectedInput, file: str) -> NoReturn:
    """Raises what the grammar has found, in words of the language."""
    token = getattr(error, "token", None)
    is_end = isinstance(token, Token) and token.type == "$END"
    here = error.pos_in_stream
    if is_end or here is None:
        here = len(text.rstrip())
    found = "" if is_end else str(token or text[here : here + 1])
    raise DialectError(
        f'"{found}" does not go on here' if found else "the text ends here",
        _expected(getattr(error, "accepts", None) or getattr(error, "expected", ())),
        _hint(text, here),
        place=replace(place_at(text, here, len(found.partition("\n")[0])), file=file),
    ) from error


def _expected(terminals: object) -> str:
    """Returns what could stand at a place, where that is few things."""
    if not isinstance(terminals, set | frozenset | list | tuple):
        return ""
    # Of what may follow an argument a name for it is the rarest.
    given = set(terminals) - ({"ASSIGN"} if "RPAR" in terminals else set())
    names = sorted({_SIGNS.get(name, name.lower()) for name in given})
    return " or ".join(names) if 0 < len(names) <= _MOST_EXPECTED else ""


_SIGNS = {
    "SEMICOLON": '";"',
    "RPAR": '")"',
    "LPAR": '"("',
    "COMMA": '","',
    "RSQB": '"]"',
    "RBRACE": '"}"',
    "END": "END",
    "ASSIGN": '":="',
    "NAME": "a name",
    "$END": "the end",
    "RETURN": "RETURN",
}


_ESCAPED = re.compile(r"\w{,2}'[^'\\\n]*\\.")
_ON_ESCAPES = (
    "in a text \\ stands before \\, ', \", n, r, t or three octal digits; "
    "in one of U'..' also before u and four digits of base 16"
)


# Signs of other languages, and what ECL has in their place.
_FOREIGN = tuple(
    (re.compile(sign, re.IGNORECASE), instead)
    for sign, instead in (
        (r"XOR\b", "(a OR b) AND NOT (a AND b) is true where just one of them is"),
        (r"(?<==)=", "one = compares two values"),
        (r"&", "AND stands between two conditions"),
        (r"\|", "OR stands between two conditions"),
        (r"!", "NOT, or ~, stands before a condition"),
        (r"\?", "IF(condition, value, other) chooses"),
        (r"\^|(?<=<)<|(?<=>)>", "compute what bits make before the program"),
        (r'"', "a text stands between single quotes"),
        (r":(?!=)", "a name stands before what a workflow keeps: x := rows : PERSIST"),
        (r"/\*", "a comment ends with */"),
        (r"SELF\b", "assignments of a transform end with a semicolon or a comma"),
    )
)


def _hint(text: str, start: int) -> str:
    """Returns what most often is the matter."""
    before = text[:start].rstrip()
    if _ESCAPED.match(text, start):
        return _ON_ESCAPES
    for sign, instead in _FOREIGN:
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
