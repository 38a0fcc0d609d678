"""A call of a function of the toolkit: which arguments it takes, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dovetail.dialects.spl import types, values
from dovetail.errors import DialectError, Place

Function = Callable[[Sequence[values.Value], Place], values.Value]
Kinds = frozenset[types.SplType]

FLOAT: Kinds = frozenset(types.FLOATS)
DECIMAL: Kinds = frozenset(types.DECIMALS)
INTEGER: Kinds = frozenset(types.INTEGERS)
TEXT: Kinds = types.STRINGS
PLACE: Kinds = frozenset({types.INT32})
TIME: Kinds = frozenset({types.TIMESTAMP})
ORDERED: Kinds = frozenset({*types.NUMBERS, *types.STRINGS, types.TIMESTAMP})


def only(*kinds: types.SplType) -> Kinds:
    """Returns the kinds of an argument."""
    return frozenset(kinds)


def own(arguments: Sequence[values.Value], count: int) -> list[Kinds]:
    """Returns the kinds of so many arguments, whatever they are."""
    kinds = [only(one.type) for one in arguments]
    return [*kinds, *[only()] * count][:count]


def checked(
    arguments: Sequence[values.Value], place: Place, *kinds: Kinds, least: int = 0
) -> None:
    """Refuses arguments of other types, or another number of them."""
    counts = (len(kinds) if least == 0 else least, len(kinds))
    if not counts[0] <= len(arguments) <= counts[1]:
        words = " or ".join(dict.fromkeys(map(str, counts)))
        raise types.refused(place, f"{len(arguments)} arguments", f"{words} of them")
    for value, known in zip(arguments, kinds, strict=False):
        if value.type not in known:
            words = " or ".join(sorted(map(str, known)))
            raise types.refused(
                value.place, f"an argument of the type {value.type}", words
            )


def of(result: types.SplType | None, template: str, *kinds: Kinds) -> Function:
    """Returns a function by its template over x, y, z; without a result as x is."""

    def function(arguments: Sequence[values.Value], place: Place) -> values.Value:
        checked(arguments, place, *kinds)
        parts = dict(zip("xyz", (one.tree for one in arguments), strict=False))
        return values.of_type(result or arguments[0].type, template, place, **parts)

    return function


def of_decimals(operation: str, count: int = 1) -> Function:
    """Returns a function of decimals of one type, by the operation that it is."""

    def function(arguments: Sequence[values.Value], place: Place) -> values.Value:
        # Decimals first, so that the error names them all; then of one width.
        checked(arguments, place, *[DECIMAL] * count)
        kind = arguments[0].type
        checked(arguments, place, *[only(kind)] * count)
        assert isinstance(kind, types.Scalar)  # noqa: S101 - a decimal is one
        return values.decimal(operation, kind, place, *arguments)

    return function


def element_of(value: values.Value, *words: str) -> types.SplType:
    """Returns what a list, or another holder of these words, holds."""
    kind = value.type
    if not isinstance(kind, types.Holder) or kind.word not in words:
        expected = " or ".join(f"a {word}" for word in words)
        raise types.refused(value.place, f"an argument of the type {kind}", expected)
    return kind.of[0]


def first_that_takes(functions: Sequence[Function]) -> Function:
    """Returns the function of several that takes the arguments; the first complains."""

    def taking(arguments: Sequence[values.Value], place: Place) -> values.Value:
        wrong: list[DialectError] = []
        for function in functions:
            try:
                return function(arguments, place)
            except DialectError as error:
                wrong.append(error)
        # The arguments themselves are known: the last place in the text is the nearest.
        raise max(
            wrong, key=lambda error: (it.line, it.column) if (it := error.place) else ()
        )

    return functions[0] if len(functions) == 1 else taking
