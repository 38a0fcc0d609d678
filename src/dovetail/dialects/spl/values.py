"""Values of SPL: a type of the language, and the tree that computes it on Spark.

Nothing is converted unasked. Whole numbers wrap at their width, whatever wider type
holds them on Spark; floats follow IEEE, where Spark would say null, or that NaN is NaN.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dovetail.dialects.spl import types
from dovetail.dialects.spl.absence import composed, failures, is_computed, required
from dovetail.errors import DialectError, Place
from dovetail.expression import Expression
from dovetail.expression.evaluation import folded
from dovetail.expression.functions import build
from dovetail.expression.functions.casts import cast
from dovetail.expression.functions.significant import OF_DIGITS
from dovetail.expression.reader import compose
from dovetail.expression.sql import written_tree
from dovetail.expression.tree import (
    BARE,
    Call,
    Column,
    Literal,
    Node,
    numbered,
    on_side,
    walk,
)
from dovetail.schema import AtomicType, read_value

TRUE = Literal(value=True, type=AtomicType.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Value:
    """A value, where it stands, and the variables of `logic` that it reads."""

    type: types.SplType
    tree: Node
    place: Place = field(compare=False, repr=False)

    @property
    def expression(self) -> Expression:
        """Returns the value as a text of Spark SQL; who computes it needs it."""
        return expressed(self.needed)

    @property
    def own(self) -> Expression:
        """Returns the value of one side alone, its columns named bare."""
        return expressed(on_side(self.needed, BARE))

    @property
    def needed(self) -> Node:
        """Returns the tree, which stops the run where it has no value."""
        # Null is a value of an optional, and else what failed.
        if is_optional(self.type) or not failures(self.tree):
            return self.tree
        simple = folded(self.tree)
        if isinstance(simple, Literal) and simple.value is None:
            # A constant has no value for any tuple: this is known before the run.
            raise self._lacking("this")
        return required(self.tree, self.place)

    def _lacking(self, what: str) -> DialectError:
        """Returns the error for a constant that is none."""
        lacks = " or ".join(failures(self.tree))
        return types.refused(self.place, f"{what} has no value: {lacks}")

    @property
    def sides(self) -> frozenset[str]:
        """Returns the letters of the sides that it reads."""
        found = (one for one in walk(self.tree) if isinstance(one, Column))
        return frozenset(one.side for one in found)

    def constant(self, what: str) -> object:
        """Returns the value, which must be known without a tuple."""
        simple = folded(self.tree)
        if not isinstance(simple, Literal):
            raise types.refused(
                self.place,
                f"{what} is known for a tuple alone",
                "a value that no attribute is part of",
            )
        if simple.value is None and not is_optional(self.type):
            raise self._lacking(what)
        return simple.value


def is_optional(kind: types.SplType) -> bool:
    """Tells whether null is a value of a type."""
    return kind == types.NULL or (
        isinstance(kind, types.Holder) and kind.word == "optional"
    )


def expressed(tree: Node) -> Expression:
    """Returns a tree as an expression of a program."""
    # Folded: constants are computed once, and here.
    return Expression(written_tree(numbered(folded(tree))))


def text(value: str) -> Literal:
    """Returns a text as a tree."""
    return Literal(value, AtomicType.STRING)


def of_type(kind: types.SplType, template: str, place: Place, **parts: Node) -> Value:
    """Returns the value of a template of Spark SQL, as the type is stored."""
    return Value(kind, cast(composed(template, **parts), types.stored(kind)), place)


def need_same(sign: str, one: Value, other: Value) -> None:
    """Refuses two types where one is needed."""
    if one.type != other.type:
        raise types.refused(
            other.place,
            f"{sign} of {one.type} and {other.type}",
            "the same type on both sides: nothing is converted unasked",
            f"write ({one.type}) before the second, or give a number its suffix: 10ul",
        )


# Arithmetic.

MODULUS = "18446744073709551616"
"""What is added to a uint64 without changing it."""
_HALF = "4294967296"
_BIG = {
    "+": f"pmod(x + y, {MODULUS}BD)",
    "-": f"pmod(x - y, {MODULUS}BD)",
    "/": "(x - x % y) / y",
    "%": "x % y",
}
# Spark's x / 0 is null. The sign of a zero, which its = does not see, is in its text.
_QUOTIENT = """CASE
    WHEN y <> 0 OR isnan(y) THEN x / y
    WHEN x = 0 OR isnan(x) THEN CAST('NaN' AS DOUBLE)
    WHEN (x > 0) = (CAST(y AS STRING) = '0.0') THEN CAST('Infinity' AS DOUBLE)
    ELSE CAST('-Infinity' AS DOUBLE)
