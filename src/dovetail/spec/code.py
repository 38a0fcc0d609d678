"""Code that is carried out for each row: variables, branches, loops, rows handed on.

    mutable n = 0;                        a variable that lasts from row to row
    n = n + 1;                            expressions see the row and all variables as l
    if (n % 2 = 0) submit(row, port 1)    rows go out by numbered ports

Each variable is a column beside those of the row, under a name that no column has. What
is assigned is a copy: two variables never share what one of them holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.join import Columns

MOST_TURNS = 1_000_000
"""How many turns the loops of one row may take; more are taken for an endless loop."""


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a record."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """What a list has at a place, from 0, or a map for a key."""

    at: Expression


@dataclass(frozen=True, slots=True)
class Target:
    """A variable, or a part of what it holds."""

    name: str
    within: tuple[Field | Element, ...] = ()


@dataclass(frozen=True, slots=True)
class Assigned:
    """A variable, or a part of it, gets a value."""

    target: Target
    value: Expression


class Edit(Enum):
    """How a list, a set or a map is changed in its place."""

    APPEND = "append"
    """One more element behind a list."""
    EXTEND = "extend"
    """All elements of another list behind one."""
    INSERT = "insert"
    """An element in front of the one at a place of a list."""
    ADD = "add"
    """An element of a set, once."""
    PUT = "put"
    """A value for a key of a map."""
    REMOVE_AT = "remove_at"
    """Without the element at a place of a list."""
    REMOVE = "remove"
    """Without an element of a set."""
    REMOVE_KEY = "remove_key"
    """Without a key of a map."""
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Changed:
    """A list, a set or a map is changed by some values."""

    target: Target
    change: Edit
    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Branched:
    """One or the other is carried out, as a condition is true or not."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeated:
    """Carried out again and again, as long as a condition is true."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ForEach:
    """Carried out for each element of a list, which a variable has then."""

    name: str
    elements: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Attempted:
    """Carried out up to where a value is missing; then it goes on with `otherwise`.

    What has been done until then stays. The variable `reason` says what was missing.
    """

    body: tuple[Statement, ...]
    reason: str
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Called:
    """The statements of a function: a return among them ends them alone."""

    body: tuple[Statement, ...]


class Jump(Enum):
    """Where it goes on when not with the next statement."""

    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"


@dataclass(frozen=True, slots=True)
class Jumped:
    """What is behind it in a block is not carried out."""

    to: Jump


@dataclass(frozen=True, slots=True)
class Submitted:
    """A row goes out by a port."""

    port: int
    columns: Columns


@dataclass(frozen=True, slots=True)
class Punctuated:
    """A mark goes out by a port."""

    port: int


Statement = (
    Assigned
    | Changed
    | Branched
    | Repeated
    | ForEach
    | Attempted
    | Called
    | Jumped
    | Submitted
    | Punctuated
)


def most_submitted(statements: Iterable[Statement]) -> int:
    """Returns how many rows and marks may go out; of a loop it is more than one."""
    count = 0
    for one in statements:
        match one:
            case Submitted() | Punctuated():
                count += 1
            case Branched(then=then, otherwise=otherwise):
                count += max(most_submitted(then), most_submitted(otherwise))
            case Called(body=body):
                count += most_submitted(body)
            case Repeated(body=body) | ForEach(body=body):
                count += 2 * most_submitted(body)
            case Attempted(body=body, otherwise=otherwise):
                count += most_submitted(body) + most_submitted(otherwise)
            case _:
                pass
    return count


@dataclass(frozen=True, slots=True)
class Code:
    """What is done when a row comes, a mark, and the end of the stream.

    Each of the `ports` has rows of such columns. `variables` are the columns of all
    variables; those of `state` last, and get their first values there, one after the
    other. Others are new with each row.
    """

    ports: tuple[Schema, ...]
    variables: Schema
    state: tuple[Assigned, ...]
    on_row: tuple[Statement, ...]
    on_mark: tuple[Statement, ...] = ()
    on_end: tuple[Statement, ...] = ()

    @property
    def lasting(self) -> tuple[str, ...]:
        """Returns the names of the variables that last."""
        return tuple(one.target.name for one in self.state)
