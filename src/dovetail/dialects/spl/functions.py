"""The functions of SPL's own library, each as what it is on Spark.

A text is UTF-8, places in it count characters. What the library leaves to a failure at
run time is not here: a function gives a value, whatever it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from dovetail.dialects.spl.types import (
    BOOLEAN,
    FLOAT64,
    FLOATS,
    INT32,
    INT64,
    INTEGERS,
    RSTRING,
    STRINGS,
    TIMESTAMP,
    UINT32,
    Holder,
    SplType,
    refused,
)
from dovetail.dialects.spl.values import Value, comparison, need_same, of_type
from dovetail.errors import Place

Function = Callable[[Sequence[Value], Place], Value]
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _checked(
    arguments: Sequence[Value], place: Place, *kinds: frozenset[SplType], least: int = 0
) -> None:
    """Refuses arguments of other types, or another number of them."""
    counts = (len(kinds) if least == 0 else least, len(kinds))
    if not counts[0] <= len(arguments) <= counts[1]:
        words = " or ".join(dict.fromkeys(map(str, counts)))
        raise refused(place, f"{len(arguments)} arguments", f"{words} of them")
    for value, known in zip(arguments, kinds, strict=False):
        if value.type not in known:
            words = " or ".join(sorted(map(str, known)))
            raise refused(value.place, f"an argument of the type {value.type}", words)


def _of(result: SplType | None, template: str, *kinds: frozenset[SplType]) -> Function:
    """Returns a function by its template over x, y, z; without a result as x is."""

    def call(arguments: Sequence[Value], place: Place) -> Value:
        _checked(arguments, place, *kinds)
        parts = dict(zip("xyz", (one.tree for one in arguments), strict=False))
        return of_type(result or arguments[0].type, template, place, **parts)

    return call


def _extreme(sign: str, template: str) -> Function:
    """Returns the greater or the lesser of two values, or of a list that is given."""

    def call(arguments: Sequence[Value], place: Place) -> Value:
        _checked(arguments, place, _ORDERED, _ORDERED)
        one, other = arguments
        need_same("max or min", one, other)
        is_first = comparison(sign, one, other, place)
        parts = {"x": one.tree, "y": other.tree, "z": is_first.tree}
        return of_type(one.type, template, place, **parts)

    return call


def _find(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the place of a text in another from a place on, -1 where it is not."""
    _checked(arguments, place, STRINGS, STRINGS, frozenset({INT32}), least=2)
    need_same("findFirst", arguments[0], arguments[1])
    parts = dict(zip("xyz", (one.tree for one in arguments), strict=False))
    start = "z + 1" if len(arguments) > 2 else "1"  # noqa: PLR2004 - text, part, start
    return of_type(INT32, f"locate(y, x, {start}) - 1", place, **parts)


def _concat(arguments: Sequence[Value], place: Place) -> Value:
    """Returns texts one behind the other."""
    for value in arguments:
        _checked([value], place, STRINGS)
    return reduce(
        lambda one, other: of_type(
            one.type, "concat(x, y)", place, x=one.tree, y=other.tree
        ),
        arguments,
    )


def _size(arguments: Sequence[Value], place: Place) -> Value:
    """Returns how many elements a list, a set or a map has."""
    kind = arguments[0].type if len(arguments) == 1 else None
    if not isinstance(kind, Holder) or kind.word == "optional":
        raise refused(place, "size of what has no elements", "one list, set or map")
    return of_type(INT32, "size(x)", place, x=arguments[0].tree)


_FLOAT = frozenset(FLOATS)
_NUMBERS = frozenset({*INTEGERS, *FLOATS})
_ORDERED = frozenset({*_NUMBERS, *STRINGS, TIMESTAMP})
_INT = frozenset({INT32})
_TIME = frozenset({TIMESTAMP})
_INFINITE = "CAST('{}Infinity' AS DOUBLE)"


def _logarithm(name: str) -> Function:
    """Returns a logarithm, which Spark knows of what is above 0 alone."""
    template = (
        f"CASE WHEN x > 0 OR isnan(x) THEN {name}(x) "
        f"WHEN x = 0 THEN {_INFINITE.format('-')} ELSE CAST('NaN' AS DOUBLE) END"
    )
    return _of(None, template, _FLOAT)


def _rounded(name: str) -> Function:
    """Returns a whole float: beyond 2^52 all are."""
    template = f"IF(abs(x) >= 4503599627370496D, x, CAST({name}(x) AS DOUBLE))"
    return _of(None, template, _FLOAT)


FUNCTIONS: Mapping[str, Function] = {
    "abs": _of(None, "abs(x)", frozenset({*FLOATS, INT32, INT64})),
    "max": _extreme(">", "IF(z, x, y)"),
    "min": _extreme("<", "IF(z, x, y)"),
    "exp": _of(None, "exp(x)", _FLOAT),
    "log": _logarithm("ln"),
    "log10": _logarithm("log10"),
    "sqrt": _of(None, "sqrt(x)", _FLOAT),
    "pow": _of(None, "power(x, y)", _FLOAT, _FLOAT),
    "floor": _rounded("floor"),
    "ceil": _rounded("ceil"),
    "sin": _of(None, "sin(x)", _FLOAT),
    "cos": _of(None, "cos(x)", _FLOAT),
    "tan": _of(None, "tan(x)", _FLOAT),
    "atan": _of(None, "atan(x)", _FLOAT),
    # Of a byte text the library counts bytes, of a wide one characters.
    "length": _of(INT32, "octet_length(x)", frozenset({RSTRING})),
    "lower": _of(None, f"translate(x, '{_LETTERS}', '{_LETTERS.lower()}')", STRINGS),
    "upper": _of(None, f"translate(x, '{_LETTERS.lower()}', '{_LETTERS}')", STRINGS),
    "substring": _of(
        None,
        "IF(y < 0 OR z <= 0, '', substring(x, greatest(y, 0) + 1, z))",
        *(STRINGS, _INT, _INT),
    ),
    "findFirst": _find,
    "concat": _concat,
    "trim": _of(None, "btrim(x, y)", STRINGS, STRINGS),
    "ltrim": _of(None, "ltrim(y, x)", STRINGS, STRINGS),
    "rtrim": _of(None, "rtrim(y, x)", STRINGS, STRINGS),
    "startsWith": _of(BOOLEAN, "startswith(x, y)", STRINGS, STRINGS),
    "endsWith": _of(BOOLEAN, "endswith(x, y)", STRINGS, STRINGS),
    "size": _size,
    "createTimestamp": _of(
        TIMESTAMP,
        "CAST(x AS DECIMAL(19, 0)) + CAST(y AS DECIMAL(10, 0)) * 0.000000001BD",
        *(frozenset({INT64}), frozenset({UINT32})),
    ),
    "getSeconds": _of(INT64, "CAST(floor(x) AS BIGINT)", _TIME),
    "getNanoseconds": _of(
        UINT32, "CAST((x - floor(x)) * 1000000000BD AS BIGINT)", _TIME
    ),
    "diffAsSecs": _of(FLOAT64, "CAST(x - y AS DOUBLE)", _TIME, _TIME),
    "add": _of(TIMESTAMP, "x + CAST(y AS DECIMAL(28, 9))", _TIME, frozenset({FLOAT64})),
}
