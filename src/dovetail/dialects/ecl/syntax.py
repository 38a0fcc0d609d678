"""What an ECL text says, before anyone asks what its names mean.

Every node knows the place where it stands, so that whatever is wrong with it can be
shown there. Definitions, fields of records, assignments and options are all read by
the same few rules; what they are is decided by where they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import cast

from dovetail.errors import Place


@dataclass(frozen=True, slots=True)
class _Placed:
    """A piece of text at a place; two that say the same are the same."""

    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Omitted(_Placed):
    """An argument that is left out: `OUTPUT(x,,'file')`."""


@dataclass(frozen=True, slots=True)
class Name(_Placed):
    """A name, as it is written; ECL does not look at its case."""

    text: str

    @property
    def word(self) -> str:
        """Returns the name in lower case."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Number(_Placed):
    """A number, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Text(_Placed):
    """A text between quotes, escapes resolved; `prefix` is the letter before them."""

    value: str
    prefix: str


@dataclass(frozen=True, slots=True)
class TypeName(_Placed):
    """One of the language's own types, in upper case: `UNSIGNED4`, `DECIMAL8_2`."""

    text: str


@dataclass(frozen=True, slots=True)
class SetType(_Placed):
    """`SET OF` a type."""

    element: TypeName | SetType | Name


@dataclass(frozen=True, slots=True)
class Member(_Placed):
    """`of.name`."""

    of: Node
    name: str

    @property
    def word(self) -> str:
        """Returns the name in lower case."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Call(_Placed):
    """`of(arguments)`: a function, a transform, or a filtered data set."""

    of: Node
    arguments: tuple[Node, ...]

    @property
    def word(self) -> str:
        """Returns the name that is called, in lower case, or nothing."""
        return self.of.word if isinstance(self.of, Name) else ""


class Reach(Enum):
    """How far a part goes: one item, to a place, to the end, or as far as needed."""

    ONE = "[n]"
    TO = "[n..m]"
    END = "[n..]"
    ANY = "[n..*]"


@dataclass(frozen=True, slots=True)
class Part(_Placed):
    """`of[first..last]`: letters of a text, items of a set, rows of a data set."""

    of: Node
    reach: Reach
    first: Node
    last: Node


@dataclass(frozen=True, slots=True)
class Operation(_Placed):
    """An operator, in upper case, with its operands."""

    sign: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Cast(_Placed):
    """`(type)operand`."""

    type: Node
    operand: Node


@dataclass(frozen=True, slots=True)
class Items(_Placed):
    """`[a, b]`: a set, or the rows of a data set."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Braces(_Placed):
    """`{a, b}`: a row's values, a record's fields, or what belongs to a field."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Sequence(_Placed):
    """Words side by side: `LEFT OUTER`, `Rec L`, `STRING20 name`."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Defaulted(_Placed):
    """A parameter with the value that it has otherwise: `INTEGER n = 5`."""

    head: Sequence
    value: Node


@dataclass(frozen=True, slots=True)
class Arrow(_Placed):
    """`condition => value` of a MAP or a CASE."""

    condition: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Definition(_Placed):
    """`head := body`: a definition, a field with its value, or an assignment."""

    head: Node
    body: Node


@dataclass(frozen=True, slots=True)
class Record(_Placed):
    """`RECORD .. END`; options are calls or names."""

    base: tuple[Node, ...]
    options: tuple[Node, ...]
    fields: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Transform(_Placed):
    """`TRANSFORM .. END`, or `TRANSFORM(record, ..)` with the record before."""

    record: tuple[Node, ...]
    options: tuple[Node, ...]
    statements: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function(_Placed):
    """`FUNCTION .. RETURN result; END`."""

    statements: tuple[Node, ...]
    result: Node


@dataclass(frozen=True, slots=True)
class Module(_Placed):
    """`MODULE .. END`: definitions under one name; bases are modules it begins with."""

    bases: tuple[Node, ...]
    statements: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Import(_Placed):
    """`IMPORT a.b AS c, d`: names of other texts, each with its path in lower case.

    The name `*` is of a path all of whose names are brought.
    """

    paths: tuple[tuple[str, str], ...]


Node = (
    Omitted
    | Name
    | Number
    | Text
    | TypeName
    | SetType
    | Member
    | Call
    | Part
    | Operation
    | Cast
    | Items
    | Braces
    | Sequence
    | Defaulted
    | Arrow
    | Definition
    | Record
    | Transform
    | Function
    | Module
    | Import
)


def parts_of(node: Node) -> Iterator[Node]:
    """Yields a node and all nodes in it."""
    yield node
    for one in fields(node):
        found = getattr(node, one.name)
        for part in found if isinstance(found, tuple) else (found,):
            if isinstance(part, _Placed):
                yield from parts_of(cast("Node", part))


def word_of(node: Node) -> str:
    """Returns the name that a node is or calls, in lower case, or nothing."""
    match node:
        case Name() | Call():
            return node.word
        case _:
            return ""


def words_of(node: Node) -> str:
    """Returns the names side by side in lower case, those of calls among them."""
    parts = node.parts if isinstance(node, Sequence) else (node,)
    return " ".join(word_of(part) for part in parts)
