"""What functions say of a group, as totals that go on from value to value.

    SUM(x)    null, then  the total and x     3  null  4      3   3   7
    COUNT(x)  0, then     one more for an x                   1   1   2
    AVG(x)    a sum and a count, of which a quotient

So a table that runs keeps a total for each group, and a window is a fold of its rows.
A value that is null counts for nothing, but in COUNT(*).
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dovetail.dialects.lenses.parser import Text, not_yet
from dovetail.expression.kinds import is_numeric, sum_text
from dovetail.schema import (
    FRACTIONS,
    MOST_DIGITS,
    WHOLE,
    ArrayType,
    AtomicType,
    DecimalType,
    StructType,
    Type,
)
from dovetail.spec.firing import Fold

_FIRST = ("MAXK", "MINK", "MAXK_UNIQUE", "MINK_UNIQUE")
_LISTED = ("COLLECT", "COLLECT_UNIQUE", *_FIRST)
_LATER = ("TOPK", "BOTTOMK")
_FUNCTIONS = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.First, exp.Last)
NAMES = (*(one.sql_name() for one in _FUNCTIONS), *_LISTED)
"""Functions of groups, by the names that texts have for them."""


@dataclass(frozen=True, slots=True)
class Total:
    """What is carried on from value to value.

    It begins as `first`; `after` is what it is behind one more, in which {total} and
    {item} stand for both. `less` is what it is without one, where it tells that alone.
    """

    first: str
    after: str
    type: Type
    less: str = ""

    def next(self, total: str, item: str) -> str:
        """Returns the total behind one more value, which may be the first one."""
        known = f"coalesce({total}, {self.first})"
        return f"CAST({self.after.format(total=known, item=item)} AS {self.type})"

    def before(self, total: str, item: str) -> str:
        """Returns the total without one of its values."""
        return f"CAST({self.less.format(total=total, item=item)} AS {self.type})"

    def of_all(self, values: str) -> str:
        """Returns the total of a list of values."""
        after = self.next("total", "item")
        return f"aggregate({values}, {self.first}, (total, item) -> {after})"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a group as its totals; in `result` they stand as {0} and {1}.

    Of a window it is `folded`, of folds in their stead, where there are such.
    """

    totals: tuple[Total, ...]
    result: str = "{0}"
    folds: tuple[Fold, ...] = ()
    folded: str = "{0}"


