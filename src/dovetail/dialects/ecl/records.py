"""Types and records: as they are declared, put together of others, and of a JOIN.

person AND NOT [age, city]      person - [age]       all fields but these; of one
                                person AND NOT age   field its name alone
person OR pet                   person + pet         the fields of both
person AND pet                                       the fields that both have

A JOIN without a transform has all fields of the left, then those of the right with a
new name. A field that both have is the left one's, in a RIGHT join the right one's; in
a FULL join the left one's unless that is blank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dovetail import spec
from dovetail.dialects.ecl import syntax, types, values
from dovetail.dialects.ecl.aggregates import is_over_rows
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal
from dovetail.expression import Expression
from dovetail.schema import quoted

_UNNAMED = ""
_NO_EFFECT = {"maxlength", "xpath", "maxcount", "locale", "packed", "blob"}


def declared_type(context: Context, node: syntax.Node) -> types.EclType:
    """Returns the type that stands before a name."""
    match node:
        case syntax.TypeName(text=text):
            found = types.named_type(text)
            if found is None:
                raise refusal(node, f'the type "{text}"', "a type of ECL")
            return found
        case syntax.SetType(element=element):
            inner = declared_type(context, element)
            return (
                types.TableType(inner)
                if isinstance(inner, types.RecordType)
                else types.SetOf(inner)
            )
        case syntax.Call(arguments=(of,)) if node.word in {"dataset", "_linkcounted_"}:
            return types.TableType(context.record(of))
        case syntax.Call(arguments=(of, syntax.Call() as size)) if _is_sized(
            node, size
        ):
            return types.TableType(context.record(of))
        case syntax.Call(arguments=(of,)) if node.word in {"typeof", "recordof"}:
            return _type_of(context, of)
        case _:
            named = context.value(node)
            return (
                named.type
                if isinstance(named, values.TypeValue)
                else context.record(node)
            )


def _is_sized(node: syntax.Call, size: syntax.Call) -> bool:
    """Tells whether DATASET says how many rows it has, or bytes: who wrote it knows."""
    return node.word == "dataset" and size.word in {"count", "sizeof"}


def read_type(
    context: Context, node: syntax.TypeName | syntax.SetType
) -> values.TypeValue:
    """Returns a type that stands for itself, to be named."""
    return values.TypeValue(declared_type(context, node))


def _type_of(context: Context, node: syntax.Node) -> types.EclType:
    """Returns the type that something has."""
    match replace(context, in_record=True).value(node):
        case types.Scalar(type=found):
            return found
        case _:
            return context.record(node)


def read_record(context: Context, node: syntax.Record) -> types.RecordType:
    """Returns the record of RECORD .. END."""
    for option in node.options:
        if syntax.word_of(option) not in _NO_EFFECT:
            raise refusal(
                option,
                f'"{syntax.word_of(option)}" of a record',
                "MAXLENGTH or nothing",
            )
    base = [one for of in node.base for one in context.record(of).fields]
    return record_with(context, base, node.fields)


def read_braces(context: Context, node: syntax.Braces) -> types.RecordType:
    """Returns the record of fields in braces."""
    return record_with(context, [], node.items)


def record_with(
    context: Context, base: Iterable[types.Field], nodes: Iterable[syntax.Node]
) -> types.RecordType:
    """Returns a record; a field that is there already stays as it is."""
    found = list(base)
    context = replace(context, in_record=True)
    for node in unarrowed(nodes):
        if isinstance(node, syntax.Arrow):
            found = [replace(one, is_key=True) for one in found]
            continue
        known = {one.word for one in found}
        for one in _fields(context, node):
            name = f"_unnamed_{len(found) + 1}" if one.name == _UNNAMED else one.name
            found += [replace(one, name=name)] if one.word not in known else []
    return types.RecordType(tuple(found))


def unarrowed(nodes: Iterable[syntax.Node]) -> Iterator[syntax.Node]:
    """Gives nodes one by one; an arrow stands for itself between its two sides."""
    for node in nodes:
        if isinstance(node, syntax.Arrow):
            yield from (node.condition, node, node.value)
        else:
            yield node


def _fields(context: Context, node: syntax.Node) -> Iterator[types.Field]:
    """Yields the fields that one entry of a record declares."""
    match node:
        case syntax.Definition(head=syntax.Sequence(parts=parts), body=body):
            for one in _declared(context, parts):
                text = "" if _is_empty(body) else context.typed(body, one.type).text
                yield _valued(one, text)
        case syntax.Definition(head=syntax.Name(text=name), body=body):
            yield _taken(context, name, body)
        case syntax.Sequence(parts=parts):
            yield from _declared(context, parts)
        case syntax.Name(text=name) | syntax.Member(name=name):
            yield from _included(context, node, name)
        case _:
            yield from _unnamed(context, node)


def _unnamed(context: Context, node: syntax.Node) -> Iterator[types.Field]:
    """Yields the fields of a record, or the field of a value that has no name."""
    match context.value(node):
        case types.Scalar(text, kind):
            yield _valued(types.Field(_UNNAMED, kind), text)
        case _:
            yield from context.record(node).fields


def _valued(one: types.Field, text: str) -> types.Field:
    """Returns a field with its value: what it is at first, or is made of a row."""
    if spec.references(Expression(text)) or is_over_rows(text):
        return replace(one, computed=text)
    return replace(one, initial=text)


def _is_empty(body: syntax.Node) -> bool:
    """Tells whether a list has nothing in it: the blank value of any type."""
    return isinstance(body, syntax.Braces | syntax.Items) and not body.items


def _included(
    context: Context, node: syntax.Name | syntax.Member, name: str
) -> Iterator[types.Field]:
    """Yields the fields of another record, or the one field of this name."""
    match context.value(node):
        case (
            types.RecordType(fields)
            | values.DatasetValue(record=types.RecordType(fields))
        ):
            yield from fields
        case _:
            yield _taken(context, name, node)


def _taken(context: Context, name: str, node: syntax.Node) -> types.Field:
    """Returns a field of the type of something that is there."""
    match context.value(node):
        case types.Scalar(text, kind):
            return _valued(types.Field(name, kind), text)
        case values.RowValue(record=record):
            return types.Field(name, record)
        case values.RowsValue(record=record) | values.DatasetValue(record=record):
            return types.Field(name, types.TableType(record))
        case _:
            raise refusal(
                node, "a field of a record that is no value", "a field of a data set"
            )


def _declared(
    context: Context, parts: tuple[syntax.Node, ...]
) -> Iterator[types.Field]:
    """Yields the field of a type, a name, and what belongs to it in braces."""
    # How child rows lie in a file changes none of them.
    *front, last = parts = parts[is_word(parts[0], "embedded") :]
    belongings = last.items if isinstance(last, syntax.Braces) else ()
    names = front if belongings else parts
    kind, name = names[0], names[-1]
    # A type and a name.
    if len(names) != 2 or not isinstance(name, syntax.Name):  # noqa: PLR2004
        raise refusal(
            parts[0], "a field that is no type and name", "a type, then a name"
        )
    wanted = declared_type(context, kind)
    default, is_position = "", False
    for item in belongings:
        match item:
            case syntax.Call(arguments=(value,)) if item.word == "default":
                default = as_type(value, context.scalar(value), wanted).text
            case syntax.Call(arguments=(value,)) if item.word == "virtual":
                is_position = _is_position(value)
            case _ if syntax.word_of(item) not in _NO_EFFECT:
                raise refusal(
                    item, f'"{syntax.word_of(item)}" of a field', "DEFAULT or virtual"
                )
    yield types.Field(name.text, wanted, default=default, is_position=is_position)


def _is_position(node: syntax.Node) -> bool:
    """Tells that a virtual field is the position in the file; no other is known."""
    if is_word(node, "fileposition", "localfileposition"):
        return True
    raise refusal(node, "a virtual field of another kind", "virtual(fileposition)")


_SIGNS = {"AND", "OR", "+", "-"}


def record_sum(context: Context, node: syntax.Operation) -> Iterator[types.RecordType]:
    """Gives the record of an operation between records, if it is one."""
    if node.sign not in _SIGNS:
        return
    first, second = node.operands
    for record in _record(context, first):
        yield _combined(context, node, (record, second))


def _record(context: Context, node: syntax.Node) -> Iterator[types.RecordType]:
    """Gives the record that a node is, if it is one."""
    match node:
        case syntax.Braces():
            yield context.record(node)
        case syntax.Operation():
            yield from record_sum(context, node)
        case syntax.Call() if node.word == "recordof":
            yield context.record(node)
        case syntax.Name() if not _is_field(context, node):
            found = context.defined(node, node.word)
            yield from (one for one in found if isinstance(one, types.RecordType))
        case _:
            return


def _is_field(context: Context, node: syntax.Name) -> bool:
    """Tells whether a name is a field of a row at hand, or a side."""
    fields = (one for row in context.rows for one in row.record.find(node.word))
    return node.word in context.sides or any(True for _ in fields)


def _combined(
    context: Context,
    node: syntax.Operation,
    given: tuple[types.RecordType, syntax.Node],
) -> types.RecordType:
    """Returns what an operator makes of a record and what stands behind it."""
    record, second = given
    match node.sign, second:
        case "AND", syntax.Operation(sign="NOT", operands=(inner,)):
            return _without(record, _names(context, inner, record))
        case "-", _:
            return _without(record, _names(context, second, record))
        case "AND", _:
            both = _names(context, second, record)
            return types.RecordType(
                tuple(one for one in record.fields if one.word in both)
            )
        case _:
            return types.merged((record, context.record(second)))


def _without(record: types.RecordType, names: set[str]) -> types.RecordType:
    """Returns the fields of a record but some."""
    return types.RecordType(
        tuple(one for one in record.fields if one.word not in names)
    )


def _names(context: Context, node: syntax.Node, record: types.RecordType) -> set[str]:
    """Returns the fields that a list, a record or a name means, in lower case."""
    if isinstance(node, syntax.Name) and any(record.find(node.word)):
        return {node.word}
    if isinstance(node, syntax.Items):
        for one in node.items:
            if not isinstance(one, syntax.Name | syntax.Member):
                raise refusal(one, "no name of a field", "[field, field]")
        return {
            one.word
            for one in node.items
            if isinstance(one, syntax.Name | syntax.Member)
        }
    return {one.word for one in context.record(node).fields}


_RIGHT = {spec.Kind.RIGHT_OUTER, spec.Kind.RIGHT_ONLY}
_FULL = {spec.Kind.FULL_OUTER, spec.Kind.FULL_ONLY}


def default_record(
    left: types.RecordType, right: types.RecordType, kind: spec.Kind
) -> values.Made:
    """Returns what a JOIN without a transform gives."""
    new = [one for one in right.fields if not list(left.find(one.name))]
    columns = [(one.name, _shared(one, right, kind)) for one in left.fields]
    columns += [(one.name, f"r.{quoted(one.name)}") for one in new]
    return values.Made(types.RecordType((*left.fields, *new)), tuple(columns), "false")


def _shared(one: types.Field, right: types.RecordType, kind: spec.Kind) -> str:
    """Returns a field of the left, or what stands for it where both have one."""
    own = f"l.{quoted(one.name)}"
    for other in right.find(one.name):
        value = types.Scalar(f"r.{quoted(other.name)}", other.type)
        found = types.converted(value, one.type)
        if found is not None and kind in _RIGHT:
            return found.text
        if found is not None and kind in _FULL:
            return f"IF({_is_blank(types.Scalar(own, one.type))}, {found.text}, {own})"
    return own


def _is_blank(value: types.Scalar) -> str:
    """Returns whether a value is blank."""
    text = (
        types.compared_text(value)
        if isinstance(value.type, types.Letters)
        else value.text
    )
    return f"{text} = {types.blank_text(value.type)}"
