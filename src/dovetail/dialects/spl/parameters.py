"""Parameters of composites: where they stand is what the invocation gives for them.

    composite Above(output Out; input In) {
      param type $T; attribute $key; expression<float64> $least : 0.5; operator $Op;
      graph stream<$T> Out = $Op(In) { param filter : $key > $least; }
    }
    stream<Price> Dear = Above(Prices) { param T : Price; key : price; Op : Filter; }

A composite with parameters is a text into which they are written, without a parameter
left. Names in what is given mean what they mean where the composite is invoked: its
types get names that no type has, `Price given`, its ports those of the composite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from dovetail.dialects.spl import syntax
from dovetail.dialects.spl.expressions import Scope, bind
from dovetail.dialects.spl.types import SplType, refused
from dovetail.errors import DialectError, Place

Nodes = tuple[syntax.Node, ...]
_TYPES = (
    *(syntax.Primitive, syntax.Collection, syntax.TypeName),
    *(syntax.TupleBody, syntax.Enumeration),
)


def filled(whole: syntax.Composite, given: Mapping[str, Nodes]) -> syntax.Composite:
    """Returns a composite without parameters: with what is given, or their defaults."""
    known: dict[str, Nodes] = {}
    types = list(whole.types)
    for one in whole.declared:
        values = given.get(one.name) or _with(one.values, known)
        if not values:
            hint = f"{one.mode} {one.name} : ..; gives it a default"
            raise refused(one.place, f"{one.name} has no value", "a default", hint)
        if one.mode == "type":
            kind = syntax.Attribute(one.place, syntax.as_type(values[0]), "")
            body = syntax.TupleBody(one.place, (kind,))
            types.append(syntax.Definition(one.place, one.name, body))
        else:
            known[one.name] = values
    return replace(
        whole,
        declared=(),
        types=tuple(types),
        graph=_with(whole.graph, known),
        configs=_with(whole.configs, known),
    )


def _with(node: Any, known: Mapping[str, Nodes]) -> Any:  # noqa: ANN401 - or a tuple
    """Returns a node in which values stand where their parameters did."""

    def put(one: syntax.Node) -> syntax.Node:
        match one:
            case syntax.Name(text=name) if name in known:
                return _only(known[name], one.place)
            # A parameter may have several values, where several may stand.
            case syntax.Setting(values=values):
                every = (known.get(getattr(it, "text", ""), (it,)) for it in values)
                return replace(one, values=tuple(chain.from_iterable(every)))
            case syntax.Assignment(name=name) | syntax.Member(name=name) if (
                name in known
            ):
                return replace(one, name=_last(_only(known[name], one.place)))
            case syntax.Invocation(operator=name) if name in known:
                return replace(one, operator=_last(_only(known[name], one.place)))
            case _:
                return one

    return syntax.altered(node, put)


def _only(values: Nodes, place: Place) -> syntax.Node:
    """Returns the one value of a parameter."""
    if len(values) > 1:
        raise refused(place, f"{len(values)} values in the place of one", "one")
    return values[0]


def _last(node: syntax.Node) -> str:
    """Returns the last part of a name: `spl.relational::Filter` is Filter."""
    match node:
        case syntax.Name(text=name) | syntax.Member(name=name):
            return name
        case _:
            raise refused(node.place, "no name, where one stands", "a name")


@dataclass(slots=True)
class Given:
    """What an invocation gives for the parameters of a composite.

    `sees` is what names mean at the invocation, its ports among them; `operators` are
    known by their names.
    """

    call: syntax.Invocation
    inside: syntax.Composite
    sees: Scope
    operators: Callable[[str], bool]
    kinds: dict[str, SplType] = field(default_factory=dict)
    """Types of the invocation, by the names that the composite has for them."""

    def values(self) -> dict[str, Nodes]:
        """Returns the values by the names of the parameters."""
        # A parameter is declared as $x and given as x.
        settings = {f"${one.name}": one for one in self.call.params}
        found: dict[str, Nodes] = {}
        for one in self.inside.declared:
            if one.name in settings:
                found[one.name] = self._value(one, settings.pop(one.name))
            elif not one.values:
                expected = f"{one.name[1:]}: .."
                told = f"no value of {one.name}"
                raise refused(self.call.place, told, expected)
        for setting in settings.values():
            told = f'no parameter "{setting.name}" of {self.call.kind}'
            known = ", ".join(one.name[1:] for one in self.inside.declared)
            raise refused(setting.place, told, f"one of {known}" * bool(known))
        return found

    def _value(self, one: syntax.Declared, setting: syntax.Setting) -> Nodes:
        """Returns what is given for a parameter, in words that the composite knows."""
        values = setting.values
        many = one.mode in {"expression", "attribute"}
        if len(values) > 1 and not many:
            raise refused(setting.place, f"several values of {setting.name}", "one")
        is_type = one.mode == "type"
        for node in values:
            if isinstance(node, _TYPES) and not is_type:
                told = f"a type for the {one.mode} {one.name}"
                raise refused(node.place, told, f"{_AN[one.mode]}")
        match one.mode:
            case "type":
                kind = syntax.as_type(values[0])
                return (self._named(kind, self.sees.read_type(kind)),)
            case "function" | "operator":
                self._check_name(one, values[0])
                return values
            case _:
                self._check_values(one, values)
                return self._translated(values)

    def _check_name(self, one: syntax.Declared, node: syntax.Node) -> None:
        """Refuses a function or an operator that is not there."""
        mode = one.mode
        is_name = isinstance(node, syntax.Name | syntax.Member)
        name = _last(node) if is_name else ""
        is_there = (
            name in self.sees.library if mode == "function" else self.operators(name)
        )
        # Any operator may be where tuples come from, or go to: that is outside.
        calls = [it for it in self.inside.graph if it.operator == one.name]
        is_end = calls and all(not (it.heads and it.ports) for it in calls)
        if not is_there and not (mode == "operator" and name and is_end):
            told = f'no {mode} "{name}"' if name else f"this is no {mode}"
            raise refused(node.place, told, f"{_AN[mode]}")

    def _check_values(self, one: syntax.Declared, values: Nodes) -> None:
        """Refuses what is no attribute, or an expression of another type."""
        kinds = [self.sees.read_type(it) for it in one.types]
        for node in values:
            if one.mode == "attribute":
                if not self._is_attribute(node):
                    told = f"{one.name} of what is no attribute"
                    raise refused(node.place, told, _AN[one.mode])
            elif kinds and (found := _type_of(node, self.sees)) not in {*kinds, None}:
                expected = " or ".join(map(str, kinds))
                raise refused(node.place, f"{one.name[1:]} is {found}", expected)

    def _is_attribute(self, node: syntax.Node) -> bool:
        """Tells whether a value is an attribute, of one port or of several."""
        match node:
            case syntax.Name(text=text) if any(
                it.type.get(text) for it in self.sees.ports
            ):
                return True
            case syntax.Name() | syntax.Member():
                return bool(bind(node, self.sees).sides)
            case _:
                return False

    def _named(self, node: syntax.Node, kind: SplType) -> syntax.TypeName:
        """Returns a type of the invocation by a name that no other type has."""
        text = node.text if isinstance(node, syntax.TypeName) else str(kind)
        name = f"{text} given"
        self.kinds[name] = kind
        return syntax.TypeName(node.place, name)

    def _translated(self, values: Nodes) -> Nodes:
        """Returns expressions whose names mean the same inside the composite."""
        ends = zip(self.call.ports, self.inside.inputs, strict=True)
        ports = {port.name: source.name for port, source in ends}
        found: dict[int, syntax.Node] = {}
        for node in syntax.nodes(values):
            match node:
                case syntax.TypeName():
                    found[id(node)] = self._named(node, self.sees.read_type(node))
                case syntax.Member(of=syntax.Name(text=text) as port) if text in ports:
                    found[id(port)] = syntax.Name(port.place, ports[text])
        made: Nodes = syntax.rewritten(values, found)
        return made


_AN = {
    "attribute": "an attribute of an input port",
    "expression": "an expression",
    "function": "the name of a function of the toolkit or of the text",
    "operator": "the name of an operator or composite",
    "type": "a type",
}


def _type_of(node: syntax.Node, sees: Scope) -> SplType | None:
    """Returns the type of an expression; None where only the composite knows it."""
    try:
        return bind(node, sees).type
    except DialectError:
        # It names what stands inside: its mistake, if it is one, is told there.
        return None


def operators_given(composites: Sequence[syntax.Composite]) -> Iterator[str]:
    """Yields the names that invocations and defaults may give as operators."""
    for one in composites:
        settings = [setting.values for call in one.graph for setting in call.params]
        for values in (*settings, *(it.values for it in one.declared)):
            for node in values:
                if isinstance(node, syntax.Name | syntax.Member):
                    yield _last(node)
