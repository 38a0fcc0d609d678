"""What the keys and the condition of a join may be, in the words of Python."""

from __future__ import annotations

from collections.abc import Iterable

from dovetail import spec
from dovetail.bind.schemas import is_carried, refuse_unpacked
from dovetail.errors import SchemaError, SpecError
from dovetail.expression import Scope, parse
from dovetail.plan.sides import partition_of
from dovetail.schema import AtomicType, CarriedType, Schema, unquoted


def refuse_terms(join: spec.JoinSpec, inputs: spec.Inputs) -> None:
    """Refuses a key of variants, and what is known to be neither true nor false."""
    for part in (part for one in join.hard for part in (one.left, one.right)):
        if CarriedType("variant") in spec.known_types(part, join, inputs):
            raise SchemaError(
                f'the key "{part}" is variant',
                "a key of values that can be compared",
                f'take a part out in the frame, as with variant_get({part}, "$.id")',
            )
    for kind in spec.known_types(join.soft, join, inputs):
        if kind not in {AtomicType.BOOLEAN, AtomicType.NULL}:
            raise SpecError(
                f'where="{join.soft}" is {kind}',
                "a condition that is true or false",
                'compare it, as in where="l.amount < r.amount"',
            )


def refuse_on_streams(join: spec.JoinSpec, inputs: spec.Inputs) -> None:
    """Refuses what a stream cannot pack, compare or read."""
    schemas = {
        hand: spec.input_of(join.side(hand).source, inputs, hand.value).schema
        for hand in spec.HANDS
    }
    for hand, schema in schemas.items():
        refuse_unpacked(f"the {hand.value} side has", schema)
        parts = {unquoted(part.strip()) for part in partition_of(join.side(hand))}
        _refuse_compared("the window goes by", schema, parts)
    terms = [part for one in join.hard for part in (one.left, one.right)]
    for text in (*terms, join.soft):
        for one in spec.references(text):
            _refuse_compared(f'"{text}" compares', schemas[one.hand], {one.column})
    parse(join.soft, Scope.pair(*schemas.values()))


def _refuse_compared(found: str, schema: Schema, names: Iterable[str]) -> None:
    """Refuses to compare columns that a stream carries only."""
    for name in names:
        if name in schema and is_carried(schema[name].type):
            raise SchemaError(
                f'{found} the column "{name}" of the type {schema[name].type}',
                "a type that a stream can compare, not one that it only carries",
                "cast it in the frame to a type that can be compared",
            )
