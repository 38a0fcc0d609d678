"""Operators with code: Custom, and Filter and Functor where variables change in them.

A DynamicFilter is code too, which keeps the keys that hold in a variable.

Code of a tuple is carried out before the operator looks at it. So a Filter with code is
code that goes on with `if (..) submit(..)`, and a Functor one that makes its tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from itertools import chain

from dovetail import spec
from dovetail.dialects.spl import operators, syntax, types, values, windowed
from dovetail.dialects.spl.absence import BY_ZERO
from dovetail.dialects.spl.casts import converted
from dovetail.dialects.spl.code import (
    FINAL,
    MARKS,
    NOWHERE,
    SYSTEM,
    WINDOW,
    Binding,
    Statements,
    Writer,
    is_plain,
    read,
)
from dovetail.dialects.spl.expressions import PortView, bind
from dovetail.dialects.spl.operators import ROW, Operator, Stream
from dovetail.dialects.spl.types import BOOLEAN, INT32, Tuple, refused
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression import Expression
from dovetail.expression.functions import build
from dovetail.expression.functions.logic import REQUIRED
from dovetail.expression.reader import compose
from dovetail.expression.tree import Column, Literal, Node
from dovetail.schema import AtomicType, Schema
from dovetail.spec import code


def has_code(call: syntax.Invocation) -> bool:
    """Tells whether code of an operator does more than name constants."""
    return is_stateful(call) or bool(call.codes)


def is_stateful(call: syntax.Invocation) -> bool:
    """Tells whether an operator has variables that change and last."""
    return any(one.is_mutable for one in call.lasting)


def custom(operator: Operator) -> list[Stream]:
    """Returns the streams of a Custom: what its code hands on."""
    call = operator.call
    # Code that only hands tuples on needs no worker: it is filters and projections.
    is_simple = all(it.words[0] == "onTuple" and is_plain(it.body) for it in call.codes)
    is_simple &= not is_stateful(call) and not call.catches
    operator.params(())
    if is_simple and not _Coding.of(operator).divides:
        return operators.custom(operator)
    return _Coding.of(operator).streams()


def filtered(operator: Operator) -> list[Stream]:
    """Returns the streams of a Filter with code, which is carried out first."""
    operator.need_ports("1", "1..2")
    operators.refuse_changes(operator)
    params = operator.params(("filter",))
    whole = _Coding.of(operator)
    writer, view = whole.writer, operator.views()[0]
    parts = {name: view.attribute(name, NOWHERE) for name in view.type.names}
    goes = [
        (code.Submitted(port, writer.columns_of(port, parts)),)
        for port in range(len(operator.made))
    ]
    # Without a filter all tuples go out by the first port.
    if "filter" not in params:
        return whole.passing(goes[0]).streams()
    holds = writer.condition(params["filter"].values[0], writer.lasting)
    return whole.passing((code.Branched(holds.expression, *goes),)).streams()


def functor(operator: Operator) -> list[Stream]:
    """Returns the streams of a Functor with code, which is carried out first."""
    operator.need_ports("1", "1..")
    params = operator.params(("filter",))
    whole = _Coding.of(operator)
    done = whole.given(operator.views())
    if "filter" in params:
        holds = whole.writer.condition(params["filter"].values[0], whole.writer.lasting)
        done = (code.Branched(holds.expression, done),)
    return whole.passing(done).streams()


def punctor(operator: Operator) -> list[Stream]:
    """Returns the stream of a Punctor with code, which is carried out first."""
    node, is_before = windowed.punctuation(operator)
    whole = _Coding.of(operator)
    holds = whole.writer.condition(node, whole.writer.lasting)
    mark = code.Branched(holds.expression, (code.Punctuated(0),))
    tuples = whole.given(operator.views())
    return whole.passing((mark, *tuples) if is_before else (*tuples, mark)).streams()


_KEYS = ("key", "addKey", "removeKey")
_YES = values.literal(True, BOOLEAN, NOWHERE).expression  # noqa: FBT003


def dynamic_filter(operator: Operator) -> list[Stream]:
    """Returns the streams of a DynamicFilter: tuples of keys that hold, then others.

    The second port says which keys hold from then on, the third which no longer do.
    """
    operator.need_ports("2..3", "1..2")
    operators.refuse_changes(operator)
    call, place = operator.call, operator.call.place
    params = operator.params(known := _KEYS[: len(operator.feeds)])
    for name in known:
        if name not in params:
            told = f"a DynamicFilter of {len(known)} input ports without {name}"
            raise refused(place, told, f"{name} : ..")
    # Marks of the tuples that are looked at go on, others do not.
    current = syntax.Call(place, syntax.Name(place, "currentPunct"), ())
    streams = (syntax.Name(place, head.name) for head in call.heads)
    out = tuple(syntax.Action(place, "submit", (current, it)) for it in streams)
    heard = ("onPunct", call.ports[0].name)
    marks = syntax.Logic(place, heard, syntax.Block(place, out))
    whole = _Coding.of(replace(operator, call=replace(call, logics=(marks,))))
    keys = [
        _Key.of(whole.writer, params[name], at, kinds=params["key"])
        for at, name in enumerate(known)
    ]
    kind = types.Holder("map", (keys[0].value.type, BOOLEAN))
    held = whole.writer.variable("held", kind, is_mutable=True)
    view = whole.writer.sees.ports[0]
    tuples = {name: view.attribute(name, place) for name in view.type.names}
    goes = (
        (code.Submitted(port, whole.writer.columns_of(port, tuples)),)
        for port in range(len(operator.made))
    )
    changes = ((code.Edit.PUT, (_YES,)), (code.Edit.REMOVE_KEY, ()))
    done: list[code.Statement] = [code.Branched(keys[0].within(read(held)), *goes)]
    for key, (change, more) in zip(keys[1:], changes, strict=False):
        parts = (key.value.expression, *more)
        done.append(code.Changed(held.target, change, parts))
    first = code.Assigned(held.target, values.blank(kind, place).expression)
    on_row = (_of_port((one,), at, place) for at, one in enumerate(done))
    whole_code = replace(
        whole.code,
        variables=Schema(tuple(whole.writer.columns)),
        state=(first,),
        on_row=(*chain.from_iterable(on_row), *whole.code.on_row),
    )
    return replace(whole, code=whole_code).streams()


@dataclass(frozen=True, slots=True)
class _Key:
    """What tuples of a port are looked up by: one value, or several written out."""

    whole: Tuple
    tree: Node
    value: Value

    @classmethod
    def of(
        cls,
        writer: Writer,
        setting: syntax.Setting,
        port: int,
        *,
        kinds: syntax.Setting,
    ) -> _Key:
        """Returns the key of the tuples of a port, of the types of another setting."""
        scope = replace(writer.sees, ports=writer.sees.ports[port : port + 1])
        found = [bind(one, scope) for one in setting.values]
        first = replace(writer.sees, ports=writer.sees.ports[:1])
        wanted = [bind(one, first).type for one in kinds.values]
        if [one.type for one in found] != wanted:
            told = ", ".join(str(one.type) for one in found)
            expected = ", ".join(map(str, wanted))
            raise refused(setting.place, f"{setting.name} is {told}", expected)
        for one in found:
            operators.refuse_unordered(one)
        whole = Tuple(tuple((f"k{at}", kind) for at, kind in enumerate(wanted)))
        # Of both zeros of floats the one is the other.
        trees = (
            compose("x + 0D", x=one.tree) if one.type in types.FLOATS else one.tree
            for one in found
        )
        tree = values.structured(whole, trees)
        is_one = len(found) == 1 and isinstance(found[0].type, types.Scalar)
        if is_one and found[0].type not in types.FLOATS:
            return cls(whole, tree, found[0])
        value = Value(whole, tree, setting.place)
        return cls(whole, tree, converted(value, types.RSTRING, setting.place))

    def within(self, held: Value) -> Expression:
        """Returns whether the key is one that holds; NaN is none."""
        is_nan = values.nan_within(self.whole, "z") or "false"
        parts = {"x": self.value.tree, "y": held.tree, "z": self.tree}
        template = f"NOT ({is_nan}) AND map_contains_key(y, x)"
        return values.of_type(BOOLEAN, template, self.value.place, **parts).expression


_ITERATION = "iteration number"
_INTEGRAL = frozenset(types.INTEGERS)


def is_counted(call: syntax.Invocation) -> bool:
    """Tells whether a Beacon says how many tuples it makes."""
    return any(one.name == "iterations" for one in call.params)


def beacon(operator: Operator, rank: int) -> Stream:
    """Returns the stream of a Beacon that makes its tuples itself."""
    operator.need_ports("0", "1")
    params = operator.params(("iterations", "initDelay", "period", "triggerCount"))
    scope, place = operator.scope(()), operator.call.place
    found: dict[str, int] = {}
    for name, setting in params.items():
        value = bind(setting.values[0], scope)
        is_time = name in {"initDelay", "period"}
        if value.type not in ({types.FLOAT64} if is_time else _INTEGRAL):
            expected = "a float64, seconds" if is_time else "a whole number"
            raise refused(value.place, f"{name} is {value.type}", expected)
        given = Decimal(str(value.constant(name)))
        if not given.is_finite() or given < 0:
            raise refused(value.place, f"{name} is {given}", "0 or more")
        found[name] = int(given * (10**6 if is_time else 1))
    # In microseconds, as all times of a program are.
    made = spec.Counting(
        found["iterations"], found.get("initDelay", 0), found.get("period", 0), rank
    )
    # A tuple of its own for each iteration: only IterationCount looks at it.
    kind = Tuple(((_ITERATION, types.INT64),))
    name = operator.made[0].name
    step = spec.Given(name, types.schema_of(kind, place), exact=True, origin=made)
    source = syntax.Source(place, _ITERATION, ())
    call = replace(operator.call, ports=(syntax.Port(place, (source,), ""),))
    fed = replace(operator, call=call, feeds=(Stream(_ITERATION, kind, step),))
    whole = _Coding.of(fed)
    done = whole.given(whole.writer.sees.ports, has_defaults=True)
    # Where nothing lasts each tuple is computed from its number alone.
    if not is_stateful(call):
        (submitted,) = done
        assert isinstance(submitted, code.Submitted)  # noqa: S101 - nothing changes
        schema = operator.made[0].schema
        projected = spec.Projected(step, schema, submitted.columns)
        return Stream(name, operator.made[0].type, projected)
    return whole.passing(done).streams()[0]


@dataclass(frozen=True, slots=True)
class _Coding:
    """An operator that is code: the step of what comes to it, and the code."""

    writer: Writer
    source: spec.Step
    code: code.Code

    @classmethod
    def of(cls, operator: Operator) -> _Coding:
        """Returns what the logic clauses of an operator do."""
        views, source = operator.views(), None
        if len(views) > 1:
            views, source = operators.together(operator, views)
            source = _with_marks(operator, source)
        outputs = {
            name: at
            for at, head in enumerate(operator.call.heads)
            for name in (head.name, head.alias)
            if name
        }
        sees = replace(operator.scope(views), variables={"Sys": SYSTEM})
        if operator.call.kind == "Beacon":
            number = views[0].attribute(_ITERATION, NOWHERE).tree
            count = values.of_type(types.UINT64, "x", NOWHERE, x=number)
            sees = replace(sees, functions={"IterationCount": count})
        writer = Writer(operator, sees, outputs)
        state = tuple(writer.state())
        found = _handlers(operator, writer)
        schemas = tuple(made.schema for made in operator.made)
        made = code.Code(schemas, Schema(tuple(writer.columns)), state, *found)
        return cls(writer, source or operator.feeds[0].step, made)

    def given(
        self, views: Sequence[PortView], *, has_defaults: bool = False
    ) -> Statements:
        """Returns the tuples that the output clauses make, and their `n++`."""
        operator, writer = self.writer.operator, self.writer
        done: list[code.Statement] = []
        steps = any(
            isinstance(it, syntax.Stepped) for it in syntax.nodes(operator.call.outputs)
        )

        def bound(node: syntax.Node, kind: types.SplType) -> Value:
            found, plain = writer.lifted(node, writer.lasting)
            value = bind(plain, writer.scope(writer.lasting).wanting(kind))
            if not steps:
                return value
            # One after the other, as they are written.
            kept = writer.variable("", value.type, is_mutable=False)
            done.extend((*found.before, code.Assigned(kept.target, value.expression)))
            done.extend(found.behind)
            return replace(read(kept), place=node.place)

        for port, made in enumerate(operator.made):
            parts = operators.assignments(operator, port, bound)
            for name, kind in made.type.attributes:
                own = parts.get(name) or operators.forwarded(name, kind, views)
                if own is None and has_defaults:
                    own = values.blank(kind, NOWHERE)
                if own is None:
                    raise operators.no_value(operator, port, name, kind)
                parts[name] = own
            done.append(code.Submitted(port, writer.columns_of(port, parts)))
        return tuple(done)

    def passing(self, behind: Statements) -> _Coding:
        """Returns code behind which each tuple goes through some more, as do marks."""
        marks = tuple(
            code.Punctuated(port) for port in range(len(self.writer.operator.made))
        )
        whole = replace(
            self.code,
            variables=Schema(tuple(self.writer.columns)),
            on_row=(*self.code.on_row, *behind),
            on_mark=(*self.code.on_mark, *marks),
        )
        return replace(self, code=whole)

    @property
    def divides(self) -> bool:
        """Tells whether a tuple may divide by 0: the sentence of a formula says so."""
        return any(BY_ZERO in one.text for one in _formulas(self.code))

    def streams(self) -> list[Stream]:
        """Returns the streams that go out."""
        operator, known = self.writer.operator, self.code
        if operator.call.catches or self.divides:
            known = self._caught()
            failed = spec.Coded(self.source, known, len(operator.made))
            operator.failed.append(failed)
        return [
            Stream(made.name, made.type, spec.Coded(self.source, known, port))
            for port, made in enumerate(operator.made)
        ]

    def _caught(self) -> spec.code.Code:
        """Returns code which a tuple without a value leaves by one more port.

        What has been done with it until then stays.
        """
        writer, operator = self.writer, self.writer.operator
        reason, shown = (
            writer.variable("", types.RSTRING, is_mutable=False) for _ in range(2)
        )
        row = operators.failed_row(operator, read(reason).tree, read(shown).tree)
        leaves: Statements = (code.Submitted(len(operator.made), row),)
        if not operator.call.catches:
            leaves = _by_zero(reason, leaves)

        def tried(done: Statements) -> Statements:
            return (code.Attempted(done, reason.target.name, leaves),) if done else ()

        texts = [operators.shown_tuple(it, NOWHERE) for it in writer.sees.ports]
        came = texts[0]
        if len(texts) > 1:
            # Marks come as tuples of more ports: of them there is no text.
            ways = (f"WHEN p = {at} THEN x{at}" for at in range(len(texts)))
            parts = {f"x{at}": it for at, it in enumerate(texts)}
            port = Column(ROW, operators.PORT, types.stored(INT32))
            came = compose(f"CASE {' '.join(ways)} ELSE '' END", p=port, **parts)
        # As it has come: code of a Custom may change it.
        first = code.Assigned(shown.target, values.expressed(came))
        none = code.Assigned(shown.target, values.expressed(values.text("")))
        known, failed = self.code, types.schema_of(operators.FAILED, NOWHERE)
        return code.Code(
            (*known.ports, failed),
            Schema(tuple(writer.columns)),
            known.state,
            (first, *tried(known.on_row)),
            (none, *tried(known.on_mark)),
            (none, *tried(known.on_end)),
        )


def _by_zero(reason: Binding, leaves: Statements) -> Statements:
    """Returns code for a missing value: a division by 0 leaves, all else stops."""
    told = read(reason).tree
    is_told = f"contains(x, '{BY_ZERO}')"
    holds = values.of_type(BOOLEAN, is_told, NOWHERE, x=told)
    # As if nothing had been tried: with the sentence of what was missing.
    stop = build(REQUIRED, Literal(None, AtomicType.STRING), told)
    stops = (code.Assigned(reason.target, values.expressed(stop)),)
    return (code.Branched(holds.expression, leaves, stops),)


def _formulas(part: object) -> Iterator[Expression]:
    """Yields all formulas of code."""
    if isinstance(part, Expression):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from _formulas(one)
    elif is_dataclass(part):
        for it in fields(part):
            yield from _formulas(getattr(part, it.name))


def _handlers(
    operator: Operator, writer: Writer
) -> tuple[Statements, Statements, Statements]:
    """Returns what is done with a tuple, with a mark, and at the end."""
    call, views = operator.call, writer.sees.ports
    on_row, on_mark, on_end = (list[code.Statement]() for _ in range(3))
    for logic in call.codes:
        event, port = logic.words[0], logic.words[-1]
        # `onTuple I`: the last word is the port, if there is more than one word.
        view = writer.sees.port(port)
        if event not in {"onTuple", "onPunct"} or view is None or len(logic.words) == 1:
            known = " or ".join(one.name for one in views)
            raise refused(logic.place, f"{event} of no input port", known)
        at, sees = [one.name for one in views].index(port), writer.sees
        if event == "onTuple":
            body = writer.statements(logic.body)
            on_row += _of_port(body, at, logic.place) if len(views) > 1 else body
            continue
        # The same code is written for both marks, with what currentPunct() is then.
        for turn, (word, into) in enumerate(((WINDOW, on_mark), (FINAL, on_end))):
            mark = values.literal(word, MARKS, logic.place)
            writer.sees = replace(sees, ports=(), functions={"currentPunct": mark})
            body = writer.statements(logic.body)
            if len(views) > 1:
                # They come as tuples do, behind those of all ports.
                number = at + (turn + 1) * len(views)
                on_row += _of_port(body, number, logic.place)
            else:
                into.extend(body)
        writer.sees = sees
    return tuple(on_row), tuple(on_mark), tuple(on_end)


def _of_port(body: Statements, number: int, place: Place) -> Statements:
    """Returns what is done with what comes by a port, and with nothing else."""
    which = Column(ROW, operators.PORT, types.stored(INT32))
    here = values.of_type(BOOLEAN, f"x = {number}", place, x=which)
    return (code.Branched(here.expression, body),)


def _with_marks(operator: Operator, source: spec.Appended) -> spec.Appended:
    """Returns the tuples of several ports; marks that code hears come as tuples too.

    A mark between tuples that run together would be of no port. So of n ports what is
    of the port n + 1 is a mark of the second one, and of 2n + 1 its end.
    """
    heard = {it.words[-1] for it in operator.call.logics if it.words[0] == "onPunct"}
    count = len(source.sources)
    sources: list[spec.Step] = list(source.sources)
    for at, (view, step) in enumerate(zip(operator.views(), sources, strict=True)):
        if view.name not in heard:
            continue
        schema, numbers = step.schema, (at + count, at + 2 * count)
        # The tuple as it is, a mark, and the end: a mark has but its number.
        rows: list[list[Node]] = [
            [Column(ROW, it.name, it.type) for it in schema.columns]
        ]
        rows += [
            [
                Literal(number if it.name == operators.PORT else None, it.type)
                for it in schema.columns
            ]
            for number in numbers
        ]
        own, mark, end = (
            spec.Columns(
                tuple(zip(schema.names, map(values.expressed, row), strict=True))
            )
            for row in rows
        )
        listens = code.Code(
            (schema,),
            Schema(()),
            (),
            (code.Submitted(0, own),),
            (code.Submitted(0, mark),),
            (code.Submitted(0, end),),
        )
        sources[at] = spec.Coded(step, listens, 0)
    return spec.Appended(tuple(sources))
