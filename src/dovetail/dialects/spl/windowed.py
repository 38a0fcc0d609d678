"""Operators that keep tuples for a while and are no joins.

Aggregate and Sort have a window, Barrier and Pair wait for a tuple of each port,
DeDuplicate remembers what has come. A Punctor keeps nothing, but its marks are what
windows last until.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from dovetail import spec
from dovetail.dialects import steps
from dovetail.dialects.spl import aggregates, syntax, types, values
from dovetail.dialects.spl.casts import converted
from dovetail.dialects.spl.expressions import PortView, bind, need_boolean
from dovetail.dialects.spl.operators import (
    PORT,
    ROW,
    Operator,
    Stream,
    assignments,
    columns_of,
    forwarded,
    given_by,
    judged,
    projected,
    refuse_changes,
    refuse_unordered,
    together,
)
from dovetail.dialects.spl.types import refused
from dovetail.dialects.spl.values import Value
from dovetail.dialects.spl.windows import (
    FiringWindow,
    firing_window,
    span_of,
    width_of,
)
from dovetail.errors import Place
from dovetail.expression import Expression
from dovetail.expression.tree import Column
from dovetail.schema import Column as SchemaColumn
from dovetail.schema import Schema
from dovetail.spec import code
from dovetail.spec.firing import Fold

# No attribute of SPL has a blank in its name: so these meet none.
_BY, _GROUP, _SORT, _VALUE, _DELTA = "by {}", "group {}", "sort {}", "value {}", "delta"
_COUNTS, _REPEATS = "counts", "is repeated"


@dataclass(slots=True)
class _Columns:
    """Columns in front of an operator, each computed from a tuple."""

    found: dict[str, Value] = field(default_factory=dict)

    def add(self, pattern: str, value: Value) -> str:
        """Returns the name of the column of a value."""
        for name, known in self.found.items():
            if known == value and name.partition(" ")[0] == pattern.partition(" ")[0]:
                return name
        name = pattern.format(len(self.found))
        self.found[name] = value
        return name

    def projected(self, operator: Operator) -> spec.Projected:
        """Returns the tuples of an operator's port with these columns."""
        place = operator.call.place
        step = judged(operator, operator.feeds[0].step, self.found.values())
        kinds = types.Tuple(tuple((name, it.type) for name, it in self.found.items()))
        select = ((name, it.expression) for name, it in self.found.items())
        schema = types.schema_of(kinds, place)
        return spec.Projected(step, schema, spec.Columns(tuple(select)))


def _only_window(operator: Operator) -> tuple[FiringWindow, syntax.Setting]:
    """Returns the window of the one input port."""
    call, (port,) = operator.call, operator.call.ports
    for setting in call.windows:
        if setting.name != port.name:
            found = f'no input port "{setting.name}"'
            raise refused(setting.place, found, port.name)
    # Without a window all tuples would stay for ever.
    if len(call.windows) != 1:
        hint = f"window {port.name}: tumbling, count(100);"
        found = f"{len(call.windows)} windows of {port.name}"
        raise refused(call.place, found, "one", hint)
    setting, view = call.windows[0], operator.views()[0]
    window = firing_window(setting, view, operator.scope(()))
    for remark in window.remarks:
        operator.remark(remark)
    return window, setting


def _partition(
    operator: Operator, params: Mapping[str, syntax.Setting], window: FiringWindow
) -> list[Value]:
    """Returns what tuples are parted by, which only a partitioned window is."""
    by = params.get("partitionBy")
    if by and not window.is_partitioned:
        found = "CDISP9043E partitionBy where the window is not partitioned"
        raise refused(by.place, found, "partitioned in the window clause")
    if window.is_partitioned and not by:
        place = operator.call.windows[0].place
        found = "CDISP9042E a partitioned window"
        raise refused(place, found, "the parameter partitionBy beside it")
    return _keys(operator, by)


def _keys(operator: Operator, setting: syntax.Setting | None) -> list[Value]:
    """Returns the values by which tuples are told apart."""
    found = _values(operator, setting)
    for one in found:
        refuse_unordered(one)
    return found


