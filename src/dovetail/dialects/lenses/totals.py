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
from dovetail.schema import ArrayType, AtomicType, DecimalType, Type

_NAMES = "COUNT, SUM, AVG, MIN, MAX, FIRST, LAST, COLLECT and COLLECT_UNIQUE"
_WHOLE = {AtomicType.TINYINT, AtomicType.SMALLINT, AtomicType.INT, AtomicType.BIGINT}
_FLOATS = {AtomicType.FLOAT, AtomicType.DOUBLE}
_LISTED = ("COLLECT", "COLLECT_UNIQUE")
_LATER = ("MAXK", "MAXK_UNIQUE", "MINK", "MINK_UNIQUE", "TOPK", "BOTTOMK")
_FUNCTIONS = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.First, exp.Last)


@dataclass(frozen=True, slots=True)
class Total:
    """What is carried on from value to value.

    It begins as `first`; `after` is what it is behind one more, in which {total} and
    {item} stand for both.
    """

    first: str
    after: str
    type: Type

    def next(self, total: str, item: str) -> str:
        """Returns the total behind one more value, which may be the first one."""
        known = f"coalesce({total}, {self.first})"
        return f"CAST({self.after.format(total=known, item=item)} AS {self.type})"

    def of_all(self, values: str) -> str:
        """Returns the total of a list of values."""
        after = self.next("total", "item")
        return f"aggregate({values}, {self.first}, (total, item) -> {after})"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a group as its totals; in `result` they stand as {0} and {1}."""

    totals: tuple[Total, ...]
    result: str = "{0}"


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
        raise not_yet(text.at(function), f"{name}: known are {_NAMES}")
    if isinstance(function, exp.Anonymous):
        most = function.expressions[1:]
        if not function.expressions or len(most) > 1:
            told = f"{name} of {len(function.expressions)} values"
            raise text.wrong(function, told, "a value, and how many of them at most")
        value: exp.Expr = function.expressions[0]
        return value
    value = function.this
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
            return Function((_COUNT,))
        case exp.Sum():
            return Function((_sum(function, kind, text),))
        case exp.Avg():
            result = "IF({1} = 0, NULL, {0} / {1})"
            return Function((_sum(function, kind, text), _COUNT), result)
        # Both pass over a null, as which they start.
        case exp.Min():
            return Function((Total(null, "least({total}, {item})", kind),))
        case exp.Max():
            return Function((Total(null, "greatest({total}, {item})", kind),))
        # What is there first stays; of LAST what comes replaces it. A null does
        # neither.
        case exp.First():
            return Function((Total(null, "coalesce({total}, {item})", kind),))
        case exp.Last():
            return Function((Total(null, "coalesce({item}, {total})", kind),))
        case _:
            return Function((_list(function, kind, text),))


_COUNT = Total(
    "CAST(0 AS BIGINT)", "{total} + IF({item} IS NULL, 0, 1)", AtomicType.BIGINT
)


def _sum(function: exp.Expr, kind: Type, text: Text) -> Total:
    """Returns a sum: whole numbers have all of a BIGINT for it."""
    if kind in _WHOLE:
        whole: Type = AtomicType.BIGINT
    elif kind in _FLOATS:
        whole = AtomicType.DOUBLE
    elif isinstance(kind, DecimalType):
        # All the digits that there are: a sum has more than its values.
        whole = DecimalType(38, kind.scale)
    else:
        told = f"{_name_of(function)} of values of the type {kind}"
        raise text.wrong(function, told, "numbers")
    # Of nothing it is null, and so is what a null adds.
    after = "IF({item} IS NULL, {total}, coalesce({total}, 0) + {item})"
    return Total(f"CAST(NULL AS {whole})", after, whole)


def _list(function: exp.Expr, kind: Type, text: Text) -> Total:
    """Returns a list of the values, in which each may stand once, up to a length."""
    # A null is no value to list; a list that is full stays as it is.
    stays = "{item} IS NULL"
    for most in function.expressions[1:]:
        if not isinstance(most, exp.Literal) or not str(most.this).isdigit():
            told = f"at most {most.sql()} values"
            raise text.wrong(function, told, "a number of them")
        stays += f" OR size({{total}}) >= {most.this}"
    if _name_of(function) == "COLLECT_UNIQUE":
        stays += " OR array_contains({total}, {item})"
    listed = ArrayType(kind)
    after = f"IF({stays}, {{total}}, array_append({{total}}, {{item}}))"
    return Total(f"CAST(array() AS {listed})", after, listed)


def _name_of(function: exp.Expr) -> str:
    """Returns the name of a function as texts have it."""
    name = function.name if isinstance(function, exp.Anonymous) else function.key
    return str(name).upper()