def is_total(node: exp.Expr) -> bool:
    """Tells whether a node is a function of all rows of a group."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in (*_LISTED, *_LATER)
    return isinstance(node, exp.AggFunc) and not (
        # Of several values, or of one row alone, these are other functions.
        isinstance(node, exp.Max | exp.Min) and node.expressions
    )


def argument_of(function: exp.Expr, text: Text) -> exp.Expr:
    """Returns of what a function looks at the values; of COUNT(*) it is 1."""
    name = _name_of(function)
    is_known = isinstance(function, _FUNCTIONS) or name in _LISTED
    if not is_known:
        # They stand in documents of SQL Studio, which reads topics as they are.
        hint = "processors of Lenses have none either" if name in _LATER else ""
        known = f"{', '.join(NAMES[:-1])} and {NAMES[-1]}"
        raise not_yet(text.at(function), f"{name}: known are {known}", hint)
    if isinstance(function, exp.Anonymous):
        most = function.expressions[1:]
        if not function.expressions or len(most) > 1:
            told = f"{name} of {len(function.expressions)} values"
            raise text.wrong(function, told, "a value, and how many of them at most")
        value: exp.Expr = function.expressions[0]
        return value
    value = function.this
    if value is None:
        raise text.wrong(
            function, f"{name} of nothing", f"a value, or * as in {name}(*)"
        )
    if isinstance(value, exp.Star):
        # It counts records: a 1 is never null, so that none is passed over.
        return exp.Literal.number(1)
    if isinstance(value, exp.Distinct) or function.expressions:
        raise not_yet(text.at(function), f"DISTINCT, or several values, in {name}")
    return value


def function_of(function: exp.Expr, kind: Type, text: Text) -> Function:
    """Returns what a function is of values of a type."""
    null = f"CAST(NULL AS {kind})"
    match function:
        case exp.Count():
            return Function((_COUNT,), folds=(Fold.COUNT,))
        case exp.Sum():
            total, result = _sum(function, kind, text)
            return Function((total,), result, (Fold.SUM,))
        case exp.Avg():
            total, result = _sum(function, kind, text)
            quotient = "IF({{1}} = 0, NULL, {} / {{1}})"
            return Function(
                *((total, _COUNT), quotient.format(result)),
                *((Fold.SUM, Fold.COUNT), quotient.format("{0}")),
            )
        # Both pass over a null, as which they start.
        case exp.Min():
            least = Total(null, "least({total}, {item})", kind)
            return Function((least,), folds=_ordered(Fold.LEAST, kind))
        case exp.Max():
            greatest = Total(null, "greatest({total}, {item})", kind)
            return Function((greatest,), folds=_ordered(Fold.GREATEST, kind))
        # What is there first stays; of LAST what comes replaces it. A null does
        # neither.
        case exp.First():
            first = Total(null, "coalesce({total}, {item})", kind)
            return Function((first,), folds=(Fold.FIRST,))
        case exp.Last():
            last = Total(null, "coalesce({item}, {total})", kind)
            return Function((last,), folds=(Fold.LAST,))
        case _:
            return Function((_list(function, kind, text),))


def _ordered(fold: Fold, kind: Type) -> tuple[Fold, ...]:
    """Returns a fold by the order of values, which those with parts have not."""
    return (fold,) if isinstance(kind, AtomicType | DecimalType) else ()


_COUNT = Total(
    "CAST(0 AS BIGINT)",
    "{total} + IF({item} IS NULL, 0, 1)",
    AtomicType.BIGINT,
    "{total} - IF({item} IS NULL, 0, 1)",
)
MEMBERS = Total("CAST(0 AS BIGINT)", "{total} + 1", AtomicType.BIGINT, "{total} - 1")
"""How many rows a group has."""


def of_table(function: Function) -> Function:
    """Returns a function as one of rows that may go again.

    Of a sum alone nobody could tell when its last value goes: a count says that.
    """
    match function.totals:
        case (Total(less=less) as total,) if less and total != _COUNT:
            return Function((total, _COUNT), "IF({1} = 0, NULL, {0})")
        case _:
            return function


def kept_values(kind: Type) -> Total:
    """Returns the values of a group with the keys of their rows, {key}, as a total."""
    pair = StructType((("key", AtomicType.STRING), ("item", kind)))
    listed = ArrayType(pair)
    return Total(
        f"CAST(array() AS {listed})",
        f"array_append({{total}}, CAST({{item}} AS {pair}))",
        listed,
        "filter({total}, one -> one.key <> {item}.key)",
    )


def _sum(function: exp.Expr, kind: Type, text: Text) -> tuple[Total, str]:
    """Returns a sum, and what it is of its total: of nothing it is null.

    Whole numbers have all of a BIGINT for it, decimals all the digits that there are.
    A sum of these that has no room is null, and stays so: of how many values it is says
    that it has begun.
    """
    if isinstance(kind, DecimalType):
        whole = DecimalType(MOST_DIGITS, kind.scale)
        pair = StructType((("value", whole), ("many", AtomicType.BIGINT)))
        before = f"IF({{total}}.many = 0, CAST(0 AS {whole}), {{total}}.value)"
        longer = sum_text(before, "{item}", whole)
        after = (
            f"IF({{item}} IS NULL, {{total}}, "
            f"CAST(struct({longer}, {{total}}.many + 1) AS {pair}))"
        )
        return Total(f"CAST(struct(NULL, 0) AS {pair})", after, pair), "{0}.value"
    if kind not in WHOLE and kind not in FRACTIONS:
        told = f"{_name_of(function)} of values of the type {kind}"
        raise text.wrong(function, told, "numbers")
    plain = AtomicType.BIGINT if kind in WHOLE else AtomicType.DOUBLE
    longer = sum_text(f"coalesce({{total}}, CAST(0 AS {plain}))", "{item}", plain)
    # What a null adds is nothing.
    after = f"IF({{item}} IS NULL, {{total}}, {longer})"
    # Of whole numbers alone what is taken away leaves what was before, to the digit.
    less = "coalesce({total}, 0) - coalesce({item}, 0)" if kind in WHOLE else ""
    return Total(f"CAST(NULL AS {plain})", after, plain, less), "{0}"


def _list(function: exp.Expr, kind: Type, text: Text) -> Total:
    """Returns a list of the values, in which each may stand once, up to a length."""
    # A null is no value to list; a list that is full stays as it is.
    name, stays, count = _name_of(function), "{item} IS NULL", ""
    for most in function.expressions[1:]:
        if not isinstance(most, exp.Literal) or not str(most.this).isdigit():
            told = f"at most {most.sql()} values"
            raise text.wrong(function, told, "a number of them")
        count = str(most.this)
    if name in _FIRST and not is_numeric(kind):
        told = f"{name} of values of the type {kind}"
        raise text.wrong(function, told, "numbers")
    if count and name not in _FIRST:
        stays += f" OR size({{total}}) >= {count}"
    if name.endswith("_UNIQUE"):
        stays += " OR array_contains({total}, {item})"
    listed, longer = ArrayType(kind), "array_append({total}, {item})"
    if name in _FIRST:
        # One is taken in where it belongs, and the last one falls out.
        is_greatest = name.startswith("MAX")
        longer = f"sort_array({longer}, {str(not is_greatest).lower()})"
        longer = f"slice({longer}, 1, {count or 1})"
    after = f"IF({stays}, {{total}}, {longer})"
    return Total(f"CAST(array() AS {listed})", after, listed)


def _name_of(function: exp.Expr) -> str:
    """Returns the name of a function as texts have it."""
    name = function.name if isinstance(function, exp.Anonymous) else function.key
    return str(name).upper()
