"""Truth: comparisons, AND and OR with unknown, null tests, choices between values.

Truth has three values; null is "unknown". Comparisons bring both sides to one type
first, so their evaluation only ever sees values of one type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence

from dovetail.expression.coercion import (
    BOOLEAN,
    FRACTIONS,
    INT,
    NULL,
    STRING,
    compared,
    is_comparable,
    is_numeric,
    widest,
    widest_without_texts,
)
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entries,
    Entry,
    Evaluation,
    Function,
    Program,
    Rule,
    Signature,
    alias,
    expects,
    kernel,
    kinds,
    operation,
    parts,
    plain,
)
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.expression.values import order

ENTRIES = Entries()

MOST_CHOICES = 200  # arguments of DECODE


def _truths(arguments: Arguments) -> Signature | None:
    """Types AND and OR: truths to a truth."""
    fits = all(kind in (BOOLEAN, NULL) for kind in kinds(arguments))
    return Signature((BOOLEAN,) * len(arguments), BOOLEAN) if fits else None


@ENTRIES.function("and", _truths, columnwise=kernel("and"), strict=False)
def conjunction(*values: bool | None) -> bool | None:
    """Returns false where any is false, else null where any is null."""
    return False if False in values else None if None in values else True


def disjunction(*values: bool | None) -> bool | None:
    """Returns true where any is true, else null where any is null."""
    return True if True in values else None if None in values else False


def comparison_rule(arguments: Arguments) -> Signature | None:
    """Types a comparison: both sides in the type that Spark compares them in."""
    left, right = kinds(arguments)
    common = compared(left, right)
    if common is None or not is_comparable(common):
        return None
    return Signature((common, common), BOOLEAN)


def _equality_rule(arguments: Arguments) -> Signature | None:
    """Types `=` and `<=>`: a truth equals the number 1 or 0."""
    left, right = kinds(arguments)
    for one, other in ((left, right), (right, left)):
        if one == BOOLEAN and is_numeric(other):
            return Signature((other, other), BOOLEAN)
    return comparison_rule(arguments)


def _compare(test: Callable[[Value, Value], bool]) -> Evaluation:
    """Returns the evaluation of a comparison by the order of the sides' type."""

    def evaluate(call: Call) -> Callable[..., Value]:
        key = order(call.arguments[0].type)
        return lambda left, right: test(key(left), key(right))

    return evaluate


