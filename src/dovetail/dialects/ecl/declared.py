"""Types, records, and the fields that records declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal
from dovetail.dialects.ecl.nodes import (
    Arrow,
    Braces,
    Call,
    Definition,
    Items,
    Member,
    Name,
    Node,
    Record,
    Sequence,
    SetType,
    TypeName,
    word_of,
)
from dovetail.dialects.ecl.types import (
    EclType,
    Field,
    RecordType,
    SetOf,
    TableType,
    named_type,
)
from dovetail.dialects.ecl.values import DatasetValue, RowsValue, RowValue, TypeValue
from dovetail.expression import Expression
from dovetail.spec.references import references

_UNNAMED = ""
_NO_EFFECT = {"maxlength", "xpath", "maxcount", "locale", "packed", "blob"}


def declared_type(context: Context, node: Node) -> EclType:
    """Returns the type that stands before a name."""
    match node:
        case TypeName(text=text):
            found = named_type(text)
            if found is None:
                raise refusal(node, f'the type "{text}"', "a type of ECL")
            return found
        case SetType(element=element):
            inner = declared_type(context, element)
            return TableType(inner) if isinstance(inner, RecordType) else SetOf(inner)
        case Call(arguments=(of,)) if node.word in {"dataset", "_linkcounted_"}:
            return TableType(context.record(of))
        case Call(arguments=(of, Call() as size)) if _is_sized(node, size):
            return TableType(context.record(of))
        case Call(arguments=(of,)) if node.word in {"typeof", "recordof"}:
            return _type_of(context, of)
        case _:
            named = context.value(node)
            return named.type if isinstance(named, TypeValue) else context.record(node)


def _is_sized(node: Call, size: Call) -> bool:
    """Tells whether DATASET says how many rows it has, or bytes: who wrote it knows."""
    return node.word == "dataset" and size.word in {"count", "sizeof"}


def read_type(context: Context, node: TypeName | SetType) -> TypeValue:
    """Returns a type that stands for itself, to be named."""
    return TypeValue(declared_type(context, node))


def _type_of(context: Context, node: Node) -> EclType:
    """Returns the type that something has."""
    match replace(context, in_record=True).value(node):
        case Scalar(type=found):
            return found
        case _:
            return context.record(node)


def read_record(context: Context, node: Record) -> RecordType:
    """Returns the record of RECORD .. END."""
    for option in node.options:
        if word_of(option) not in _NO_EFFECT:
            raise refusal(
                option, f'"{word_of(option)}" of a record', "MAXLENGTH or nothing"
            )
    base = [one for of in node.base for one in context.record(of).fields]
    return record_with(context, base, node.fields)


def read_braces(context: Context, node: Braces) -> RecordType:
    """Returns the record of fields in braces."""
    return record_with(context, [], node.items)


def record_with(
    context: Context, base: Iterable[Field], nodes: Iterable[Node]
) -> RecordType:
    """Returns a record; a field that is there already stays as it is."""
    found = list(base)
    context = replace(context, in_record=True)
    for node in unarrowed(nodes):
        if isinstance(node, Arrow):
            found = [replace(one, is_key=True) for one in found]
            continue
        known = {one.word for one in found}
        for one in _fields(context, node):
            name = f"_unnamed_{len(found) + 1}" if one.name == _UNNAMED else one.name
            found += [replace(one, name=name)] if one.word not in known else []
    return RecordType(tuple(found))


def unarrowed(nodes: Iterable[Node]) -> Iterator[Node]:
    """Gives nodes one by one; an arrow stands for itself between its two sides."""
    for node in nodes:
        if isinstance(node, Arrow):
            yield from (node.condition, node, node.value)
        else:
            yield node


def _fields(context: Context, node: Node) -> Iterator[Field]:
    """Yields the fields that one entry of a record declares."""
    match node:
        case Definition(head=Sequence(parts=parts), body=body):
            for one in _declared(context, parts):
                text = "" if _is_empty(body) else context.typed(body, one.type).text
                yield _valued(one, text)
        case Definition(head=Name(text=name), body=body):
            yield _taken(context, name, body)
        case Sequence(parts=parts):
            yield from _declared(context, parts)
        case Name(text=name) | Member(name=name):
            yield from _included(context, node, name)
        case _:
            yield from _unnamed(context, node)


def _unnamed(context: Context, node: Node) -> Iterator[Field]:
    """Yields the fields of a record, or the field of a value that has no name."""
    match context.value(node):
        case Scalar(text, kind):
            yield _valued(Field(_UNNAMED, kind), text)
        case _:
            yield from context.record(node).fields


def _valued(one: Field, text: str) -> Field:
    """Returns a field with its value: what it is at first, or is made of a row."""
    if references(Expression(text)) or "ROWS_" in text:
        return replace(one, computed=text)
    return replace(one, initial=text)


def _is_empty(body: Node) -> bool:
    """Tells whether a list has nothing in it: the blank value of any type."""
    return isinstance(body, Braces | Items) and not body.items


def _included(context: Context, node: Name | Member, name: str) -> Iterator[Field]:
    """Yields the fields of another record, or the one field of this name."""
    match context.value(node):
        case RecordType(fields) | DatasetValue(record=RecordType(fields)):
            yield from fields
        case _:
            yield _taken(context, name, node)


def _taken(context: Context, name: str, node: Node) -> Field:
    """Returns a field of the type of something that is there."""
    match context.value(node):
        case Scalar(text, kind):
            return _valued(Field(name, kind), text)
        case RowValue(record=record):
            return Field(name, record)
        case RowsValue(record=record) | DatasetValue(record=record):
            return Field(name, TableType(record))
        case _:
            raise refusal(
                node, "a field of a record that is no value", "a field of a data set"
            )


def _declared(context: Context, parts: tuple[Node, ...]) -> Iterator[Field]:
    """Yields the field of a type, a name, and what belongs to it in braces."""
    # How child rows lie in a file changes none of them.
    *front, last = parts = parts[is_word(parts[0], "embedded") :]
    belongings = last.items if isinstance(last, Braces) else ()
    names = front if belongings else parts
    kind, name = names[0], names[-1]
    if len(names) != 2 or not isinstance(name, Name):  # noqa: PLR2004 - type and name
        raise refusal(
            parts[0], "a field that is no type and name", "a type, then a name"
        )
    wanted = declared_type(context, kind)
    default, is_position = "", False
    for item in belongings:
        match item:
            case Call(arguments=(value,)) if item.word == "default":
                default = as_type(value, context.scalar(value), wanted).text
            case Call(arguments=(value,)) if item.word == "virtual":
                is_position = _is_position(value)
            case _ if word_of(item) not in _NO_EFFECT:
                raise refusal(
                    item, f'"{word_of(item)}" of a field', "DEFAULT or virtual"
                )
    yield Field(name.text, wanted, default=default, is_position=is_position)


def _is_position(node: Node) -> bool:
    """Tells that a virtual field is the position in the file; no other is known."""
    if is_word(node, "fileposition", "localfileposition"):
        return True
    raise refusal(node, "a virtual field of another kind", "virtual(fileposition)")
