"""What an SPL text says, before anyone asks what its names mean.

Every node knows the place where it stands, so that whatever is wrong with it can be
shown there. Settings of windows, parameters and configurations are all a name with
values; what they are is decided by where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

from dovetail.dialects.grammar import Braces, Items, Node, Number, Operation, nodes

__all__ = ["Braces", "Items", "Node", "Number", "Operation", "nodes"]


# Values.


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name, or a parameter of a composite, which begins with $."""

    text: str


@dataclass(frozen=True, slots=True)
class Scoped(Name):
    """The name of a function or a type behind its namespace: `spl.math::abs`."""


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A text between quotes, escapes resolved; `suffix` is the letter behind it."""

    value: str
    suffix: str


@dataclass(frozen=True, slots=True)
class CastOrSum(Operation):
    """`(T) -x`: a value of another type if `T` is one, else what `T - x` is."""


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """A value of another type; of a type that the text names it is a name too."""

    type: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function, or a part of a window, with its arguments."""

    of: Node
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Member(Node):
    """Something of something: `L.ticker`, `spl.math::abs`."""

    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Part(Node):
    """An element of a list or a map."""

    of: Node
    at: Node


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """Elements of a list or letters of a text, from one place up to before another.

    Each of both has no value or one.
    """

    of: Node
    start: tuple[Node, ...]
    end: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Pairs(Node):
    """A map that is written out: key, value, key, value."""

    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    """A name and its value, in an output or a tuple."""

    name: str
    value: Node


@dataclass(frozen=True, slots=True)
class TupleText(Node):
    """A tuple that is written out."""

    parts: tuple[Assignment, ...]


# Types.


@dataclass(frozen=True, slots=True)
class Primitive(Node):
    """One of the language's own types; a `bound` is the most letters of a text."""

    word: str
    bound: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Collection(Node):
    """A list, set, map or optional of types; a `bound` is the most elements."""

    word: str
    of: tuple[Node, ...]
    bound: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    """A type that the text defines, or the one of a stream."""

    text: str


def as_type(node: Node) -> Node:
    """Returns the type that a node is; a name has been read as a value."""
    match node:
        case Name(text=text):
            return TypeName(node.place, text)
        case Member(of=Name() | Member() as of, name=name):
            owner = as_type(of)
            before = f"{owner.text}." if isinstance(owner, TypeName) else ""
            return TypeName(node.place, before + name)
        case _:
            return node


@dataclass(frozen=True, slots=True)
class Enumeration(Node):
    """A type of some words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """An attribute; without a name all those of a type."""

    type: Node
    name: str


@dataclass(frozen=True, slots=True)
class TupleBody(Node):
    """The attributes of a tuple, or the one type that stands for them."""

    parts: tuple[Attribute, ...]


# Operators.


@dataclass(frozen=True, slots=True)
class Setting(Node):
    """A name with values: a window, a parameter, a configuration."""

    name: str
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class OutputClause(Node):
    """The assignments of an output port."""

    name: str
    parts: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """Code beside an operator: `state`, or `onTuple` and a port."""

    words: tuple[str, ...]
    body: Node

    @property
    def name(self) -> str:
        """Returns its words: what it is done for."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Block(Node):
    """Statements between braces."""

    statements: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Loop(Node):
    """A `while`: its condition, and what is done again and again."""

    condition: Node
    body: Node


@dataclass(frozen=True, slots=True)
class Each(Node):
    """A `for`: a variable of a type that has each element, and what is done with it."""

    name: str
    type: Node
    elements: Node
    body: Node


@dataclass(frozen=True, slots=True)
class Jump(Node):
    """`break`, `continue` or `return`, which gives the value of a function."""

    word: str
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Stepped(Node):
    """A variable that is 1 more or less: before its value is read, or behind it."""

    sign: str
    of: Node
    is_before: bool


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """An `if`: its condition, then what is done, then what else."""

    condition: Node
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Action(Node):
    """A call as a statement: `submit(In, Out);`."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Change(Node):
    """A variable or attribute that gets another value."""

    sign: str
    target: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A variable of code, with its first value; or what a function is called with."""

    is_mutable: bool
    type: Node
    name: str
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Variables(Node):
    """Several variables of one type: `int32 a = 1, b = 2;`."""

    each: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Source(Node):
    """A stream that is named where one is taken; `bodies` has its type, if given."""

    name: str
    bodies: tuple[TupleBody, ...]