@ENTRIES.typed("<=>", _equality_rule, columnwise=parts("<=>"), strict=False, takes=2)
def _same(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of `<=>`: null equals null."""
    key = order(call.arguments[0].type)

    def same(left: Value, right: Value) -> bool:
        if left is None or right is None:
            return left is right
        return bool(key(left) == key(right))

    return same


def _member_rule(arguments: Arguments) -> Signature | None:
    """Types IN: everything in the wider type of all."""
    common = widest(kinds(arguments))
    if common is None or not is_comparable(common):
        return None
    return Signature((common,) * len(arguments), BOOLEAN)


@ENTRIES.typed("in", _member_rule, columnwise=parts("in"), strict=False)
def _member(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of IN: null where only a null could still be equal."""
    key = order(call.arguments[0].type)

    def member(value: Value, *others: Value) -> bool | None:
        if value is None:
            return None
        wanted = key(value)
        return disjunction(
            *(None if other is None else key(other) == wanted for other in others)
        )

    return member


def _case_rule(arguments: Arguments) -> Signature | None:
    """Types CASE: pairs of truth and value, then the value of ELSE."""
    conditions, values = arguments[:-1:2], (*arguments[1::2], arguments[-1])
    common = widest(kinds(values))
    if common is None or any(kind != BOOLEAN for kind in kinds(conditions)):
        return None
    return Signature((BOOLEAN, common) * len(conditions) + (common,), common)


@ENTRIES.function("case", _case_rule, columnwise=parts("case"), strict=False)
def _case(*values: Value) -> Value:
    """Returns the value behind the first true condition, else the last."""
    pairs = zip(values[:-1:2], values[1::2], strict=True)
    return next((value for condition, value in pairs if condition), values[-1])


def _alike(common: Callable[[Sequence[Kind]], Kind | None], least: int) -> Rule:
    """Returns the rule of functions that bring all arguments to one common type."""

    def rule(arguments: Arguments) -> Signature | None:
        found = common(kinds(arguments)) if len(arguments) >= least else None
        if found is None:
            return None
        return Signature((found,) * len(arguments), found)

    return rule


def _in_order(types: Sequence[Kind]) -> Kind | None:
    """Returns the wider type of values that have a greatest and a least."""
    common = widest_without_texts(types)
    return common if common and is_comparable(common) else None


@ENTRIES.function(
    "coalesce", _alike(widest, 1), columnwise=parts("coalesce"), strict=False
)
def _first(*values: Value) -> Value:
    """Returns the first value that is not null."""
    return next((value for value in values if value is not None), None)


def _extreme(choose: Callable[..., Value]) -> Evaluation:
    """Returns the evaluation of GREATEST or LEAST, which pass over nulls."""

    def evaluate(call: Call) -> Callable[..., Value]:
        key = order(call.type)

        def extreme(*values: Value) -> Value:
            present = [value for value in values if value is not None]
            return choose(present, key=key) if present else None

        return extreme

    return evaluate


def _lower_null_test(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers IS NULL, which takes values of any type."""
    return operation("isnull", call.type, *arguments)


def _floating(arguments: Arguments) -> Signature | None:
    """Types ISNAN: a single or double; other numbers become doubles."""
    if len(arguments) == 1 and arguments[0].type in FRACTIONS:
        return Signature(kinds(arguments), BOOLEAN)
    return expects(BOOLEAN, FRACTIONS[1])(arguments)


def _anything(arguments: Arguments) -> Signature | None:
    """Types a test of one value of any type."""
    return Signature(kinds(arguments), BOOLEAN) if len(arguments) == 1 else None


@ENTRIES.macro("<>", ("not", "="))
def _not_equal(build: Build, arguments: Arguments) -> Node:
    """Writes `<>` as NOT of `=`."""
    return build("not", build("=", *arguments))


@ENTRIES.macro("is distinct from", ("not", "<=>"), takes=2)
def _distinct(build: Build, arguments: Arguments) -> Node:
    """Writes IS DISTINCT FROM as NOT of `<=>`."""
    return build("not", build("<=>", *arguments))


@ENTRIES.macro("ilike", ("like", "lower"), takes=2, optional=1)
def _ilike(build: Build, arguments: Arguments) -> Node:
    """Writes ILIKE as LIKE of small letters."""
    small = (build("lower", side) for side in arguments[:2])
    return build("like", *small, *arguments[2:])


@ENTRIES.macro("decode", ("case", "<=>"), takes=3, optional=MOST_CHOICES)
def _decode(build: Build, arguments: Arguments) -> Node:
    """Writes DECODE as CASE of `<=>`; what is left is null, a text, if not written."""
    value, *rest = arguments
    default = rest.pop() if len(rest) % 2 else Literal(None, STRING)
    tested = [
        build("<=>", value, part) if place % 2 == 0 else part
        for place, part in enumerate(rest)
    ]
    return build("case", *tested, default)


def _nan_rule(arguments: Arguments) -> Signature | None:
    """Types NANVL: two floats, or two doubles."""
    single, double = FRACTIONS
    if kinds(arguments) == (single, single):
        return Signature(kinds(arguments), single)
    return expects(double, double, double)(arguments)


def _lower_if_nan(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers NANVL to a choice."""
    value, other = arguments
    is_nan = operation("isnan", BOOLEAN, value)
    return operation("case", call.type, is_nan, other, value)


@ENTRIES.function("nanvl", _nan_rule, columnwise=_lower_if_nan, strict=False)
def _if_nan(value: float | None, other: float | None) -> float | None:
    """Returns the second where the first is NaN."""
    return other if value is not None and math.isnan(value) else value


@ENTRIES.macro("zeroifnull", ("coalesce",), takes=1)
def _zero_if_null(build: Build, arguments: Arguments) -> Node:
    """Writes ZEROIFNULL as COALESCE."""
    return build("coalesce", *arguments, Literal(0, INT))


@ENTRIES.macro("nullifzero", ("nullif",), takes=1)
def _null_if_zero(build: Build, arguments: Arguments) -> Node:
    """Writes NULLIFZERO as NULLIF."""
    return build("nullif", *arguments, Literal(0, INT))


@ENTRIES.macro("between", ("and", ">=", "<="), takes=3)
def _between(build: Build, arguments: Arguments) -> Node:
    """Writes BETWEEN as two comparisons."""
    value, low, high = arguments
    return build("and", build(">=", value, low), build("<=", value, high))


@ENTRIES.macro("if", ("case",), takes=3)
def _if(build: Build, arguments: Arguments) -> Node:
    """Writes IF as CASE; unlike CASE it takes NULL for a condition."""
    condition, *values = arguments
    known = Literal(None, BOOLEAN) if condition.type == NULL else condition
    return build("case", known, *values)


@ENTRIES.macro("nullif", ("case", "="), takes=2)
def _null_if(build: Build, arguments: Arguments) -> Node:
    """Writes NULLIF as CASE: null where both are equal."""
    return build("case", build("=", *arguments), Literal(None, NULL), arguments[0])


@ENTRIES.macro("nvl2", ("case", "isnotnull"), takes=3)
def _either(build: Build, arguments: Arguments) -> Node:
    """Writes NVL2: the second where the first is not null, else the third."""
    return build("case", build("isnotnull", arguments[0]), *arguments[1:])


@ENTRIES.macro("isnotnull", ("not", "isnull"))
def _not_null(build: Build, arguments: Arguments) -> Node:
    """Writes IS NOT NULL as NOT of IS NULL."""
    return build("not", build("isnull", *arguments))


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    Function("or", _truths, plain(disjunction), kernel("or"), strict=False),
    Function("not", expects(BOOLEAN, BOOLEAN), plain(operator.not_), kernel("not")),
    Function("=", _equality_rule, _compare(operator.eq), parts("="), takes=2),
    Function("<", comparison_rule, _compare(operator.lt), parts("<"), takes=2),
    Function("<=", comparison_rule, _compare(operator.le), parts("<="), takes=2),
    Function(">", comparison_rule, _compare(operator.gt), parts(">"), takes=2),
    Function(">=", comparison_rule, _compare(operator.ge), parts(">="), takes=2),
    Function(
        "isnull",
        _anything,
        plain(lambda value: value is None),
        _lower_null_test,
        strict=False,
        takes=1,
    ),
    Function(
        "isnan",
        _floating,
        plain(lambda value: value is not None and math.isnan(value)),
        kernel("isnan"),
        strict=False,
        takes=1,
    ),
    Function(
        "greatest",
        _alike(_in_order, 2),
        _extreme(max),
        parts("greatest"),
        strict=False,
    ),
    Function(
        "least",
        _alike(_in_order, 2),
        _extreme(min),
        parts("least"),
        strict=False,
    ),
    alias("equal_null", "<=>"),
    alias("nvl", "coalesce", takes=2),
    alias("ifnull", "coalesce", takes=2),
)
