"""The tree as Spark SQL: a text that reads back as the same tree.

Every cast is written out, so a text means the same wherever it is read: nothing is left
to a session's rules of coercion but the rules of Spark's own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from dovetail import schema
from dovetail.expression import kinds
from dovetail.expression.functions.casts import (
    date_text,
    double_text,
    float_text,
    moment_text,
)
from dovetail.expression.functions.entry import constant
from dovetail.expression.tree import (
    BARE,
    Call,
    Column,
    Interval,
    Kind,
    Lambda,
    Literal,
    Node,
    Typed,
    Value,
    Variable,
)
from dovetail.expression.values import DAY, SECOND

Form = Callable[[Sequence[str]], str]
_SUFFIXES = {kinds.TINYINT: "Y", kinds.SMALLINT: "S", kinds.INT: "", kinds.BIGINT: "L"}
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"})
_MINUTE, _HOUR = 60 * SECOND, 3600 * SECOND


def written(typed: Typed) -> str:
    """Returns an expression as Spark SQL, every name and cast of it written out."""
    return written_tree(typed.tree)


def written_tree(node: Node) -> str:
    """Returns a node as Spark SQL."""
    match node:
        case Literal(value=value, type=kind):
            return literal_text(value, kind)
        case Column(side=side, name=name):
            return (
                schema.quoted(name) if side == BARE else f"{side}.{schema.quoted(name)}"
            )
        case Variable(name=name, number=number):
            return schema.quoted(f"{name.partition(' ')[0]} {number}")
        case Lambda(parameters=parameters, body=body):
            names = ", ".join(map(written_tree, parameters))
            several = f"({names})" if parameters[1:] else names
            return f"{several} -> {written_tree(body)}"
        case Call():
            return _call(node)


def _call(call: Call) -> str:
    """Returns a call as Spark SQL."""
    parts = [written_tree(argument) for argument in call.arguments]
    if call.function in _CASTS:
        return f"{call.function.upper()}({parts[0]} AS {call.type})"
    if call.function == "field":
        return f"{parts[0]}.{schema.quoted(constant(call.arguments[1]))}"
    form = _FORMS.get(call.function)
    return form(parts) if form else f"{call.function}({', '.join(parts)})"


def text_of(value: str) -> str:
    """Returns a text in quotes."""
    return f"'{value.translate(_ESCAPES)}'"


def literal_text(value: Value, kind: Kind) -> str:
    """Returns a constant as Spark SQL, its type written out where it must be."""
    if isinstance(kind, Interval):
        return _span(value, kind)
    if value is None:
        return "NULL" if kind == schema.AtomicType.NULL else f"CAST(NULL AS {kind})"
    match kind:
        case schema.ArrayType() | schema.MapType() | schema.StructType():
            return f"CAST({_nested(value, kind)} AS {kind})"
        case schema.DecimalType():
            return f"CAST('{value:f}' AS {kind})"
        case _ if kind in kinds.BITS:
            return _whole(value, kind)
        case _ if kind == kinds.BOOLEAN:
            return "true" if value else "false"
        case _:
            return _atomic(value, kind)


def _whole(value: int, kind: Kind) -> str:
    """Returns a whole number with the suffix of its type."""
    text = f"{value}{_suffix(kind)}"
    return f"({text})" if value < 0 else text


def _suffix(kind: Kind) -> str:
    """Returns what stands behind a whole number of a type."""
    return next(suffix for known, suffix in _SUFFIXES.items() if known == kind)


def _atomic(value: Value, kind: Kind) -> str:
    """Returns a constant that is written as a text with a type."""
    match value:
        case str():
            return text_of(value)
        case bytes():
            return f"X'{value.hex()}'"
        case float():
            text = float_text(value) if kind == kinds.FLOAT else double_text(value)
            return f"CAST('{text}' AS {kind})"
        case datetime():
            zone = "Z" if value.tzinfo else ""
            return f"{str(kind).upper()} '{moment_text(value)}{zone}'"
        case _:
            return f"DATE '{date_text(value)}'"


def _nested(
    value: Value, kind: schema.ArrayType | schema.MapType | schema.StructType
) -> str:
    """Returns an array, a map or a struct made of its parts."""
    match kind:
        case schema.ArrayType(element=element):
            return f"array({', '.join(literal_text(item, element) for item in value)})"
        case schema.MapType(key=key, value=inner):
            pairs = (
                f"{literal_text(name, key)}, {literal_text(item, inner)}"
                for name, item in value.items()
            )
            return f"map({', '.join(pairs)})"
        case schema.StructType(fields=fields):
            named = (
                f"{text_of(name)}, {literal_text(value.get(name), part)}"
                for name, part in fields
            )
            return f"named_struct({', '.join(named)})"


def _span(value: int | None, kind: Interval) -> str:
    """Returns a span of time."""
    if value is None:
        return f"{_span(0, kind)} * CAST(NULL AS INT)"
    sign, count = "-" if value < 0 else "", abs(value)
    if kind is Interval.MONTHS:
        return f"INTERVAL '{sign}{count // 12}-{count % 12}' YEAR TO MONTH"
    days, rest = divmod(count, DAY)
    if kind is Interval.DAYS:
        return f"INTERVAL '{sign}{days}' DAY"
    hours, minutes = rest // _HOUR, rest % _HOUR // _MINUTE
    seconds = f"{rest % _MINUTE // SECOND:02}.{rest % SECOND:06}"
    clock = f"{hours:02}:{minutes:02}:{seconds}"
    return f"INTERVAL '{sign}{days} {clock}' DAY TO SECOND"


def _sign(sign: str) -> Form:
    """Returns the form of an operator between its sides."""
    return lambda parts: f"({f' {sign} '.join(parts)})"


def _before(sign: str) -> Form:
    """Returns the form of an operator before its side."""
    return lambda parts: f"({sign}{parts[0]})"


def _named(name: str) -> Form:
    """Returns the form of a function under another name."""
    return lambda parts: f"{name}({', '.join(parts)})"


def _part(name: str) -> Form:
    """Returns the form of a part of a moment or a span."""
    return lambda parts: f"EXTRACT({name} FROM {parts[0]})"


def _case(parts: Sequence[str]) -> str:
    """Returns a choice."""
    pairs = zip(parts[:-1:2], parts[1::2], strict=True)
    branches = "".join(f" WHEN {test} THEN {value}" for test, value in pairs)
    return f"CASE{branches} ELSE {parts[-1]} END"


def _in(parts: Sequence[str]) -> str:
    """Returns a test whether a value is among others."""
    return f"({parts[0]} IN ({', '.join(parts[1:])}))"


def _like(parts: Sequence[str]) -> str:
    """Returns a test whether a text has a form."""
    escape = f" ESCAPE {parts[2]}" if parts[2:] else ""
    return f"({parts[0]} LIKE {parts[1]}{escape})"


def _trim(side: str) -> Form:
    """Returns the form of a trim, its letters first where there are any."""

    def form(parts: Sequence[str]) -> str:
        letters = f"{parts[0]} " if parts[1:] else ""
        return f"trim({side} {letters}FROM {parts[-1]})"

    return form


def _with_unit(name: str) -> Form:
    """Returns the form of a function whose first argument is a bare unit of time."""
    return lambda parts: f"{name}({parts[0][1:-1]}, {', '.join(parts[1:])})"


_CASTS = frozenset({"cast", "try_cast"})
_SIGNS = {
    **{
        sign: sign
        for sign in (
            *("and", "or", "=", "<=>", "<", "<=", ">", ">=", "/", "div", "%"),
            *("&", "^"),
        )
    },
    "- of moments": "-",
    "- of dates": "-",
    **{f"{sign} of numbers": sign for sign in "+-*"},
    **{f"{sign} of spans": sign for sign in "+-*"},
    **{f"+ of {what}": "+" for what in ("time", "days", "months")},
}
_FORMS: dict[str, Form] = {
    **{name: _sign(sign) for name, sign in _SIGNS.items()},
    # Spark reads `| aggregate` as a pipe to a query.
    "|": lambda parts: f"({parts[0]} | ({parts[1]}))",
    "not": _before("NOT "),
    "negative": _before("- "),
    "~": _before("~ "),
    "isnull": lambda parts: f"({parts[0]} IS NULL)",
    "case": _case,
    "in": _in,
    "like": _like,
    "[]": lambda parts: f"{parts[0]}[{parts[1]}]",
    "trim": _trim("BOTH"),
    "ltrim": _trim("LEADING"),
    "rtrim": _trim("TRAILING"),
    "log of base": _named("log"),
    "locate from": _named("locate"),
    "regexp group": _named("regexp_extract"),
    "moment in form": _named("to_timestamp"),
    "date in form": _named("to_date"),
    "second of moment": _part("SECOND"),
    "year of week": _part("YEAROFWEEK"),
    "dayofweek_iso": _part("DAYOFWEEK_ISO"),
    **{
        f"{part} of span": _part(part.upper())
        for part in ("day", "hour", "minute", "second")
    },
    "timestampadd": _with_unit("timestampadd"),
    "timestampdiff": _with_unit("timestampdiff"),
}
