"""From SPL text to nodes, each with its place; the grammar says where it goes wrong.

A text is whole composites, or what stands inside of one: the clauses of a composite, or
operators alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from lark import Token, v_args
from lark.exceptions import UnexpectedInput, VisitError
from lark.tree import Meta

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
from dovetail.dialects.spl import absence, syntax
from dovetail.dialects.spl.repeats import refuse_second
from dovetail.errors import DialectError, Place

_GRAMMAR = Path(__file__).with_name("grammar.lark")

MAIN = "Main"


def read(text: str) -> syntax.Program:
    """Returns a text as its composites; what stands outside of them is one, too."""
    try:
        tree = parser_of(_GRAMMAR).parse(text)
    except UnexpectedInput as error:
        _refuse(Source(text), error)
    try:
        found: syntax.Program = _SplRules(Source(text)).transform(tree)
    except VisitError as error:
        # What a rule refuses is told as it is, not as a failure of the rule.
        raise error.orig_exc from error
    except RecursionError as error:
        raise too_deep(Place(text, 1, 1)) from error
    _refuse_deep(found)
    return found


_DEEPEST = 60


def too_deep(place: Place) -> DialectError:
    """Returns the error for a text whose parts hold each other too many times."""
    return DialectError(
        f"more than {_DEEPEST} parts inside of each other",
        "fewer: a Functor before computes a part of it",
        place=place,
    )


def _refuse_deep(whole: syntax.Program) -> None:
    """Refuses what no engine could go through, part by part, to its end."""
    waiting: list[tuple[object, Place | None, int]] = [(whole, None, 0)]
    while waiting:
        node, place, depth = waiting.pop()
        if depth > _DEEPEST and place is not None:
            raise too_deep(place)
        if isinstance(node, tuple):
            waiting += [(one, place, depth) for one in node]
        elif isinstance(node, syntax.Node):
            parts = (getattr(node, it.name) for it in fields(node))
            waiting += [(one, node.place, depth + 1) for one in parts]


_MODES = ("attribute", "expression", "function", "operator", "type")


@dataclass(frozen=True, slots=True)
class _Group:
    """What a rule gathers for the rule around it, under the rule's name."""

    name: str
    parts: tuple[Any, ...]


Found = TypeVar("Found")


def _of(kind: type[Found], parts: Parts) -> tuple[Found, ...]:
    """Returns the nodes of a kind among parts."""
    return tuple(one for one in parts if isinstance(one, kind))


def _words(parts: Parts) -> tuple[str, ...]:
    """Returns the words among the parts of a rule."""
    return tuple(str(one) for one in parts if isinstance(one, Token))


def _grouped(parts: Parts, name: str) -> tuple[Any, ...]:
    """Returns what was gathered under a name, in order."""
    groups = (one for one in _of(_Group, parts) if one.name == name)
    return tuple(part for group in groups for part in group.parts)


def _gathered(name: str) -> Rule:
    """Returns a rule that hands its nodes on under a name."""
    return lambda _self, _meta, parts: _Group(name, nodes_of(parts))


def _named(kind: Callable[..., Any]) -> Rule:
    """Returns a rule whose node has the last word of it and all nodes as one tuple."""
    return lambda self, meta, parts: kind(
        self.place(meta), *_words(parts), nodes_of(parts)
    )


def _one(kind: Callable[..., Any]) -> Rule:
    """Returns a rule whose node has the word of it and its only node."""
    return lambda self, meta, parts: kind(
        self.place(meta), *_words(parts), *nodes_of(parts)
    )


_SAID = re.compile(r"\bexception\s*=\s*(\w+)")
_EXCEPTIONS = ("all", "std", "streams", "none")


def _catches(annotation: str, place: Place) -> bool:
    """Tells whether a @catch lets the run go on where a value is missing."""
    said: list[str] = _SAID.findall(annotation)
    (kind, *_) = *said, _EXCEPTIONS[0]
    if kind not in _EXCEPTIONS:
        told = f"@catch of the exception {kind}"
        raise DialectError(told, f"one of {', '.join(_EXCEPTIONS)}", place=place)
    return kind != "none"


