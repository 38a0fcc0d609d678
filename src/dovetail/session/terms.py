"""What the keys and the condition of a join may be, in the words of Python."""

from __future__ import annotations

from dovetail.bind.schemas import refuse_carried
from dovetail.errors import SchemaError, SpecError
from dovetail.expression import Scope, parse
from dovetail.schema import AtomicType, CarriedType
from dovetail.spec.inputs import Inputs
from dovetail.spec.join import HANDS, JoinSpec
from dovetail.spec.results import input_of, known_types


def refuse_terms(join: JoinSpec, inputs: Inputs) -> None:
    """Refuses a key of variants, and what is known to be neither true nor false."""
    for part in (part for one in join.hard for part in (one.left, one.right)):
        if CarriedType("variant") in known_types(part, join, inputs):
            raise SchemaError(
                f'the key "{part}" is variant',
                "a key of values that can be compared",
                f'take a part out in the frame, as with variant_get({part}, "$.id")',
            )
    for kind in known_types(join.soft, join, inputs):
        if kind not in {AtomicType.BOOLEAN, AtomicType.NULL}:
            raise SpecError(
                f'where="{join.soft}" is {kind}',
                "a condition that is true or false",
                'compare it, as in where="l.amount < r.amount"',
            )


def refuse_on_streams(join: JoinSpec, inputs: Inputs) -> None:
    """Refuses columns that a stream cannot pack, and a condition it cannot read."""
    schemas = {
        hand: input_of(join.side(hand).source, inputs, hand.value).schema
        for hand in HANDS
    }
    for hand, schema in schemas.items():
        refuse_carried(f"the {hand.value} side has", schema)
    parse(join.soft, Scope.pair(*schemas.values()))
