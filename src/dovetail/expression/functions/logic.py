"""Truth: comparisons, AND and OR with unknown, null tests, choices between values.

Truth has three values; null is "unknown". Comparisons bring both sides to one type
first, so their evaluation only ever sees values of one type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable

from dovetail.errors import EngineError
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.expression.values import order

ENTRIES = entry.Entries()

MOST_CHOICES = 200  # arguments of DECODE


_TRUTHS = entry.alike(
    lambda *types: kinds.BOOLEAN if set(types) <= {kinds.BOOLEAN, kinds.NULL} else None
)


@ENTRIES.row("and", _TRUTHS, "and", strict=False)
def conjunction(*values: bool | None) -> bool | None:
    """Returns false where any is false, else null where any is null."""
    return False if False in values else None if None in values else True


@ENTRIES.row("or", _TRUTHS, "or", strict=False)
def disjunction(*values: bool | None) -> bool | None:
    """Returns true where any is true, else null where any is null."""
    return True if True in values else None if None in values else False


def _comparable(kind: Kind | None) -> Kind | None:
    """Returns a type whose values stand in an order, None for any other."""
    return kind if kind is not None and kinds.is_comparable(kind) else None


# both sides are looked at in one type
_COMPARISON = entry.alike(
    lambda left, right: _comparable(kinds.compared(left, right)),
    lambda _common: kinds.BOOLEAN,
)


def _equality_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types `=` and `<=>`: a truth equals the number 1 or 0."""
    left, right = entry.types(arguments)
    for one, other in ((left, right), (right, left)):
        if one == kinds.BOOLEAN and kinds.is_numeric(other):
            return entry.Signature((other, other), kinds.BOOLEAN)
    return _COMPARISON(arguments)


def _compare(test: Callable[[Value, Value], bool]) -> entry.Evaluation:
    """Returns the evaluation of a comparison by the order of the sides' type."""

    def evaluate(call: Call) -> entry.Compute:
        key = order(call.arguments[0].type)
        return lambda left, right: test(key(left), key(right))

    return evaluate


@ENTRIES.typed("<=>", _equality_rule, "<=>", strict=False, takes=2)
def _same(call: Call) -> entry.Compute:
    key = order(call.arguments[0].type)

    def same(left: Value, right: Value) -> bool:
        if left is None or right is None:
            return left is right
        return bool(key(left) == key(right))

    return same


_MEMBER = entry.alike(
    lambda *types: _comparable(kinds.widest(types)), lambda _common: kinds.BOOLEAN
)


@ENTRIES.typed("in", _MEMBER, "in", strict=False)
def _member(call: Call) -> entry.Compute:
    key = order(call.arguments[0].type)

    def member(value: Value, *others: Value) -> bool | None:
        if value is None:
            return None
        wanted = key(value)
        # null where only a null could still be equal
        found = (None if other is None else key(other) == wanted for other in others)
        return disjunction(*found)

    return member


