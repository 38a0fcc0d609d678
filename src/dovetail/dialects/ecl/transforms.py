"""Transforms and functions, applied: what each field of the result is.

A field is assigned once; `SELF := LEFT` gives those that are still open by their
names, `SELF := []` makes the rest blank. A field that nothing assigns has the value
that its record gives it; one to which it gives none is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from dovetail.dialects.ecl import syntax, types, values
from dovetail.dialects.ecl.context import (
    Context,
    UnassignedError,
    as_type,
    is_word,
    refusal,
)
from dovetail.dialects.ecl.functions import note_skip
from dovetail.dialects.ecl.records import declared_type
from dovetail.dialects.ecl.rows import value_of
from dovetail.expression.sql import text_of
from dovetail.schema import quoted


@dataclass(slots=True)
class _Target:
    """A record that is being filled, and what of it has a value by now."""

    record: types.RecordType
    given: dict[str, str | _Target] = field(default_factory=dict)

    def within(self, names: tuple[str, ...]) -> tuple[_Target, str]:
        """Returns the record that has the last of the names, and that name."""
        first, *rest = names
        if not rest:
            return self, first
        inner = self.given.setdefault(first, _Target(_inner(self.record, first)))
        if isinstance(inner, str):
            return self, first
        return inner.within(tuple(rest))

    def blank(self) -> None:
        """Makes blank what has no value yet."""
        for one in self.record.fields:
            match self.given.setdefault(one.word, types.blank_text(one.type)):
                case _Target() as inner:
                    inner.blank()
                case _:
                    pass

    def open(self) -> Iterator[str]:
        """Yields the fields that have no value, of records inside by their paths."""
        for one in self.record.fields:
            match self._given(one):
                case _Target() as inner:
                    yield from (f"{one.name}.{name}" for name in inner.open())
                case "" if not one.is_position:
                    yield one.name
                case _:
                    pass

    def text(self, one: types.Field) -> str:
        """Returns the value of a field."""
        match self._given(one):
            case _Target() as inner:
                parts = [
                    f"{text_of(part.name)}, {inner.text(part)}"
                    for part in inner.record.fields
                ]
                return f"named_struct({', '.join(parts)})"
            case found:
                return found or types.blank_text(one.type)

    def _given(self, one: types.Field) -> str | _Target:
        """Returns what a field has by now, or what its record gives it, or nothing."""
        found = self.given.get(one.word) or one.initial
        if not found and isinstance(one.type, types.RecordType):
            return _Target(one.type)
        return found


def _inner(record: types.RecordType, name: str) -> types.RecordType:
    """Returns the record of a field, or one without fields."""
    kinds = [one.type for one in record.find(name)]
    found = [kind for kind in kinds if isinstance(kind, types.RecordType)]
    return found[0] if found else types.RecordType(())


def read_transform(context: Context, node: syntax.Transform) -> values.Made:
    """Returns a transform that stands in place: TRANSFORM(record, ..)."""
    if not node.record:
        raise refusal(
            node, "TRANSFORM without a record before it", "TRANSFORM(record, ..)"
        )
    (first,) = node.record
    source = context.value(first)
    if isinstance(source, values.RowValue) and not node.statements:
        target = _Target(source.record)
        _fill(target, source, source.record)
        return _made(target, [])
    return filled(context, context.record(first), node)


def filled(
    context: Context, record: types.RecordType, node: syntax.Transform
) -> values.Made:
    """Returns what the assignments of a transform make of a record."""
    scope = values.Scope(
        tuple(
            one
            for one in node.statements
            if isinstance(one, syntax.Definition) and _is_local(one)
        ),
        (context.scope,),
    )
    skips: list[str] = []
    inside = replace(context, scope=scope, skips=skips, path=(), may_skip=True)
    for option in node.options:
        if syntax.word_of(option) != "skip":
            raise refusal(
                option, f'"{syntax.word_of(option)}" of a transform', "SKIP(condition)"
            )
        note_skip(inside, option)
    target = _Target(record)
    for statement in node.statements:
        if not _is_local(statement):
            _assign(_with_self(inside, target, statement), target, statement)
    for name in target.open():
        raise UnassignedError(
            f'the field "{name}" gets no value',
            "a value for every field of the record",
            f"SELF.{name} := .., SELF := a row that has it, or SELF := [] for blank "
            "values in all that is left",
            place=node.place,
        )
    return _made(target, skips)


def _with_self(context: Context, target: _Target, node: syntax.Node) -> Context:
    """Returns the context of a value that looks at fields which have theirs by now."""
    body = node.body if isinstance(node, syntax.Definition) else node
    if not any(is_word(one, "self") for one in syntax.parts_of(body)):
        return context
    seen = values.RowValue(*_given_of(target))
    return replace(context, sides={**context.sides, "self": seen})


def _given_of(target: _Target) -> tuple[types.RecordType, str]:
    """Returns the fields that have a value by now, and a row of these."""
    known, texts = [], []
    for one in target.record.fields:
        match target.given.get(one.word):
            case _Target() as inner:
                record, text = _given_of(inner)
                known.append(replace(one, type=record))
                texts.append(f"{text_of(one.name)}, {text}")
            case str() as text:
                known.append(one)
                texts.append(f"{text_of(one.name)}, {text}")
    return types.RecordType(tuple(known)), f"named_struct({', '.join(texts)})"


def _is_local(node: syntax.Node) -> bool:
    """Tells whether a statement defines a name and assigns nothing."""
    return isinstance(node, syntax.Definition) and _path(node.head)[:1] != ("self",)


def _path(head: syntax.Node) -> tuple[str, ...]:
    """Returns the names of `SELF.a.b` in lower case."""
    match head:
        case syntax.Name(text=text):
            return (text.lower(),)
        case syntax.Member(of=of, name=name):
            return (*_path(of), name.lower())
        case _:
            return ()


def _made(target: _Target, skips: list[str]) -> values.Made:
    """Returns a filled record."""
    columns = tuple((one.name, target.text(one)) for one in target.record.fields)
    skip = " OR ".join(f"({one})" for one in skips) or "false"
    return values.Made(target.record, columns, skip)


def _assign(context: Context, target: _Target, node: syntax.Node) -> None:
    """Carries out one assignment, or notes when the row is skipped."""
    if not isinstance(node, syntax.Definition):
        if syntax.word_of(node) != "skip":
            raise refusal(node, "this in a transform", "SELF.field := value")
        note_skip(context, node)
        return
    _, *names = _path(node.head)
    if names:
        _assign_field(context, target, (node, tuple(names)))
    elif isinstance(node.body, syntax.Items) and not node.body.items:
        target.blank()
    else:
        _assign_all(context, target, node.body)


def _assign_all(context: Context, target: _Target, body: syntax.Node) -> None:
    """Gives all open fields from a row with fields of their names."""
    match context.value(body):
        case values.RowValue() as row:
            _fill(target, row, target.record)
        case types.Scalar(text, types.RecordType() as record):
            _fill(target, values.RowValue(record, text), target.record)
        case _:
            raise refusal(
                body, "SELF := something that is no row", "LEFT, RIGHT or a row"
            )


def _fill(target: _Target, row: values.RowValue, record: types.RecordType) -> None:
    """Gives the open fields of a record from a row."""
    for one in record.fields:
        for found in row.record.find(one.name):
            if one.word not in target.given:
                target.given[one.word] = _taken(row, found, one)
            else:
                _fill_inner(target.given[one.word], row.part(found))


def _fill_inner(inner: str | _Target, part: values.Value) -> None:
    """Gives the open fields of a record inside, where some of them have a value."""
    if isinstance(inner, _Target) and isinstance(part, values.RowValue):
        _fill(inner, part, inner.record)


def _taken(row: values.RowValue, found: types.Field, wanted: types.Field) -> str:
    """Returns a field of a row in the type of the field that it fills."""
    if row.text:
        return types.part_text(row.text, found, wanted)
    return quoted(found.name)


def _assign_field(
    context: Context, target: _Target, given: tuple[syntax.Definition, tuple[str, ...]]
) -> None:
    """Gives one field its value."""
    node, names = given
    inner, name = target.within(names)
    known = list(inner.record.find(name))
    if not known:
        choices = ", ".join(one.name for one in inner.record.fields)
        raise refusal(node.head, f'no field "{names[-1]}"', f"one of {choices}")
    if name in inner.given:
        raise refusal(
            node.head, f'"{known[0].name}" has a value by now', "one assignment"
        )
    if syntax.word_of(node.body) == "skip":
        note_skip(context, node.body)
        inner.given[name] = types.blank_text(known[0].type)
        return
    inner.given[name] = value_of(context, node.body, known[0].type)


def applied(
    context: Context, node: syntax.Call, routine: values.Routine
) -> values.Value:
    """Returns what a transform or a function gives for its arguments."""
    if isinstance(routine.body, syntax.Transform):
        scope = values.Scope(
            (), (routine.scope,), dict(_arguments(context, node, routine))
        )
        record = _returned(context, node, routine)
        inside = replace(context.without_rows(), scope=scope)
        return filled(inside, record, routine.body)
    inside, body = parameters_of(context, node, routine)
    value = inside.value(body)
    if routine.returned and isinstance(value, types.Scalar):
        return as_type(body, value, declared_type(inside, routine.returned[-1]))
    return value


def parameters_of(
    context: Context, node: syntax.Call, routine: values.Routine
) -> tuple[Context, syntax.Node]:
    """Returns the body of a function and the context in which it has its arguments."""
    scope = values.Scope((), (routine.scope,), dict(_arguments(context, node, routine)))
    around = replace(context.without_rows(), scope=scope)
    match routine.body:
        case syntax.Function(statements=statements, result=result):
            for one in statements:
                _refuse_action(one)
            return replace(around, scope=values.scope_of(statements, (scope,))), result
        case body:
            return around, body


def _refuse_action(node: syntax.Node) -> None:
    """Refuses what a body of a function does beside its definitions."""
    if not isinstance(node, syntax.Definition | syntax.Import):
        raise refusal(
            node,
            "an action inside a FUNCTION",
            "definitions before RETURN",
            "an action that uses the result stands behind the function, as "
            "OUTPUT(f(rows)) does",
        )


def _returned(
    context: Context, node: syntax.Call, routine: values.Routine
) -> types.RecordType:
    """Returns the record that a transform makes, which stands before its name."""
    if not routine.returned:
        raise refusal(
            node, f'"{node.word}" makes no record', "a record before its name"
        )
    outside = replace(context, scope=routine.scope, rows=(), sides={})
    kind = declared_type(outside, routine.returned[-1])
    if not isinstance(kind, types.RecordType):
        raise refusal(
            node, f'"{node.word}" makes no record', "a record before its name"
        )
    return kind


def _arguments(
    context: Context, node: syntax.Call, routine: values.Routine
) -> Iterable[tuple[str, values.Value]]:
    """Yields the parameters with their values."""
    given = [one for one in node.arguments if not isinstance(one, syntax.Definition)]
    named = _by_name(node, routine)
    if len(given) + len(named) > len(routine.parameters):
        count = len(given) + len(named)
        raise refusal(node, f"{count} arguments", f"{len(routine.parameters)} of them")
    for place, parameter in enumerate(routine.parameters):
        head = parameter.head if isinstance(parameter, syntax.Defaulted) else parameter
        argument: syntax.Node = syntax.Omitted(node.place)
        if place < len(given):
            argument = given[place]
        argument = named.get(_named(head), argument)
        if isinstance(argument, syntax.Omitted) and isinstance(
            parameter, syntax.Defaulted
        ):
            argument = parameter.value
        if isinstance(argument, syntax.Omitted):
            raise refusal(
                node, f"no argument for parameter {place + 1}", "one for each"
            )
        yield _named(head), _passed(context, argument, (routine, head))


def _by_name(node: syntax.Call, routine: values.Routine) -> dict[str, syntax.Node]:
    """Returns the arguments that say for which parameter they are: f(n := 1)."""
    heads = [
        it.head if isinstance(it, syntax.Defaulted) else it for it in routine.parameters
    ]
    before = sum(not isinstance(one, syntax.Definition) for one in node.arguments)
    names = [_named(head) for head in heads[before:]]
    found: dict[str, syntax.Node] = {}
    for one in node.arguments:
        if not isinstance(one, syntax.Definition):
            continue
        name = _named(one.head)
        if name not in names or name in found:
            expected = f"one of {', '.join(names)}" if names else "no more arguments"
            raise refusal(one, f'an argument for "{name}"', f"{expected}, each once")
        found[name] = one.body
    return found


def _named(head: syntax.Node) -> str:
    """Returns the name of a parameter."""
    return syntax.word_of(head.parts[-1] if isinstance(head, syntax.Sequence) else head)


def _passed(
    context: Context, node: syntax.Node, given: tuple[values.Routine, syntax.Node]
) -> values.Value:
    """Returns an argument in the type of its parameter, where it is a single value."""
    routine, head = given
    value = context.value(node)
    if isinstance(value, types.Scalar) and isinstance(head, syntax.Sequence):
        outside = replace(context, scope=routine.scope, rows=(), sides={})
        kinds = [one for one in head.parts[:-1] if not is_word(one, "const")]
        return as_type(node, value, declared_type(outside, kinds[-1]))
    return value