def _values(operator: Operator, setting: syntax.Setting | None) -> list[Value]:
    """Returns the values of a parameter."""
    scope = operator.scope(operator.views())
    return [bind(one, scope) for one in setting.values] if setting else []


def _truth(params: Mapping[str, syntax.Setting], name: str, operator: Operator) -> bool:
    """Returns whether a parameter is true; without it it is not."""
    setting = params.get(name)
    if setting is None:
        return False
    value = bind(setting.values[0], operator.scope(()))
    need_boolean(value, name)
    return bool(value.constant(name))


def _with_delta(window: FiringWindow, columns: _Columns) -> spec.firing.FiringWindow:
    """Returns a window whose deltas look at columns in front of it."""

    def own(policy: spec.firing.Policy) -> spec.firing.Policy:
        if not isinstance(policy, spec.firing.ByDelta):
            return policy
        value = window.attributes[policy.column]
        return replace(policy, column=columns.add(f"{_DELTA} {{}}", value))

    match window.window:
        case spec.firing.Tumbling(until):
            return spec.firing.Tumbling(own(until))
        case spec.firing.Sliding(keeps, fires) as sliding:
            return replace(sliding, keeps=own(keeps), fires=own(fires))


def aggregate(operator: Operator) -> list[Stream]:
    """Returns the stream of an Aggregate."""
    operator.need_ports("1", "1")
    params = operator.params(
        (
            "groupBy",
            "partitionBy",
            "aggregateIncompleteWindows",
            "aggregateEvictedPartitions",
        )
    )
    given, _ = _only_window(operator)
    eager = _truth(params, "aggregateIncompleteWindows", operator)
    fires_dropped = _truth(params, "aggregateEvictedPartitions", operator)
    is_tumbling = isinstance(given.window, spec.firing.Tumbling)
    if eager and is_tumbling:
        place = params["aggregateIncompleteWindows"].place
        found = "aggregateIncompleteWindows of a tumbling window"
        raise refused(place, found, "a sliding window")
    if fires_dropped and (not is_tumbling or given.drops == spec.KeepPartitions()):
        place = params["aggregateEvictedPartitions"].place
        expected = "a tumbling window that evicts partitions"
        raise refused(place, "aggregateEvictedPartitions here", expected)
    columns = _Columns()
    by = [columns.add(_BY, it) for it in _partition(operator, params, given)]
    groups = [columns.add(_GROUP, it) for it in _keys(operator, params.get("groupBy"))]
    window = _with_delta(given, columns)
    if isinstance(window, spec.firing.Sliding):
        window = replace(window, eager=eager)
    made = _Aggregated(operator, columns)
    # While they are read they add the columns of which the step in front is made.
    select = spec.Columns(tuple(made.selected()))
    step = made.asked.windowed(
        columns.projected(operator),
        window,
        groups=tuple(groups),
        by=tuple(by),
        counts=made.counts_in(select),
    )
    step = replace(step, drops=given.drops, fires_dropped=fires_dropped)
    out = operator.made[0]
    return [Stream(out.name, out.type, spec.Projected(step, out.schema, select))]


