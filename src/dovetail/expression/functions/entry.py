"""What an entry of the table of functions says, and the short ways to say it.

A `Function` has a typing rule and an evaluation on plain values, which is all that it
needs: kernels call the evaluation for each row. Where Arrow or numpy can do the same
for whole columns, it names that operation, too. A `Macro` is only another way to write
other functions.

A rule gets the arguments and returns the types they are cast to with the type of the
result, or None where they do not fit. Most rules are written as a text, a `shape`:

    row("repeat", "string, int -> string", lambda text, count: text * max(count, 0))
    row("round_off", "double[, int] -> double", ...)     what is in brackets is at will
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar, Unpack

from dovetail import schema
from dovetail.expression import kinds
from dovetail.expression.tree import Call, Interval, Kind, Literal, Node, Value

Arguments = tuple[Node, ...]
# Nested tuples of plain data; `kernels/arrays/program.py` says what they mean.
Program = tuple[object, ...]
Programs = tuple[Program, ...]

ANY_NUMBER = -1


@dataclass(frozen=True, slots=True)
class Signature:
    """The types that arguments are cast to, and the type of the result."""

    arguments: tuple[Kind, ...]
    result: Kind


Rule = Callable[[Arguments], Signature | None]
# What computes one value of plain values. It travels to workers with all that it names:
# it may name functions and constants of ours, but no module, which would travel whole.
Compute = Callable[..., Value]
Evaluation = Callable[[Call], Compute]
# The types of the parameters of a lambda, found from the arguments before it.
Parameters = Callable[[Arguments], tuple[Kind, ...]]
# The program for whole columns, or None where a call has a form that has none.
Columnwise = Callable[[Call, Programs], Program | None]
Build = Callable[..., Node]
Written = TypeVar("Written", bound=Callable[..., Any])


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
    parameters: Parameters = lambda _arguments: ()  # most functions take no lambda
    takes: int = ANY_NUMBER


class Options(TypedDict, total=False):
    """What an entry of a function may say beside its types and what it computes."""

    strict: bool
    parameters: Parameters
    takes: int


@dataclass(frozen=True, slots=True)
class RowFunction:
    """What kernels call for each row; it travels with its code, and is known by name.

    Programs are compared and stand in fingerprints, where a function has no face: all
    that its computation depends on beside the name stands around it in the program.
    """

    name: str
    strict: bool
    compute: Compute = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Macro:
    """A name for a combination of other functions, which `build` calls by name.

    `parts` are the names of those functions. `takes` is the number of arguments,
    `optional` how many more there may be; ANY_NUMBER leaves it to the functions.
    """

    name: str
    parts: tuple[str, ...]
    expand: Callable[..., Node]
    takes: int = ANY_NUMBER
    optional: int = 0


Entry = Function | Macro


def plain(compute: Compute) -> Evaluation:
    """Returns the evaluation of a function that needs no types."""
    return lambda _call: compute


def typed(
    name: str,
    rule: Rule | str,
    evaluate: Evaluation,
    columns: Columnwise | str | None = None,
    **rest: Unpack[Options],
) -> Function:
    """Returns the entry of a function that computes as the types of a call want it.

    `columns` is what lowers a call to a program, or the name of the kernels' operation.
    """
    known = shape(rule) if isinstance(rule, str) else rule
    # an entry stands for columns by the operation's name, or lowers a call itself
    whole = kernel(columns) if isinstance(columns, str) else columns
    return Function(name, known, evaluate, whole, **rest)


def row(
    name: str,
    rule: Rule | str,
    compute: Compute,
    columns: Columnwise | str | None = None,
    **rest: Unpack[Options],
) -> Function:
    """Returns the entry of a function that computes the same for all types."""
    return typed(name, rule, plain(compute), columns, **rest)


def alias(name: str, other: str, *, takes: int = ANY_NUMBER) -> Macro:
    """Returns the entry of a second name for a function."""
    return Macro(name, (other,), lambda build, *given: build(other, *given), takes)


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a module that are written as what they do, each above its code.

    A decorated function stays as it is: kernels take it along without the table.
    """

    written: list[Entry] = field(default_factory=list)

    def row(
        self,
        name: str,
        rule: Rule | str,
        columns: Columnwise | str | None = None,
        *,
        told: Callable[[Compute], Evaluation] = plain,
        **rest: Unpack[Options],
    ) -> Callable[[Written], Written]:
        """Enters what computes a value from plain values, and what it is told first."""

        def enter(compute: Written) -> Written:
            self.written.append(typed(name, rule, told(compute), columns, **rest))
            return compute

        return enter

    def typed(
        self,
        name: str,
        rule: Rule | str,
        columns: Columnwise | str | None = None,
        **rest: Unpack[Options],
    ) -> Callable[[Written], Written]:
        """Enters what makes the computation for the types of a call."""

        def enter(evaluate: Written) -> Written:
            self.written.append(typed(name, rule, evaluate, columns, **rest))
            return evaluate

        return enter

    def macro(
        self, name: str, parts: tuple[str, ...], takes: int, optional: int = 0
    ) -> Callable[[Written], Written]:
        """Enters what writes a function by others."""

        def enter(expand: Written) -> Written:
            self.written.append(Macro(name, parts, expand, takes, optional))
            return expand

        return enter


