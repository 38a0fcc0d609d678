"""The graph of a composite: its streams by name, each bound when it is asked for.

An operator may stand before those whose streams it takes. One that takes, by whatever
way, what it gives is refused: a join of ours has no way back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from dovetail import spec
from dovetail.dialects.spl import coded, files, operators, syntax, types, windowed
from dovetail.dialects.spl.code import is_silent
from dovetail.dialects.spl.expressions import PortView, Scope, begun, bind
from dovetail.dialects.spl.history import with_history
from dovetail.dialects.spl.joins import join
from dovetail.dialects.spl.library.call import Function
from dovetail.dialects.spl.operators import ROW, Made, Operator, Stream, fed, made_of
from dovetail.dialects.spl.parameters import Given, filled
from dovetail.dialects.spl.values import Value, blank
from dovetail.errors import Place
from dovetail.schema import Schema

Inputs = Mapping[str, Schema]
Composites = Mapping[str, syntax.Composite]

_OPERATORS: Mapping[str, Callable[[Operator], list[Stream]]] = {
    "Join": join,
    "Filter": operators.filtered,
    "Functor": operators.functor,
    "Union": operators.union,
    "Custom": coded.custom,
    "Split": operators.split,
    "Throttle": operators.throttle,
    "Delay": operators.delay,
    "Aggregate": windowed.aggregate,
    "Sort": windowed.sort,
    "Punctor": windowed.punctor,
    "Barrier": windowed.barrier,
    "Pair": windowed.pair,
    "DynamicFilter": coded.dynamic_filter,
    "DeDuplicate": windowed.deduplicate,
}
# Those whose logic clauses are carried out.
_WITH_CODE: Mapping[str, Callable[[Operator], list[Stream]]] = {
    "Custom": coded.custom,
    "Filter": coded.filtered,
    "Functor": coded.functor,
    "Punctor": coded.punctor,
}
# Whose tuples leave one by one where a value is missing.
# Of the others that take tuples these compute what may have no value.
_NOT_CAUGHT = {"Barrier", "Pair"}
_WITH_WINDOWS = {"Join", "Aggregate", "Sort"}
_REFUSED = {
    "ThreadedSplit": "a Split by an index says which port each tuple goes to; what its "
    "threads would be for, tasks of Spark do by themselves",
    "Gate": "leave it out, as nothing waits here: each tuple has gone all its way, "
    "and is acknowledged, before the next one comes",
}
"""What is refused before its streams are looked at: one of them goes back to it."""
_OUTSIDE = "bind its result by name: leave the operator out, and give an input {}"


@dataclass(slots=True)
class World:
    """What all composites of a text share: composites, inputs, and what is found."""

    composites: Composites
    inputs: Inputs
    types: tuple[syntax.Definition, ...] = ()
    """Types that stand outside of all composites."""
    own: Collection[str] = ()
    """Inputs whose rows come as the operator says that gives them."""
    library: Mapping[str, Function] = field(default_factory=dict)
    """What expressions may call."""
    commands: Mapping[str, syntax.Function] = field(default_factory=dict)
    """What code alone may call."""
    givens: dict[str, Stream] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    sinks: dict[tuple[str, str], list[Callable[[], files.TextSink]]] = field(
        default_factory=dict
    )
    """The files into which streams go, by their composite's path and their name."""
    files: dict[str, Callable[[], files.TextFile]] = field(default_factory=dict)
    """The files of streams from outside that an operator of the text names."""
    counted: int = 0
    """How many streams come from a Beacon of the text itself."""
    sunk: list[tuple[str, spec.Output]] = field(default_factory=list)
    """What comes out of composites beside the streams that they give, by path."""
    failed: list[spec.Step] = field(default_factory=list)
    """What leaves of each `@catch`: tuples for which a value is missing."""
    order: list[spec.Step] = field(default_factory=list)
    """All steps, in the order in which the text has them."""
    anew: str = ""
    """Where the text wants that a restart begins without state."""
    repeated: frozenset[str] = frozenset()
    """Names that several streams from outside have, in invocations of composites."""


