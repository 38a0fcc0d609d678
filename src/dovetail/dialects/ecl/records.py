"""Types and records: as they are declared, put together of others, and of a JOIN.

person AND NOT [age, city]      person - [age]       all fields but these; of one
                                person AND NOT age   field its name alone
person OR pet                   person + pet         the fields of both
person AND pet                                       the fields that both have

A JOIN without a transform has all fields of the left, then those of the right with a
new name. A field that both have is the left one's, in a RIGHT join the right one's; in
a FULL join the left one's unless that is blank, which is what its DEFAULT says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dovetail import spec
from dovetail.dialects.ecl import syntax, trees, types, values
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal

_UNNAMED = ""
_NO_EFFECT = {"maxlength", "xpath", "maxcount", "locale", "packed", "blob"}


def declared_type(context: Context, node: syntax.Node) -> types.EclType:
    """Returns the type that stands before a name."""
    match node:
        case syntax.TypeName(text=text):
            found = types.named_type(text)
            if found is None:
                wanted = (
                    "a type of ECL; a DECIMAL has up to 32 digits, places among them"
                )
                raise refusal(node, f'the type "{text}"', wanted)
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
        # How many rows or bytes it has, who wrote it knows.
        case syntax.Call(arguments=(of, syntax.Call(word="count" | "sizeof"))) if (
            node.word == "dataset"
        ):
            return types.TableType(context.record(of))
        case syntax.Call(arguments=(of,)) if node.word in {"typeof", "recordof"}:
            typed = replace(context, in_record=True).value(of)
            return typed.type if isinstance(typed, types.Scalar) else context.record(of)
        case _:
            named = context.value(node)
            return (
                named.type
                if isinstance(named, values.TypeValue)
                else context.record(node)
            )


def read_type(
    context: Context, node: syntax.TypeName | syntax.SetType
) -> values.TypeValue:
    """Returns a type that stands for itself, to be named."""
    return values.TypeValue(declared_type(context, node))


# color := ENUM(UNSIGNED1, red, green = 5, blue): color.blue is 6, the type UNSIGNED1.
def read_enum(context: Context, node: syntax.Call) -> values.TypeValue:
    """Returns ENUM: a type of whole numbers, and names for some of them."""
    first, *rest = node.arguments
    kind: types.EclType = types.Whole(4, is_signed=False)
    if isinstance(first, syntax.TypeName):
        kind = declared_type(context, first)
    else:
        rest = [first, *rest]
    if not isinstance(kind, types.Whole) or not rest:
        raise refusal(node, "this ENUM", "ENUM(type, name, name = number, ..)")
    found: dict[str, types.Scalar] = {}
    # A value may be made of those before it.
    scope = values.Scope((), (context.scope,))
    inside, last = replace(context, scope=scope), 0
    for one in rest:
        match one:
            case syntax.Name(word=word):
                last += 1
            case syntax.Operation(sign="=", operands=(syntax.Name(word=word), number)):
                last = inside.count(number, kind.bounds[0])
            case _:
                raise refusal(one, "this in an ENUM", "name, or name = number")
        if word in found:
            raise refusal(one, f'"{word}" a second time', "each name once")
        found[word] = as_type(one, types.whole(trees.literal(last)), kind)
        scope.known[word] = found[word]
    return values.TypeValue(kind, tuple(found.items()))


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
    """Returns a record; a field of the one below that is there stays as it is."""
    found, declared = list(base), set[str]()
    # Here a field of a data set is meant as it is declared: there is no row yet.
    context = replace(context, in_record=True)
    for node in unarrowed(nodes):
        # Everything in front of => is what a DICTIONARY finds its rows by.
        if isinstance(node, syntax.Arrow):
            found = [replace(one, is_key=True) for one in found]
            continue
        known = {one.word for one in found}
        for one in _fields(context, node):
            # Of another record that stands for its fields those are left that are new.
            if one.word in declared and _is_alone(context, node):
                raise refusal(node, f'a second field "{one.name}"', "another name")
            declared |= {one.word} if one.name != _UNNAMED else set()
            name = f"_unnamed_{len(found) + 1}" if one.name == _UNNAMED else one.name
            found += [replace(one, name=name)] if one.word not in known else []
    return types.RecordType(tuple(found))


def _is_alone(context: Context, node: syntax.Node) -> bool:
    """Tells whether an entry of a record is one field by its name, and no record."""
    match node:
        case syntax.Definition() | syntax.Sequence():
            return True
        case syntax.Name() | syntax.Member():
            found = context.value(node)
            return not isinstance(found, types.RecordType | values.DatasetValue)
        case _:
            return False


def unarrowed(nodes: Iterable[syntax.Node]) -> Iterator[syntax.Node]:
    """Gives nodes one by one; an arrow stands for itself between its two sides."""
    for node in nodes:
        if isinstance(node, syntax.Arrow):
            yield from (node.condition, node, node.value)
        else:
            yield node


# RECORD INTEGER id; name := 'x'; people.age; total := SUM(GROUP, age); END
def _fields(context: Context, node: syntax.Node) -> Iterator[types.Field]:
    """Yields the fields that one entry of a record declares."""
    match node:
        case syntax.Definition(head=syntax.Sequence(parts=parts), body=body):
            # An empty list is the blank value of any type.
            is_blank = isinstance(body, syntax.Braces | syntax.Items) and not body.items
            for one in _declared(context, parts):
                yield (
                    one
                    if is_blank
                    else _valued(one, context.typed(body, one.type).tree)
                )
        case syntax.Definition(head=syntax.Name(text=name), body=body):
            yield _taken(context, name, body)
        case syntax.Sequence(parts=parts):
            yield from _declared(context, parts)
        case syntax.Name(text=name) | syntax.Member(name=name):
            match context.value(node):
                # Another record stands for its fields.
                case (
                    types.RecordType(fields)
                    | values.DatasetValue(record=types.RecordType(fields))
                ):
                    yield from fields
                case _:
                    yield _taken(context, name, node)
        case _:
            found = context.value(node)
            if isinstance(found, types.Scalar):
                yield _valued(types.Field(_UNNAMED, found.type), found.tree)
            else:
                yield from context.record(node).fields


# What a field is made of is found by its tree: columns mean a row, and all rows that
# stand together a group.
def _valued(one: types.Field, tree: trees.Node) -> types.Field:
    """Returns a field with its value: what it is at first, or is made of a row."""
    if any(trees.columns_of(tree)) or not trees.is_closed(tree):
        return replace(one, computed=(tree,))
    if trees.is_over_rows(tree):
        return replace(one, computed=(tree,))
    return replace(one, initial=(tree,))


def _taken(context: Context, name: str, node: syntax.Node) -> types.Field:
    """Returns a field of the type of something that is there, and with its DEFAULT."""
    match context.value(node):
        case types.Scalar(tree, kind, default):
            return _valued(types.Field(name, kind, default=default), tree)
        case values.Total() as total if context.totals:
            found = context.gathered(node, total)
            return _valued(types.Field(name, found.type), found.tree)
        case values.RowValue(record=record):
            return types.Field(name, record)
        case values.RowsValue(record=record) | values.DatasetValue(record=record):
            return types.Field(name, types.TableType(record))
        case _:
            raise refusal(
                node, "a field of a record that is no value", "a field of a data set"
            )


# STRING20 name {DEFAULT('?')}, UNSIGNED8 at {virtual(fileposition)}
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
    default: tuple[trees.Node, ...] = ()
    is_position = False
    for item in belongings:
        match item:
            case syntax.Call(arguments=(value,)) if item.word == "default":
                default = (context.typed(value, wanted).tree,)
            case syntax.Call(arguments=(value,)) if item.word == "virtual":
                if not is_word(value, "fileposition", "localfileposition"):
                    expected = "virtual(fileposition)"
                    raise refusal(value, "a virtual field of another kind", expected)
                if not isinstance(wanted, types.Whole):
                    found = f"virtual({syntax.word_of(value)}) in no whole number"
                    raise refusal(kind, found, "UNSIGNED8")
                is_position = True
            case _ if syntax.word_of(item) not in _NO_EFFECT:
                raise refusal(
                    item, f'"{syntax.word_of(item)}" of a field', "DEFAULT or virtual"
                )
    yield types.Field(name.text, wanted, default=default, is_position=is_position)


_SIGNS = {"AND", "OR", "+", "-"}


def record_sum(context: Context, node: syntax.Operation) -> Iterator[types.RecordType]:
    """Gives the record of an operation between records, if it is one."""
    if node.sign not in _SIGNS:
        return
    first, second = node.operands
    for record in _record(context, first):
        match node.sign, second:
            case "AND", syntax.Operation(sign="NOT", operands=(inner,)):
                yield _without(record, _names(context, inner, record))
            case "-", _:
                yield _without(record, _names(context, second, record))
            case "AND", _:
                both = _names(context, second, record)
                kept = (one for one in record.fields if one.word in both)
                yield types.RecordType(tuple(kept))
            case _:
                yield types.merged((record, context.record(second)))


def _record(context: Context, node: syntax.Node) -> Iterator[types.RecordType]:
    """Gives the record that a node is, if it is one: no field, and no side."""
    match node:
        case syntax.Braces():
            yield context.record(node)
        case syntax.Operation():
            yield from record_sum(context, node)
        case syntax.Call() if node.word == "recordof":
            yield context.record(node)
        # What is a field here is a value: + and AND then are between values.
        case syntax.Name() if node.word not in context.sides:
            if not any([*row.record.find(node.word)] for row in context.rows):
                found = context.defined(node, node.word)
                yield from (one for one in found if isinstance(one, types.RecordType))
        case _:
            return


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
    left: values.RowValue, right: values.RowValue, kind: spec.Kind
) -> values.Made:
    """Returns what a JOIN of two rows without a transform gives."""
    columns = []
    for one in left.record.fields:
        own = types.part(left.tree, one)
        tree = own.tree
        # Where both have a field, a FULL join takes the right one if the left is blank:
        # by its value, not by MATCHED, so a 0 of a row that is there gives way too.
        for other in right.record.find(one.name):
            found = types.converted(types.part(right.tree, other), one.type)
            if found is not None and kind in _RIGHT:
                tree = found.tree
            elif found is not None and kind in _FULL:
                nothing = types.Scalar(one.absent, one.type)
                tree = trees.sql(
                    "IF(compared = nothing, other, own)",
                    compared=types.compared(own),
                    nothing=types.compared(nothing),
                    other=found.tree,
                    own=own.tree,
                )
        columns.append((one.name, tree))
    known = left.record
    new = [one for one in right.record.fields if not list(known.find(one.name))]
    columns += types.RecordType(tuple(new)).parts(right.tree)
    record = types.RecordType((*known.fields, *new))
    return values.Made(record, tuple(columns), trees.FALSE)