END"""


def wrapped(kind: types.Scalar, template: str, place: Place, **parts: Node) -> Value:
    """Returns a whole number at its width."""
    # A cast to a narrower signed type keeps the lowest bits: it wraps. What has no sign
    # stands in a wider type, whose bits above its own width are cut off.
    found = cast(composed(template, **parts), types.stored(kind))
    if kind in types.UNSIGNED:
        most = Literal((1 << types.bits_of(kind)) - 1, types.stored(kind))
        found = cast(compose("x & y", x=found, y=most), types.stored(kind))
    return Value(kind, found, place)


def _whole(
    sign: str, one: Value, other: Value, kind: types.Scalar, place: Place
) -> Value:
    """Returns what an operator makes of two whole numbers."""
    if kind == types.UINT64:
        if sign != "*":
            return of_type(kind, _BIG[sign], place, x=one.tree, y=other.tree)
        # x = high * 2^32 + low: no product has more digits than Spark has room for.
        high = cast(
            compose(f"(x - x % {_HALF}BD) / {_HALF}BD", x=one.tree), types.stored(kind)
        )
        product = (
            f"pmod(pmod(high * y, {_HALF}BD) * {_HALF}BD + (x % {_HALF}BD) * y, "
            f"{MODULUS}BD)"
        )
        return of_type(kind, product, place, x=one.tree, y=other.tree, high=high)
    template = "x DIV y" if sign == "/" else f"x {sign} y"
    return wrapped(kind, template, place, x=one.tree, y=other.tree)


def arithmetic(sign: str, one: Value, other: Value, place: Place) -> Value:
    """Returns what + - * / % make of two values."""
    need_same(sign, one, other)
    divisor = folded(other.tree)
    is_zero = isinstance(divisor, Literal) and not divisor.value
    match one.type:
        case types.Scalar() as kind if (
            kind in types.INTEGERS and sign in "/%" and is_zero
        ):
            raise types.refused(
                other.place, "no value: a division by 0", "another number"
            )
        case types.Scalar() as kind if kind in types.INTEGERS:
            return _whole(sign, one, other, kind, place)
        case types.Scalar() as kind if kind in types.FLOATS and sign != "%":
            template = _QUOTIENT if sign == "/" else f"x {sign} y"
            return of_type(kind, template, place, x=one.tree, y=other.tree)
        case types.Scalar() as kind if kind in types.STRINGS and sign == "+":
            return of_type(kind, "concat(x, y)", place, x=one.tree, y=other.tree)
        case types.Scalar() as kind if kind in types.DECIMALS:
            return decimal(sign, kind, place, one, other)
        case types.Holder("list") as kind if sign == "+":
            return of_type(kind, "concat(x, y)", place, x=one.tree, y=other.tree)
        case kind:
            raise types.refused(place, f"{sign} of {kind}", "numbers, or texts for +")


# Decimals. From operation to operation they are texts, which have all their digits.


def decimal(operation: str, kind: types.Scalar, place: Place, *parts: Value) -> Value:
    """Returns what an operation makes of numbers: a decimal of its type's digits."""
    found = digits_of(operation, kind, *parts)
    return Value(kind, cast(found, types.stored(kind)), place)


def digits_of(operation: str, kind: types.Scalar, *parts: Value) -> Node:
    """Returns what an operation makes of numbers, as a text."""
    digits = Literal(types.DECIMALS[kind], AtomicType.INT)
    texts = (_number_text(one.tree) for one in parts)
    return build(OF_DIGITS, text(operation), digits, *texts)


def _number_text(node: Node) -> Node:
    """Returns a number as a text of all its digits."""
    match node:
        case Call(arguments=(inner,)) if is_computed(node):
            return inner
        case Literal(value=value, type=kind) if kind != AtomicType.STRING:
            return text(str(value))
        case _:
            return cast(node, AtomicType.STRING)


# What the first decimal is beside the second, where a sign holds.
_ORDERS = {
    "==": ("0",),
    "!=": ("-1", "1", "NaN"),
    "<": ("-1",),
    "<=": ("-1", "0"),
    ">": ("1",),
    ">=": ("1", "0"),
}


