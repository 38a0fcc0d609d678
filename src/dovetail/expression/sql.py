"""The tree as Spark SQL: a text that reads back as the same tree.

Every cast is written out, so a text means the same wherever it is read: nothing is left
to a session's rules of types but the rules of Spark's own functions.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import chain

from dovetail import schema
from dovetail.expression import kinds
from dovetail.expression.functions import casts, entry, logic, significant
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
from dovetail.expression.values import DAY, HOUR, MINUTE, SECOND

_SUFFIXES: dict[Kind, str] = {
    kinds.TINYINT: "Y",
    kinds.SMALLINT: "S",
    kinds.INT: "",
    kinds.BIGINT: "L",
}
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"})


def written(typed: Typed) -> str:
    """Returns an expression as Spark SQL, every name and cast of it written out."""
    return written_tree(typed.tree)


def written_tree(node: Node) -> str:
    """Returns a node as Spark SQL."""
    match node:
        case Literal(value=value, type=kind):
            return literal_text(value, kind)
        case Column(side=side, name=name):
            quoted = schema.quoted(name)
            return quoted if side == BARE else f"{side}.{quoted}"
        case Variable(name=name, number=number):
            # with its number, since one lambda may stand inside another
            return schema.quoted(f"{name.partition(' ')[0]} {number}")
        case Lambda(parameters=parameters, body=body):
            names = ", ".join(map(written_tree, parameters))
            several = f"({names})" if parameters[1:] else names
            return f"{several} -> {written_tree(body)}"
        case Call():
            return _call(node)


def _call(call: Call) -> str:
    """Returns a call as Spark SQL."""
    match call:
        # The shorter way to write it, which reads back as the same.
        case Call("not", (Call("=", sides),)):
            return _between("<>")(*map(written_tree, sides))
        case _:
            pass
    parts = [written_tree(argument) for argument in call.arguments]
    if call.function in ("cast", casts.TRY_CAST):
        return f"{call.function.upper()}({parts[0]} AS {call.type})"
    if call.function == "field":
        return f"{parts[0]}.{schema.quoted(entry.constant(call.arguments[1]))}"
    form = _FORMS.get(call.function)
    return form(*parts) if form else f"{call.function}({', '.join(parts)})"


def text_of(value: str) -> str:
    """Returns a text in quotes."""
    return f"'{value.translate(_ESCAPES)}'"


def literal_text(value: Value, kind: Kind) -> str:
    """Returns a constant as Spark SQL, its type written out where it must be."""
    if isinstance(kind, Interval):
        return _span(value, kind)
    if value is None:
        return "NULL" if kind == kinds.NULL else f"CAST(NULL AS {kind})"
    match kind:
        case schema.ArrayType() | schema.MapType() | schema.StructType():
            return f"CAST({_nested(value, kind)} AS {kind})"
        case schema.DecimalType():
            return f"CAST('{value:f}' AS {kind})"
        case _ if kind in _SUFFIXES:
            text = f"{value}{_SUFFIXES[kind]}"
            # beside another sign it would be read with that one
            return f"({text})" if value < 0 else text
        case _ if kind == kinds.BOOLEAN:
            return "true" if value else "false"
        case _:
            return _atomic(value, kind)


def _atomic(value: Value, kind: Kind) -> str:
    """Returns a constant that is written as a text with a type."""
    match value:
        case str():
            return text_of(value)
        case bytes():
            return f"X'{value.hex()}'"
        case float():
            # as a text, so that Spark reads all digits, and NaN and infinities too
            write = casts.float_text if kind == kinds.FLOAT else casts.double_text
            return f"CAST('{write(value)}' AS {kind})"
        case datetime():
            zone = "Z" if value.tzinfo else ""
            return f"{str(kind).upper()} '{casts.moment_text(value)}{zone}'"
        case _:
            return f"DATE '{casts.date_text(value)}'"


def _nested(
    value: Value, kind: schema.ArrayType | schema.MapType | schema.StructType
) -> str:
    """Returns an array, a map or a struct made of its parts."""
    match kind:
        case schema.ArrayType(element=element):
            return _named("array")(*(literal_text(item, element) for item in value))
        case schema.MapType(key=key, value=inner):
            pairs = (
                (literal_text(one, key), literal_text(item, inner))
                for one, item in value.items()
            )
            return _named("map")(*chain.from_iterable(pairs))
        case schema.StructType(fields=fields):
            pairs = (
                (text_of(field), literal_text(value.get(field), inner))
                for field, inner in fields
            )
            return _named("named_struct")(*chain.from_iterable(pairs))


def _span(value: int | None, kind: Interval) -> str:
    """Returns a span of time."""
    if value is None:
        return f"{_span(0, kind)} * CAST(NULL AS INT)"  # Spark casts no null to a span
    sign, count = "-" if value < 0 else "", abs(value)
    if kind is Interval.MONTHS:
        return f"INTERVAL '{sign}{count // 12}-{count % 12}' YEAR TO MONTH"
    days, rest = divmod(count, DAY)
    if kind is Interval.DAYS:
        return f"INTERVAL '{sign}{days}' DAY"
    seconds = f"{rest % MINUTE // SECOND:02}.{rest % SECOND:06}"
    clock = f"{rest // HOUR:02}:{rest % HOUR // MINUTE:02}:{seconds}"
    return f"INTERVAL '{sign}{days} {clock}' DAY TO SECOND"


Form = Callable[..., str]


def _between(sign: str) -> Form:
    """Returns the form of an operator between its sides."""
    return lambda *parts: f"({f' {sign} '.join(parts)})"


def _named(name: str) -> Form:
    """Returns the form of a function under another name."""
    return lambda *parts: f"{name}({', '.join(parts)})"


def _part(name: str) -> Form:
    """Returns the form of a part of a moment or a span."""
    return lambda value: f"EXTRACT({name} FROM {value})"


def _trim(name: str, side: str) -> Form:
    """Returns the form of a trim, its letters first where there are any."""
    return lambda *parts: (
        f"trim({side} {parts[0]} FROM {parts[1]})"
        if parts[1:]
        else f"{name}({parts[0]})"
    )


def _with_unit(name: str) -> Form:
    """Returns the form of a function whose first argument is a bare unit of time."""
    return lambda unit, *parts: f"{name}({unit[1:-1]}, {', '.join(parts)})"


def _case(*parts: str) -> str:
    """Returns a choice."""
    if len(parts) == 3:  # noqa: PLR2004 - one test and two values
        return _named("IF")(*parts)
    pairs = zip(parts[:-1:2], parts[1::2], strict=True)
    branches = "".join(f" WHEN {test} THEN {value}" for test, value in pairs)
    return f"CASE{branches} ELSE {parts[-1]} END"


# What Spark writes otherwise than as a name and its arguments.
_FORMS: dict[str, Form] = {
    **{
        sign: _between(sign)
        for sign in (
            *("and", "or", "=", "<=>", "<", "<=", ">", ">="),
            *("/", "div", "%", "&", "^"),
        )
    },
    **{
        f"{sign} of {what}": _between(sign)
        for sign, several in {
            "+": ("numbers", "spans", "time", "days", "months"),
            "-": ("numbers", "spans", "moments", "dates"),
            "*": ("numbers", "spans"),
        }.items()
        for what in several
    },
    # Spark reads `| aggregate` as a pipe to a query.
    "|": lambda left, right: f"({left} | ({right}))",
    "not": lambda side: f"(NOT {side})",
    "negative": lambda side: f"(- {side})",
    "~": lambda side: f"(~ {side})",
    "isnull": lambda side: f"({side} IS NULL)",
    "case": _case,
    logic.REQUIRED: lambda value, told: f"coalesce({value}, raise_error({told}))",
    significant.OF_DIGITS: _named(significant.IN_SPARK),
    "in": lambda value, *others: f"({value} IN ({', '.join(others)}))",
    "like": lambda text, *forms: f"({text} LIKE {' ESCAPE '.join(forms)})",
    "[]": lambda whole, index: f"{whole}[{index}]",
    "trim": _trim("trim", "BOTH"),
    "ltrim": _trim("ltrim", "LEADING"),
    "rtrim": _trim("rtrim", "TRAILING"),
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
