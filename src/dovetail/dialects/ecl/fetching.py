"""FETCH: the rows of a file to which an index points.

    FETCH(base, index(filter), RIGHT.position [, transform(LEFT, RIGHT)])

It is the join of the rows of the index with those of the file, by the position.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.datasets import columns_of
from dovetail.dialects.ecl.nodes import Call
from dovetail.dialects.ecl.ordering import row_at
from dovetail.dialects.ecl.types import RecordType
from dovetail.dialects.ecl.values import DatasetValue, Made
from dovetail.expression import Expression
from dovetail.schema import quoted
from dovetail.spec.join import BlankRow, Clock, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import Equality, Picks, Strategy
from dovetail.spec.program import LEFT, RIGHT, Joined, Told


def read_fetch(context: Context, node: Call) -> DatasetValue:
    """Returns the rows of FETCH, in the order of the index."""
    if len(node.arguments) < 3:  # noqa: PLR2004 - file, index, position
        raise refusal(node, "a FETCH of less", "FETCH(file, index, RIGHT.position)")
    first, second, third, *rest = node.arguments
    base, index = context.dataset(first), context.dataset(second)
    # The rows of the index lead, so they are the join's left: RIGHT is `l`.
    sides = {"left": row_at(base.record, "r"), "right": row_at(index.record)}
    inside = replace(context, sides=sides, rows=())
    made = inside.made(rest[0]) if rest else _whole(base.record)
    where = Expression(inside.scalar(third).text)
    position = Expression(f"r.{quoted(_position(node, base.record))}")
    join = _by_position(Equality(where, position), made)
    told = Told(
        f"FETCH in line {node.place.line}", (("hard", f"{where} = {position}"),)
    )
    step = Joined(index.step, base.step, join, made.record.schema, told)
    return DatasetValue(step, made.record)


def _whole(record: RecordType) -> Made:
    """Returns the rows of the file as they are."""
    texts = ((one.name, f"r.{quoted(one.name)}") for one in record.fields)
    return Made(record, tuple(texts), "false")


def _by_position(equality: Equality, made: Made) -> JoinSpec:
    """Returns the join of an index with its file."""
    return JoinSpec(
        Side(Named(LEFT)),
        Side(Named(RIGHT)),
        Kind.INNER,
        Clock.BATCH,
        (equality,),
        select=columns_of(made),
        absent_left=BlankRow(),
        absent_right=BlankRow(),
        picks=Picks(strategy=Strategy.KEYED, skip_when=Expression(made.skip)),
    )


def _position(node: Call, record: RecordType) -> str:
    """Returns the field of a file that says where its rows are."""
    for one in record.fields:
        if one.is_position:
            return one.name
    raise refusal(
        node,
        "FETCH from rows without a position",
        "a field with {virtual(fileposition)} in the record of the file",
    )
