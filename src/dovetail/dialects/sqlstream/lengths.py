"""Lengths of time as numbers of their unit, which CAST makes of them.

CAST((a - b) SECOND AS DECIMAL(10, 3))    seconds have a fraction, other units none
CAST(INTERVAL '90' SECOND AS INTEGER)     one that is written out
CAST((a - b) MINUTE * 2 AS INTEGER)       computed with, in its unit
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import syntax

_FRACTIONS = (exp.DType.DECIMAL, exp.DType.DOUBLE, exp.DType.FLOAT)
_PER_SECOND = str(spec.SECOND)


def number_of(value: exp.Expr, kind: exp.DataType) -> exp.Expr | None:
    """Returns a length of time as a number to be cast; nothing where it is none."""
    counted = _counted(value)
    if counted is None or counted[1] != "SECOND":
        return counted and counted[0]
    # Divided by a number with a point the fraction stays, which other types cut.
    per = _PER_SECOND + ".0" * kind.is_type(*_FRACTIONS)
    micros = exp.Paren(this=counted[0])
    return exp.Div(this=micros, expression=exp.Literal.number(per))


def _counted(value: exp.Expr) -> tuple[exp.Expr, str] | None:
    """Returns how many of a unit a length of time has, of a second its microseconds."""
    match value:
        case exp.Paren() | exp.Neg():
            inner = _counted(value.this)
            return inner and (type(value)(this=inner[0]), inner[1])
        case exp.Anonymous(
            name=syntax.TIME_BETWEEN, expressions=[later, earlier, unit]
        ):
            name = unit.name.upper()
            if name != "SECOND":
                parts = [exp.Var(this=name), earlier.copy(), later.copy()]
                return exp.Anonymous(this="timestampdiff", expressions=parts), name
            kind = exp.DataType.build("timestamp")
            ends = (exp.Cast(this=it.copy(), to=kind.copy()) for it in (later, earlier))
            last, first = (exp.func("unix_micros", one) for one in ends)
            return exp.Paren(this=exp.Sub(this=last, expression=first)), name
        case exp.Interval(this=exp.Literal() as written, unit=exp.Var() as unit):
            name = unit.name.upper()
            with suppress(InvalidOperation):
                size = spec.SECOND if name == "SECOND" else 1
                return exp.Literal.number(int(Decimal(written.name) * size)), name
            return None
        case exp.Mul() | exp.Div() | exp.Add() | exp.Sub():
            return _computed(value)
        case _:
            return None


def _computed(value: exp.Expr) -> tuple[exp.Expr, str] | None:
    """Returns what is computed of lengths of one unit, or of one and a number."""
    left, right = (_counted(it) for it in (value.this, value.expression))
    is_sum = isinstance(value, exp.Add | exp.Sub)
    units = {it[1] for it in (left, right) if it is not None}
    # A number is neither added to a length nor divided by one.
    if len(units) != 1 or is_sum != bool(left and right):
        return None
    if isinstance(value, exp.Div) and right is not None:
        return None
    first, last = (
        it[0] if it is not None else part.copy()
        for it, part in ((left, value.this), (right, value.expression))
    )
    return type(value)(this=first, expression=last), units.pop()