def _ordered(sign: str, one: Value, other: Value, place: Place) -> Value:
    """Returns how two decimals compare, of which an operation has given one."""
    assert isinstance(one.type, types.Scalar)  # noqa: S101 - a decimal is one
    order = digits_of("compare", one.type, one, other)
    known = ", ".join(f"'{word}'" for word in _ORDERS[sign])
    return of_type(types.BOOLEAN, f"x IN ({known})", place, x=order)


# To Spark NaN equals NaN and is above all numbers; to SPL no comparison of it holds.
_FLOAT_CHECKS = {
    "==": "x = y AND NOT isnan(x)",
    "!=": "x <> y OR isnan(x)",
    "<": "x < y AND NOT isnan(y)",
    "<=": "x <= y AND NOT isnan(y)",
    ">": "x > y AND NOT isnan(x)",
    ">=": "x >= y AND NOT isnan(x)",
}


def comparison(sign: str, one: Value, other: Value, place: Place) -> Value:
    """Returns whether two values are equal, or in an order."""
    if types.NULL in {one.type, other.type} and sign in {"==", "!="}:
        return _absence(sign, one, other, place)
    need_same(sign, one, other)
    kind, parts = one.type, {"x": one.tree, "y": other.tree}
    if kind in types.FLOATS:
        return of_type(types.BOOLEAN, _FLOAT_CHECKS[sign], place, **parts)
    if is_computed(one.tree) or is_computed(other.tree):
        return _ordered(sign, one, other, place)
    if isinstance(kind, types.Enumerated) and sign not in {"==", "!="}:
        # The order of words is that in which their type lists them.
        words = build("array", *map(text, kind.words))
        ranks = {it: build("array_position", words, parts[it]) for it in parts}
        return of_type(types.BOOLEAN, f"x {sign} y", place, **ranks)
    is_compared = is_comparable(kind)
    if isinstance(kind, types.Holder) and kind.word in {"set", "map"}:
        # Sets and maps have no order: their elements are compared in one.
        is_compared = all(map(is_comparable, kind.of))
        listed = {name: _listed(part, kind) for name, part in parts.items()}
        parts = {name: composed("array_sort(x)", x=it) for name, it in listed.items()}
    if sign in {"==", "!="} and is_compared:
        # What an optional lacks equals what another one lacks.
        equal = "x <=> y" if types.has_optional(kind) else "x = y"
        template = equal if sign == "==" else f"NOT ({equal})"
        return of_type(types.BOOLEAN, template, place, **parts)
    if isinstance(kind, types.Scalar) and kind not in {types.BOOLEAN, types.NULL}:
        return of_type(types.BOOLEAN, f"x {sign} y", place, **parts)
    if sign in {"==", "!="} and (is_nan := nan_within(kind, "x")):
        # To Spark NaN is NaN, and null is null, inside of others too.
        equal = f"x <=> y AND NOT ({is_nan})"
        template = equal if sign == "==" else f"NOT ({equal})"
        return of_type(types.BOOLEAN, template, place, **parts)
    raise types.refused(place, f"{sign} of {kind}", "values that can be compared so")


def nan_within(kind: types.SplType, whole: str, depth: int = 0) -> str:
    """Returns the SQL of whether NaN is in a value; "" where there can be none.

    So it is for sets and maps, which nothing inside of others compares.
    """
    match kind:
        case types.Scalar() if kind in types.FLOATS:
            return f"isnan({whole})"
        case types.Bounded(of):
            return nan_within(of, whole, depth)
        case types.Holder("optional", (of,)):
            inside = nan_within(of, whole, depth)
            return f"IF({whole} IS NULL, false, {inside})" if inside else ""
        case types.Holder("list", (of,)):
            inside = nan_within(of, f"item{depth}", depth + 1)
            found = f"filter({whole}, item{depth} -> {inside})"
            return f"size({found}) > 0" if inside else ""
        case types.Tuple(attributes):
            parts = [
                (it, nan_within(it, f"{whole}.`{name}`", depth))
                for name, it in attributes
            ]
            if any(not one and not is_comparable(it) for it, one in parts):
                return ""
            return " OR ".join(f"({one})" for _, one in parts if one)
        case _:
            return ""


def is_comparable(kind: types.SplType) -> bool:
    """Tells whether two values of a type are equal just where Spark says so."""
    match kind:
        case types.Scalar():
            return kind not in types.FLOATS and kind != types.NULL
        case types.Holder(word, of):
            # Of sets and maps Spark compares the order in which they have come to be.
            return word not in {"set", "map"} and all(map(is_comparable, of))
        case types.Tuple(attributes):
            return all(is_comparable(it) for _, it in attributes)
        case types.Enumerated():
            return True
        case types.Bounded(of):
            return is_comparable(of)


