"""What GROUP BY and OVER compute of the rows of a window: functions of lists of values.

    SUM(price * amount)     values `price * amount` of all rows, x, and of them a sum

Values that are null count for nothing, but where COUNT(*) counts rows.
"""

from __future__ import annotations

from sqlglot import exp

from dovetail.dialects.sqlstream.functions import refusal
from dovetail.dialects.sqlstream.parser import ROWTIME, Text, not_yet
from dovetail.dialects.sqlstream.syntax import ExpAvg, called
from dovetail.dialects.sqlstream.windows import Windows
from dovetail.expression.kinds import is_numeric, sum_text
from dovetail.schema import WHOLE, AtomicType, DecimalType, StructType, Type

_KNOWN = "filter({x}, item -> item IS NOT NULL)"
_SUM = (
    "IF(size({known}) = 0, NULL, aggregate({known}, CAST(0 AS {type}), "
    "(total, item) -> {longer}))"
)
# Of no value there is no mean, and / 0 would be an error under ANSI.
_SHARE = "IF(size({known}) = 0, NULL, {sum} {divided} size({known}))"
# The mean is a list of one, so that it is computed once and not for each value.
_VARIANCE = (
    "IF(size({known}) <= {less}, NULL, element_at(transform(array("
    "aggregate({known}, CAST(0 AS DOUBLE), (total, item) -> "
    "total + CAST(item AS DOUBLE)) / size({known})), "
    "mean -> aggregate({known}, CAST(0 AS DOUBLE), (total, item) -> "
    "total + (CAST(item AS DOUBLE) - mean) * (CAST(item AS DOUBLE) - mean))), 1)"
    " / (size({known}) - {less}))"
)
_WRITTEN: dict[type[exp.Expr], str] = {
    exp.Count: "CAST(size({known}) AS BIGINT)",
    exp.Min: "array_min({x})",
    exp.Max: "array_max({x})",
    exp.FirstValue: "IF(size({x}) = 0, NULL, element_at({x}, 1))",
    exp.LastValue: "IF(size({x}) = 0, NULL, element_at({x}, -1))",
}
# Without the test a place beyond the end would be an error.
_PLACED = "IF(size({x}) >= {place}, element_at({x}, {sign}{place}), {none})"
_NAMES = (
    "COUNT, SUM, AVG, MIN, MAX, STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP, "
    "FIRST_VALUE, LAST_VALUE, NTH_VALUE, LAG, GROUP_CONCAT and EXP_AVG"
)
_JOINED = (
    "IF(size({known}) = 0, NULL, "
    "array_join(transform({known}, item -> CAST(item AS STRING)), {sign}))"
)
# Each value has its time beside it; the row itself is the last one.
_AGED = "filter({x}, item -> item.value IS NOT NULL)"
_WEIGHT = (
    "power(0.5D, CAST((unix_micros(element_at({x}, -1).time) - unix_micros(item.time))"
    " div {length} AS DOUBLE))"
)
_FADING = (
    "IF(size({aged}) = 0, NULL, aggregate({aged}, CAST(0 AS DOUBLE), (total, item) -> "
    "total + CAST(item.value AS DOUBLE) * {weight}) / aggregate({aged}, "
    "CAST(0 AS DOUBLE), (total, item) -> total + {weight}))"
)
_SPREADS: dict[type[exp.Expr], tuple[str, int]] = {
    exp.Stddev: ("sqrt({})", 1),
    exp.StddevSamp: ("sqrt({})", 1),
    exp.StddevPop: ("sqrt({})", 0),
    exp.Variance: ("{}", 1),
    exp.VariancePop: ("{}", 0),
}
_VALUES: tuple[type[exp.Expr], ...] = (
    *_WRITTEN,
    *_SPREADS,
    *[exp.Sum, exp.Avg, exp.NthValue, exp.Lag, exp.GroupConcat, ExpAvg],
)


def argument_of(function: exp.Expr, text: Text) -> exp.Expr:
    """Returns of what a function looks at the values; of COUNT(*) it is 1."""
    value: exp.Expr = function.this
    # sqlglot reads SUM() as it stands.
    if isinstance(function, _VALUES) and value is None:
        raise text.wrong(function, f"{called(function)} of nothing", "a value")
    if isinstance(function, _VALUES) and function.expressions:
        told = f"{called(function)} of {1 + len(function.expressions)} values"
        raise text.wrong(function, told, "one value")
    match function:
        case exp.Count(this=exp.Star()):
            return exp.Literal.number(1)
        case exp.IgnoreNulls() | exp.RespectNulls():
            return argument_of(value, text)
        case ExpAvg():
            parts = zip(("value", "time"), (value, exp.column(ROWTIME)), strict=True)
            named = (
                it for name, one in parts for it in (exp.Literal.string(name), one)
            )
            return exp.Anonymous(this="named_struct", expressions=[*named])
        case _ if isinstance(function, _VALUES):
            if isinstance(value, exp.Distinct):
                first, *others = value.expressions
                if others:
                    raise not_yet(text.at(function), "DISTINCT of several values")
                whole: exp.Expr = first
                return whole
            return value
        case _:
            name = function.name if isinstance(function, exp.Anonymous) else ""
            if refused := refusal(name or called(function), function, text):
                raise refused
            what = f"{name or called(function)}: known are {_NAMES}"
            raise not_yet(text.at(function), what)