# The decorator makes a rule of every name of the class that has no _ before it.
@v_args(meta=True)
class _SplRules(Rules):
    """Makes nodes of the rules of SPL's grammar."""

    items = of_all(syntax.Items)
    braces = of_all(syntax.Braces)
    tuple_value = of_all(syntax.TupleText)
    tuple_body = of_all(syntax.TupleBody)
    setting = _named(syntax.Setting)
    output = _named(syntax.OutputClause)
    action = _named(syntax.Action)
    assignment = _one(syntax.Assignment)
    each = _one(syntax.Each)
    definition = _one(syntax.Definition)
    name = _one(syntax.Name)
    number = _one(syntax.Number)
    part = _one(syntax.Part)
    graph = _gathered("graph")
    types = _gathered("types")
    declared_params = _gathered("declared")
    windows = _gathered("windows")
    params = _gathered("params")
    outputs = _gathered("outputs")
    configs = _gathered("configs")
    logics = _gathered("logics")
    pair = _gathered("pair")
    arguments = _gathered("arguments")
    given = _gathered("given")
    bound = _gathered("bound")

    def program(self, meta: Meta, parts: Parts) -> syntax.Program:
        """Returns the composites, behind them what stands outside of any."""
        # A text that is an operator alone, or clauses without their composite.
        loose = [*parts, _Group("graph", _of(syntax.Invocation, parts))]
        outside = self._composite(meta, MAIN, loose)
        found = _of(syntax.Composite, parts)
        # A text of composites has no Main of its own beside them.
        if outside.graph or not found:
            found = (*found, outside)
        functions = _of(syntax.Function, parts)
        return syntax.Program(self.place(meta), found, functions, outside.types)

    def function(self, meta: Meta, parts: Parts) -> syntax.Function:
        """Returns a function."""
        (kind, *statements), name = nodes_of(parts), _words(parts)[-1]
        formals = _grouped(parts, "formals")
        body = self.block(meta, statements)
        return syntax.Function(self.place(meta), kind, name, formals, body)

    def block(self, meta: Meta, parts: Parts) -> syntax.Block:
        """Returns statements between braces, with the types that they define put in."""
        own = _of(syntax.Definition, parts)
        refuse_second("type", own)
        kinds = {one.name: one.body for one in own}
        statements = tuple(it for it in parts if not isinstance(it, syntax.Definition))

        def put(node: syntax.Node) -> syntax.Node:
            if isinstance(node, syntax.TypeName):
                return kinds.get(node.text, node)
            return node

        return syntax.Block(self.place(meta), syntax.altered(statements, put))

    def formal(self, meta: Meta, parts: Parts) -> _Group:
        """Returns what a function is called with, by its name."""
        # `mutable` stands in front of both, or nothing does.
        *_, kind, name = parts
        is_mutable = len(parts) > len((kind, name))
        made = syntax.Variable(self.place(meta), is_mutable, kind, str(name), ())
        return _Group("formals", (made,))

    def composite(self, meta: Meta, parts: Parts) -> syntax.Composite:
        """Returns a composite."""
        around = [*parts, *_grouped(parts, "ends")]
        return self._composite(meta, _words(parts)[-1], around)

    def _composite(self, meta: Meta, name: str, parts: Parts) -> syntax.Composite:
        """Returns a composite of its clauses."""
        return syntax.Composite(
            self.place(meta),
            name,
            *(
                _grouped(parts, group)
                for group in (
                    *("input", "output", "declared"),
                    *("types", "graph", "configs"),
                )
            ),
        )

    def ends(self, _: Meta, parts: Parts) -> _Group:
        """Returns the clauses of the streams that a composite takes and gives."""
        return _Group("ends", tuple(parts))

    def end(self, _: Meta, parts: Parts) -> _Group:
        """Returns the streams that a composite takes, or gives."""
        return _Group(str(parts[0]), nodes_of(parts))

    def source(self, meta: Meta, parts: Parts) -> syntax.Source:
        """Returns a stream that is taken, with its type where it is written."""
        return syntax.Source(self.place(meta), str(parts[-1]), nodes_of(parts))

    def declared(self, meta: Meta, parts: Parts) -> syntax.Declared:
        """Returns a parameter of a composite."""
        mode, name = _words(parts)
        if mode not in _MODES:
            expected = f"one of {', '.join(_MODES)}"
            told = f'the mode "{mode}" of a parameter'
            raise DialectError(told, expected, place=self.place(meta))
        types, values = (_grouped(parts, group) for group in ("arguments", "given"))
        return syntax.Declared(self.place(meta), mode, types, name, values)

    def invocation(self, meta: Meta, parts: Parts) -> syntax.Invocation:
        """Returns an operator with its clauses, whatever their order."""
        caught = [_catches(it, self.place(meta)) for it in _words(parts)]
        heads, operator = parts[len(caught)], parts[len(caught) + 1]
        own = parts[len(caught) + 2 :]
        body = next((one for one in _of(_Group, own)), _Group("body", ()))
        clauses = [*body.parts]
        alias = next((str(one) for one in heads.parts if isinstance(one, Token)), "")
        found = syntax.Invocation(
            operator.place,
            _of(syntax.Head, [*heads.parts]),
            alias,
            operator.text,
            _of(syntax.Port, parts),
            *(
                _grouped(clauses, group)
                for group in ("logics", "windows", "params", "outputs", "configs")
            ),
        )
        return replace(found, catches=any(caught))

    def heads(self, _: Meta, parts: Parts) -> _Group:
        """Returns the streams that an operator gives, and its own name."""
        return _Group("heads", tuple(parts))

    def body(self, _: Meta, parts: Parts) -> _Group:
        """Returns the clauses of an operator."""
        return _Group("body", tuple(parts))

    def head(self, meta: Meta, parts: Parts) -> syntax.Head:
        """Returns one stream that an operator gives."""
        body, name, *alias = parts
        return syntax.Head(self.place(meta), body, str(name), "".join(alias))

    def port(self, meta: Meta, parts: Parts) -> syntax.Port:
        """Returns an input port."""
        return syntax.Port(self.place(meta), nodes_of(parts), "".join(_words(parts)))

    def logic(self, meta: Meta, parts: Parts) -> syntax.Logic:
        """Returns code beside an operator; what is its state declares variables."""
        words, body = _words(parts), parts[-1]
        for one in syntax.listed(body) if words[0] == "state" else ():
            if not isinstance(one, syntax.Variable):
                raise DialectError(
                    "code in state", "type name = value;", place=one.place
                )
        return syntax.Logic(self.place(meta), words, body)

    def choice(self, meta: Meta, parts: Parts) -> syntax.Choice:
        """Returns an `if`."""
        condition, *branches = parts
        return syntax.Choice(self.place(meta), condition, tuple(branches))

    def change(self, meta: Meta, parts: Parts) -> syntax.Change | syntax.Block:
        """Returns an assignment to a variable, or several: `a = b = 3`."""
        place, (target, sign, value, *more) = self.place(meta), parts
        first = syntax.Change(place, str(sign), target, value)
        if not more:
            return first
        changing = syntax.Stepped | syntax.Call
        is_target = isinstance(value, syntax.Name | syntax.Member | syntax.Part)
        if not is_target or any(isinstance(it, changing) for it in syntax.nodes(value)):
            told = "an assignment to what is no plain variable, in another one"
            raise DialectError(told, "two statements", place=value.place)
        # The last one comes first: the others take what it has given.
        behind = self.change(meta, [value, *more])
        return syntax.Block(place, (*syntax.listed(behind), first))

    def stepped(self, meta: Meta, parts: Parts) -> syntax.Stepped:
        """Returns a variable that is one more or less."""
        # n++ and ++n: the sign is the token of both, wherever it stands.
        sign, target = sorted(parts, key=lambda one: not isinstance(one, Token))
        return syntax.Stepped(self.place(meta), str(sign), target, parts[0] is sign)

    step = stepped

    def jump(self, meta: Meta, parts: Parts) -> syntax.Jump:
        """Returns a `break`, a `continue` or a `return`."""
        (word,) = _words(parts)
        return syntax.Jump(self.place(meta), word, nodes_of(parts))

    def loop(self, meta: Meta, parts: Parts) -> syntax.Loop:
        """Returns a `while`."""
        return syntax.Loop(self.place(meta), *parts)

    def variables(self, meta: Meta, parts: Parts) -> syntax.Variable | syntax.Variables:
        """Returns a variable, or several of one type."""
        kind = syntax.as_type(nodes_of(parts)[0])
        is_mutable = "mutable" in _words(parts)
        found = [
            syntax.Variable(place, is_mutable, kind, name, values)
            for place, name, values in _grouped(parts, "first")
        ]
        whole = syntax.Variables(self.place(meta), tuple(found))
        return found[0] if len(found) == 1 else whole

    def first(self, meta: Meta, parts: Parts) -> _Group:
        """Returns the name of a variable with its first value."""
        return _Group("first", ((self.place(meta), *_words(parts), nodes_of(parts)),))

    def tuple_part(self, meta: Meta, parts: Parts) -> syntax.Attribute:
        """Returns an attribute, or a type whose attributes are meant."""
        kind, *name = parts
        return syntax.Attribute(self.place(meta), kind, "".join(name))

    def tuple_type(self, _: Meta, parts: Parts) -> syntax.TupleBody:
        """Returns the type of a tuple: its attributes."""
        body: syntax.TupleBody = parts[0]
        return body

    def primitive(self, meta: Meta, parts: Parts) -> syntax.Primitive:
        """Returns a type of the language's own."""
        (word,) = _words(parts)
        return syntax.Primitive(self.place(meta), word, _grouped(parts, "bound"))

    def collection(self, meta: Meta, parts: Parts) -> syntax.Collection:
        """Returns a list, a set, a map or an optional of types."""
        (word,), of, bound = _words(parts), nodes_of(parts), _grouped(parts, "bound")
        return syntax.Collection(self.place(meta), word, of, bound)

    def enum_type(self, meta: Meta, parts: Parts) -> syntax.Enumeration:
        """Returns a type of words."""
        return syntax.Enumeration(self.place(meta), _words(parts))

    def dotted(self, meta: Meta, _: Parts) -> syntax.TypeName:
        """Returns a name with points; behind :: stands its last part."""
        start, end = meta.start_pos, meta.end_pos
        return syntax.TypeName(
            self.place(meta), "".join(self.origin.text[start:end].split())
        )

    def type_name(self, meta: Meta, parts: Parts) -> syntax.TypeName:
        """Returns the name of a type."""
        return syntax.TypeName(self.place(meta), str(parts[0]))

    def named_type(self, _: Meta, parts: Parts) -> syntax.TypeName:
        """Returns the name of a type as it is."""
        named: syntax.TypeName = parts[0]
        return named

    def slice(self, meta: Meta, parts: Parts) -> syntax.Slice:
        """Returns the part of a list or a text between two places, or up to one."""
        of, *ends = parts
        colon = next(at for at, one in enumerate(ends) if isinstance(one, Token))
        before, behind = ends[:colon], ends[colon + 1 :]
        return syntax.Slice(self.place(meta), of, tuple(before), tuple(behind))

    def pairs(self, meta: Meta, parts: Parts) -> syntax.Pairs:
        """Returns a map that is written out."""
        return syntax.Pairs(self.place(meta), _grouped(parts, "pair"))

    def operation(self, meta: Meta, parts: Parts) -> syntax.Operation:
        """Returns an operator with its operands."""
        place, (sign, *_), operands = self.place(meta), _words(parts), nodes_of(parts)
        first = operands[0]
        # Only what stands in brackets begins before its first word does.
        is_word = isinstance(first, syntax.Name | syntax.Member)
        if is_word and sign in {"+", "-"} and operands[1:] and first.place != place:
            begins = (place.line, place.column)
            if begins < (first.place.line, first.place.column):
                return syntax.CastOrSum(place, sign, operands)
        return syntax.Operation(place, sign, operands)

    def unwrapped(self, meta: Meta, parts: Parts) -> syntax.Operation:
        """Returns the value of an optional, `x!`."""
        return syntax.Operation(self.place(meta), absence.UNWRAP, nodes_of(parts))

    def conditional(self, meta: Meta, parts: Parts) -> syntax.Operation:
        """Returns a choice between two values."""
        return syntax.Operation(self.place(meta), "?", tuple(parts))

    def cast(self, meta: Meta, parts: Parts) -> syntax.Cast:
        """Returns a value as another type, which a name may stand for."""
        kind, value = parts
        # (word) x is read as a name first: what it means its place decides.
        return syntax.Cast(self.place(meta), syntax.as_type(kind), value)

    def cast_twice(self, meta: Meta, parts: Parts) -> syntax.Cast:
        """Returns a value as another type, and that as one which a name stands for."""
        kind, *inner = parts
        return self.cast(meta, [kind, self.cast(meta, inner)])

    def call(self, meta: Meta, parts: Parts) -> syntax.Call:
        """Returns a call with its arguments."""
        of, *arguments = parts
        return syntax.Call(self.place(meta), of, tuple(arguments))

    def member(self, meta: Meta, parts: Parts) -> syntax.Member:
        """Returns something of something."""
        return syntax.Member(self.place(meta), parts[0], str(parts[-1]))

    def scoped(self, meta: Meta, parts: Parts) -> syntax.Scoped:
        """Returns a name without its namespace, of which none is needed."""
        return syntax.Scoped(self.place(meta), str(parts[-1]))

    def text(self, meta: Meta, parts: Parts) -> syntax.Text:
        """Returns a text without its quotes and escapes."""
        # A suffix stands behind the last quote, which is as the first: ".."u.
        whole, place = str(parts[0]), self.place(meta)
        written, _, suffix = whole.rpartition(whole[0])
        value = _ESCAPE.sub(lambda found: _unescaped(found, place), written[1:])
        return syntax.Text(place, value, suffix)


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "?": "?",
}


