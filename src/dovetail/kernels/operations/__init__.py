"""The operations of programs by name; each gets the type of its result first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations import numbers, texts, times, truths
from dovetail.kernels.operations.casts import cast
from dovetail.kernels.operations.values import Value


def taken(_kind: pa.DataType, record: Value, *, field: str) -> Value:
    """Returns a field of structs, null where the struct is."""
    return pc.struct_field(record, field)


OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "and": truths.conjunction,
    "or": truths.disjunction,
    "not": truths.negation,
    "=": truths.equal,
    "<=>": truths.same,
    "<": truths.less,
    "<=": truths.at_most,
    ">": truths.greater,
    ">=": truths.at_least,
    "in": truths.member,
    "isnull": truths.is_null,
    "isnan": truths.is_nan,
    "case": truths.case,
    "coalesce": truths.first,
    "greatest": truths.greatest,
    "least": truths.least,
    "add": numbers.add,
    "subtract": numbers.subtract,
    "multiply": numbers.multiply,
    "divide": numbers.divide,
    "div": numbers.whole_quotient,
    "remainder": numbers.remainder,
    "negative": numbers.negate,
    "abs": numbers.absolute,
    "sign": numbers.sign,
    "floor": numbers.floor,
    "ceil": numbers.ceil,
    "power": numbers.power,
    "sqrt": numbers.root,
    "exp": numbers.exponential,
    "ln": numbers.logarithm,
    "round": numbers.round_half_up,
    "bround": numbers.round_half_even,
    "concat": texts.concat,
    "upper": texts.upper,
    "lower": texts.lower,
    "trim": texts.trim,
    "ltrim": texts.trim_left,
    "rtrim": texts.trim_right,
    "length": texts.length,
    "substring": texts.substring,
    "lpad": texts.padded_left,
    "rpad": texts.padded_right,
    "replace": texts.replace,
    "instr": texts.position,
    "startswith": texts.starts,
    "endswith": texts.ends,
    "contains": texts.contains,
    "like": texts.like,
    "later": times.later,
    "months_later": times.months_later,
    "days_later": times.days_later,
    "days_earlier": times.days_earlier,
    "distance": times.distance,
    "datediff": times.days_apart,
    "units": times.units,
    "since": times.since,
    "year": times.part("year"),
    "quarter": times.part("quarter"),
    "month": times.part("month"),
    "day": times.part("day"),
    "dayofweek": times.day_of_week,
    "dayofyear": times.part("day_of_year"),
    "weekday": times.part("day_of_week"),
    "weekofyear": times.part("iso_week"),
    "hour": times.part("hour"),
    "minute": times.part("minute"),
    "second": times.part("second"),
    "date_trunc": times.truncated,
    "field": taken,
    "cast": cast,
}
