"""Transforms and functions, applied: what each field of the result is.

A field is assigned once; `SELF := LEFT` gives those that are still open by their
names, `SELF := []` makes the rest blank. A field that nothing assigns has the value
that its record gives it; one to which it gives none is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from dovetail.dialects.ecl import syntax, trees, types, values
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


@dataclass(slots=True)
class _Target:
    """A record that is being filled, and what of it has a value by now."""

    record: types.RecordType
    given: dict[str, trees.Node | _Target] = field(default_factory=dict)

    def within(self, names: tuple[str, ...]) -> tuple[_Target, str]:
        """Returns the record that has the last of the names, and that name."""
        first, *rest = names
        if not rest:
            return self, first
        kinds = [one.type for one in self.record.find(first)]
        known = [kind for kind in kinds if isinstance(kind, types.RecordType)]
        record = known[0] if known else types.RecordType(())
        inner = self.given.setdefault(first, _Target(record))
        return (
            inner.within(tuple(rest)) if isinstance(inner, _Target) else (self, first)
        )

    def blank(self) -> None:
        """Makes blank what has no value yet, or what DEFAULT says of it."""
        for one in self.record.fields:
            match self.given.setdefault(one.word, one.absent):
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
                case () if not one.is_position:
                    yield one.name
                case _:
                    pass

    def tree(self, one: types.Field) -> trees.Node:
        """Returns the value of a field."""
        match self._given(one):
            case _Target() as inner:
                parts = ((it.name, inner.tree(it)) for it in inner.record.fields)
                return trees.struct(*parts)
            case ():
                return types.blank(one.type)
            case found:
                return found

    def row(self) -> values.RowValue:
        """Returns the fields that have a value by now, as a row of these."""
        known, parts = [], []
        for one in self.record.fields:
            match self.given.get(one.word):
                case _Target() as inner:
                    row = inner.row()
                    known.append(replace(one, type=row.record))
                    parts.append((one.name, row.tree))
                case None:
                    pass
                case tree:
                    known.append(one)
                    parts.append((one.name, tree))
        return values.RowValue(types.RecordType(tuple(known)), trees.struct(*parts))

    def fill(self, row: values.RowValue) -> None:
        """Gives the open fields from a row with fields of their names."""
        for one in self.record.fields:
            for found in row.record.find(one.name):
                # What an assignment before has given stays, in whatever order.
                if one.word not in self.given:
                    whole = types.Scalar(row.tree, row.record)
                    self.given[one.word] = types.field_of(whole, one)
                    continue
                # Of a record inside, some fields may have a value, and others not.
                inner, part = self.given[one.word], row.part(found)
                if isinstance(inner, _Target) and isinstance(part, values.RowValue):
                    inner.fill(part)

    def made(self, skips: list[trees.Node]) -> values.Made:
        """Returns the record, filled."""
        columns = tuple((one.name, self.tree(one)) for one in self.record.fields)
        return values.Made(self.record, columns, trees.any_of(skips))

    def _given(self, one: types.Field) -> trees.Node | _Target | tuple[()]:
        """Returns what a field has by now, or what its record gives it, or nothing."""
        if one.word in self.given:
            return self.given[one.word]
        if not one.initial and isinstance(one.type, types.RecordType):
            return _Target(one.type)
        return [*one.initial, ()][0]


def read_transform(context: Context, node: syntax.Transform) -> values.Made:
    """Returns a transform that stands in place: TRANSFORM(record, ..)."""
    if not node.record:
        raise refusal(
            node, "TRANSFORM without a record before it", "TRANSFORM(record, ..)"
        )
    (first,) = node.record
    source = context.value(first)
    # TRANSFORM(LEFT): the row as it is.
    if isinstance(source, values.RowValue) and not node.statements:
        target = _Target(source.record)
        target.fill(source)
        return target.made([])
    return filled(context, context.record(first), node)


# TRANSFORM(r, SKIP(LEFT.n = 0)) SELF.n := LEFT.n + 1; SELF := LEFT; END
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
        sides=context.sides,
    )
    skips: list[trees.Node] = []
    inside = replace(context, scope=scope, skips=skips, path=(), may_skip=True)
    for option in node.options:
        if syntax.word_of(option) != "skip":
            raise refusal(
                option, f'"{syntax.word_of(option)}" of a transform', "SKIP(condition)"
            )
        note_skip(inside, option)
    # In the order of the text, which matters: SELF := LEFT gives what is open by then.
    target = _Target(record)
    for statement in node.statements:
        if _is_local(statement):
            continue
        body = statement.body if isinstance(statement, syntax.Definition) else statement
        at_hand = inside
        if any(is_word(one, "self") for one in syntax.nodes(body)):
            # SELF.field in a value is what the field has by now.
            sides = {**inside.sides, "self": target.row()}
            at_hand = replace(inside, sides=sides)
        scope.sides = at_hand.sides
        _assign(at_hand, target, statement)
    for name in target.open():
        raise UnassignedError(
            f'the field "{name}" gets no value',
            "a value for every field of the record",
            f"SELF.{name} := .., SELF := a row that has it, or SELF := [] for blank "
            "values in all that is left",
            place=node.place,
        )
    return target.made(skips)


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


# SELF := LEFT, SELF := [], SELF.n := 1, SELF.inner.n := 1 or SKIP
def _assign(context: Context, target: _Target, node: syntax.Node) -> None:
    """Carries out one assignment, or notes when the row is skipped."""
    if not isinstance(node, syntax.Definition):
        if syntax.word_of(node) != "skip":
            raise refusal(node, "this in a transform", "SELF.field := value")
        note_skip(context, node)
        return
    _, *names = _path(node.head)
    if names:
        _assign_field(context, target, node, tuple(names))
        return
    if isinstance(node.body, syntax.Items) and not node.body.items:
        target.blank()
        return
    match context.value(node.body):
        case values.RowValue() as row:
            target.fill(row)
        case types.Scalar(tree, types.RecordType() as record):
            target.fill(values.RowValue(record, tree))
        case values.DatasetValue(record=record, is_single=True):
            single = context.scalar(node.body)
            target.fill(values.RowValue(record, single.tree))
        case _:
            raise refusal(
                node.body, "SELF := something that is no row", "LEFT, RIGHT or a row"
            )


def _assign_field(
    context: Context, target: _Target, node: syntax.Definition, names: tuple[str, ...]
) -> None:
    """Gives one field its value."""
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
        # Nobody sees it, but a field without a value would be refused.
        inner.given[name] = types.blank(known[0].type)
        return
    inner.given[name] = value_of(context, node.body, known[0].type)


def applied(
    context: Context, node: syntax.Call, routine: values.Routine
) -> values.Value:
    """Returns what a transform or a function gives for its arguments.

    In its own body its name means what had it before, as that of a value does.
    """
    inside, body = parameters_of(context, node, routine)
    pending, key = routine.scope.pending, id(routine.definition)
    pending.add(key)
    try:
        if isinstance(body, syntax.Transform):
            # The record that it makes stands in it, TRANSFORM(record, ..), or before
            # its name.
            if body.record:
                return read_transform(inside, body)
            outside = replace(inside, scope=routine.scope, sides={})
            kinds = (declared_type(outside, one) for one in routine.returned[-1:])
            for record in (it for it in kinds if isinstance(it, types.RecordType)):
                return filled(inside, record, body)
            raise refusal(
                node, f'"{node.word}" makes no record', "a record before its name"
            )
        value = inside.value(body)
        if routine.returned and isinstance(value, types.Scalar):
            return as_type(body, value, declared_type(inside, routine.returned[-1]))
        return value
    finally:
        pending.discard(key)


def parameters_of(
    context: Context, node: syntax.Call, routine: values.Routine
) -> tuple[Context, syntax.Node]:
    """Returns the body of a function and the context in which it has its arguments."""
    scope = values.Scope((), (routine.scope,), dict(_arguments(context, node, routine)))
    around = replace(context.without_rows(), scope=scope)
    match routine.body:
        case syntax.Function(statements=statements, result=result) as function:
            refuse_actions(function)
            return replace(around, scope=values.scope_of(statements, (scope,))), result
        case body:
            return around, body


def refuse_actions(node: syntax.Function) -> None:
    """Refuses what a FUNCTION does beside what it gives."""
    for one in node.statements:
        if not isinstance(one, syntax.Definition | syntax.Import):
            raise refusal(
                one,
                "an action inside a FUNCTION",
                "definitions before RETURN",
                "an action that uses the result stands behind the function, "
                "as OUTPUT(f(rows)) does",
            )


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
        value = context.value(argument)
        if isinstance(value, types.Scalar) and isinstance(head, syntax.Sequence):
            # A type stands before the name.
            outside = replace(context, scope=routine.scope, rows=(), sides={})
            kinds = [one for one in head.parts[:-1] if not is_word(one, "const")]
            value = as_type(argument, value, declared_type(outside, kinds[-1]))
        yield _named(head), value


# Such as f(1, n := 2)
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