def _unescaped(found: re.Match[str], place: Place) -> str:
    """Returns the letter that an escape stands for."""
    wide, narrow, letter = found.groups()
    if letter and letter not in _ESCAPES:
        known = " ".join(f"\\{one}" for one in "abfnrtv0\\\"'?")
        raise DialectError(
            f'the escape "\\{letter}" in a text',
            rf"one of {known}, \x and two or \u and four digits of base 16",
            place=place,
        )
    # Both are numbers of base 16, of two digits or of four.
    return _ESCAPES[letter] if letter else chr(int(wide or narrow, 16))


_SIGNS = {
    **SIGNS,
    "LBRACE": '"{"',
    "COLON": '":"',
    "MORETHAN": '">"',
    "LESSTHAN": '"<"',
    "__ANON_1": '"::"',
    "TYPE": "a type",
    "CATCH": '"@catch"',
}
# Signs of other languages, and what SPL has in their place.
_OTHER_SIGNS = (
    (re.compile(r"="), "== compares two values, = gives one to an attribute"),
    (re.compile(r"(?<=<)>"), "!= compares two values"),
    (re.compile(r"(?i)and\b"), "&& stands between two conditions"),
    (re.compile(r"(?i)or\b"), "|| stands between two conditions"),
    (re.compile(r"""['"]"""), "a text ends with the quote with which it begins"),
    (re.compile(r"\d"), "a suffix says the type of a number: 10ul, 4l, 100.0d"),
    (re.compile(r"/\*"), "a comment ends with */"),
)


