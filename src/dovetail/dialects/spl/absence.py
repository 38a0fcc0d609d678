"""What has no value for a tuple: a division by 0, an element that is not there.

In Streams that ends the tuple's processing where it happens, and nothing is computed
that is not asked for: `n != 0 && 10 / n > 2` is false where n is 0. Here it is null,
which goes through all that is made of it, until somebody needs the value and stops.

    10 / n > 2               null where n is 0: it goes through /, and through >
    n != 0 && 10 / n > 2     false, as what is false decides
    filter: 10 / n > 2       needed: a null stops the run, with a sentence

So every operation must be null where a part of it is; those that choose are made so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dovetail.errors import Place
from dovetail.expression.evaluation import folded
from dovetail.expression.functions import build
from dovetail.expression.functions.casts import cast
from dovetail.expression.functions.logic import REQUIRED
from dovetail.expression.functions.significant import OF_DIGITS
from dovetail.expression.reader import compose
from dovetail.expression.tree import Call, Lambda, Literal, Node, walk, with_parts
from dovetail.schema import FRACTIONS, WHOLE, AtomicType, DecimalType

TEXT = AtomicType.STRING
BY_ZERO = "a division by 0"
"""The reason for which a tuple leaves by `failed`, also without a `@catch`."""
_NO_ELEMENT = "an element that is not there"
_ONE_KEY = "a map that has one key twice"
_NO_OPTION = "an optional without a value"
_NO_ROOM = "a decimal of more than 20 digits before its point, or no number"
_NO_END = "a loop of more than 32768 turns"
_NO_NUMBER = "a text that is no value of the type"
_NO_FLOAT = "a float that is no number"


def failures(node: Node) -> list[str]:
    """Returns why a tree may have no value where all its columns have one."""
    return sorted({*_failures(node, ())})


_Facts = tuple[tuple[Node, bool], ...]
"""Conditions of which it is known whether they hold."""


def _failures(node: Node, known: _Facts) -> Iterator[str]:
    """Yields the reasons of a tree and its parts; what stops a tuple hides its own."""
    match node:
        case Call("and" | "or" as word, (first, second)):
            yield from _failures(first, known)
            # The second decides only where the first does not.
            yield from _failures(second, known + _facts(first, holds=word == "and"))
        case Call("case", arguments):
            for condition, value in zip(arguments[::2], arguments[1::2], strict=False):
                yield from _failures(condition, known)
                yield from _failures(value, known + _facts(condition, holds=True))
                known += _facts(condition, holds=False)
            if len(arguments) % 2:
                yield from _failures(arguments[-1], known)
        # Whether a value is null can be asked of any: that has an answer itself.
        case Call(function) if function in {REQUIRED, "isnull"}:
            pass
        case Call(_, arguments):
            reason = _failure(node)
            if reason and not (reason == BY_ZERO and _is_guarded(arguments[1], known)):
                yield reason
            for one in arguments:
                yield from _failures(one, known)
        case Lambda(body=body):
            yield from _failures(body, known)
        case _:
            pass


def _facts(condition: Node, *, holds: bool) -> _Facts:
    """Returns the parts of a condition of which is known whether they hold."""
    match condition:
        case Call("not", (one,)):
            return _facts(one, holds=not holds)
        case Call("and" | "or" as word, (one, other)) if holds == (word == "and"):
            return _facts(one, holds=holds) + _facts(other, holds=holds)
        # What is so written that it stays null where a part is has not lost its reason.
        case Call("isnull"):
            return ()
        case _:
            return ((condition, holds),)


def _is_guarded(divisor: Node, known: _Facts) -> bool:
    """Tells whether a divisor cannot be 0: some condition would not be as it is."""
    match divisor:
        # Made wider for the division: a number is 0 just where it was before.
        case Call("cast", (one,), AtomicType.BIGINT) if one.type in WHOLE:
            divisor = one
    zero = cast(Literal(0, AtomicType.INT), divisor.type)

    def at_zero(node: Node) -> Node:
        return zero if node == divisor else with_parts(node, at_zero)

    opposites = ((folded(at_zero(one)), not holds) for one, holds in known)
    return any(
        isinstance(found, Literal) and found.value is opposite
        for found, opposite in opposites
    )


def _failure(node: Node) -> str:
    """Returns why a call may have no value; "" where it always has one."""
    match node:
        # A float by 0 is infinite, as IEEE says, and so has a value.
        case Call("/" | "div" | "%", (_, divisor), kind) if kind not in FRACTIONS:
            simple = folded(divisor)
            return "" if isinstance(simple, Literal) and simple.value else BY_ZERO
        case Call("[]", (Call("array", (part,)), _)) if node == unwrapped(part):
            return _NO_OPTION
        case Call("[]", (Call("array"), at)) if Literal(WAY, TEXT) in walk(at):
            return _NO_END
        case Call("[]"):
            return _NO_ELEMENT
        # Of keys that are all written out it is known that they differ.
        case Call("map", parts):
            keys = [folded(key) for key in parts[::2]]
            known = {key.value for key in keys if isinstance(key, Literal)}
            return "" if len(known) == len(keys) else _ONE_KEY
        # What is written out has been looked at when it was read.
        case Call("cast", (Literal(),)):
            return ""
        case Call("cast") if is_computed(node):
            return _NO_ROOM
        case Call("cast", (source,), kind) if source.type == TEXT and kind != TEXT:
            return _NO_NUMBER
        case Call("cast", (source,), DecimalType()) if source.type in FRACTIONS:
            return _NO_FLOAT
        case _:
            return ""


def may_stop(node: Node) -> bool:
    """Tells whether computing a tree may stop the run, needed or not."""
    stops = (isinstance(one, Call) and one.function == REQUIRED for one in walk(node))
    return bool(failures(node)) or any(stops)


def is_computed(node: Node) -> bool:
    """Tells whether a tree is a decimal that an operation has given."""
    match node:
        case Call("cast", (Call(function),), DecimalType()):
            return function == OF_DIGITS
        case _:
            return False


def required(node: Node, place: Place) -> Node:
    """Returns the tree of a value that is needed: where it has none the run stops."""
    if not failures(node):
        return node
    return build(REQUIRED, node, Literal(lack_of(node, place), TEXT))


def lack_of(node: Node, place: Place) -> str:
    """Returns in words why a tree may have no value."""
    # The run is far from the text: so the sentence says where it stands.
    where = f"line {place.line}, column {place.column} of the text in SPL"
    return f"{where} has no value for a tuple: {' or '.join(failures(node))}"


# What looks at a null and still has a value; all else is null by itself.
_CHOOSES = re.compile(r"CASE|IF\(|isnan|greatest|least|coalesce")


def composed(template: str, **parts: Node) -> Node:
    """Returns the tree of a template, which has no value where a part has none."""
    found = compose(template, **parts)
    if _CHOOSES.search(template):
        for part in filter(failures, parts.values()):
            found = compose("IF(x IS NULL, NULL, y)", x=part, y=found)
    return found


UNWRAP = "unwrap"
"""The sign of `x!`, which is not that of `!x`."""


def unwrapped(node: Node) -> Node:
    """Returns the value of an optional; null is none, and stops what needs it."""
    # The second element of one: like all that has no value it is null until then.
    return compose("array(x)[IF(x IS NULL, 1, 0)]", x=node)


WAY = "way"
"""The part of what a loop knows that says how it goes on; 0 while it is not left."""


def ended(node: Node, way: Node) -> Node:
    """Returns a value behind a loop; of a loop that has not ended there is none."""
    return compose("array(x)[IF(y = 0, 1, 0)]", x=node, y=way)


# What asks for its second part only where the first does not decide.


def both(one: Node, other: Node) -> Node:
    """Returns whether both hold; without a first value there is no result."""
    careful = "CASE WHEN x THEN y WHEN NOT x THEN false END"
    return compose(careful if failures(one) else "x AND y", x=one, y=other)


def either(one: Node, other: Node) -> Node:
    """Returns whether one of them holds; without a first value there is no result."""
    careful = "CASE WHEN x THEN true WHEN NOT x THEN y END"
    return compose(careful if failures(one) else "x OR y", x=one, y=other)


def chosen(condition: Node, one: Node, other: Node) -> Node:
    """Returns the one value or the other; without a condition there is neither."""
    careful = "CASE WHEN x THEN y WHEN NOT x THEN z END"
    template = careful if failures(condition) else "IF(x, y, z)"
    return compose(template, x=condition, y=one, z=other)
