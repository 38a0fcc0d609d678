"""Operators beside Join: what they take and give, and those that hand tuples on.

Each stream is a step of a program. An operator without input ports is where a stream
comes in from outside, by its name; one without output ports is where it goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dovetail import spec
from dovetail.dialects.spl import syntax, types, values
from dovetail.dialects.spl.absence import BY_ZERO, failures, lack_of
from dovetail.dialects.spl.casts import converted
from dovetail.dialects.spl.expressions import (
    PortView,
    Scope,
    all_of,
    bind,
    is_empty,
    need_boolean,
)
from dovetail.dialects.spl.values import Value, expressed
from dovetail.errors import DialectError, Place
from dovetail.expression.functions import build
from dovetail.expression.functions.logic import REQUIRED
from dovetail.expression.reader import compose
from dovetail.expression.tree import Call, Node
from dovetail.schema import Schema

ROW = spec.Hand.LEFT.letter
"""The letter of the one row that a step sees."""
# No attribute has a blank in its name.
PORT, _PART = "from port", "port {}"
# Parameters that have several values, or that are looked at by whoever takes them.
_LISTED = (
    *("equality", "partitionBy", "groupBy", "sortBy", "order", "key", "index"),
    *("addKey", "removeKey"),
)


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream: its name, the type of its tuples, and the step that gives them."""

    name: str
    type: types.Tuple
    step: spec.Step


