"""The condition of a JOIN, taken apart: what must be equal, and everything else.

    LEFT.id = RIGHT.id AND LEFT.at > RIGHT.at AND LEFT.name[1..*] = RIGHT.name[3..*]
    `--- hard ------'      `---- soft ------'     `---- as many letters as needed --'

It is split at AND alone. A term is hard where it says that something of the left row
equals something of the right one; functions are looked into, KEYED is looked through.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import syntax, types
from dovetail.dialects.ecl.context import Context, is_total, is_word, refusal
from dovetail.dialects.ecl.names import routine_of
from dovetail.dialects.ecl.scalars import compared, met
from dovetail.dialects.ecl.transforms import parameters_of
from dovetail.dialects.ecl.values import RowValue
from dovetail.expression import Expression

_WIDEST = 255
_LOOKED_THROUGH = {"keyed", "nofold", "stepped"}


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a condition, where it stands, and whether KEYED is around it."""

    node: syntax.Node
    context: Context
    is_keyed: bool = False
    is_wild: bool = False


@dataclass(frozen=True, slots=True)
class Hard:
    """An equality of the two sides; `fields` are the right one's, in lower case."""

    equality: spec.Equality
    is_keyed: bool
    fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class Soft:
    """Any other condition, and the sides that it looks at."""

    node: syntax.Node
    text: str
    hands: frozenset[spec.Hand]


@dataclass(frozen=True, slots=True)
class Prefix:
    """An equality of as many letters as needed."""

    node: syntax.Node
    optional: spec.OptionalPrefix


Piece = Hard | Soft | Prefix


def terms(
    context: Context, node: syntax.Node, *, is_keyed: bool = False
) -> Iterator[Term]:
    """Yields the terms of a condition, those inside functions among them."""
    match node:
        case syntax.Operation(sign="AND", operands=operands):
            for one in operands:
                yield from terms(context, one, is_keyed=is_keyed)
        case syntax.Call(arguments=(inside, option)) if node.word == "keyed":
            # The index answers it if it can: nothing is asked for.
            if not is_word(option, "opt"):
                raise refusal(option, "this in KEYED", "KEYED(condition, OPT)")
            yield from terms(context, inside, is_keyed=is_keyed)
        case syntax.Call(arguments=(inside,)) if node.word in _LOOKED_THROUGH:
            marks = is_keyed or node.word == "keyed"
            yield from terms(context, inside, is_keyed=marks)
        case syntax.Call() if node.word == "wild":
            yield Term(node, context, is_wild=True)
        case syntax.Call() if found := [*routine_of(context, node)]:
            inner, body = parameters_of(context, node, found[0])
            yield from terms(inner, body, is_keyed=is_keyed)
        case _:
            yield Term(node, context, is_keyed)


def pieces(context: Context, node: syntax.Node) -> tuple[Piece, ...]:
    """Returns the pieces of a condition; a term that is always true is none."""
    return tuple(one for term in terms(context, node) for one in _pieces(term))


def _pieces(term: Term) -> Iterator[Piece]:
    """Yields what a term is: hard, soft, a prefix, or a whole record's equalities."""
    match term.node:
        case _ if term.is_wild:
            return
        case syntax.Operation(
            sign="=",
            operands=(
                syntax.Part(reach=syntax.Reach.ANY),
                syntax.Part(reach=syntax.Reach.ANY),
            ),
        ):
            yield prefix(term)
        case syntax.Operation(sign="=") as node:
            yield from _equality(term, node)
        case node:
            yield from _soft(node, term.context.condition(node))


