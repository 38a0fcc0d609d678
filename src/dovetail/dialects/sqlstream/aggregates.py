"""What GROUP BY and OVER compute of the rows of a window: functions of lists of values.

    SUM(price * amount)     values `price * amount` of all rows, x, and of them a sum

Values that are null count for nothing, but where COUNT(*) counts rows.
"""

from __future__ import annotations

from sqlglot import exp

from dovetail.dialects.sqlstream.parser import Text, not_yet
from dovetail.schema import AtomicType, DecimalType, Type

_WHOLE = {AtomicType.TINYINT, AtomicType.SMALLINT, AtomicType.INT, AtomicType.BIGINT}
_FLOATS = {AtomicType.FLOAT, AtomicType.DOUBLE}
_KNOWN = "filter({x}, item -> item IS NOT NULL)"
_SUM = (
    "IF(size({known}) = 0, NULL, aggregate({known}, CAST(0 AS {type}), "
    "(total, item) -> CAST(total + item AS {type})))"
)
_SHARE = "IF(size({known}) = 0, NULL, {sum} {divided} size({known}))"
_NAMES = "COUNT, SUM, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE and LAG"


def argument_of(function: exp.Expr, text: Text) -> exp.Expr:
    """Returns of what a function looks at the values; of COUNT(*) it is 1."""
    value: exp.Expr = function.this
    # sqlglot reads SUM() as it stands.
    if isinstance(function, exp.AggFunc) and value is None:
        raise text.wrong(function, f"{function.key.upper()} of nothing", "a value")
    match function:
        case exp.Count(this=exp.Star()):
            return exp.Literal.number(1)
        case exp.Count(this=exp.Distinct()) | exp.Sum(this=exp.Distinct()):
            told = "DISTINCT in a function of a stream"
            raise text.wrong(function, told, "all values")
        case (
            exp.Count()
            | exp.Sum()
            | exp.Avg()
            | exp.Min()
            | exp.Max()
            | exp.FirstValue()
            | exp.LastValue()
            | exp.Lag()
        ):
            return value
        case _:
            what = f"{function.key.upper()}: known are {_NAMES}"
            raise not_yet(text.at(function), what)


def computed(function: exp.Expr, values: str, kind: Type, *, text: Text) -> exp.Expr:
    """Returns what a function is of the values, a column of lists; of their type."""
    known = _KNOWN.format(x=values)
    match function:
        case exp.Count():
            template = f"CAST(size({known}) AS BIGINT)"
        case exp.Sum():
            template = _sum(function, known, kind, text=text)
        case exp.Avg():
            divided = "div" if kind in _WHOLE else "/"
            total = _sum(function, known, kind, text=text)
            template = _SHARE.format(known=known, sum=total, divided=divided)
            if kind in _WHOLE:
                template = f"CAST({template} AS {kind})"
        case exp.Min():
            template = f"array_min({values})"
        case exp.Max():
            template = f"array_max({values})"
        case exp.FirstValue():
            template = f"element_at({values}, 1)"
        case exp.LastValue():
            template = f"element_at({values}, -1)"
        case _:
            # Further back than the window reaches there is nothing.
            back = _rows_back(function, text)
            template = (
                f"IF(size({values}) > {back}, element_at({values}, -{back + 1}), NULL)"
            )
    tree: exp.Expr = exp.maybe_parse(template, dialect="spark")
    return tree


def _rows_back(function: exp.Expr, text: Text) -> int:
    """Returns how many rows back LAG looks."""
    if function.args.get("default") is not None:
        raise not_yet(text.at(function), "LAG with a value for none")
    offset = function.args.get("offset")
    if offset is None:
        return 1
    if not isinstance(offset, exp.Literal) or not offset.this.isdigit():
        raise text.wrong(function, "LAG by this", "a number of rows")
    return int(offset.this)


def _sum(function: exp.Expr, known: str, kind: Type, *, text: Text) -> str:
    """Returns the sum of values; whole numbers have all of a BIGINT for it."""
    if kind in _WHOLE:
        total: object = AtomicType.BIGINT
    elif kind in _FLOATS:
        total = AtomicType.DOUBLE
    elif isinstance(kind, DecimalType):
        total = DecimalType(38, kind.scale)
    else:
        what = f"{function.key.upper()} of values of the type {kind}"
        raise text.wrong(function, what, "numbers")
    return _SUM.format(known=known, type=total)