def _absence(sign: str, one: Value, other: Value, place: Place) -> Value:
    """Returns whether an optional has no value."""
    whole = other if one.type == types.NULL else one
    if not isinstance(whole.type, types.Holder) or whole.type.word != "optional":
        raise types.refused(place, f"{sign} of {whole.type} and null", "an optional")
    template = "x IS NULL" if sign == "==" else "x IS NOT NULL"
    return of_type(types.BOOLEAN, template, place, x=whole.tree)


# What goes where.


def assigned(value: Value, kind: types.SplType, what: str) -> Value:
    """Returns a value for an attribute: of its type, or what an optional holds."""
    takes_null = isinstance(kind, types.Holder) and kind.word == "optional"
    if takes_null and value.type in {types.NULL, *getattr(kind, "of", ())}:
        # Null is what an optional lacks, and nothing else.
        return of_type(kind, "x", value.place, x=value.needed)
    # What is assigned to a bound is cut to it: no mistake.
    if isinstance(kind, types.Bounded) and value.type == kind.of:
        return Value(kind, cut(value, kind), value.place)
    if value.type != kind:
        raise types.refused(
            value.place,
            f"{what} is {kind}, its value {value.type}",
            f"a value of the type {kind}: nothing is converted unasked",
            f"write ({kind}) before it, or give a number its suffix: 10ul",
        )
    return value


def cut(value: Value, kind: types.Bounded) -> Node:
    """Returns no more of a value than its type has room for."""
    if kind.of in types.STRINGS:
        return part_of_text(value, "0", str(kind.most))
    items = composed(f"slice(x, 1, {kind.most})", x=_listed(value.tree, kind.of))
    is_map = isinstance(kind.of, types.Holder) and kind.of.word == "map"
    return composed("map_from_arrays(x.key, x.value)", x=items) if is_map else items


def _listed(node: Node, kind: types.SplType) -> Node:
    """Returns what a list, a set or a map holds, one behind the other."""
    is_map = isinstance(kind, types.Holder) and kind.word == "map"
    return composed("map_entries(x)", x=node) if is_map else node


def part_of_text(value: Value, start: str, length: str, **parts: Node) -> Node:
    """Returns letters of a text; of an rstring bytes, which letters may have several.

    `start` counts from 0. Both are SQL over other parts.
    """
    if value.type == types.USTRING:
        template = f"substring(x, {start} + 1, {length})"
        return composed(template, x=value.tree, **parts)
    cut = f"CAST(substring(CAST(x AS BINARY), {start} + 1, {length}) AS STRING)"
    # What is left of a letter that was cut through is no text to anyone but Spark.
    return composed(f"make_valid_utf8({cut})", x=value.tree, **parts)


def structured(kind: types.Tuple, parts: Iterable[Node]) -> Node:
    """Returns a tuple of its attributes."""
    pairs = zip(kind.names, parts, strict=True)
    named = (it for name, part in pairs for it in (text(name), part))
    return cast(build("named_struct", *named), types.stored(kind))


def made_of(parts: Iterable[Value], whole: Node) -> Node:
    """Returns a whole, which has no value where one of its parts has none."""
    for one in parts:
        if not is_optional(one.type) and failures(one.tree):
            whole = compose("IF(x IS NULL, NULL, y)", x=one.tree, y=whole)
    return whole


def default_of(kind: types.SplType) -> object:
    """Returns what a value is that nobody gives, as JSON has it: never null."""
    match kind:
        case types.Scalar() if kind in types.STRINGS or kind.word == "blob":
            return ""
        case types.Enumerated(words):
            return words[0]
        case types.Scalar():
            return False if kind == types.BOOLEAN else 0
        case types.Holder("optional"):
            return None
        case types.Holder(word):
            return {} if word == "map" else []
        case types.Tuple(attributes):
            return {name: default_of(it) for name, it in attributes}
        case types.Bounded(of):
            return default_of(of)


def blank(kind: types.SplType, place: Place) -> Value:
    """Returns the value of a type that nobody gives another one."""
    stored = types.stored(kind)
    return literal(read_value(default_of(kind), stored, str(kind)), kind, place)


def literal(value: object, kind: types.SplType, place: Place) -> Value:
    """Returns a value that stands in the text."""
    return Value(kind, Literal(value, types.stored(kind)), place)