def computed(function: exp.Expr, values: str, kind: Type, *, text: Text) -> exp.Expr:
    """Returns what a function is of the values, a column of lists; of their type."""
    known = _KNOWN.format(x=values)
    if isinstance(function.this, exp.Distinct):
        known = f"array_distinct({known})"
    if isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
        seen = known if isinstance(function, exp.IgnoreNulls) else values
        if seen is known and isinstance(function.this, exp.Lag):
            # From the row itself it looks back, whatever that has.
            older = f"slice({values}, 1, greatest(size({values}) - 1, 0))"
            seen = f"concat({_KNOWN.format(x=older)}, slice({values}, -1, 1))"
        return computed(function.this, seen, kind, text=text)
    template = _WRITTEN.get(type(function), "").format(known=known, x=values)
    if not template:
        template = _template(function, values, known, kind, text=text)
    tree: exp.Expr = exp.maybe_parse(template, dialect="spark")
    return tree


def _template(
    function: exp.Expr, values: str, known: str, kind: Type, *, text: Text
) -> str:
    """Returns a function whose words depend on what it says, or on its type."""
    match function:
        case exp.Sum():
            return _sum(function, known, kind, text=text)
        case exp.Avg():
            # The mean of whole numbers is one of them: what is behind the point goes.
            divided = "div" if kind in WHOLE else "/"
            total = _sum(function, known, kind, text=text)
            share = _SHARE.format(known=known, sum=total, divided=divided)
            return f"CAST({share} AS {kind})" if kind in WHOLE else share
        case exp.NthValue():
            place = _number(function, "offset", text)
            return _PLACED.format(x=values, place=place, sign="", none="NULL")
        case exp.Lag():
            # The row itself is the last of the list: one back is the second from there.
            back = 1 + _number(function, "offset", text)
            # Further back than the window reaches there is nothing.
            none, usual = "NULL", function.args.get("default")
            if usual is not None:
                none = f"CAST({usual.sql(dialect='spark')} AS {kind})"
            return _PLACED.format(x=values, place=back, sign="-", none=none)
        case exp.GroupConcat():
            sign = function.args.get("separator") or exp.Literal.string(",")
            if not isinstance(sign, exp.Literal) or not sign.is_string:
                raise text.wrong(function, "a separator that is no text", "','")
            return _JOINED.format(known=known, sign=sign.sql(dialect="spark"))
        case ExpAvg() if isinstance(kind, StructType):
            _refuse_no_number(function, kind.fields[0][1], text)
            length = Windows(text).length(function.args["length"])
            if not length.is_exact or not length.microseconds:
                raise text.wrong(function, "EXP_AVG by months, or by nothing", "HOUR")
            weight = _WEIGHT.format(x=values, length=length.microseconds)
            return _FADING.format(aged=_AGED.format(x=values), weight=weight)
        case _:
            written, less = _SPREADS[type(function)]
            _refuse_no_number(function, kind, text)
            return written.format(_VARIANCE.format(known=known, less=less))


def _number(function: exp.Expr, name: str, text: Text) -> int:
    """Returns how many rows a function looks on; one where it does not say."""
    offset = function.args.get(name)
    if offset is None:
        return 1
    if not isinstance(offset, exp.Literal) or not offset.this.isdigit():
        raise text.wrong(function, f"{called(function)} by this", "a number of rows")
    return int(offset.this)


def _refuse_no_number(function: exp.Expr, kind: Type, text: Text) -> None:
    """Refuses values that are no numbers."""
    if not is_numeric(kind):
        what = f"{called(function)} of values of the type {kind}"
        raise text.wrong(function, what, "numbers")


def _sum(function: exp.Expr, known: str, kind: Type, *, text: Text) -> str:
    """Returns the sum of values; whole numbers have all of a BIGINT for it."""
    _refuse_no_number(function, kind, text)
    total: Type = AtomicType.BIGINT if kind in WHOLE else AtomicType.DOUBLE
    if isinstance(kind, DecimalType):
        total = DecimalType(38, kind.scale)
    longer = sum_text("total", "item", total)
    return _SUM.format(known=known, type=total, longer=longer)
