"""From an expression's text to its value: names, operators, functions.

A port's name stands for its tuple, an attribute's for itself where just one port has
it: `L.ticker`, `ticker`. What a parameter of a composite, or a variable of `logic
state`, stands for is a value like any other.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from functools import reduce

from dovetail.dialects.spl import absence, bits, elements, syntax, types, values
from dovetail.dialects.spl.casts import converted
from dovetail.dialects.spl.library import FUNCTIONS
from dovetail.dialects.spl.library.call import Function
from dovetail.dialects.spl.values import Value
from dovetail.errors import DialectError, Place
from dovetail.expression.functions import build
from dovetail.expression.functions.casts import cast
from dovetail.expression.tree import Column, Node
from dovetail.expression.values import fitted
from dovetail.schema import DecimalType

TypeReader = Callable[[syntax.Node], types.SplType]


@dataclass(frozen=True, slots=True)
class PortView:
    """An input port as expressions see it: its name, its tuple, its side of a row.

    A tuple that lies `within` a column has its attributes there.
    """

    name: str
    type: types.Tuple
    side: str
    within: str = ""

    def attribute(self, name: str, place: Place) -> Value:
        """Returns an attribute of the port's tuple."""
        kind = self.type.get(name)
        if kind is None:
            known = ", ".join(self.type.names)
            raise types.refused(
                place, f'"{self.name}" has no "{name}"', f"one of {known}"
            )
        tree: Node = Column(self.side, name, types.stored(kind))
        if self.within:
            whole = Column(self.side, self.within, types.stored(self.type))
            tree = build("field", whole, values.text(name))
        return Value(types.loose(kind), tree, place)

    def whole(self, place: Place) -> Value:
        """Returns the tuple itself."""
        parts = (self.attribute(name, place).tree for name in self.type.names)
        return Value(self.type, values.structured(self.type, parts), place)


