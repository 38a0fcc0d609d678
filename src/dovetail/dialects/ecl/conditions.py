"""The condition of a JOIN, taken apart: what must be equal, and everything else.

    LEFT.id = RIGHT.id AND LEFT.at > RIGHT.at AND LEFT.name[1..*] = RIGHT.name[3..*]
    `--- hard ------'      `---- soft ------'     `---- as many letters as needed --'

It is split at AND alone. A term is hard where it says that something of the left row
equals something of the right one; functions are looked into, KEYED is looked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import syntax, trees, types
from dovetail.dialects.ecl.context import Context, is_total, is_word, refusal
from dovetail.dialects.ecl.names import routine_of, value_inside
from dovetail.dialects.ecl.scalars import compared, met
from dovetail.dialects.ecl.transforms import parameters_of

# As many letters of a text without a length are compared, as HPCC has room for.
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
    """An equality of the two sides, whichever stands first in the text."""

    left: trees.Node
    right: trees.Node
    is_keyed: bool

    @property
    def equality(self) -> spec.Equality:
        """Returns the equality as a join has it."""
        return spec.Equality(trees.expressed(self.left), trees.expressed(self.right))

    @property
    def holds(self) -> trees.Node:
        """Returns the equality as a condition of pairs."""
        return trees.build("=", self.left, self.right)

    @property
    def fields(self) -> frozenset[str]:
        """Returns the fields of the right row, in lower case."""
        return frozenset(one.name.lower() for one in trees.columns_of(self.right))


@dataclass(frozen=True, slots=True)
class Soft:
    """Any other condition, and the sides that it looks at."""

    node: syntax.Node
    holds: trees.Node
    is_keyed: bool = False

    @property
    def hands(self) -> frozenset[spec.Hand]:
        """Returns the sides that it looks at."""
        return hands_of(self.holds)

    def is_answered_by(self, keys: Iterable[str]) -> bool:
        """Tells whether an index of such keys gives only rows of which it holds."""
        fields = {one.name.lower() for one in trees.columns_of(self.holds)}
        is_of_index = self.hands == {spec.Hand.RIGHT} and fields <= {*keys}
        return self.is_keyed and is_of_index


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
            if len(node.arguments) != 1:
                raise refusal(node, "this WILD", "WILD(field)")
            yield Term(node, context, is_wild=True)
        case syntax.Call() if found := [*routine_of(context, node)]:
            inner, body = parameters_of(context, node, found[0])
            yield from terms(inner, body, is_keyed=is_keyed)
        case syntax.Name() if defined := [*value_inside(context, node)]:
            [(scope, definition)] = defined
            # As long as it is bound, its name means what had the name before.
            scope.pending.add(id(definition))
            inner = replace(context.without_rows(), scope=scope)
            yield from terms(inner, definition.body, is_keyed=is_keyed)
            scope.pending.discard(id(definition))
        case _:
            yield Term(node, context, is_keyed)


def pieces(context: Context, node: syntax.Node) -> tuple[Piece, ...]:
    """Returns the pieces of a condition; a term that is always true is none."""
    found: list[Piece] = []
    for term in terms(context, node):
        match term.node:
            # WILD leaves its field open: it asks for nothing.
            case _ if term.is_wild:
                continue
            case syntax.Operation(
                sign="=",
                operands=(
                    syntax.Part(reach=syntax.Reach.ANY),
                    syntax.Part(reach=syntax.Reach.ANY),
                ),
            ):
                found.append(prefix(term))
            case syntax.Operation(sign="=") as same:
                mine, its = map(term.context.scalar, same.operands)
                found.extend(_equality(term, same, mine=mine, its=its))
            case other:
                found.extend(_soft(term, other, term.context.condition(other)))
    return tuple(found)


# LEFT.id = RIGHT.id is hard, LEFT.id = 3 and LEFT.a + RIGHT.b = 3 are not; LEFT = RIGHT
# is an equality for each field that both have.
def _equality(
    term: Term, node: syntax.Operation, *, mine: types.Scalar, its: types.Scalar
) -> Iterator[Piece]:
    """Yields an equality: hard where each side is of another row."""
    match mine.type, its.type:
        case types.RecordType() as record, types.RecordType() as second_record:
            # The equalities of all fields of two rows, pair by pair.
            for first in record.fields:
                for second in second_record.find(first.name):
                    part = types.part(mine.tree, first)
                    other = types.part(its.tree, second)
                    yield from _equality(term, node, mine=part, its=other)
            return
        case _:
            pass
    left, right = (it.tree for it in met(node, mine, its))
    hands = [hands_of(it) for it in (left, right)]
    if hands == [{spec.Hand.LEFT}, {spec.Hand.RIGHT}]:
        yield Hard(left, right, term.is_keyed)
    elif hands == [{spec.Hand.RIGHT}, {spec.Hand.LEFT}]:
        yield Hard(right, left, term.is_keyed)
    else:
        yield from _soft(term, node, compared(node, mine, its))


def _soft(term: Term, node: syntax.Node, holds: trees.Node) -> Iterator[Soft]:
    """Yields a condition, unless it is just true."""
    if holds != trees.TRUE:
        yield Soft(node, holds, term.is_keyed)


def hands_of(tree: trees.Node) -> frozenset[spec.Hand]:
    """Returns the sides that an expression looks at."""
    return frozenset(
        hand
        for one in trees.columns_of(tree)
        for hand in spec.HANDS
        if hand.letter == one.side and not is_total(one.name)
    )


def prefix(term: Term) -> Prefix:
    """Returns the equality of as many letters of two texts as needed."""
    node = term.node
    if not isinstance(node, syntax.Operation):
        raise refusal(node, "[n..*] here", "it in an equality")
    letters = [_letters(term.context, one) for one in node.operands]
    # Which side stands first in the text does not matter.
    by_hand = {hand: tree for tree, _ in letters for hand in hands_of(tree)}
    if set(by_hand) != set(spec.HANDS):
        raise refusal(
            node, "[n..*] of one side alone", "LEFT.name[1..*] = RIGHT.name[1..*]"
        )
    width = max(length for _, length in letters)
    left, right = (trees.expressed(by_hand[hand]) for hand in spec.HANDS)
    return Prefix(node, spec.OptionalPrefix(left, right, width))


def _letters(context: Context, node: syntax.Node) -> tuple[trees.Node, int]:
    """Returns the letters of a text from a place on, and how many there may be."""
    if not isinstance(node, syntax.Part):
        raise refusal(node, "[n..*] on one side alone", "[n..*] on both sides")
    value = types.converted(context.scalar(node.of), types.STRING)
    first = context.typed(node.first, types.INTEGER).tree
    kind = context.scalar(node.of).type
    if value is None or not isinstance(kind, types.Letters):
        raise refusal(node, "[n..*] of something else", "a text")
    start = context.count(node.first, 1)
    length = kind.length - start + 1 if kind.length else _WIDEST
    cut = "substring(x, CAST(place AS INT))"
    return trees.sql(cut, x=types.full(value), place=first), max(1, length)


# ATMOST(LEFT.id = RIGHT.id, {LEFT.city = RIGHT.city, LEFT.zip = RIGHT.zip}, 9)
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
                case Hard():
                    found.append(spec.OptionalEqual(piece.equality))
                case Soft():
                    raise refusal(item, "a condition that is no equality", "equalities")
    return tuple(found)