@dataclass(frozen=True, slots=True)
class _Aggregated:
    """What an Aggregate puts out, while it is read, and what it asks of its window."""

    operator: Operator
    columns: _Columns
    asked: steps.Asked = field(default_factory=steps.Asked)

    @property
    def port(self) -> PortView:
        """Returns the input port."""
        return self.operator.views()[0]

    def counts_in(self, select: spec.Columns) -> str:
        """Returns the column of the counts of all groups, if anything is made of it."""
        every = (spec.references(text) for _, text in select.columns)
        is_read = any(one.column == _COUNTS for some in every for one in some)
        return _COUNTS if is_read else ""

    def selected(self) -> Iterator[tuple[str, Expression]]:
        """Yields each output attribute with what is computed of lists."""
        given = self._given()
        for name, kind in self.operator.made[0].type.attributes:
            if name in given:
                value = values.assigned(given[name], kind, name)
            elif (own := forwarded(name, kind, [self.port])) is not None:
                # SPL takes what an attribute is in the last tuple of the window.
                value = self._aggregated("Last", [own], own.place)
            else:
                place = self.operator.call.heads[0].place
                found = f'the output attribute "{name}" has no value'
                expected = f"{name} = Max(..), or an input attribute {kind} {name}"
                raise refused(place, found, expected)
            yield name, value.expression

    def _given(self) -> dict[str, Value]:
        """Returns the values that the output clause gives."""
        return assignments(self.operator, 0, self._bound)

    def _bound(self, node: syntax.Node, wanted: types.SplType) -> Value:
        """Returns what an assignment gives: an aggregate, else of the last tuple."""
        match node:
            # A cast alone may stand around an aggregate.
            case syntax.Cast(type=kind, value=syntax.Call() as inside):
                to = self.operator.outer.read_type(kind)
                return converted(self._bound(inside, to), to, node.place)
            case syntax.Call(of=syntax.Name(text=name), arguments=arguments) if (
                name in aggregates.AGGREGATES
            ):
                scope = self.operator.scope([self.port])
                own = [bind(one, scope) for one in arguments]
                count, _ = aggregates.AGGREGATES[name]
                if len(own) != count:
                    found = f"{len(own)} arguments of {name}"
                    raise refused(node.place, found, str(count))
                return self._aggregated(name, own, node.place)
            case syntax.Call(of=syntax.Name(text=name), arguments=()) if (
                name in aggregates.COUNTS
            ):
                template, gives = aggregates.COUNTS[name]
                counts = aggregates.list_of(types.INT32)
                tree = Column(ROW, _COUNTS, types.stored(counts))
                return values.of_type(gives, template, node.place, x=tree)
            case syntax.Call(of=syntax.Name(text="Count"), arguments=()):
                return converted(self._all(node.place), types.INT32, node.place)
            case syntax.Call(of=syntax.Name(text="Custom")):
                expected = f"one of {', '.join(aggregates.AGGREGATES)}"
                raise refused(node.place, "Custom, code of the text's own", expected)
            case _:
                _refuse_inside(node)
                scope = self.operator.scope([self.port]).wanting(wanted)
                own_value = bind(node, scope)
                return self._aggregated("Last", [own_value], node.place)

    def _aggregated(self, name: str, given: Sequence[Value], place: Place) -> Value:
        """Returns a function of some values of all tuples."""
        kind = given[0].type
        match name:
            case "Last":
                column = self.columns.add(_VALUE, given[0])
                return Value(kind, _column(column, kind), place)
            case "Max" | "Min" if kind in aggregates.COMPARED:
                fold = Fold.GREATEST if name == "Max" else Fold.LEAST
                return self._total(fold, given[0], kind)
            case "Sum" | "Average" if kind in aggregates.ADDED:
                total = self._sum(given[0])
                if name == "Sum":
                    return total
                # The sum has wrapped before it is divided, as in C.
                count = converted(self._all(place), kind, place)
                return values.arithmetic("/", total, count, place)
            case _:
                _, function = aggregates.AGGREGATES[name]
                return function([self._list(one, place) for one in given], place)

    def _all(self, place: Place) -> Value:
        """Returns how many tuples there are."""
        one = values.literal(True, types.BOOLEAN, place)  # noqa: FBT003
        return self._total(Fold.COUNT, one, types.INT64)

    def _sum(self, value: Value) -> Value:
        """Returns the sum of a value, which wraps at its width; none without each."""
        kind, place = value.type, value.place
        wide = types.FLOAT64 if kind in types.FLOATS else types.INT64
        total = self._total(Fold.SUM, value, wide)
        known = self._total(Fold.COUNT, value, types.INT64)
        parts = {"x": total.tree, "y": known.tree, "z": self._all(place).tree}
        whole = values.of_type(wide, "IF(y = z, x, NULL)", place, **parts)
        return converted(whole, kind, place)

    def _total(self, fold: Fold, value: Value, kind: types.SplType) -> Value:
        """Returns what a fold makes of a value, in a type."""
        column = self.columns.add(_VALUE, value)
        return Value(kind, _column(self.asked.total(fold, column), kind), value.place)

    def _list(self, value: Value, place: Place) -> Value:
        """Returns the values that all tuples of a group have."""
        kind = aggregates.list_of(value.type)
        column = self.asked.values(self.columns.add(_VALUE, value))
        return Value(kind, _column(column, kind), place)


