"""Values of SPL: a type of the language, and the tree that computes it on Spark.

Nothing is converted unasked. Whole numbers wrap at their width, whatever wider type
holds them on Spark; floats follow IEEE, where Spark would say null, or that NaN is NaN.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from dovetail.dialects.spl.types import (
    BOOLEAN,
    DECIMALS,
    FLOATS,
    INTEGERS,
    NULL,
    STRINGS,
    UINT64,
    UNSIGNED,
    Holder,
    Scalar,
    SplType,
    Tuple,
    bits_of,
    has_optional,
    refused,
    stored,
)
from dovetail.errors import Place
from dovetail.expression import Expression
from dovetail.expression.evaluation import folded
from dovetail.expression.functions import build
from dovetail.expression.functions.casts import cast
from dovetail.expression.reader import compose
from dovetail.expression.sql import written_tree
from dovetail.expression.tree import (
    BARE,
    Column,
    Literal,
    Node,
    numbered,
    on_side,
    walk,
)
from dovetail.schema import AtomicType

TRUE = Literal(value=True, type=AtomicType.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Value:
    """A value, where it stands, and the variables of `logic` that it reads."""

    type: SplType
    tree: Node
    place: Place = field(compare=False, repr=False)

    @property
    def expression(self) -> Expression:
        """Returns the value as a text of Spark SQL."""
        return expressed(self.tree)

    @property
    def own(self) -> Expression:
        """Returns the value of one side alone, its columns named bare."""
        return expressed(on_side(self.tree, BARE))

    @property
    def sides(self) -> frozenset[str]:
        """Returns the letters of the sides that it reads."""
        found = (one for one in walk(self.tree) if isinstance(one, Column))
        return frozenset(one.side for one in found)

    def constant(self, what: str) -> object:
        """Returns the value, which must be known without a tuple."""
        simple = folded(self.tree)
        if not isinstance(simple, Literal):
            raise refused(
                self.place,
                f"{what} is known for a tuple alone",
                "a value that no attribute is part of",
            )
        return simple.value


def expressed(tree: Node) -> Expression:
    """Returns a tree as an expression of a program."""
    return Expression(written_tree(numbered(folded(tree))))


def text(value: str) -> Literal:
    """Returns a text as a tree."""
    return Literal(value, AtomicType.STRING)


def of_type(kind: SplType, template: str, place: Place, **parts: Node) -> Value:
    """Returns the value of a template of Spark SQL, as the type is stored."""
    return Value(kind, cast(compose(template, **parts), stored(kind)), place)


def need_same(sign: str, one: Value, other: Value) -> None:
    """Refuses two types where one is needed."""
    if one.type != other.type:
        raise refused(
            other.place,
            f"{sign} of {one.type} and {other.type}",
            "the same type on both sides: nothing is converted unasked",
            f"write ({one.type}) before the second, or give a number its suffix: 10ul",
        )


# Arithmetic.

_MODULUS = "18446744073709551616"
_HALF = "4294967296"
_BIG = {
    "+": f"pmod(x + y, {_MODULUS}BD)",
    "-": f"pmod(x - y, {_MODULUS}BD)",
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


def wrapped(kind: Scalar, template: str, place: Place, **parts: Node) -> Value:
    """Returns a whole number at its width."""
    # A cast to a narrower signed type keeps the lowest bits: it wraps. What has no sign
    # stands in a wider type, whose bits above its own width are cut off.
    found = cast(compose(template, **parts), stored(kind))
    if kind in UNSIGNED:
        most = Literal((1 << bits_of(kind)) - 1, stored(kind))
        found = cast(compose("x & y", x=found, y=most), stored(kind))
    return Value(kind, found, place)


def _whole(sign: str, one: Value, other: Value, kind: Scalar, place: Place) -> Value:
    """Returns what an operator makes of two whole numbers."""
    if sign in "/%":
        _need_divisor(other, sign)
    if kind == UINT64:
        if sign != "*":
            return of_type(kind, _BIG[sign], place, x=one.tree, y=other.tree)
        # x = high * 2^32 + low: no product has more digits than Spark has room for.
        high = cast(
            compose(f"(x - x % {_HALF}BD) / {_HALF}BD", x=one.tree), stored(kind)
        )
        product = (
            f"pmod(pmod(high * y, {_HALF}BD) * {_HALF}BD + (x % {_HALF}BD) * y, "
            f"{_MODULUS}BD)"
        )
        return of_type(kind, product, place, x=one.tree, y=other.tree, high=high)
    template = "x DIV y" if sign == "/" else f"x {sign} y"
    return wrapped(kind, template, place, x=one.tree, y=other.tree)


def _need_divisor(value: Value, sign: str) -> None:
    """Refuses a whole divisor that is, or may be, 0."""
    found = folded(value.tree)
    if isinstance(found, Literal) and found.value:
        return
    is_zero = isinstance(found, Literal)
    raise refused(
        value.place,
        f"a whole number {sign} {'0' if is_zero else 'what may be 0'}",
        "a divisor that is written out",
        "" if is_zero else "(float64) before both sides divides without a failure",
    )


def arithmetic(sign: str, one: Value, other: Value, place: Place) -> Value:
    """Returns what + - * / % make of two values."""
    need_same(sign, one, other)
    match one.type:
        case Scalar() as kind if kind in INTEGERS:
            return _whole(sign, one, other, kind, place)
        case Scalar() as kind if kind in FLOATS and sign != "%":
            template = _QUOTIENT if sign == "/" else f"x {sign} y"
            return of_type(kind, template, place, x=one.tree, y=other.tree)
        case Scalar() as kind if kind in STRINGS and sign == "+":
            return of_type(kind, "concat(x, y)", place, x=one.tree, y=other.tree)
        case Scalar() as kind if kind in DECIMALS:
            raise refused(
                place,
                f"{sign} of {kind} is not yet supported",
                "decimals that are compared and assigned",
                "(float64) before both sides computes with doubles",
            )
        case kind:
            raise refused(place, f"{sign} of {kind}", "numbers, or texts for +")


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
    if NULL in {one.type, other.type} and sign in {"==", "!="}:
        return _absence(sign, one, other, place)
    need_same(sign, one, other)
    kind, parts = one.type, {"x": one.tree, "y": other.tree}
    if kind in FLOATS:
        return of_type(BOOLEAN, _FLOAT_CHECKS[sign], place, **parts)
    if sign in {"==", "!="} and is_comparable(kind):
        # What an optional lacks equals what another one lacks.
        equal = "x <=> y" if has_optional(kind) else "x = y"
        template = equal if sign == "==" else f"NOT ({equal})"
        return of_type(BOOLEAN, template, place, **parts)
    if isinstance(kind, Scalar) and kind not in {BOOLEAN, NULL}:
        return of_type(BOOLEAN, f"x {sign} y", place, **parts)
    raise refused(place, f"{sign} of {kind}", "values that can be compared so")


def is_comparable(kind: SplType) -> bool:
    """Tells whether two values of a type are equal just where Spark says so."""
    match kind:
        case Scalar():
            return kind not in FLOATS and kind != NULL
        case Holder(word, of):
            return word in {"list", "optional"} and all(map(is_comparable, of))
        case Tuple(attributes):
            return all(is_comparable(it) for _, it in attributes)


def _absence(sign: str, one: Value, other: Value, place: Place) -> Value:
    """Returns whether an optional has no value."""
    whole = other if one.type == NULL else one
    if not isinstance(whole.type, Holder) or whole.type.word != "optional":
        raise refused(place, f"{sign} of {whole.type} and null", "an optional")
    template = "x IS NULL" if sign == "==" else "x IS NOT NULL"
    return of_type(BOOLEAN, template, place, x=whole.tree)


# Casts.


def converted(value: Value, kind: SplType, place: Place) -> Value:
    """Returns a value as another type, which the text asks for."""
    old = value.type
    if old == kind:
        return replace(value, place=place)
    parts = {"x": value.tree}
    match old, kind:
        case Scalar(), Scalar() if old in INTEGERS and kind in INTEGERS:
            return _resized(value, kind, place)
        case Scalar(), Scalar() if (
            old in FLOATS and kind in INTEGERS and (kind != UINT64)
        ):
            return wrapped(kind, "CAST(x AS BIGINT)", place, **parts)
        case Scalar(), Scalar() if {old, kind} <= {*INTEGERS, *FLOATS, *DECIMALS} and (
            old in INTEGERS or kind in FLOATS
        ):
            return of_type(kind, "x", place, **parts)
        case Scalar(), Scalar() if old in {*INTEGERS, BOOLEAN} and kind in STRINGS:
            return of_type(kind, "CAST(x AS STRING)", place, **parts)
        case Scalar(), Scalar() if {old, kind} <= STRINGS:
            return Value(kind, value.tree, place)
        # An optional is the value itself, which may be null.
        case _, Holder("optional", (of,)) if of == old:
            return Value(kind, value.tree, place)
        case _:
            known = "whole numbers, floats from each, texts from whole numbers"
            raise refused(place, f"a cast from {old} to {kind}", known)


def _resized(value: Value, kind: Scalar, place: Place) -> Value:
    """Returns a whole number at another width: its lowest bits."""
    tree = value.tree
    if value.type == UINT64:
        # Beyond 2^63 the bits are those of a negative number.
        tree = cast(
            compose(
                f"IF(x >= 9223372036854775808BD, x - {_MODULUS}BD, x)", x=value.tree
            ),
            AtomicType.BIGINT,
        )
    if kind == UINT64:
        return of_type(
            kind, f"pmod(CAST(x AS DECIMAL(20, 0)), {_MODULUS}BD)", place, x=tree
        )
    return wrapped(kind, "x", place, x=tree)


def assigned(value: Value, kind: SplType, what: str) -> Value:
    """Returns a value for an attribute: of its type, or what an optional holds."""
    is_optional = isinstance(kind, Holder) and kind.word == "optional"
    if is_optional and value.type in {NULL, *getattr(kind, "of", ())}:
        return of_type(kind, "x", value.place, x=value.tree)
    if value.type != kind:
        raise refused(
            value.place,
            f"{what} is {kind}, its value {value.type}",
            f"a value of the type {kind}: nothing is converted unasked",
            f"write ({kind}) before it, or give a number its suffix: 10ul",
        )
    return value


def structured(kind: Tuple, parts: Iterable[Node]) -> Node:
    """Returns a tuple of its attributes."""
    pairs = zip(kind.names, parts, strict=True)
    named = (it for name, part in pairs for it in (text(name), part))
    return cast(build("named_struct", *named), stored(kind))


def default_of(kind: SplType) -> object:
    """Returns what a value is that nobody gives, as JSON has it: never null."""
    match kind:
        case Scalar() if kind in STRINGS or kind.word == "blob":
            return ""
        case Scalar():
            return False if kind == BOOLEAN else 0
        case Holder("optional"):
            return None
        case Holder(word):
            return {} if word == "map" else []
        case Tuple(attributes):
            return {name: default_of(it) for name, it in attributes}


def literal(value: object, kind: SplType, place: Place) -> Value:
    """Returns a value that stands in the text."""
    return Value(kind, Literal(value, stored(kind)), place)
