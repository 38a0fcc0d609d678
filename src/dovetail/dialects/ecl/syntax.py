"""What an ECL text says, before anyone asks what its names mean.

Every node knows the place where it stands, so that whatever is wrong with it can be
shown there. Definitions, fields of records, assignments and options are all read by
the same few rules; what they are is decided by where they stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dovetail.dialects.grammar import Braces, Items, Node, Number, Operation, nodes

__all__ = ["Braces", "Items", "Node", "Number", "Operation", "nodes"]


@dataclass(frozen=True, slots=True)
class Omitted(Node):
    """An argument that is left out: `OUTPUT(x,,'file')`."""


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name, as it is written; ECL does not look at its case."""

    text: str

    @property
    def word(self) -> str:
        """Returns the name in lower case."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A text between quotes, escapes resolved; `prefix` is the letter before them."""

    value: str
    prefix: str


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    """One of the language's own types, in upper case: `UNSIGNED4`, `DECIMAL8_2`."""

    text: str


@dataclass(frozen=True, slots=True)
class SetType(Node):
    """`SET OF` a type."""

    element: TypeName | SetType | Name


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`of.name`."""

    of: Node
    name: str

    @property
    def word(self) -> str:
        """Returns the name in lower case."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Call(Node):
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
class Part(Node):
    """`of[first..last]`: letters of a text, items of a set, rows of a data set."""

    of: Node
    reach: Reach
    first: Node
    last: Node


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """`(type)operand`."""

    type: Node
    operand: Node


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """Words side by side: `LEFT OUTER`, `Rec L`, `STRING20 name`."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Defaulted(Node):
    """A parameter with the value that it has otherwise: `INTEGER n = 5`."""

    head: Sequence
    value: Node


@dataclass(frozen=True, slots=True)
class Arrow(Node):
    """`condition => value` of a MAP or a CASE."""

    condition: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Definition(Node):
    """`head := body`: a definition, a field with its value, or an assignment."""

    head: Node
    body: Node


@dataclass(frozen=True, slots=True)
class Record(Node):
    """`RECORD .. END`; options are calls or names."""

    base: tuple[Node, ...]
    options: tuple[Node, ...]
    fields: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Transform(Node):
    """`TRANSFORM .. END`, or `TRANSFORM(record, ..)` with the record before."""

    record: tuple[Node, ...]
    options: tuple[Node, ...]
    statements: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function(Node):
    """`FUNCTION .. RETURN result; END`."""

    statements: tuple[Node, ...]
    result: Node


@dataclass(frozen=True, slots=True)
class Module(Node):
    """`MODULE .. END`: definitions under one name; bases are modules it begins with.

    Those of an INTERFACE may be without values, which a MODULE that begins with it has.
    """

    bases: tuple[Node, ...]
    statements: tuple[Node, ...]
    is_interface: bool = False


@dataclass(frozen=True, slots=True)
class Import(Node):
    """`IMPORT a.b AS c, d`: names of other texts, each with its path in lower case.

    The name `*` is of a path all of whose names are brought.
    """

    paths: tuple[tuple[str, str], ...]


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