@dataclass(frozen=True, slots=True)
class Scope:
    """What names in an expression stand for."""

    read_type: TypeReader
    ports: tuple[PortView, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    wanted: tuple[types.SplType, ...] = ()
    """Types of what is to be given, whose words are known before those of others."""
    # Of code: its variables hide what has their names, and functions of no arguments.
    variables: Mapping[str, Value] = field(default_factory=dict)
    functions: Mapping[str, Value] = field(default_factory=dict)
    # What may be called: functions of the toolkit, and of the text itself.
    library: Mapping[str, Function] = field(default_factory=lambda: FUNCTIONS)
    commands: Mapping[str, syntax.Function] = field(default_factory=dict)
    """Functions of the text that code alone may call: they change what they take."""

    def port(self, name: str) -> PortView | None:
        """Returns the port of a name, if there is one."""
        return next((one for one in self.ports if one.name == name), None)

    def wanting(self, *kinds: types.SplType) -> Scope:
        """Returns what an expression sees in the place of a value of these types."""
        return replace(self, wanted=kinds)

    def kinds_of(self, word: str) -> list[types.Enumerated]:
        """Returns the types of which a word is a value: that of its place, or near."""
        # A word of an enum has no type of its own: its place or who is near gives one.
        known: list[types.SplType] = [port.type for port in self.ports]
        named = (*self.values.values(), *self.variables.values())
        known += [value.type for value in (*named, *self.functions.values())]
        for kinds in (self.wanted, known):
            words = dict.fromkeys(kind for one in kinds for kind in types.words_in(one))
            if found := [kind for kind in words if word in kind.words]:
                return found
        return []


def bind(node: syntax.Node, scope: Scope) -> Value:
    """Returns the value of an expression."""
    place = node.place
    match node:
        case syntax.Scoped():
            told = "a namespace in front of a value"
            raise types.refused(place, told, "that of a function or a type")
        case syntax.Name(text=text):
            return _named(text, scope, place)
        case syntax.Operation():
            return _operation(node, scope)
        case syntax.Member(of=of, name=name):
            return _member(of, name, scope, place)
        case syntax.Cast(type=kind, value=value):
            return _cast(scope.read_type(kind), value, scope, place)
        case syntax.Call(of=syntax.Name(text=name), arguments=()) if (
            name in scope.functions
        ):
            return replace(scope.functions[name], place=place)
        case syntax.Call():
            return _call(node, scope)
        case syntax.Part(of=of, at=at):
            return elements.element(bind(of, scope), bind(at, scope), place)
        case syntax.Slice(of=of, start=start, end=end):
            first, last = ([bind(one, scope) for one in part] for part in (start, end))
            return elements.between(bind(of, scope), first, last, place)
        case _:
            return _written(node, scope)


def _written(node: syntax.Node, scope: Scope) -> Value:
    """Returns a value that is written out."""
    place = node.place
    match node:
        case syntax.Number(text=text):
            return number(text, place)
        case syntax.Text(value=text, suffix=suffix):
            kind = types.USTRING if suffix == "u" else types.RSTRING
            return values.literal(text, kind, place)
        case syntax.TupleText(parts=parts):
            return _tuple(parts, scope, place)
        case syntax.Items(items=items) | syntax.Braces(items=items) if items:
            word = "list" if isinstance(node, syntax.Items) else "set"
            return elements.listed(word, [bind(one, scope) for one in items], place)
        case syntax.Pairs(values=items):
            return elements.mapped([bind(one, scope) for one in items], place)
        case syntax.Stepped(sign=sign):
            expected = "code of a Custom, a Functor or a Beacon whose variable it is"
            raise types.refused(place, f"{sign} in this expression", expected)
        case syntax.Primitive() | syntax.Collection() | syntax.TupleBody():
            raise types.refused(place, "a type in the place of a value", "a value")
        case _:
            expected = "a cast that says its type: (list<int32>) []"
            raise types.refused(place, "a list, set or map of nothing", expected)


def _cast(kind: types.SplType, node: syntax.Node, scope: Scope, place: Place) -> Value:
    """Returns a value as another type, which says what an empty list holds."""
    plain = types.loose(kind)
    if is_empty(node, plain):
        return values.blank(plain, place)
    found = converted(bind(node, scope), plain, place)
    if isinstance(kind, types.Bounded):
        found = replace(found, tree=values.cut(found, kind))
    return found


def _kind_alone(node: syntax.Node, scope: Scope) -> types.SplType | None:
    """Returns the type of a name that no value has, None where there is none."""
    if isinstance(node, syntax.Name) and _known(node.text, scope, node.place):
        return None
    return _kind_named(node, scope)


def _signed(node: syntax.CastOrSum, kind: types.SplType, scope: Scope) -> Value:
    """Returns a value with a sign as another type."""
    value = node.operands[1]
    # What stands behind the sign has not said where its brackets are.
    if isinstance(value, syntax.Operation):
        hint = f"({kind}) ({node.sign}(..)), or (({kind}) {node.sign}a) * b"
        told = f"a cast of what {node.sign} stands before, which goes on"
        raise types.refused(value.place, told, "brackets", hint)
    inner = syntax.Operation(node.place, node.sign, (value,))
    return _cast(kind, inner, scope, node.place)


def declared(node: syntax.Node, value: Value, scope: Scope) -> types.SplType:
    """Returns the type of a value; of an attribute, or a cast, with its bound."""
    match node, value.tree:
        case syntax.Cast(type=kind), _:
            return scope.read_type(kind)
        case syntax.Name() | syntax.Member(), Column(side, name):
            kinds = [it.type.get(name) for it in scope.ports if it.side == side]
            return kinds[0] or value.type if kinds else value.type
        case _:
            return value.type


def _named(text: str, scope: Scope, place: Place) -> Value:
    """Returns what a name alone stands for."""
    if known := _known(text, scope, place):
        return known
    if kinds := scope.kinds_of(text):
        if len(kinds) > 1:
            known_ = " or ".join(sorted(map(str, kinds)))
            raise types.refused(place, f'"{text}" is a word of several types', known_)
        return values.literal(text, kinds[0], place)
    names = dict.fromkeys(name for port in scope.ports for name in port.type.names)
    words = (it for kind in scope.wanted for it in types.words_in(kind))
    named = (*names, *scope.values, *scope.variables)
    near = ", ".join([*named, *(word for one in words for word in one.words)])
    raise types.refused(
        place, f'no "{text}" is known here', f"one of {near}" * bool(near)
    )


def _known(text: str, scope: Scope, place: Place) -> Value | None:
    """Returns what a name stands for, None where it can but be a word of an enum."""
    if text in {"true", "false"}:
        return values.literal(text == "true", types.BOOLEAN, place)
    if text == "null":
        return values.literal(None, types.NULL, place)
    if text in scope.variables:
        return replace(scope.variables[text], place=place)
    # An attribute hides a port of its name: only before a point does the port win.
    found = [port for port in scope.ports if port.type.get(text) is not None]
    if len(found) > 1:
        known = " or ".join(f"{port.name}.{text}" for port in found)
        raise types.refused(place, f'"{text}" is an attribute of both ports', known)
    if found:
        return found[0].attribute(text, place)
    if port := scope.port(text):
        return port.whole(place)
    if text in scope.values:
        given = scope.values[text]
        return Value(given.type, given.tree, place)
    return None


def _member(owner: syntax.Node, name: str, scope: Scope, place: Place) -> Value:
    """Returns an attribute of a port, or of a tuple."""
    if owner == syntax.Name(owner.place, "Sys") and name in types.TIME_FORMS.words:
        return values.literal(name, types.TIME_FORMS, place)
    # Of code a variable hides the port; else the port wins before a point.
    is_variable = isinstance(owner, syntax.Name) and owner.text in scope.variables
    if (
        isinstance(owner, syntax.Name)
        and not is_variable
        and (port := scope.port(owner.text))
    ):
        return port.attribute(name, place)
    whole = bind(owner, scope)
    kind = whole.type.get(name) if isinstance(whole.type, types.Tuple) else None
    if kind is None:
        raise types.refused(place, f'a value of the type {whole.type} has no "{name}"')
    tree = build("field", whole.tree, values.text(name))
    return Value(types.loose(kind), tree, place)


_NUMBER = re.compile(
    r"(?P<digits>0[xX][0-9a-fA-F]+?(?=[suhwl]{0,2}$)|[0-9.]+(?:[eE][+-]?\d+)?)"
    r"(?P<suffix>\w*)"
)
_WIDTHS = {"b": 8, "h": 16, "w": 32, "l": 64, "": 32}
_LETTERS = {f"int{width}": letter for letter, width in _WIDTHS.items() if letter}
_TYPES: Mapping[str, Mapping[str, str]] = {
    "s": {it: f"int{width}" for it, width in _WIDTHS.items()},
    "u": {it: f"uint{width}" for it, width in _WIDTHS.items()},
    "f": {"w": "float32", "l": "float64", "": "float64"},
    "d": {"w": "decimal32", "l": "decimal64", "": "decimal64", "q": "decimal128"},
}
"""The types of numbers by what they are and by their width, letters of a suffix."""


def number(text: str, place: Place, *, is_negative: bool = False) -> Value:
    """Returns the value of a number; its suffix says its type."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise types.refused(
            place, f'"{text}" is no number', "digits, then a suffix: 10ul"
        )
    digits, suffix = found["digits"], found["suffix"]
    # A point or an exponent makes a float; in base 16 an e is a digit.
    is_hex = digits[:2].lower() == "0x"
    is_float = not is_hex and bool({*digits} & {*".eE"})
    # 10ul or 10lu is a uint64, 10u a uint32, 10sh or 10h an int16.
    what, width = suffix.strip("bhwlq"), suffix.strip("sufd")
    word = _TYPES[what or ("f" if is_float else "s")].get(width)
    if word is None or (is_float and what in {"s", "u"}):
        expected = "10ul, 10h, 1.5w, 100.0d: a letter of su, f or d, and one of bhwlq"
        raise types.refused(place, f'"{text}" has no type', expected)
    kind = types.Scalar(word)
    if kind in types.DECIMALS:
        return _decimal(Decimal(f"-{digits}" if is_negative else digits), kind, place)
    if kind in types.FLOATS:
        value = float(digits)
        return values.literal(-value if is_negative else value, kind, place)
    whole = int(digits, 16 if is_hex else 10)
    whole = -whole if is_negative else whole
    # A number that is written keeps its value: it does not wrap.
    least, most = types.limits_of(kind)
    if not least <= whole <= most:
        hint = "a suffix says the type: 10l is an int64, 10ul a uint64"
        raise types.refused(place, f"{whole} has no room in {kind}", "", hint)
    is_wide = kind == types.UINT64
    return values.literal(Decimal(whole) if is_wide else whole, kind, place)


def _decimal(exact: Decimal, kind: types.Scalar, place: Place) -> Value:
    """Returns a decimal that is written out."""
    # Zeros at the end are no digits that would be lost.
    most = types.DECIMALS[kind]
    if len(exact.as_tuple().digits) > most and Context(most).plus(exact) != exact:
        found = f"{exact} of the type {kind}"
        raise types.refused(place, found, f"at most {most} digits")
    literal = values.literal(exact, kind, place)
    is_kept = fitted(exact, DecimalType(38, 18)) == exact
    # Beyond an attribute's room it is one in what it is computed with alone.
    return literal if is_kept else values.decimal("plus", kind, place, literal)


_COMPARED = ("==", "!=", "<", "<=", ">", ">=")
_BINARY: Mapping[str, Callable[[str, Value, Value, Place], Value]] = {
    **dict.fromkeys(("&", "|", "^", "<<", ">>"), bits.operation),
    **dict.fromkeys(_COMPARED, values.comparison),
    **dict.fromkeys(("+", "-", "*", "/", "%"), values.arithmetic),
}
"""What an operator makes of two values, whatever they are."""


def _operation(node: syntax.Operation, scope: Scope) -> Value:
    """Returns what an operator makes of its operands."""
    sign, operands, place = node.sign, node.operands, node.place
    if isinstance(node, syntax.CastOrSum) and (kind := _kind_alone(operands[0], scope)):
        return _signed(node, kind, scope)
    match sign, operands:
        # The least number of a width has no positive: it is read with its sign.
        case "-", [syntax.Number(text=text)]:
            return number(text, place, is_negative=True)
        case ((absence.UNWRAP | "??" | "?:"), _):
            return _of_optional(sign, [bind(one, scope) for one in operands], place)
        case _, [_]:
            return _unary(sign, bind(operands[0], scope), place)
    is_comparison = sign.removeprefix(".") in {*_COMPARED, "in"}
    found = (_alike if is_comparison else _each)(operands, scope)
    one, other = found[0], found[1]
    match sign:
        case "?":
            need_boolean(one, "the condition of ?")
            values.need_same("?:", other, found[2])
            return replace(chosen(*found), place=place)
        # The second part may have no value where the first one decides.
        case "&&" | "||":
            for value in found:
                need_boolean(value, sign)
            made = absence.both if sign == "&&" else absence.either
            return Value(types.BOOLEAN, made(one.tree, other.tree), place)
        case "in":
            return elements.has(one, other, place)
        case _ if sign.startswith("."):
            return elements.each(sign, one, other, operate=_BINARY[sign[1:]])
        case _:
            return _BINARY[sign](sign, one, other, place)


def _each(operands: Sequence[syntax.Node], scope: Scope) -> list[Value]:
    """Returns the values of operands."""
    return [bind(one, scope) for one in operands]


def _alike(operands: Sequence[syntax.Node], scope: Scope) -> list[Value]:
    """Returns two operands that are compared: a word is one of the other's type."""
    is_word = [
        isinstance(one, syntax.Name) and _known(one.text, scope, one.place) is None
        for one in operands
    ]
    if is_word[0] == is_word[1]:
        return _each(operands, scope)
    other = bind(operands[is_word.index(False)], scope)
    if any(types.words_in(other.type)):
        scope = scope.wanting(other.type)
    word = bind(operands[is_word.index(True)], scope)
    return [word, other] if is_word[0] else [other, word]


def _of_optional(sign: str, operands: Sequence[Value], place: Place) -> Value:
    """Returns what x!, x?? and x ?: y make of an optional."""
    one = operands[0]
    if not isinstance(one.type, types.Holder) or one.type.word != "optional":
        told = "!" if sign == absence.UNWRAP else sign
        raise types.refused(one.place, f"{told} of {one.type}", "an optional")
    if failing := absence.failures(one.tree):
        told, hint = " or ".join(failing), "keep the value in an attribute before"
        raise types.refused(one.place, f"{sign} of what may lack {told}", "", hint)
    kind = types.loose(one.type.of[0])
    match sign, operands:
        case "??", _:
            return values.of_type(types.BOOLEAN, "x IS NOT NULL", place, x=one.tree)
        case "?:", [_, other]:
            values.need_same("?:", Value(kind, one.tree, one.place), other)
            there = values.of_type(types.BOOLEAN, "x IS NOT NULL", place, x=one.tree)
            return replace(chosen(there, replace(one, type=kind), other), place=place)
        case _:
            return Value(kind, absence.unwrapped(one.tree), place)


def _unary(sign: str, value: Value, place: Place) -> Value:
    """Returns what ! - + ~ make of a value."""
    kind, parts = value.type, {"x": value.tree}
    match sign, kind:
        case "!", _:
            need_boolean(value, "!")
            return values.of_type(types.BOOLEAN, "NOT x", place, **parts)
        case "+", types.Scalar() if kind in {
            *types.INTEGERS,
            *types.FLOATS,
            *types.DECIMALS,
        }:
            return Value(kind, value.tree, place)
        case "-", types.Scalar() if kind in types.FLOATS:
            return values.of_type(kind, "-x", place, **parts)
        case "-", types.Scalar() if kind in types.DECIMALS:
            # Spark's - of a decimal would not round it to the digits of its type.
            zero = values.literal(Decimal(0), kind, place)
            return values.decimal("-", kind, place, zero, value)
        case "-", types.Scalar() if kind in types.INTEGERS:
            zero = number("0", place)
            return values.arithmetic("-", converted(zero, kind, place), value, place)
        case "~", types.Scalar() if kind in types.INTEGERS:
            return bits.turned(value, place)
        case _:
            raise types.refused(
                place, f"{sign} of {kind}", "a number, for ! a condition"
            )


def chosen(condition: Value, one: Value, other: Value) -> Value:
    """Returns the one value where a condition holds, else the other of its type."""
    tree = absence.chosen(condition.tree, one.tree, other.tree)
    return replace(one, tree=cast(tree, types.stored(one.type)))


def given(node: syntax.Node, kind: types.SplType, scope: Scope, what: str) -> Value:
    """Returns a value for what has a type; [] and {} are what is empty of it."""
    if is_empty(node, types.loose(kind)):
        return values.blank(kind, node.place)
    return values.assigned(bind(node, scope.wanting(kind)), kind, what)


def begun(node: syntax.Node, kind: types.SplType, scope: Scope, what: str) -> Value:
    """Returns the first value of a variable: here alone SPL casts it unasked.

    But a bare whole number is of the type, and has room there.
    """
    match node:
        case syntax.Number(text=text) if text.isdigit() and kind in types.INTEGERS:
            # Of int64 the suffix is l, of uint64 it is ul.
            unsigned = "u" if kind in types.UNSIGNED else ""
            letter = _LETTERS[str(kind).removeprefix("u")]
            node = replace(node, text=f"{text}{unsigned}{letter}")
    if is_empty(node, types.loose(kind)):
        return values.blank(kind, node.place)
    value, own = bind(node, scope.wanting(kind)), types.loose(kind)
    match own:
        case types.Holder("optional", (of,)) if value.type not in {own, types.NULL}:
            own = types.loose(of)
    if value.type not in {types.NULL, own}:
        value = converted(value, own, value.place)
    return values.assigned(value, kind, what)


def is_empty(node: syntax.Node, kind: types.SplType) -> bool:
    """Tells whether a node is a list, a set, a map or a tuple, and empty."""
    if not isinstance(node, syntax.Items | syntax.Braces) or node.items:
        return False
    match kind:
        case types.Holder(word):
            return word != "optional"
        case types.Tuple():
            return isinstance(node, syntax.Braces)
        case _:
            return False


def changed(
    node: syntax.Change | syntax.Stepped, kind: types.SplType, scope: Scope
) -> Value:
    """Returns what a variable of a type is behind an assignment, or one step."""
    match node:
        case syntax.Change(sign="=", value=value):
            return given(value, kind, scope, "the variable")
        case syntax.Change(sign=sign, target=target):
            own, other = bind(target, scope), bind(node.value, scope)
            made = _BINARY[sign[:-1]](sign[:-1], own, other, node.place)
            return values.assigned(made, kind, "the variable")
        case syntax.Stepped(sign=sign, of=target):
            own = bind(target, scope)
            if own.type not in types.NUMBERS:
                raise types.refused(node.place, f"{sign} of {own.type}", "a number")
            one = converted(number("1", node.place), own.type, node.place)
            return values.arithmetic(sign[:1], own, one, node.place)


def need_boolean(value: Value, what: str) -> None:
    """Refuses a condition that is none."""
    if value.type != types.BOOLEAN:
        raise types.refused(value.place, f"{what} is {value.type}", "a boolean")


def _call(node: syntax.Call, scope: Scope) -> Value:
    """Returns what a function gives."""
    called = node.of
    name = called.text if isinstance(called, syntax.Name) else ""
    known = scope.library.get(name)
    match node.arguments:
        # (T) (x + 1) is read as a call first: what T is its place decides.
        case [value] if known is None and (kind := _kind_named(called, scope)):
            return _cast(kind, value, scope, node.place)
    arguments = [bind(one, scope) for one in node.arguments]
    if not name:
        told = "a call of what is no function"
        raise types.refused(called.place, told, "its name, as in spl.math::abs(x)")
    if name in scope.commands:
        told = f"{name}, which changes what it takes or gives nothing, is called here"
        raise types.refused(called.place, told, "a statement of code that calls it")
    if known is None:
        near = difflib.get_close_matches(name, scope.library, n=3)
        expected = " or ".join(near) or "one of SPL's toolkit"
        hint = "compute it before the join, and bind the stream by its name"
        if name == "hashCode":
            expected = "a number that says itself where it is from"
            hint = "a map has the port of each key: key in ports ? ports[key] : 0l"
        if name in _UNSURE:
            expected = "what is the same whenever a tuple is looked at"
            hint = f"bind the stream with {_UNSURE[name]} as an attribute"
        told = f'the function "{name}" is not supported'
        raise types.refused(called.place, told, expected, hint)
    return known(arguments, node.place)


# What a second look at the same tuple would not give again.
_UNSURE = {
    **dict.fromkeys(("getTimestamp", "getTimestampInSecs"), "the time of each tuple"),
    "random": "a number of chance for each tuple",
}


def _kind_named(node: syntax.Node, scope: Scope) -> types.SplType | None:
    """Returns the type of a name, None where there is none."""
    kind = syntax.as_type(node)
    try:
        return scope.read_type(kind) if isinstance(kind, syntax.TypeName) else None
    except DialectError:
        return None


def _tuple(parts: Sequence[syntax.Assignment], scope: Scope, place: Place) -> Value:
    """Returns a tuple that is written out."""
    found = []
    for part in parts:
        wanted = [it for it in scope.wanted if isinstance(it, types.Tuple)]
        kinds = [kind for it in wanted if (kind := it.get(part.name))]
        sees = scope.wanting(*kinds) if kinds else scope
        value = bind(part.value, sees)
        is_cast = isinstance(part.value, syntax.Cast)
        kind = declared(part.value, value, scope) if is_cast else value.type
        found.append((part.name, kind, value))
    if len({name for name, _, _ in found}) < len(found):
        raise types.refused(
            place, "an attribute stands twice in a tuple", "one of each"
        )
    whole = types.Tuple(tuple((name, kind) for name, kind, _ in found))
    inside = [value for _, _, value in found]
    tree = values.structured(whole, (value.tree for value in inside))
    return Value(whole, values.made_of(inside, tree), place)


def all_of(conditions: Sequence[Value]) -> Value:
    """Returns the condition that all of some hold."""
    return reduce(
        lambda one, other: Value(
            types.BOOLEAN, absence.both(one.tree, other.tree), one.place
        ),
        conditions,
    )