def _equality(term: Term, node: syntax.Operation) -> Iterator[Piece]:
    """Yields an equality: hard where each side is of another row."""
    values = [term.context.scalar(one) for one in node.operands]
    match values:
        case [
            types.Scalar(type=types.RecordType() as record),
            types.Scalar(type=types.RecordType() as second_record),
        ]:
            # The equalities of all fields of two rows, pair by pair.
            for first in record.fields:
                for second in second_record.find(first.name):
                    pair = (values[0].part(first), values[1].part(second))
                    left, right = met(node, *pair)
                    if hands_of(left.text) == {spec.Hand.RIGHT}:
                        left, right = right, left
                    yield hard(left, right, is_keyed=term.is_keyed)
            return
        case _:
            pass
    one, other = met(node, values[0], values[1])
    hands = [hands_of(value.text) for value in (one, other)]
    if hands == [{spec.Hand.LEFT}, {spec.Hand.RIGHT}]:
        yield hard(one, other, is_keyed=term.is_keyed)
    elif hands == [{spec.Hand.RIGHT}, {spec.Hand.LEFT}]:
        yield hard(other, one, is_keyed=term.is_keyed)
    else:
        yield from _soft(node, compared(node, *values))


def hard(left: types.Scalar, right: types.Scalar, *, is_keyed: bool) -> Hard:
    """Returns the equality of a left and a right value."""
    found = Expression(right.text)
    fields = frozenset(one.column.lower() for one in spec.references(found))
    return Hard(spec.Equality(Expression(left.text), found), is_keyed, fields)


def _soft(node: syntax.Node, text: str) -> Iterator[Soft]:
    """Yields a condition, unless it is just true."""
    if text != "true":
        yield Soft(node, text, hands_of(text))


def hands_of(text: str) -> frozenset[spec.Hand]:
    """Returns the sides that an expression looks at."""
    found = spec.references(Expression(text))
    return frozenset(one.hand for one in found if not is_total(one.column))


def prefix(term: Term) -> Prefix:
    """Returns the equality of as many letters of two texts as needed."""
    node = term.node
    if not isinstance(node, syntax.Operation):
        raise refusal(node, "[n..*] here", "it in an equality")
    texts = [_letters(term.context, one) for one in node.operands]
    # Which side stands first in the text does not matter.
    by_hand = {hand: text for text, _ in texts for hand in hands_of(text)}
    if set(by_hand) != set(spec.HANDS):
        raise refusal(
            node, "[n..*] of one side alone", "LEFT.name[1..*] = RIGHT.name[1..*]"
        )
    width = max(length for _, length in texts)
    left, right = (Expression(by_hand[hand]) for hand in spec.HANDS)
    return Prefix(node, spec.OptionalPrefix(left, right, width))


def _letters(context: Context, node: syntax.Node) -> tuple[str, int]:
    """Returns the letters of a text from a place on, and how many there may be."""
    if not isinstance(node, syntax.Part):
        raise refusal(node, "[n..*] on one side alone", "[n..*] on both sides")
    value = types.converted(context.scalar(node.of), types.STRING)
    first = context.typed(node.first, types.INTEGER).text
    kind = context.scalar(node.of).type
    if value is None or not isinstance(kind, types.Letters):
        raise refusal(node, "[n..*] of something else", "a text")
    start = context.count(node.first, 1)
    length = kind.length - start + 1 if kind.length else _WIDEST
    return f"substring({types.full(value)}, CAST({first} AS INT))", max(1, length)


def optionals(
    context: Context, node: syntax.Braces
) -> tuple[spec.OptionalPrefix | spec.OptionalEqual, ...]:
    """Returns the list of optional equalities of ATMOST."""
    found: list[spec.OptionalPrefix | spec.OptionalEqual] = []
    for item in node.items:
        for piece in pieces(context, item):
            match piece:
                case Prefix(optional=optional):
                    found.append(optional)
                case Hard(equality=equality):
                    found.append(spec.OptionalEqual(equality))
                case Soft():
                    raise refusal(item, "a condition that is no equality", "equalities")
    return tuple(found)


def sides_of(left: RowValue, right: RowValue, context: Context) -> Context:
    """Returns the context in which LEFT and RIGHT are rows."""
    sides = {"left": left, "right": right}
    return replace(context, sides=sides, rows=())