# What stands in front of where a text does not go on.
_BEFORE = (
    (
        re.compile(r"""(["'])[^"']*\n[^"']*\1[ru]?\s*$"""),
        "the text before it is of several lines: it may lack its last quote",
    ),
    (re.compile(r"\bswitch\s*\([^{}]*\)\s*$"), "if and else say it"),
)
# What a value begins with, and what a type does, which some places take for one.
_BEGINNINGS = frozenset(
    {
        *("NAME", "PARAM", "NUMBER", "TEXT", "LPAR", "LSQB", "LBRACE"),
        *("ADDED", "NOT", "TURNED", "STEP", "TYPE", "COLLECTION", "TUPLE", "ENUM"),
    }
)
_EXPRESSION = "expression"


def _refuse(source: Source, error: UnexpectedInput) -> NoReturn:
    """Raises what the grammar has found, in words of the language."""
    text, stop = source.text, Stop.of(source.text, error)
    here = stop.start
    # Numbers stand where values do, and nowhere else beside names.
    is_value = {"NUMBER", "NAME"} <= stop.terminals
    if is_value:
        others = stop.terminals - _BEGINNINGS
        stop = replace(stop, terminals=others | {_EXPRESSION})
    found = re.compile(r"\w+|\S|$").match(text, here)
    word = found[0] if found else ""
    # The parser has names of its own for signs that the grammar gives none.
    signs = {one.name: one.pattern for one in parser_of(_GRAMMAR).terminals}
    names = {
        one: f'"{signs[one].value if signs[one].type == "str" else one.lower()}"'
        for one in stop.terminals & signs.keys()
    }
    names |= {**_SIGNS, _EXPRESSION: "an expression"}
    hints = [it for sign, it in _OTHER_SIGNS if sign.match(text, here)]
    hints = [it for sign, it in _BEFORE if sign.search(text[:here])] or hints
    # What stops after a whole value lacks its ; in most texts.
    if not hints and "SEMICOLON" in stop.terminals:
        hints = ["every setting, and every stream without a body, ends with ;"]
    raise stop.told(source, word, names, "".join(hints[:1])) from error