@dataclass(frozen=True, slots=True)
class Port(Node):
    """The streams of an input port, and its own name, where it has one."""

    sources: tuple[Source, ...]
    alias: str

    @property
    def name(self) -> str:
        """Returns the name by which expressions know the port."""
        return self.alias or self.sources[0].name


@dataclass(frozen=True, slots=True)
class Head(Node):
    """A stream that an operator gives: its type, its name, that of its port."""

    body: TupleBody
    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class Invocation(Node):
    """An operator with its streams and clauses."""

    heads: tuple[Head, ...]
    alias: str
    operator: str
    ports: tuple[Port, ...]
    logics: tuple[Logic, ...]
    windows: tuple[Setting, ...]
    params: tuple[Setting, ...]
    outputs: tuple[OutputClause, ...]
    configs: tuple[Setting, ...]
    catches: bool = field(default=False, kw_only=True)

    @property
    def kind(self) -> str:
        """Returns the operator's name without its namespace."""
        return self.operator.rpartition("::")[2]

    @property
    def codes(self) -> tuple[Logic, ...]:
        """Returns the clauses of code that is carried out."""
        return tuple(one for one in self.logics if one.words[0] != "state")

    @property
    def lasting(self) -> tuple[Variable, ...]:
        """Returns the variables of its state, which last from tuple to tuple."""
        states = (one.body for one in self.logics if one.words[0] == "state")
        every = chain.from_iterable(map(listed, states))
        return tuple(one for one in every if isinstance(one, Variable))

    @property
    def taken(self) -> list[str]:
        """Returns the names of the streams that it takes."""
        return [source.name for port in self.ports for source in port.sources]


@dataclass(frozen=True, slots=True)
class Definition(Node):
    """A type of the text's own."""

    name: str
    body: TupleBody


@dataclass(frozen=True, slots=True)
class Declared(Node):
    """A parameter of a composite, with its default where it has one.

    Its `mode` says what is given for it: an attribute, an expression, which may have
    `types`, a function, an operator or a type.
    """

    mode: str
    types: tuple[Node, ...]
    name: str
    values: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A function of the text's own."""

    type: Node
    name: str
    formals: tuple[Variable, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Composite(Node):
    """A graph of operators with its types and parameters."""

    name: str
    inputs: tuple[Source, ...]
    outputs: tuple[Source, ...]
    declared: tuple[Declared, ...]
    types: tuple[Definition, ...]
    graph: tuple[Invocation, ...]
    configs: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Program(Node):
    """A whole text; `types` stand outside of its composites, who all know them."""

    composites: tuple[Composite, ...]
    functions: tuple[Function, ...]
    types: tuple[Definition, ...]


# Calls of these are left out where code is carried out.
SILENT = frozenset(
    (
        *("println", "print", "printString", "printStringLn"),
        *("appTrc", "appLog", "log", "fflush"),
    )
)
"""What only people or files see: it changes no tuple."""


def listed(node: Node) -> tuple[Node, ...]:
    """Returns the statements of a block, or the one that a node is."""
    # `if (x) y;` has one statement where a block has many.
    many = node.statements if isinstance(node, Block) else (node,)
    each = (one.each if isinstance(one, Variables) else (one,) for one in many)
    return tuple(chain.from_iterable(each))


def altered(node: Any, alter: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - or a tuple
    """Returns a node, or several, each part of it altered before its own parts are."""
    if isinstance(node, tuple):
        return tuple(altered(one, alter) for one in node)
    if isinstance(node, Node):
        made = alter(node)
        parts = {it.name: getattr(made, it.name) for it in fields(made)}
        return replace(made, **{it: altered(one, alter) for it, one in parts.items()})
    return node


def rewritten(node: Any, found: Mapping[int, Node]) -> Any:  # noqa: ANN401 - or a tuple
    """Returns a node, or several, in which others stand for some by their identity."""
    return altered(node, lambda one: found.get(id(one), one))