def _case_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types CASE: pairs of truth and value, then the value of ELSE."""
    conditions, values = arguments[:-1:2], (*arguments[1::2], arguments[-1])
    common = kinds.widest(entry.types(values))
    if common is None or any(test.type != kinds.BOOLEAN for test in conditions):
        return None
    wanted = (kinds.BOOLEAN, common) * len(conditions) + (common,)
    return entry.Signature(wanted, common)


@ENTRIES.row("case", _case_rule, "case", strict=False)
def _case(*values: Value) -> Value:
    pairs = zip(values[:-1:2], values[1::2], strict=True)
    return next((value for condition, value in pairs if condition), values[-1])


def extreme(
    choose: Callable[..., Value], call: Call
) -> Callable[[Iterable[Value]], Value]:
    """Returns the choice of the greatest or the least, which passes over nulls."""
    key = order(call.type)

    def found(values: Iterable[Value]) -> Value:
        present = [value for value in values if value is not None]
        return choose(present, key=key) if present else None

    return found


def _choosing(name: str, choose: Callable[..., Value]) -> entry.Function:
    """Returns the entry of GREATEST or LEAST, where texts meet only texts."""
    rule = entry.alike(
        lambda *types: (
            _comparable(kinds.widest_without_texts(types)) if types[1:] else None
        )
    )

    def evaluate(call: Call) -> entry.Compute:
        found = extreme(choose, call)
        return lambda *values: found(values)

    return entry.typed(name, rule, evaluate, name, strict=False)


@ENTRIES.macro("ilike", ("like", "lower"), takes=2, optional=1)
def _ilike(build: entry.Build, text: Node, form: Node, *escape: Node) -> Node:
    return build("like", build("lower", text), build("lower", form), *escape)


@ENTRIES.macro("decode", ("case", "<=>"), takes=3, optional=MOST_CHOICES)
def _decode(build: entry.Build, value: Node, *others: Node) -> Node:
    rest = list(others)
    # what is left over is null, a text, where nothing is written for it
    default = rest.pop() if len(rest) % 2 else Literal(None, kinds.STRING)
    tested = [
        build("<=>", value, part) if place % 2 == 0 else part
        for place, part in enumerate(rest)
    ]
    return build("case", *tested, default)


@ENTRIES.macro("if", ("case",), takes=3)
def _if(build: entry.Build, condition: Node, *values: Node) -> Node:
    # unlike CASE it takes NULL for a condition
    is_null = condition.type == kinds.NULL
    known = Literal(None, kinds.BOOLEAN) if is_null else condition
    return build("case", known, *values)


REQUIRED = "required value"


def _required(value: Value, told: str) -> Value:
    """Returns a value, or stops where there is none: `coalesce(x, raise_error(..))`."""
    if value is None:
        raise EngineError(told)
    return value


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    entry.row("not", "boolean -> boolean", operator.not_, "not"),
    entry.typed("=", _equality_rule, _compare(operator.eq), "=", takes=2),
    entry.typed("<", _COMPARISON, _compare(operator.lt), "<", takes=2),
    entry.typed("<=", _COMPARISON, _compare(operator.le), "<=", takes=2),
    entry.typed(">", _COMPARISON, _compare(operator.gt), ">", takes=2),
    entry.typed(">=", _COMPARISON, _compare(operator.ge), ">=", takes=2),
    entry.row(
        "isnull",
        entry.kept(lambda _kind: kinds.BOOLEAN),
        lambda value: value is None,
        "isnull",
        strict=False,
        takes=1,
    ),
    entry.row(
        "isnan",
        entry.either("float -> boolean", "double -> boolean"),
        lambda value: value is not None and math.isnan(value),
        "isnan",
        strict=False,
        takes=1,
    ),
    entry.row(
        "nanvl",
        # of two floats it is one, of any other numbers a double
        lambda given: (
            entry.Signature((kinds.FLOAT,) * 2, kinds.FLOAT)
            if set(entry.types(given)) == {kinds.FLOAT}
            else entry.shape("double, double -> double")(given)
        ),
        lambda value, other: (
            other if value is not None and math.isnan(value) else value
        ),
        lambda call, given: entry.operation(
            "case",
            call.type,
            entry.operation("isnan", kinds.BOOLEAN, given[0]),
            *reversed(given),
        ),
        strict=False,
        takes=2,
    ),
    entry.row(
        "coalesce",
        entry.alike(lambda *types: kinds.widest(types) if types else None),
        lambda *values: next((value for value in values if value is not None), None),
        "coalesce",
        strict=False,
    ),
    entry.row(
        REQUIRED,
        lambda given: entry.Signature((given[0].type, kinds.STRING), given[0].type),
        _required,
        strict=False,
        takes=2,
    ),
    _choosing("greatest", max),
    _choosing("least", min),
    entry.Macro(
        "<>",
        ("not", "="),
        lambda build, *sides: build("not", build("=", *sides)),
    ),
    entry.Macro(
        "is distinct from",
        ("not", "<=>"),
        lambda build, *sides: build("not", build("<=>", *sides)),
        takes=2,
    ),
    entry.Macro(
        "between",
        ("and", ">=", "<="),
        lambda build, value, low, high: build(
            "and", build(">=", value, low), build("<=", value, high)
        ),
        takes=3,
    ),
    entry.Macro(
        "nullif",
        ("case", "="),
        lambda build, value, other: build(
            "case", build("=", value, other), Literal(None, kinds.NULL), value
        ),
        takes=2,
    ),
    entry.Macro(
        "nvl2",
        ("case", "isnotnull"),
        lambda build, value, *choices: build(
            "case", build("isnotnull", value), *choices
        ),
        takes=3,
    ),
    entry.Macro(
        "isnotnull",
        ("not", "isnull"),
        lambda build, *value: build("not", build("isnull", *value)),
    ),
    entry.Macro(
        "zeroifnull",
        ("coalesce",),
        lambda build, value: build("coalesce", value, Literal(0, kinds.INT)),
        takes=1,
    ),
    entry.Macro(
        "nullifzero",
        ("nullif",),
        lambda build, value: build("nullif", value, Literal(0, kinds.INT)),
        takes=1,
    ),
    entry.alias("equal_null", "<=>"),
    entry.alias("nvl", "coalesce", takes=2),
    entry.alias("ifnull", "coalesce", takes=2),
)