def _column(name: str, kind: types.SplType) -> Column:
    """Returns a column of what a window gives."""
    return Column(ROW, name, types.stored(kind))


def _refuse_inside(node: syntax.Node) -> None:
    """Refuses an aggregate as a part of an expression, as SPL does."""
    known = {"Count", *aggregates.AGGREGATES, *aggregates.COUNTS}
    for one in syntax.nodes(node):
        match one:
            case syntax.Call(of=syntax.Name(text=name)) if name in known:
                told = f"{name} inside of an expression, or with other arguments"
                hint = "a Functor behind the Aggregate computes with what it gives"
                raise refused(one.place, told, "the whole value of an attribute", hint)


_ORDERS = ("ascending", "descending")


def sort(operator: Operator) -> list[Stream]:
    """Returns the stream of a Sort."""
    operator.need_ports("1", "1")
    params = operator.params(("sortBy", "order", "partitionBy"))
    if "sortBy" not in params:
        hint = "param sortBy: price;"
        raise refused(operator.call.place, "a Sort without sortBy", "sortBy", hint)
    given, setting = _only_window(operator)
    first = spec.firing.ByCount(1)
    match given.window:
        case spec.firing.Sliding(spec.firing.ByCount(), fires) if fires == first:
            pass
        case spec.firing.Sliding(keeps, spec.firing.ByCount()):
            found = "CDISP9041E a trigger other than each tuple"
            if isinstance(keeps, spec.firing.ByCount):
                raise refused(setting.place, found, "count(1), or none")
            raise refused(setting.place, "this sliding window of a Sort", "count(n)")
        case spec.firing.Sliding():
            raise refused(setting.place, "this sliding window of a Sort", "count(n)")
    refuse_changes(operator)
    # The tuple's own columns are first: what it is sorted by stands behind them.
    columns, feed = _Columns(), operator.feeds[0]
    view = operator.views()[0]
    for name in feed.type.names:
        columns.found[name] = view.attribute(name, operator.call.place)
    by = [columns.add(_BY, it) for it in _partition(operator, params, given)]
    keys = _sort_keys(operator, params)
    named = tuple((columns.add(_SORT, value), down) for value, down in keys)
    window = _with_delta(given, columns)
    source = columns.projected(operator)
    step = spec.Windowed(
        source,
        source.schema,
        window,
        spec.firing.Arranged(named),
        tuple(by),
        given.drops,
    )
    return [projected(operator, 0, step, [view])]


def _sort_keys(
    operator: Operator, params: Mapping[str, syntax.Setting]
) -> list[tuple[Value, bool]]:
    """Returns what tuples are sorted by, each with whether it descends."""
    keys = _values(operator, params["sortBy"])
    for one in keys:
        if one.type not in types.NUMBERS | types.STRINGS | {types.TIMESTAMP}:
            raise refused(one.place, f"sortBy of {one.type}", "a type with an order")
    words = [getattr(one, "text", "") for one in _given(params, "order")] or [
        _ORDERS[0]
    ]
    if len(words) not in {1, len(keys)} or not {*words} <= {*_ORDERS}:
        place, known = params["order"].place, " or ".join(_ORDERS)
        raise refused(place, "this order", f"{known}, one or one for each of sortBy")
    # One order is that of all, as no order is ascending for all.
    words *= len(keys) if len(words) == 1 else 1
    return [(key, word == _ORDERS[1]) for key, word in zip(keys, words, strict=True)]


def _given(params: Mapping[str, syntax.Setting], name: str) -> Sequence[syntax.Node]:
    """Returns the values of a parameter as they are written; none without it."""
    return params[name].values if name in params else ()


