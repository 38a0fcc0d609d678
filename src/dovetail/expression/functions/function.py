"""What an entry of the table of functions says, and the shared ways to say it.

A `Function` has a typing rule and an evaluation on plain values, which is all that it
needs: kernels call the evaluation for each row. Where Arrow or numpy can do the same
for whole columns, it names that operation, too. A `Macro` is only another way to write
other functions. A rule gets the arguments and returns the types they are cast to with
the type of the result, or None where they do not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar, Unpack

from dovetail.expression.coercion import BINARY, implicit
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.schema import ArrayType, MapType, StructType

Arguments = tuple[Node, ...]
# Nested tuples of plain data; `kernels/arrays/program.py` says what they mean.
Program = tuple[object, ...]
_NESTED = (ArrayType, MapType, StructType)


def no_parameters(_arguments: Arguments) -> tuple[Kind, ...]:
    """Returns nothing: most functions take no lambda."""
    return ()


ANY_NUMBER = -1


@dataclass(frozen=True, slots=True)
class Signature:
    """The types that arguments are cast to, and the type of the result."""

    arguments: tuple[Kind, ...]
    result: Kind


Rule = Callable[[Arguments], Signature | None]
Evaluation = Callable[[Call], Callable[..., Value]]
# The types of the parameters of a lambda, found from the arguments before it.
Parameters = Callable[[Arguments], tuple[Kind, ...]]
# The program for whole columns, or None where a call has a form that has none.
Columnwise = Callable[[Call, tuple[Program, ...]], Program | None]
Build = Callable[..., Node]
Computed = TypeVar("Computed", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Function:
    """A function by its name; `strict` ones are null where any argument is null.

    `takes` is the number of arguments; ANY_NUMBER leaves it to the rule.
    """

    name: str
    rule: Rule
    evaluate: Evaluation
    columnwise: Columnwise | None = None
    strict: bool = True
    parameters: Parameters = no_parameters
    takes: int = ANY_NUMBER


class Options(TypedDict, total=False):
    """What an entry of a function may say beside its name and its rule."""

    columnwise: Columnwise | None
    strict: bool
    parameters: Parameters
    takes: int


class Counts(TypedDict, total=False):
    """How many arguments a macro takes."""

    takes: int
    optional: int


@dataclass(frozen=True, slots=True)
class RowFunction:
    """What kernels call for each row; it travels with its code, and is known by name.

    Programs are compared and stand in fingerprints, where a function has no face: all
    that its computation depends on beside the name stands around it in the program.
    """

    name: str
    strict: bool
    compute: Callable[..., Value] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Macro:
    """A name for a combination of other functions, which `build` calls by name.

    `parts` are the names of those functions. `takes` is the number of arguments,
    `optional` how many more there may be; ANY_NUMBER leaves it to the functions.
    """

    name: str
    expand: Callable[[Build, Arguments], Node]
    parts: tuple[str, ...]
    takes: int = ANY_NUMBER
    optional: int = 0


Entry = Function | Macro


def plain(function: Callable[..., Value]) -> Evaluation:
    """Returns the evaluation of a function that needs no types."""
    return lambda _call: function


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a module that are written as what they do, each above its code.

    A decorated function stays as it is: kernels take it along without the table.
    """

    written: list[Entry] = field(default_factory=list)

    def function(
        self,
        name: str,
        rule: Rule,
        *,
        told: Callable[[Callable[..., Value]], Evaluation] = plain,
        **rest: Unpack[Options],
    ) -> Callable[[Computed], Computed]:
        """Enters what computes a value from plain values, and what it is told first."""

        def enter(compute: Computed) -> Computed:
            self.written.append(Function(name, rule, told(compute), **rest))
            return compute

        return enter

    def typed(
        self, name: str, rule: Rule, **rest: Unpack[Options]
    ) -> Callable[[Computed], Computed]:
        """Enters what makes the computation for the types of a call."""

        def enter(evaluate: Computed) -> Computed:
            self.written.append(Function(name, rule, evaluate, **rest))
            return evaluate

        return enter

    def macro(
        self, name: str, parts: tuple[str, ...], **rest: Unpack[Counts]
    ) -> Callable[[Computed], Computed]:
        """Enters what writes a function by others."""

        def enter(expand: Computed) -> Computed:
            self.written.append(Macro(name, expand, parts, **rest))
            return expand

        return enter


def kinds(arguments: Arguments) -> tuple[Kind, ...]:
    """Returns the types of arguments."""
    return tuple(argument.type for argument in arguments)


def expects(result: Kind, *wanted: Kind, optional: int = 0) -> Rule:
    """Returns the rule of fixed argument types, the last `optional` of them at will."""

    def rule(arguments: Arguments) -> Signature | None:
        if not len(wanted) - optional <= len(arguments) <= len(wanted):
            return None
        used = wanted[: len(arguments)]
        if not all(map(implicit, kinds(arguments), used)):
            return None
        return Signature(used, result)

    return rule


def kernel(name: str) -> Columnwise:
    """Returns the program of an operation of the kernels on values without parts."""

    def lower(call: Call, arguments: tuple[Program, ...]) -> Program | None:
        if any(isinstance(argument.type, _NESTED) for argument in call.arguments):
            return None
        return operation(name, call.type, *arguments)

    return lower


def parts(name: str) -> Columnwise:
    """Returns the program of an operation that takes arrays, maps and structs."""
    return lambda call, arguments: operation(name, call.type, *arguments)


def operation(
    name: str, kind: Kind, *arguments: Program, **constants: object
) -> Program:
    """Returns the program of an operation: its type, its constants, its arguments."""
    return (name, str(kind), tuple(constants.items()), *arguments)


def nothing(kind: Kind) -> Program:
    """Returns the program of null."""
    return ("literal", None, str(kind))


def written(name: str, **defaults: object) -> Columnwise:
    """Returns the program of an operation whose arguments but the first are constants.

    `defaults` names them in order; a null among them makes everything null.
    """

    def lower(call: Call, arguments: tuple[Program, ...]) -> Program | None:
        first, *others = call.arguments
        if first.type == BINARY or not all(map(is_literal, others)):
            return None
        given = tuple(map(constant, others))
        if None in given:
            return nothing(call.type)
        constants = defaults | dict(zip(defaults, given, strict=False))
        return operation(name, call.type, arguments[0], **constants)

    return lower


def is_literal(node: Node) -> bool:
    """Tells whether a value stands in the expression itself."""
    return isinstance(node, Literal)


def alias(name: str, other: str, *, takes: int = ANY_NUMBER) -> Macro:
    """Returns the entry of a second name for a function."""
    return Macro(name, lambda build, given: build(other, *given), (other,), takes)


def constant(node: Node) -> Value:
    """Returns the value of a literal, and None of anything else."""
    return node.value if isinstance(node, Literal) else None