def types(arguments: Arguments) -> tuple[Kind, ...]:
    """Returns the types of arguments."""
    return tuple(argument.type for argument in arguments)


_SPANS: dict[str, Kind] = {str(span): span for span in Interval}


def shape(text: str) -> Rule:
    """Returns the rule of fixed types: `string, int[, string] -> string`."""
    inside, _, outcome = text.partition(" -> ")
    needed, _, at_will = inside.partition("[")
    least, more = (
        [_SPANS.get(part) or schema.parse_type(part) for part in parts if part]
        for parts in (
            schema.split_outside(needed),
            schema.split_outside(at_will[:-1]),
        )
    )
    return expects(
        _SPANS.get(outcome) or schema.parse_type(outcome),
        *least,
        *more,
        optional=len(more),
    )


def expects(result: Kind, *wanted: Kind, optional: int = 0) -> Rule:
    """Returns the rule of fixed argument types, the last `optional` of them at will."""

    def rule(arguments: Arguments) -> Signature | None:
        if not len(wanted) - optional <= len(arguments) <= len(wanted):
            return None
        used = wanted[: len(arguments)]
        if not all(map(kinds.implicit, types(arguments), used)):
            return None
        return Signature(used, result)

    return rule


def kept(result: Callable[..., Kind | None]) -> Rule:
    """Returns the rule of arguments that keep their types, which tell the result's."""

    def rule(arguments: Arguments) -> Signature | None:
        found = result(*types(arguments))
        return None if found is None else Signature(types(arguments), found)

    return rule


def alike(
    meet: Callable[..., Kind | None], result: Callable[[Kind], Kind] = lambda kind: kind
) -> Rule:
    """Returns the rule of arguments that are all cast to the type that they meet in."""

    def rule(arguments: Arguments) -> Signature | None:
        common = meet(*types(arguments))
        if common is None:
            return None
        return Signature((common,) * len(arguments), result(common))

    return rule


def either(*texts: str) -> Rule:
    """Returns the rule of several shapes: the one that has the first argument's type.

    Where none has it, the last of those counts that take the arguments.
    """
    rules = tuple(map(shape, texts))

    def rule(arguments: Arguments) -> Signature | None:
        found = [taken for taken in (known(arguments) for known in rules) if taken]
        own = (one for one in found if one.arguments[:1] == types(arguments[:1]))
        return next(own, found[-1] if found else None)

    return rule


def when(test: Callable[..., bool], text: str) -> Rule:
    """Returns the rule of a shape, for arguments whose types pass a test."""
    rule = shape(text)
    return lambda given: rule(given) if test(*types(given)) else None


def kernel(name: str) -> Columnwise:
    """Returns the program of an operation of the kernels, by its name."""
    return lambda call, arguments: operation(name, call.type, *arguments)


def operation(
    name: str, kind: Kind, *arguments: Program, **constants: object
) -> Program:
    """Returns the program of an operation: its type, its constants, its arguments."""
    return (name, str(kind), tuple(constants.items()), *arguments)


def of_constants(make: Callable[..., Program | None], at: int = 0) -> Columnwise:
    """Returns the program of a call whose arguments but one are written out.

    `make` gets the type of the call, the program of the argument that stands `at` this
    place, and the values of the others. A null among them makes everything null.
    """

    def lower(call: Call, arguments: Programs) -> Program | None:
        others = list(call.arguments)
        del others[at]
        if not all(isinstance(other, Literal) for other in others):
            return None
        known = tuple(map(constant, others))
        if None in known:
            return ("literal", None, str(call.type))
        return make(call.type, arguments[at], *known)

    return lower


def constant(node: Node) -> Value:
    """Returns the value of a literal, and None of anything else."""
    return node.value if isinstance(node, Literal) else None