@dataclass(frozen=True, slots=True)
class Made:
    """A stream that an operator must give."""

    name: str
    type: types.Tuple
    schema: Schema


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator with what its ports take and give."""

    call: syntax.Invocation
    feeds: tuple[Stream, ...]
    made: tuple[Made, ...]
    outer: Scope
    remark: Callable[[str], None]
    failed: list[spec.Step] = field(default_factory=list)
    """What leaves because it has no value, if the text wants that the run goes on."""
    order: list[spec.Step] = field(default_factory=list)
    """All steps, in the order in which the text has them."""

    def scope(self, ports: Sequence[PortView]) -> Scope:
        """Returns what expressions see beside some ports."""
        return replace(self.outer, ports=tuple(ports))

    def views(self) -> list[PortView]:
        """Returns the ports of an operator that looks at one tuple at a time."""
        ports = zip(self.call.ports, self.feeds, strict=True)
        return [PortView(port.name, feed.type, ROW) for port, feed in ports]

    def params(self, known: Sequence[str]) -> dict[str, syntax.Setting]:
        """Returns the parameters by their names, all of which are known."""
        found: dict[str, syntax.Setting] = {}
        for setting in self.call.params:
            if setting.name not in known:
                raise types.refused(
                    setting.place,
                    f'{self.call.kind} has no parameter "{setting.name}"',
                    f"one of {', '.join(known)}" if known else "none",
                )
            if setting.name in found:
                raise types.refused(setting.place, f"a second {setting.name}", "one")
            if len(setting.values) > 1 and not setting.name.startswith(_LISTED):
                told = f"{len(setting.values)} values of {setting.name}"
                raise types.refused(setting.place, told, "one")
            found[setting.name] = setting
        return found

    def need_ports(self, inputs: str, outputs: str) -> None:
        """Refuses another number of ports than `1`, `1..2` or `1..` of them."""
        counts = (
            ("input", len(self.feeds), inputs),
            ("output", len(self.made), outputs),
        )
        for what, count, known in counts:
            # `1..` has no most; `1` is its own.
            least, dots, most = known.partition("..")
            if count < int(least) or (
                count > int(most or least) and (most or not dots)
            ):
                found = f"{self.call.kind} with {count} {what} ports"
                raise types.refused(self.call.place, found, known)


def assignments(
    operator: Operator,
    number: int,
    bound: Callable[[syntax.Node, types.SplType], Value],
) -> dict[str, Value]:
    """Returns the values that the clauses assign to an output port's attributes.

    Each is `bound` in the place of a value of its attribute's type.
    """
    found: dict[str, Value] = {}
    heads, made = operator.call.heads, operator.made[number]
    # A clause knows an output port by its stream, or by its own name.
    known = {name for head in heads for name in (head.name, head.alias) if name}
    own = {heads[number].name, heads[number].alias}
    for clause in operator.call.outputs:
        if clause.name not in known:
            words = " or ".join(head.alias or head.name for head in heads)
            raise types.refused(clause.place, f'no output port "{clause.name}"', words)
        for part in clause.parts if clause.name in own else ():
            kind = made.type.get(part.name)
            if kind is None:
                words = ", ".join(made.type.names)
                found_ = f'{made.name} has no attribute "{part.name}"'
                raise types.refused(part.place, found_, f"one of {words}")
            if part.name in found:
                raise types.refused(part.place, f"a second value of {part.name}", "one")
            if is_empty(part.value, types.loose(kind)):
                found[part.name] = values.blank(kind, part.value.place)
                continue
            value = bound(part.value, kind)
            found[part.name] = values.assigned(value, kind, part.name)
    return found


def forwarded(
    name: str, kind: types.SplType, ports: Iterable[PortView]
) -> Value | None:
    """Returns the attribute that goes into an output attribute by itself, if one does.

    One of another type is passed over; an optional takes what it would hold.
    """
    # Of a list, what it holds is no value of it.
    is_optional = isinstance(kind, types.Holder) and kind.word == "optional"
    taken = {kind, *(kind.of if is_optional and isinstance(kind, types.Holder) else ())}
    for port in ports:
        if port.type.get(name) in taken:
            return port.attribute(name, _NOWHERE)
    return None


_NOWHERE = Place("", 1, 1)


def _condition(node: syntax.Node, scope: Scope) -> Value:
    """Returns a condition on a tuple."""
    found = bind(node, scope)
    need_boolean(found, "the condition")
    return found


def refuse_changes(operator: Operator) -> None:
    """Refuses output ports that give other tuples than the first input port takes."""
    feed = operator.feeds[0]
    for clause in operator.call.outputs:
        found = f"assignments of a {operator.call.kind}"
        raise types.refused(clause.place, found, "none: use a Functor")
    for head, made in zip(operator.call.heads, operator.made, strict=True):
        if made.type != feed.type:
            found = f"{made.name} is {made.type}"
            raise types.refused(
                head.place, found, f"the type of {feed.name}: {feed.type}"
            )


def refuse_unordered(key: Value) -> None:
    """Refuses a key of a set or a map, whose elements have no order to compare by."""
    kinds: list[types.SplType] = [key.type]
    while kinds:
        match kinds.pop():
            case types.Holder(word, of):
                if word in {"set", "map"}:
                    hint = "sort((list<int32>) x) of a set x is a key, or its size"
                    raise types.refused(key.place, f"a key with a {word}", "none", hint)
                kinds += of
            case types.Tuple(attributes):
                kinds += [kind for _, kind in attributes]
            case _:
                pass


def filtered(operator: Operator) -> list[Stream]:
    """Returns the streams of a Filter: what holds, then what does not."""
    operator.need_ports("1", "1..2")
    scope, (feed,) = operator.scope(operator.views()), operator.feeds
    params = operator.params(("filter",))
    # A Filter without a filter lets all tuples through.
    holds = values.literal(True, types.BOOLEAN, operator.call.place)  # noqa: FBT003
    if "filter" in params:
        holds = _condition(params["filter"].values[0], scope)
    refuse_changes(operator)
    # A condition on what lacks its value does not hold.
    text = "NOT coalesce(x, false)"
    rest = values.of_type(types.BOOLEAN, text, holds.place, x=holds.tree)
    step = judged(operator, feed.step, [holds])
    return [
        Stream(made.name, made.type, spec.Filtered(step, one.expression))
        for made, one in zip(operator.made, (holds, rest), strict=False)
    ]


_MAPPED = (
    "write the file as a map: logic state : map<rstring, list<int64>> ports = {..}; "
    "param index : key in ports ? ports[key] : [-1l]"
)


def split(operator: Operator) -> list[Stream]:
    """Returns the streams of a Split: each tuple goes to the port of its index.

    The index counts round and round; below 0 a tuple goes nowhere. Of a list it goes
    to the port of each.
    """
    operator.need_ports("1", "1..")
    params = operator.params(("index", "file", "key"))
    for name in ("file", "key"):
        if name in params:
            told = f"{name} of a Split, whose ports a file says"
            raise types.refused(params[name].place, told, "index", _MAPPED)
    if "index" not in params:
        told, hint = "a Split without an index", "param index : (int64) k;"
        raise types.refused(operator.call.place, told, "index", hint)
    refuse_changes(operator)
    setting, feed = params["index"], operator.feeds[0]
    count = len(operator.made)
    index = bind(setting.values[0], operator.scope(operator.views()))
    is_list = index.type in {
        types.Holder("list", (one,)) for one in (types.INT64, types.UINT64)
    }
    if (
        not (is_list or index.type in {types.INT64, types.UINT64})
        or len(setting.values) > 1
    ):
        found = f"an index of the type {index.type}"
        raise types.refused(
            setting.place, found, "one int64 or uint64, or one list of them"
        )
    if is_list:
        index = _ports_of(index, count)
    source, streams = judged(operator, feed.step, [index]), []
    for number, made in enumerate(operator.made):
        # Below 0 it goes nowhere, but x % 3 alone is 0 for -3.
        goes = f"x >= 0 AND x % {count} = {number}"
        if is_list:
            goes = f"array_contains(x, {number})"
        here = values.of_type(types.BOOLEAN, goes, index.place, x=index.tree)
        step = spec.Filtered(source, here.expression)
        streams.append(Stream(made.name, made.type, step))
    return streams


def _ports_of(indexes: Value, count: int) -> Value:
    """Returns to which of so many ports a tuple goes; twice to one stops the run."""
    place = indexes.place
    ports = (
        f"transform(filter(x, item -> item >= 0), item -> CAST(item % {count} AS INT))"
    )
    kind = types.Holder("list", (types.INT32,))
    found = values.of_type(kind, ports, place, x=indexes.tree)
    # A row is filtered here, and a filter gives none of them twice.
    told = f"line {place.line}, column {place.column} of the text in SPL"
    once = values.of_type(
        kind, "IF(size(array_distinct(x)) = size(x), x, NULL)", place, x=found.tree
    )
    reason = values.text(f"{told} sends a tuple to one port twice")
    return Value(kind, build(REQUIRED, once.tree, reason), place)


def throttle(operator: Operator) -> list[Stream]:
    """Returns the stream of a Throttle, which changes when tuples come, and no more."""
    kinds = {"rate": types.FLOAT64, "period": types.FLOAT64}
    return _in_their_order(
        operator,
        {**kinds, "includePunctuations": types.BOOLEAN},
        needed="rate : 10.0",
        told='; trigger={"processingTime": "1 second"} says how often batches are',
    )


def delay(operator: Operator) -> list[Stream]:
    """Returns the stream of a Delay: tuples and marks as they come, only later."""
    return _in_their_order(
        operator,
        {"delay": types.FLOAT64, "bufferSize": types.UINT32},
        needed="delay : 2.0",
        told=": all that it takes keeps its place in the order of arrival",
    )


def _in_their_order(
    operator: Operator, kinds: Mapping[str, types.SplType], *, needed: str, told: str
) -> list[Stream]:
    """Returns the stream of an operator that says when tuples go on, and no more.

    Each parameter is a value of its type that no attribute is part of.
    """
    operator.need_ports("1", "1")
    call, params = operator.call, operator.params((*kinds,))
    for name, setting in params.items():
        value = bind(setting.values[0], operator.scope(operator.views()))
        if value.type != kinds[name] or value.sides:
            expected = f"{kinds[name]}, without an attribute"
            raise types.refused(value.place, f"{name} is {value.type}", expected)
    word = needed.partition(" ")[0]
    if word not in params:
        raise types.refused(call.place, f"a {call.kind} without a {word}", needed)
    refuse_changes(operator)
    operator.remark(
        f"line {call.place.line}: a {call.kind} holds no tuple back here{told}"
    )
    (made,), (feed,) = operator.made, operator.feeds
    return [Stream(made.name, made.type, feed.step)]


def no_value(
    operator: Operator, number: int, name: str, kind: types.SplType
) -> DialectError:
    """Returns the error for an attribute of a port that nothing gives a value."""
    return types.refused(
        operator.call.heads[number].place,
        f'the output attribute "{name}" has no value',
        f"{name} = .., or an input attribute {kind} {name}",
    )


def given_by(
    operator: Operator, number: int, ports: Sequence[PortView]
) -> dict[str, Value]:
    """Returns what an output port gives: what is assigned, else what goes in itself."""
    scope = operator.scope(ports)
    given = assignments(
        operator, number, lambda node, kind: bind(node, scope.wanting(kind))
    )
    found = {}
    for name, kind in operator.made[number].type.attributes:
        value = given.get(name) or forwarded(name, kind, ports)
        if value is None:
            raise no_value(operator, number, name, kind)
        found[name] = value
    return found


def columns_of(found: Mapping[str, Value]) -> spec.Columns:
    """Returns values as columns of their names; whoever computes them needs all."""
    return spec.Columns(tuple((name, it.expression) for name, it in found.items()))


def projected(
    operator: Operator, number: int, step: spec.Step, ports: Sequence[PortView]
) -> Stream:
    """Returns the stream of an output port with its assignments."""
    made, select = operator.made[number], columns_of(given_by(operator, number, ports))
    return Stream(made.name, made.type, spec.Projected(step, made.schema, select))


def functor(operator: Operator) -> list[Stream]:
    """Returns the streams of a Functor."""
    operator.need_ports("1", "1..")
    views, step = operator.views(), operator.feeds[0].step
    params = operator.params(("filter",))
    if "filter" in params:
        holds = _condition(params["filter"].values[0], operator.scope(views))
        step = spec.Filtered(judged(operator, step, [holds]), holds.expression)
    ports = range(len(operator.made))
    found = [given_by(operator, number, views) for number in ports]
    step = judged(operator, step, [it for one in found for it in one.values()])
    return [
        Stream(it.name, it.type, spec.Projected(step, it.schema, columns_of(one)))
        for it, one in zip(operator.made, found, strict=True)
    ]


FAILED = types.Tuple(
    tuple((name, types.RSTRING) for name in ("operator", "reason", "tuple"))
)


_WITH_TEXT = {*types.NUMBERS, *types.STRINGS, types.BOOLEAN, types.TIMESTAMP}


def lacking_of(needed: Iterable[Value]) -> list[Value]:
    """Returns those of some values that may be missing where all attributes are."""
    return [
        one
        for one in map(_assigned, needed)
        if not values.is_optional(one.type) and failures(one.tree)
    ]


def _assigned(one: Value) -> Value:
    """Returns what an optional is given, if it is a value that it may not lack."""
    match one:
        case Value(types.Holder("optional", (of,)), Call(function, (inner, _))) if (
            function == REQUIRED
        ):
            return replace(one, type=of, tree=inner)
        case _:
            return one


def leaving(operator: Operator, needed: Iterable[Value]) -> list[Value]:
    """Returns those of some values that may send a tuple to `failed`, by missing."""
    lacking = lacking_of(needed)
    if operator.call.catches:
        return lacking
    return [it for it in lacking if BY_ZERO in failures(it.tree)]


def judged(
    operator: Operator,
    step: spec.Step,
    needed: Iterable[Value],
    *,
    shown: Node | None = None,
) -> spec.Step:
    """Returns the tuples for which there are values; of a `@catch` others leave.

    So do those that divide by 0, in front of any operator. Each goes once, with the
    reason of the first value that is missing. They are `shown` as a text, or as those
    of the only port are.
    """
    lacking = leaving(operator, needed)
    if not lacking:
        return step
    place = operator.call.place
    parts = {f"x{number}": one.tree for number, one in enumerate(lacking)}
    told = {
        name: lack_of(it.tree, it.place)
        for name, it in zip(parts, lacking, strict=True)
    }
    reasons = (f"WHEN {name} IS NULL THEN '{it}'" for name, it in told.items())
    reason = compose(f"CASE {' '.join(reasons)} END", **parts)
    there = compose(" AND ".join(f"{name} IS NOT NULL" for name in parts), **parts)
    schema = types.schema_of(FAILED, place)
    shown = shown or shown_tuple(operator.views()[0], place)
    gone = spec.Filtered(step, expressed(compose("NOT x", x=there)))
    select = failed_row(operator, reason, shown)
    operator.failed.append(spec.Projected(gone, schema, select))
    return spec.Filtered(step, expressed(there))


def shown_tuple(view: PortView, place: Place) -> Node:
    """Returns the tuple of a port as a text; what has none, such as a list, is left."""
    texts = {
        name: converted(view.attribute(name, place), types.RSTRING, place).tree
        for name, kind in view.type.attributes
        if isinstance(kind, types.Enumerated) or kind in _WITH_TEXT
    }
    shown = (f"'{name}=', t{number}" for number, name in enumerate(texts))
    trees = {f"t{number}": it for number, it in enumerate(texts.values())}
    inside = ", ',', ".join(shown) or "''"
    return compose(f"concat('{{', {inside}, '}}')", **trees)


def failed_row(operator: Operator, reason: Node, shown: Node) -> spec.Columns:
    """Returns what leaves of a tuple that an operator could not judge."""
    name = values.text(operator.call.alias or operator.made[0].name)
    parts = zip(FAILED.names, (name, reason, shown), strict=True)
    return spec.Columns(tuple((one, expressed(it)) for one, it in parts))


def union(operator: Operator) -> list[Stream]:
    """Returns the stream of a Union: tuples of all ports, by names of attributes."""
    operator.need_ports("1..", "1")
    operator.params(())
    ports = zip(operator.views(), operator.feeds, strict=True)
    parts = [projected(operator, 0, feed.step, [view]) for view, feed in ports]
    # Marks go into it and not on: as they stand, between tuples of one port.
    united = spec.Marked(appended([part.step for part in parts]))
    return [replace(parts[0], step=united)]


def appended(steps: Sequence[spec.Step]) -> spec.Step:
    """Returns the tuples of several streams as they come."""
    return steps[0] if len(steps) == 1 else spec.Appended(tuple(steps))


def together(
    operator: Operator,
    views: Sequence[PortView],
    beside: Sequence[Mapping[str, Value]] = (),
) -> tuple[list[PortView], spec.Appended]:
    """Returns the tuples of several ports as one stream, each in its own column.

    Of the others that column is null. `beside` are more values of each port's tuples,
    of the same types in all.
    """
    place = operator.call.place
    more = beside or [dict[str, Value]()] * len(views)
    parts = [_PART.format(at) for at in range(len(views))]
    kinds: list[types.SplType] = [
        types.Holder("optional", (view.type,)) for view in views
    ]
    keys = ((name, it.type) for name, it in more[0].items())
    shown = ((PORT, types.INT32), *keys, *zip(parts, kinds, strict=True))
    schema = types.schema_of(types.Tuple(shown), place)
    sources = []
    for at, (view, feed) in enumerate(zip(views, operator.feeds, strict=True)):
        none = zip(parts, kinds, strict=True)
        row = {part: values.literal(None, kind, place) for part, kind in none}
        row |= {
            parts[at]: view.whole(place),
            PORT: values.literal(at, types.INT32, place),
        }
        row |= more[at]
        select = ((name, row[name].expression) for name in schema.names)
        sources.append(spec.Projected(feed.step, schema, spec.Columns(tuple(select))))
    inside = [
        replace(view, within=part) for view, part in zip(views, parts, strict=True)
    ]
    return inside, spec.Appended(tuple(sources))


def fed(streams: Sequence[Stream], port: syntax.Port) -> Stream:
    """Returns what an input port takes: tuples of one type, of all its streams."""
    for stream, source in zip(streams, port.sources, strict=True):
        if stream.type != streams[0].type:
            found = f"{stream.name} is {stream.type}"
            expected = f"the type of {streams[0].name}: {streams[0].type}"
            raise types.refused(source.place, found, expected)
    step = appended([stream.step for stream in streams])
    return Stream(port.name, streams[0].type, step)


@dataclass(frozen=True, slots=True)
class _Submitted:
    """A tuple that code hands on: to which stream, and under which conditions."""

    action: syntax.Action
    target: str
    conditions: tuple[Value, ...]


def custom(operator: Operator) -> list[Stream]:
    """Returns the streams of a Custom, as far as its code hands tuples on."""
    operator.params(())
    branches: dict[str, list[spec.Step]] = {made.name: [] for made in operator.made}
    by_name = {
        name: made
        for head, made in zip(operator.call.heads, operator.made, strict=True)
        for name in (head.name, head.alias)
    }
    views = {view.name: view for view in operator.views()}
    for logic in operator.call.codes:
        view = views.get(logic.words[-1])
        if len(logic.words) == 1 or view is None:
            known = " or ".join(views)
            raise types.refused(logic.place, "onTuple of no input port", known)
        feed = operator.feeds[[*views].index(view.name)]
        for submitted in _submitted(logic.body, operator.scope([view]), ()):
            made = by_name.get(submitted.target)
            if made is None:
                found = f'no output port "{submitted.target}"'
                raise types.refused(
                    submitted.action.place, found, " or ".join(branches)
                )
            branch = _branch(submitted, made, feed, operator, view)
            branches[made.name].append(branch)
            # What is submitted first goes first, by whatever port.
            operator.order.append(branch)
    # Code that says nothing of marks hands none on.
    return [
        Stream(
            made.name,
            made.type,
            spec.Marked(appended(branches[made.name] or _nothing(made, operator))),
        )
        for made in operator.made
    ]


def _nothing(made: Made, operator: Operator) -> list[spec.Step]:
    """Returns the steps of a port to which no code submits: it ends as others do."""
    place = operator.call.place
    never = values.literal(False, types.BOOLEAN, place).expression  # noqa: FBT003
    blanks = spec.Columns(
        tuple(
            (name, values.blank(kind, place).expression)
            for name, kind in made.type.attributes
        )
    )
    return [
        spec.Projected(spec.Filtered(feed.step, never), made.schema, blanks)
        for feed in operator.feeds
    ]


def _submitted(
    node: syntax.Node, scope: Scope, conditions: tuple[Value, ...]
) -> Iterator[_Submitted]:
    """Yields what code hands on, in the order in which it does."""
    match node:
        case syntax.Block(statements=statements):
            for one in statements:
                yield from _submitted(one, scope, conditions)
        case syntax.Choice(condition=condition, branches=branches):
            holds = _condition(condition, scope)
            rest = values.of_type(types.BOOLEAN, "NOT x", holds.place, x=holds.tree)
            for branch, way in zip(branches, (holds, rest), strict=False):
                yield from _submitted(branch, scope, (*conditions, way))
        case syntax.Action(name="submit", arguments=(_, syntax.Name(text=target))):
            yield _Submitted(node, target, conditions)
        case _:
            raise types.refused(
                node.place,
                "code of a Custom other than if and submit",
                "submit(tuple, stream)",
                "compute it in a Functor, or before, and bind the stream by its name",
            )


def _branch(
    one: _Submitted, made: Made, feed: Stream, operator: Operator, view: PortView
) -> spec.Step:
    """Returns the step of one tuple that code hands on."""
    step = feed.step
    if one.conditions:
        step = spec.Filtered(step, all_of(one.conditions).expression)
    value = one.action.arguments[0]
    scope = operator.scope([view]).wanting(made.type)
    # Bound as a whole first, so that its type is the one that is compared.
    whole = bind(value, scope)
    if whole.type != made.type:
        found = f"a tuple of the type {whole.type} is submitted to {made.name}"
        raise types.refused(value.place, found, str(made.type))
    if isinstance(value, syntax.TupleText):
        kinds = dict(made.type.attributes)
        parts = {
            part.name: bind(part.value, scope.wanting(kinds[part.name]))
            for part in value.parts
        }
    elif isinstance(value, syntax.Name) and value.text == view.name:
        names = made.type.names
        parts = {name: view.attribute(name, value.place) for name in names}
    else:
        expected = f"{view.name}, or a tuple that is written out"
        raise types.refused(value.place, "another tuple is submitted", expected)
    columns = ((name, parts[name].expression) for name in made.type.names)
    select = spec.Columns(tuple(columns))
    return spec.Projected(step, made.schema, select)


def made_of(name: str, kind: types.Tuple, place: Place) -> Made:
    """Returns a stream that must be given, with its columns."""
    return Made(name, kind, types.schema_of(kind, place))
