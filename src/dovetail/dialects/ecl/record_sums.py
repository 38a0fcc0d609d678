"""Records put together of others, field by field.

person AND NOT [age, city]      person - [age]       all fields but these; of one
                                person AND NOT age   field its name alone
person OR pet                   person + pet         the fields of both
person AND pet                                       the fields that both have
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.nodes import (
    Braces,
    Call,
    Items,
    Member,
    Name,
    Node,
    Operation,
)
from dovetail.dialects.ecl.types import RecordType, merged

_SIGNS = {"AND", "OR", "+", "-"}


def record_sum(context: Context, node: Operation) -> Iterator[RecordType]:
    """Gives the record of an operation between records, if it is one."""
    if node.sign not in _SIGNS:
        return
    first, second = node.operands
    for record in _record(context, first):
        yield _combined(context, node, (record, second))


def _record(context: Context, node: Node) -> Iterator[RecordType]:
    """Gives the record that a node is, if it is one."""
    match node:
        case Braces():
            yield context.record(node)
        case Operation():
            yield from record_sum(context, node)
        case Call() if node.word == "recordof":
            yield context.record(node)
        case Name() if not _is_field(context, node):
            found = context.defined(node, node.word)
            yield from (one for one in found if isinstance(one, RecordType))
        case _:
            return


def _is_field(context: Context, node: Name) -> bool:
    """Tells whether a name is a field of a row at hand, or a side."""
    fields = (one for row in context.rows for one in row.record.find(node.word))
    return node.word in context.sides or any(True for _ in fields)


def _combined(
    context: Context, node: Operation, given: tuple[RecordType, Node]
) -> RecordType:
    """Returns what an operator makes of a record and what stands behind it."""
    record, second = given
    match node.sign, second:
        case "AND", Operation(sign="NOT", operands=(inner,)):
            return _without(record, _names(context, inner, record))
        case "-", _:
            return _without(record, _names(context, second, record))
        case "AND", _:
            both = _names(context, second, record)
            return RecordType(tuple(one for one in record.fields if one.word in both))
        case _:
            return merged((record, context.record(second)))


def _without(record: RecordType, names: set[str]) -> RecordType:
    """Returns the fields of a record but some."""
    return RecordType(tuple(one for one in record.fields if one.word not in names))


def _names(context: Context, node: Node, record: RecordType) -> set[str]:
    """Returns the fields that a list, a record or a name means, in lower case."""
    if isinstance(node, Name) and any(record.find(node.word)):
        return {node.word}
    if isinstance(node, Items):
        for one in node.items:
            if not isinstance(one, Name | Member):
                raise refusal(one, "no name of a field", "[field, field]")
        return {one.word for one in node.items if isinstance(one, Name | Member)}
    return {one.word for one in context.record(node).fields}