def punctuation(operator: Operator) -> tuple[syntax.Node, bool]:
    """Returns where a Punctor sets marks, and whether in front of the tuple."""
    operator.need_ports("1", "1")
    params = operator.params(("punctuate", "position"))
    for name, example in (("punctuate", "price > 10.0"), ("position", "after")):
        if name not in params:
            hint = f"param {name}: {example};"
            raise refused(operator.call.place, f"a Punctor without {name}", name, hint)
    word = getattr(params["position"].values[0], "text", "")
    if word not in {"before", "after"}:
        raise refused(params["position"].place, "this position", "before or after")
    return params["punctuate"].values[0], word == "before"


def punctor(operator: Operator) -> list[Stream]:
    """Returns the stream of a Punctor: its tuples, with marks among them."""
    node, is_before = punctuation(operator)
    views = operator.views()
    holds = bind(node, operator.scope(views))
    need_boolean(holds, "punctuate")
    needed = [holds, *given_by(operator, 0, views).values()]
    step = judged(operator, operator.feeds[0].step, needed)
    marked = spec.Marked(step, holds.expression, is_before=is_before)
    return [projected(operator, 0, marked, views)]


def barrier(operator: Operator) -> list[Stream]:
    """Returns the stream of a Barrier: a tuple of each port makes one."""
    inside, step = _aligned(operator)
    return [projected(operator, 0, step, inside)]


def pair(operator: Operator) -> list[Stream]:
    """Returns the stream of a Pair: a tuple of each port, then a mark behind them."""
    inside, step = _aligned(operator)
    refuse_changes(operator)
    (made,), place = operator.made, operator.call.place
    given = (
        ((name, view.attribute(name, place)) for name in made.type.names)
        for view in inside
    )
    tuples = [code.Submitted(0, columns_of(dict(one))) for one in given]
    behind = code.Code((made.schema,), Schema(()), (), (*tuples, code.Punctuated(0)))
    return [Stream(made.name, made.type, spec.Coded(step, behind))]


def _aligned(operator: Operator) -> tuple[list[PortView], spec.Aligned]:
    """Returns tuples of each port as soon as one of each has come, as one stream."""
    operator.need_ports("2..", "1")
    ports = operator.views()
    by = _parted_ports(operator, ports)
    beside = [{_BY.format(at): it for at, it in enumerate(one)} for one in by]
    inside, source = together(operator, ports, beside)
    parts = tuple(view.within for view in inside)
    schema = Schema(tuple(source.schema[part] for part in parts))
    return inside, spec.Aligned(source, schema, PORT, parts, tuple(beside[0]))


def _parted_ports(operator: Operator, ports: Sequence[PortView]) -> list[list[Value]]:
    """Returns for each port what its tuples are parted by."""
    last = len(ports) - 1
    numbers = {f"partitionBy{number}": number for number in range(len(ports))}
    # With two ports they have the names that a Join's have.
    numbers |= {"partitionByLHS": 0, "partitionByRHS": last}
    params = operator.params(("bufferSize", *numbers))
    if "bufferSize" in params:
        line = params["bufferSize"].place.line
        operator.remark(f"line {line}: bufferSize holds back who sends, no tuple")
    by: list[list[Value]] = [[] for _ in ports]
    for name, setting in params.items():
        if name in numbers:
            scope = operator.scope([ports[numbers[name]]])
            by[numbers[name]] += [bind(one, scope) for one in setting.values]
            for value in by[numbers[name]]:
                refuse_unordered(value)
    kinds = [[value.type for value in one] for one in by]
    if any(one != kinds[0] for one in kinds):
        expected = "the same types for each port"
        place = operator.call.place
        raise refused(place, "what the ports are parted by", expected)
    return by


_WITHIN = ("timeOut", "count", "deltaAttribute")
"""What says how long a DeDuplicate remembers a tuple: one of these."""
_USUAL_TIME = spec.Span(0, 600_000_000)