@dataclass(slots=True)
class Graph:
    """A composite that is invoked, without parameters: with the streams it is given."""

    world: World
    composite: syntax.Composite
    taken: Mapping[str, Stream]
    kinds: Mapping[str, types.SplType] = field(default_factory=dict)
    """Types of where the composite is invoked, by names that no type of its own has."""
    path: str = ""
    """The invocations inside of which the composite is, each with a point behind it."""
    around: tuple[str, ...] = ()
    """The composites inside of which it is."""
    # By identity: two operators that say the same are two all the same.
    _bound: dict[int, list[Stream]] = field(default_factory=dict)
    _busy: list[int] = field(default_factory=list)
    _reading: list[str] = field(default_factory=list)

    def scope(self) -> Scope:
        """Returns what expressions outside of any operator see."""
        known = self.world
        return Scope(self.read_type, library=known.library, commands=known.commands)

    def stream(self, name: str, place: Place) -> Stream:
        """Returns a stream by its name."""
        if name in self.taken:
            return self.taken[name]
        for call in self.composite.graph:
            for number, head in enumerate(call.heads):
                if head.name == name:
                    return self._streams(call)[number]
        return self.given(name, self._undeclared(name, place), place)

    def given(self, name: str, kind: types.Tuple, place: Place) -> Stream:
        """Returns a stream that comes in from outside."""
        found = self.world.givens.get(name)
        if found is None:
            schema = types.schema_of(kind, place)
            known = self.world.inputs.get(name)
            lacking = (
                [] if known is None else [it for it in kind.names if it not in known]
            )
            if known is not None and known.columns and lacking:
                words = ", ".join(known.names)
                found_ = f'the input "{name}" has no column "{lacking[0]}"'
                raise types.refused(place, found_, f"one of {words}")
            # Exact: an attribute that is no optional has a value in every row.
            step = spec.Given(
                name,
                schema,
                ranges=types.ranges_of(kind),
                exact=True,
                optional=types.optionals_of(kind),
            )
            found = self.world.givens[name] = Stream(name, kind, step)
        if found.type != kind:
            raise types.refused(
                place, f'"{name}" is declared twice, in two ways', "one type"
            )
        return found

    def _undeclared(self, name: str, place: Place) -> types.Tuple:
        """Returns the type of a stream that only an input of its name can give."""
        schema = self.world.inputs.get(name)
        if schema is None or not schema.columns:
            declared = (
                head.name for call in self.composite.graph for head in call.heads
            )
            known = ", ".join(
                [*dict.fromkeys((*self.taken, *declared, *self.world.inputs))]
            )
            hint = (
                "an input of that name, with its columns, gives a stream from outside"
            )
            raise types.refused(
                place, f'no stream "{name}"', f"one of {known}" * bool(known), hint
            )
        return types.Tuple(
            tuple(
                (one.name, types.from_stored(one.type, place)) for one in schema.columns
            )
        )

    def _streams(self, call: syntax.Invocation) -> list[Stream]:
        """Returns the streams of an operator, bound once."""
        if call.kind in _REFUSED and call.kind not in self.world.composites:
            told = f"the operator {call.operator} is not supported"
            raise types.refused(call.place, told, "none", _REFUSED[call.kind])
        # An operator that is asked for while it is bound waits for itself.
        if id(call) in self._busy:
            raise types.refused(
                call.place,
                f"{call.kind} takes, by its own results, what it gives",
                "streams that run one way",
            )
        if call.catches and (call.kind in _NOT_CAUGHT or call.kind not in _OPERATORS):
            known = ", ".join(it for it in _OPERATORS if it not in _NOT_CAUGHT)
            hint = "compute what may have no value in a Functor before it"
            told = f"@catch of a {call.kind}"
            raise types.refused(call.place, told, f"that of one of {known}", hint)
        if id(call) not in self._bound:
            self._busy.append(id(call))
            self._bound[id(call)] = self._bind(call)
            self.world.order += [one.step for one in self._bound[id(call)]]
            self._busy.pop()
        return self._bound[id(call)]

    def _bind(self, call: syntax.Invocation) -> list[Stream]:
        """Returns the streams of an operator."""
        self._check_configs(call.configs)
        made = tuple(
            made_of(head.name, self._tuple(head.body), head.place)
            for head in call.heads
        )
        if call.kind in self.world.composites:
            return self._invoked(call, made)
        if not call.ports:
            return self._sources(call, made)
        feeds = tuple(self._fed(port) for port in call.ports)
        if call.kind in _WITH_CODE:
            call = with_history(call, feeds)
        bound = _OPERATORS.get(call.kind)
        _refuse_clauses(call)
        if bound is None and call.heads:
            known = ", ".join(_OPERATORS)
            hint = _OUTSIDE.format(f'"{call.heads[0].name}"')
            found = f"the operator {call.operator} is not supported"
            raise types.refused(call.place, found, f"one of {known}", hint)
        lists = self.world.remarks.append, self.world.failed, self.world.order
        operator = Operator(call, feeds, made, self.scope(), *lists)
        # Code comes before what the operator does itself.
        if coded.has_code(call) and call.kind in _WITH_CODE:
            bound = _WITH_CODE[call.kind]
        elif call.codes:
            self._refuse_code(call)
        # Where no code changes them, variables are constants.
        if bound not in _WITH_CODE.values() or not coded.is_stateful(call):
            sees = replace(self.scope(), values=dict(self._state(call)))
            operator = replace(operator, outer=sees)
        # A Custom may only look at its tuples; others without a result are wrong.
        if bound and (call.heads or call.kind != "Custom"):
            return bound(operator)
        # Without an output it is where streams go out.
        if call.kind == "FileSink" and len(call.ports) == 1:
            self._sink(call, feeds[0])
        elif call.params or call.logics:
            told = ", ".join(one.name for one in feeds)
            self.world.remarks.append(
                f"line {call.place.line}: {call.kind} does nothing here: {told} comes "
                "out, and goes where its sink says"
            )
        return []

    def _refuse_code(self, call: syntax.Invocation) -> None:
        """Refuses code that may change a tuple; what is only printed is left out."""
        for logic in call.codes:
            if not is_silent(logic.body):
                hint = "do it in a Custom or Functor before it"
                raise types.refused(logic.place, f"code of a {call.kind}", "none", hint)
            self.world.remarks.append(
                f"line {logic.place.line}: code of a {call.kind} that changes no tuple "
                "is left out"
            )

    def _sink(self, call: syntax.Invocation, feed: Stream) -> None:
        """Keeps the file of a FileSink, for which whoever runs the text asks."""
        scope = self.scope()
        for source in call.ports[0].sources:
            told = partial(files.text_sink, call, feed.type, scope)
            whose = (self.path, source.name)
            self.world.sinks.setdefault(whose, []).append(told)
            self.world.remarks.append(
                f"line {call.place.line}: {source.name} goes into the file of its "
                "FileSink where there is a folder of data, and no sink is bound to it"
            )

    def _tuple(self, body: syntax.TupleBody) -> types.Tuple:
        """Returns the type of a stream, which is a tuple."""
        kind = self.read_type(body)
        if not isinstance(kind, types.Tuple):
            raise types.refused(
                body.place, f"a stream of {kind}", "attributes, or a tuple"
            )
        return kind

    def _fed(self, port: syntax.Port) -> Stream:
        """Returns what an input port takes."""
        found = []
        heads = {head.name for call in self.composite.graph for head in call.heads}
        for source in port.sources:
            # With its type, and from no operator, it is a stream from outside.
            is_declared = source.name in heads or source.name in self.taken
            if source.bodies and not is_declared:
                kind = self._tuple(source.bodies[0])
                found.append(self.given(source.name, kind, source.place))
                continue
            stream = self.stream(source.name, source.place)
            self.check_end(source, stream, source.place)
            found.append(stream)
        return fed(found, port)

    def _sources(self, call: syntax.Invocation, made: tuple[Made, ...]) -> list[Stream]:
        """Returns streams from outside, whatever the text reads them by."""
        # Code without a port makes tuples; other operators of ours take some.
        if call.kind in _OPERATORS and call.kind != "Custom":
            told = f"{call.kind} without an input port"
            raise types.refused(call.place, told, f"{call.kind}(A)")
        if not made:
            return []
        repeated = self.world.repeated
        made = tuple(
            replace(it, name=self.path * (it.name in repeated) + it.name) for it in made
        )
        is_given = made[0].name in self.world.inputs
        if call.kind == "Beacon" and coded.is_counted(call) and not is_given:
            operator = Operator(call, (), made, self.scope(), self.world.remarks.append)
            self.world.counted += 1
            return [coded.beacon(operator, self.world.counted)]
        # Its file is asked for where no rows are bound to the stream.
        if call.kind == "FileSource" and len(made) == 1:
            scope = self.scope()
            kind = made[0].type
            self.world.files[made[0].name] = partial(files.text_file, call, kind, scope)
        # Rows that are bound win over what the operator says, which is told.
        foreign = self.world.inputs.keys() - {*self.world.own}
        is_bound = all(one.name in foreign for one in made)
        if is_bound and (call.params or call.outputs):
            self.world.remarks.append(
                f"line {call.place.line}: {call.kind} gives the rows of the input "
                f"{', '.join(one.name for one in made)}, not what is said of it here"
            )
        return [
            self.given(one.name, one.type, head.place)
            for one, head in zip(made, call.heads, strict=True)
        ]

    def _invoked(self, call: syntax.Invocation, made: tuple[Made, ...]) -> list[Stream]:
        """Returns the streams of a composite of the text's own."""
        inside = self.world.composites[call.kind]
        around = (*self.around, self.composite.name)
        if call.kind in around:
            told = f"the composite {call.kind} is part of itself"
            raise types.refused(call.place, told, "other operators")
        counts = (len(call.ports), len(call.heads))
        wanted = (len(inside.inputs), len(inside.outputs))
        if counts != wanted:
            found = f"{call.kind} with {counts[0]} inputs and {counts[1]} outputs"
            raise types.refused(call.place, found, f"{wanted[0]} and {wanted[1]}")
        taken = {
            source.name: replace(self._fed(port), name=source.name)
            for source, port in zip(inside.inputs, call.ports, strict=True)
        }
        feeds = zip(call.ports, taken.values(), strict=True)
        ports = tuple(PortView(port.name, feed.type, ROW) for port, feed in feeds)
        sees = replace(self.scope(), ports=ports)
        # An operator may be given for a parameter, if there is one of its name.
        operators = {*self.world.composites, *_OPERATORS}
        given = Given(call, inside, sees, operators.__contains__)
        # An invocation is known as it is called, or by what it gives first.
        named = call.alias or next((head.name for head in call.heads), call.kind)
        whole, path = filled(inside, given.values()), f"{self.path}{named}."
        graph = Graph(self.world, whole, taken, given.kinds, path, around)
        for source, port in zip(inside.inputs, call.ports, strict=True):
            graph.check_end(source, taken[source.name], port.place)
        # Sinks inside of it are sinks of the whole text.
        ends = {source.name for source in inside.outputs}
        own = {*graph.sunk}
        self.world.sunk += [
            (path, one)
            for one in graph.outputs()
            if one.name not in ends or one.name in own
        ]
        streams = []
        for source, wish, head in zip(inside.outputs, made, call.heads, strict=True):
            stream = graph.stream(source.name, source.place)
            graph.check_end(source, stream, source.place)
            if stream.type != wish.type:
                found = f"{stream.name} is {stream.type}"
                raise types.refused(head.place, found, str(wish.type))
            streams.append(replace(stream, name=wish.name))
        return streams

    def check_end(self, source: syntax.Source, stream: Stream, place: Place) -> None:
        """Refuses a stream that a composite takes or gives with another type."""
        if source.bodies and self._tuple(source.bodies[0]) != stream.type:
            found = f"{source.name} is {stream.type}"
            raise types.refused(place, found, str(self._tuple(source.bodies[0])))

    def _state(self, call: syntax.Invocation) -> Iterator[tuple[str, Value]]:
        """Yields the variables beside an operator, which no code changes."""
        for one in call.lasting:
            kind = self.read_type(one.type)
            value = blank(kind, one.place)
            if one.values:
                value = begun(one.values[0], kind, self.scope(), one.name)
            if value.type != kind:
                told = f"{one.name} is {value.type}"
                raise types.refused(value.place, told, str(kind))
            yield one.name, value

    def _check_configs(self, configs: tuple[syntax.Setting, ...]) -> None:
        """Refuses what cannot be honoured; the rest changes no row."""
        for setting in configs:
            line = f"line {setting.place.line}: "
            match setting.name, setting.values:
                case "checkpoint", [syntax.Call(of=syntax.Name(text="periodic"))]:
                    remark = "Spark keeps the state with every batch, which is no later"
                case "checkpoint", [syntax.Name(text="operatorDriven")]:
                    remark = "a restart begins without state, in a new checkpoint"
                    self.world.anew = f"{line}checkpoint : operatorDriven"
                case "checkpoint", _:
                    known = "periodic(seconds), or operatorDriven"
                    raise types.refused(setting.place, "another checkpoint", known)
                case _:
                    remark = f"{setting.name} has no effect on Spark"
            self.world.remarks.append(line + remark)

    def read_type(self, node: syntax.Node) -> types.SplType:
        """Returns the type that a node of the text means."""
        match node:
            case syntax.Primitive(word=word, bound=bound):
                return self._bounded(types.scalar(word, node.place), bound, node.place)
            case syntax.Collection(word=word, of=of, bound=bound):
                if len(of) != 1 + (word == "map"):
                    raise types.refused(node.place, f"{word} of {len(of)} types")
                holder = types.Holder(word, tuple(map(self.read_type, of)))
                types.refuse_keys(holder, node.place)
                return self._bounded(holder, bound, node.place)
            case syntax.Enumeration(words=words):
                if len({*words}) < len(words):
                    raise types.refused(
                        node.place, "a word stands twice", "one of each"
                    )
                return types.Enumerated(words)
            case syntax.TupleBody(parts=parts):
                return self._body(parts)
            case syntax.TypeName(text=text):
                return self._defined(text, node.place)
            case _:
                raise types.refused(
                    node.place, "this type is not yet supported", "rstring"
                )

    def _bounded(
        self, kind: types.SplType, bound: tuple[syntax.Node, ...], place: Place
    ) -> types.SplType:
        """Returns a type with the bound that it has, if any, which is a constant."""
        for node in bound:
            most = bind(node, self.scope()).constant(f"the bound of {kind}")
            kind = types.bounded(kind, most, place)
        return kind

    def _body(self, parts: tuple[syntax.Attribute, ...]) -> types.SplType:
        """Returns the type of attributes, or of what stands for them all."""
        first = parts[0]
        # tuple<T> and stream<T> are T itself.
        if len(parts) == 1 and not first.name:
            return self.read_type(first.type)
        found: list[tuple[str, types.SplType, Place]] = []
        for part in parts:
            kind = self.read_type(part.type)
            if part.name and any(part.name == name for name, _, _ in found):
                expected = "one of each"
                raise types.refused(part.place, f'"{part.name}" stands twice', expected)
            if part.name:
                found.append((part.name, kind, part.place))
            elif isinstance(kind, types.Tuple):
                found += [(name, it, part.place) for name, it in kind.attributes]
            else:
                raise types.refused(
                    part.place, f"{kind} without a name", "a name behind it"
                )
        return types.merged(found)

    def _defined(self, text: str, place: Place) -> types.SplType:
        """Returns the type that a text names: its own, another's, or a stream's."""
        if text in self._reading:
            raise types.refused(place, f'the type "{text}" is part of itself')
        self._reading.append(text)
        try:
            return self._looked_up(text, place)
        finally:
            self._reading.pop()

    def _looked_up(self, text: str, place: Place) -> types.SplType:
        """Returns the type of a name."""
        if text in self.kinds:
            return self.kinds[text]
        composite, _, last = text.rpartition("::")[2].rpartition(".")
        own = self.composite.types if not composite else ()
        # Main.T is a type of the composite Main, T one of this composite.
        named = self.world.composites.get(composite)
        for one in named.types if named else (*own, *self.world.types):
            if one.name == last:
                return self.read_type(one.body)
        if text in self.taken:
            return self.taken[text].type
        for call in self.composite.graph:
            for head in call.heads:
                if head.name == text:
                    return self._tuple(head.body)
        known = self.world.inputs.get(text)
        # A stream's name is the type of its tuples, also of one from outside.
        if known is not None and known.columns:
            return self._undeclared(text, place)
        named_types = [one.name for one in self.composite.types]
        expected = (
            f"one of {', '.join(named_types)}" if named_types else "a type, or a stream"
        )
        raise types.refused(place, f'no type "{text}"', expected)

    def _makes(self, call: syntax.Invocation) -> bool:
        """Tells whether an operator makes tuples, which come in by no other."""
        (stream, *_) = self._streams(call)
        return bool(call.ports) or not isinstance(stream.step, spec.Given)

    @property
    def sunk(self) -> list[str]:
        """Returns the names of the streams that go into sinks."""
        # A composite without outputs is none: what is inside of it takes them.
        known, graph = self.world.composites, self.composite.graph
        ends = (one for one in graph if not one.heads and one.kind not in known)
        return [name for call in ends for name in call.taken]

    def outputs(self) -> list[spec.Output]:
        """Returns what comes out: what goes into a sink, and what nothing takes.

        Every operator is bound, so that each one's mistakes are found.
        """
        self._check_configs(self.composite.configs)
        for call in self.composite.graph:
            self._streams(call)
        taken = {name for call in self.composite.graph for name in call.taken}
        taken -= {*self.sunk}
        ends = [source.name for source in self.composite.outputs]
        made = [
            head.name
            for call in self.composite.graph
            for head in call.heads
            if head.name in self.sunk or (head.name not in taken and self._makes(call))
        ]
        # A stream that goes into a sink comes out, even if others take it too.
        names = dict.fromkeys([*made, *ends, *self.sunk])
        place = self.composite.place
        return [spec.Output(name, self.stream(name, place).step) for name in names]


def _refuse_clauses(call: syntax.Invocation) -> None:
    """Refuses clauses that an operator does not have: they would be read past."""
    if call.kind not in _OPERATORS:
        return
    windows = () if call.kind in _WITH_WINDOWS else call.windows
    outputs = call.outputs if call.kind == "Custom" else ()
    for what, clauses in (("a window", windows), ("an output", outputs)):
        for clause in clauses:
            told = f"{what} clause of a {call.kind}"
            raise types.refused(clause.place, told, "none")
