"""What GROUP BY and OVER compute of the rows of a window.

    SUM(price * amount)      a total of a column with the values `price * amount`
    LAG(price, 2)            what one row has
    GROUP_CONCAT(name)       a function of the list of all values, x

Values that are null count for nothing, but where COUNT(*) counts rows. What looks at a
list costs as much as it is long, for each row anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dovetail.dialects.sqlstream import steps
from dovetail.dialects.sqlstream.functions import refusal
from dovetail.dialects.sqlstream.outside import SEVERAL
from dovetail.dialects.sqlstream.parser import ROWTIME, Text
from dovetail.dialects.sqlstream.syntax import ExpAvg, OnlyValue, called
from dovetail.dialects.sqlstream.windows import Windows
from dovetail.dialects.trees import own_column
from dovetail.expression.kinds import is_numeric
from dovetail.schema import WHOLE, AtomicType, DecimalType, Schema, StructType, Type
from dovetail.spec.firing import Fold

_KNOWN = "filter({x}, item -> item IS NOT NULL)"
# Of no value there is no mean, and / 0 would be an error under ANSI.
_SHARE = "IF({count} = 0, NULL, {sum} {divided} {count})"
_VARIANCE = "IF({count} <= {less}, NULL, {squares} / ({count} - {less}))"
_EXTREMES: dict[type[exp.Expr], tuple[Fold, str]] = {
    exp.Min: (Fold.LEAST, "array_min({x})"),
    exp.Max: (Fold.GREATEST, "array_max({x})"),
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
_ONLY = (
    f"IF(coalesce(IF(size({{x}}) <= 1, true, NULL), raise_error('{SEVERAL}')), {{own}}"
    ", NULL)"
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
    *(*_EXTREMES, *_SPREADS, exp.Count, exp.Sum, exp.Avg),
    *(exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.GroupConcat, ExpAvg),
    OnlyValue,
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
                    raise text.not_yet(function, "DISTINCT of several values")
                whole: exp.Expr = first
                return whole
            return value
        case _:
            name = function.name if isinstance(function, exp.Anonymous) else ""
            if refused := refusal(name or called(function), function, text):
                raise refused
            what = f"{name or called(function)}: known are {_NAMES}"
            raise text.not_yet(function, what)


def computed(
    functions: Mapping[int, tuple[exp.Expr, str]], rows: Schema, text: Text
) -> tuple[steps.Asked, dict[int, exp.Expr]]:
    """Returns what functions ask of a window, each of a column, and what they are.

    That is an expression over a row which the window gives.
    """
    asked = steps.Asked()
    return asked, {
        one: WindowFunction(written, column, rows[column].type, asked, text).computed()
        for one, (written, column) in functions.items()
    }


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A function of the values of a column in a window's rows, as the text has it."""

    written: exp.Expr
    column: str
    kind: Type
    asked: steps.Asked
    text: Text

    def computed(self) -> exp.Expr:
        """Returns what it is, over a row that the window gives."""
        tree: exp.Expr = exp.maybe_parse(self.in_text(), dialect="spark")
        return tree

    def in_text(self) -> str:
        """Returns it as a text of Spark SQL."""
        match self.written:
            case exp.RespectNulls(this=inside):
                return replace(self, written=inside).in_text()
            case exp.IgnoreNulls(this=inside):
                return replace(self, written=inside).of_known()
            case exp.FirstValue():
                return self._row(1)
            case exp.LastValue():
                return self._row(-1)
            case OnlyValue():
                return self._values(_ONLY.replace("{own}", self._row(1)))
            case exp.NthValue():
                return self._row(self.number("offset"))
            case exp.Lag():
                # The row itself is the last one: one back is the second from there.
                back = -1 - self.number("offset")
                found, usual = self._row(back), self.usual()
                if usual == "NULL":
                    return found
                is_there = _text(self.asked.row(ROWTIME, back))
                return f"IF({is_there} IS NULL, {usual}, {found})"
            case _:
                return self._total()

    def of_known(self) -> str:
        """Returns a function that passes over nulls, as most of them do anyway."""
        match self.written:
            case exp.FirstValue():
                return _text(self.asked.total(Fold.FIRST, self.column))
            case exp.LastValue():
                return _text(self.asked.total(Fold.LAST, self.column))
            case exp.NthValue():
                known, place = self._values(_KNOWN), self.number("offset")
                return _PLACED.format(x=known, place=place, sign="", none="NULL")
            case exp.Lag():
                # From the row itself it looks back, whatever that has.
                every = self._values("{x}")
                older = f"slice({every}, 1, greatest(size({every}) - 1, 0))"
                known = f"concat({_KNOWN.format(x=older)}, slice({every}, -1, 1))"
                place, usual = 1 + self.number("offset"), self.usual()
                return _PLACED.format(x=known, place=place, sign="-", none=usual)
            case _:
                return self.in_text()

    def _total(self) -> str:
        """Returns a function of all values that are none."""
        kind = self.kind
        match self.written:
            case exp.Count():
                return self._fold(Fold.COUNT)
            case exp.Sum():
                return self._sum()
            case exp.Avg():
                # The mean of whole numbers is one: what is behind the point goes.
                divided = "div" if kind in WHOLE else "/"
                count = f"CAST({self._fold(Fold.COUNT)} AS INT)"
                share = _SHARE.format(count=count, sum=self._sum(), divided=divided)
                return f"CAST({share} AS {kind})" if kind in WHOLE else share
            case exp.Min() | exp.Max():
                fold, of_list = _EXTREMES[type(self.written)]
                if isinstance(kind, AtomicType | DecimalType):
                    return _text(self.asked.total(fold, self.column))
                return self._values(of_list)
            case exp.GroupConcat() | ExpAvg():
                return self.of_list()
            case _:
                written, less = _SPREADS[type(self.written)]
                self._refuse_no_number(kind)
                squares, count = self._fold(Fold.SQUARES), self._fold(Fold.COUNT)
                return written.format(
                    _VARIANCE.format(count=count, less=less, squares=squares)
                )

    def of_list(self) -> str:
        """Returns a function that looks at all values, one after another."""
        kind = self.kind
        if isinstance(self.written, exp.GroupConcat):
            sign = self.written.args.get("separator") or exp.Literal.string(",")
            if not isinstance(sign, exp.Literal) or not sign.is_string:
                told = "a separator that is no text"
                raise self.text.wrong(self.written, told, "','")
            known = self._values(_KNOWN)
            if isinstance(self.written.this, exp.Distinct):
                known = f"array_distinct({known})"
            return _JOINED.format(known=known, sign=sign.sql(dialect="spark"))
        # What EXP_AVG looks at are pairs of a value and its time.
        assert isinstance(kind, StructType)  # noqa: S101 - as it is made
        self._refuse_no_number(kind.fields[0][1])
        length = Windows(self.text).length(self.written.args["length"])
        if not length.is_exact or not length.microseconds:
            told = "EXP_AVG by months, or by nothing"
            raise self.text.wrong(self.written, told, "HOUR")
        values = self._values("{x}")
        weight = _WEIGHT.format(x=values, length=length.microseconds)
        return _FADING.format(aged=_AGED.format(x=values), weight=weight)

    def _sum(self) -> str:
        """Returns the sum of values."""
        self._refuse_no_number(self.kind)
        return self._fold(Fold.SUM)

    def _fold(self, fold: Fold) -> str:
        """Returns what a fold makes of all values, or of those that are different."""
        is_distinct = isinstance(self.written.this, exp.Distinct)
        return _text(self.asked.total(fold, self.column, is_distinct=is_distinct))

    def _row(self, number: int) -> str:
        """Returns the value of one row."""
        return _text(self.asked.row(self.column, number))

    def _values(self, template: str) -> str:
        """Returns what is made of the list of all values."""
        return template.format(x=_text(self.asked.values(self.column)))

    def usual(self) -> str:
        """Returns what a function gives where there is no row."""
        usual = self.written.args.get("default")
        if usual is None:
            return "NULL"
        return f"CAST({usual.sql(dialect='spark')} AS {self.kind})"

    def number(self, name: str) -> int:
        """Returns how many rows a function looks on; one where it does not say."""
        offset = self.written.args.get(name)
        if offset is None:
            return 1
        if not isinstance(offset, exp.Literal) or not offset.this.isdigit():
            told = f"{called(self.written)} by this"
            raise self.text.wrong(self.written, told, "a number of rows")
        return int(offset.this)

    def _refuse_no_number(self, kind: Type) -> None:
        """Refuses values that are no numbers."""
        if not is_numeric(kind):
            what = f"{called(self.written)} of values of the type {kind}"
            raise self.text.wrong(self.written, what, "numbers")


def _text(column: str) -> str:
    """Returns a column of ours as a text of Spark SQL."""
    return own_column(column).sql(dialect="spark")