def deduplicate(operator: Operator) -> list[Stream]:
    """Returns the streams of a DeDuplicate: what is new, and what repeats it."""
    operator.need_ports("1", "1..2")
    known = (*_WITHIN, "delta", "key", "resetOnDuplicate", "flushOnPunctuation")
    params = operator.params(known)
    columns, feed, view = _Columns(), operator.feeds[0], operator.views()[0]
    for name in feed.type.names:
        columns.found[name] = view.attribute(name, operator.call.place)
    # Without a key the whole tuple is the key.
    keys = _values(operator, params.get("key")) or [*columns.found.values()]
    for one in keys:
        refuse_unordered(one)
    by = [columns.add(_BY, one) for one in keys] if "key" in params else feed.type.names
    within = _remembered(operator, params, columns)
    renews = "resetOnDuplicate" not in params or (
        _truth(params, "resetOnDuplicate", operator)
    )
    source = columns.projected(operator)
    told = SchemaColumn(_REPEATS, types.stored(types.BOOLEAN))
    schema = Schema((*source.schema.columns, told))
    forgets = _truth(params, "flushOnPunctuation", operator)
    step = spec.Recognized(source, schema, _REPEATS, tuple(by), within, renews, forgets)
    _check_repeated(operator)
    repeats = Column(ROW, _REPEATS, types.stored(types.BOOLEAN))
    streams = []
    for number, test in zip(range(len(operator.made)), ("NOT x", "x"), strict=False):
        goes = values.of_type(types.BOOLEAN, test, operator.call.place, x=repeats)
        own = spec.Filtered(step, goes.expression)
        streams.append(projected(operator, number, own, [view]))
    return streams


def _remembered(
    operator: Operator, params: Mapping[str, syntax.Setting], columns: _Columns
) -> spec.firing.Policy:
    """Returns how long tuples are remembered: 600 seconds where nothing says it."""
    said = [params[name] for name in _WITHIN if name in params]
    if len(said) > 1:
        told = f"{said[1].name} beside {said[0].name}"
        raise refused(said[1].place, told, "one of them")
    has_delta = "deltaAttribute" in params
    if has_delta is not ("delta" in params):
        alone = params["deltaAttribute" if has_delta else "delta"]
        expected = "both: deltaAttribute : ts; delta : 10.0;"
        raise refused(alone.place, f"{alone.name} alone", expected)
    if not said:
        return spec.firing.ByTime(_USUAL_TIME)
    scope, setting = operator.scope(()), said[0]
    if has_delta:
        by = bind(setting.values[0], operator.scope(operator.views()))
        width = bind(params["delta"].values[0], scope)
        # A timestamp may be above another by a timestamp, or by seconds.
        if by.type == width.type == types.TIMESTAMP:
            width = replace(width, type=types.FLOAT64)
        name = columns.add(f"{_DELTA} {{}}", by)
        return spec.firing.ByDelta(name, width_of(by, width))
    kind = types.UINT64 if setting.name == "count" else types.FLOAT64
    value = bind(setting.values[0], scope)
    if value.type != kind:
        found = f"{setting.name} is {value.type}"
        raise refused(value.place, found, str(kind))
    most = Decimal(str(value.constant(setting.name)))
    is_time = value.type == types.FLOAT64
    if not most.is_finite() or (is_time and not 0 <= most < types.MOST_SECONDS):
        expected = f"0 seconds or more, below {types.MOST_SECONDS}"
        raise refused(value.place, f"{setting.name} of {most}", expected)
    if kind == types.UINT64:
        return spec.firing.ByCount(int(most))
    return spec.firing.ByTime(span_of(most))


def _check_repeated(operator: Operator) -> None:
    """Refuses a port of repeated tuples that gives others than come in."""
    (feed,) = operator.feeds
    for head, made in zip(operator.call.heads[1:], operator.made[1:], strict=True):
        if made.type != feed.type:
            found, expected = f"{made.name} is {made.type}", f"that of {feed.name}"
            raise refused(head.place, found, f"{expected}: {feed.type}")
        for clause in operator.call.outputs:
            if clause.name in {head.name, head.alias}:
                found = f"assignments to {clause.name}"
                expected = "none: its tuples leave as they came in"
                raise refused(clause.place, found, expected)
