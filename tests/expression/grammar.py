"""Random expressions: one form at least for every function of the table.

A form says what kind of value it gives, how it is written, and which kinds go into its
holes. A new function that has no form here fails a test, so it joins every law.
Kinds that a function could blow up on (how long a padded text is, how far a date is
moved) have names of their own and stay small.
"""

import math
import random
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from dovetail.expression import Scope
from dovetail.schema import Schema

TYPES = {
    "truth": "boolean",
    "tiny": "tinyint",
    "small": "smallint",
    "number": "int",
    "big": "bigint",
    "single": "float",
    "real": "double",
    "text": "string",
    "day": "date",
    "moment": "timestamp",
    "local": "timestamp_ntz",
    "price": "decimal(5,2)",
    "count": "decimal(10,0)",
    "wide": "decimal(38,18)",
    "numbers": "array<int>",
    "names": "array<string>",
    "entry": "struct<x:int,y:string>",
    "scores": "map<string,int>",
    "raw": "binary",
}
SCHEMA = Schema.of(TYPES)
SCOPE = Scope.pair(SCHEMA, SCHEMA)

EDGES = {
    "truth": [True, False],
    "tiny": [0, 1, -1, 7, 127, -128],
    "small": [0, 2, -3, 300, 32767, -32768],
    "number": [0, 1, -7, 12345, 2**31 - 1, -(2**31)],
    "big": [0, 1, -1, 10**12, 2**63 - 1, -(2**63)],
    "single": [0.0, 1.5, -2.25, 16777216.0, math.nan, math.inf],
    "real": [0.0, -0.5, 2.5, 3.5, 0.1, 1e300, math.nan, -math.inf, 1e7, 0.001],
    "text": [
        "",
        "a",
        "Abc",
        " x ",
        "12",
        "-3",
        "4.5",
        "true",
        "2020-02-29",
        "ünï",
        "%_",
    ],
    "day": [date(1970, 1, 1), date(2020, 2, 29), date(1969, 12, 31), date(2001, 1, 31)],
    "moment": [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2020, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
        datetime(2001, 1, 31, 12, 30, tzinfo=UTC),
    ],
    "local": [datetime(1970, 1, 1), datetime(2020, 2, 29, 1, 2, 3, 4)],  # noqa: DTZ001
    "price": [Decimal("0.00"), Decimal("1.50"), Decimal("-999.99"), Decimal("0.05")],
    "count": [Decimal(0), Decimal(7), Decimal(-9999999999)],
    "wide": [
        Decimal(0).scaleb(-18),
        Decimal("1.500000000000000000"),
        Decimal("-12345678901234567890.123456789012345678"),
    ],
    "numbers": [[], [1, 2, 3], [None, 2], [5]],
    "names": [[], ["a", "b"], [None, ""]],
    "entry": [{"x": 1, "y": "a"}, {"x": None, "y": None}, {"x": -1, "y": "b"}],
    "scores": [{}, {"a": 1}, {"a": 2, "b": None}],
    "raw": [b"", b"abc"],
}


def rows(count, seed):
    """So many pairs of rows, every column null now and then."""
    dice = random.Random(seed)
    return [{side: _row(dice) for side in "lr"} for _ in range(count)]


def _row(dice):
    return {name: dice.choice([*values, None]) for name, values in EDGES.items()}


@dataclass(frozen=True)
class Form:
    """One way to write a function."""

    gives: str
    written: str
    takes: tuple[str, ...]


def form(gives, written, *takes):
    """A form; its holes are `{0}`, `{1}` and so on."""
    return Form(gives, written, takes)


NUMBERS = ("whole", "exact", "double")
LEAVES = {
    "truth": ["l.truth", "r.truth", "true", "CAST(NULL AS BOOLEAN)"],
    "whole": [
        "l.tiny",
        "r.small",
        "l.number",
        "r.number",
        "l.big",
        "3",
        "-1",
        "0",
        "7L",
    ],
    "exact": ["l.price", "r.price", "l.count", "r.wide", "1.5", "0.05", "12.00"],
    "double": ["l.real", "r.real", "l.single", "2.5D", "0.1D", "1e3"],
    "few": ["l.tiny", "r.tiny", "1", "2", "0", "-1"],
    "real": ["l.real", "r.single"],
    "text": ["l.text", "r.text", "'a'", "'Ab c'", "''", "'7'"],
    "pattern": ["'%a%'", "'a_'", "'%'", "r.text", "''"],
    "unit": ["'year'", "'month'", "'week'", "'hour'", "'second'", "'nothing'"],
    "day": ["l.day", "r.day", "DATE '2020-02-29'"],
    "moment": ["l.moment", "r.moment", "TIMESTAMP '2020-02-29 12:00:00'"],
    "local": ["l.local", "r.local"],
    "span": [
        "INTERVAL 1 DAY",
        "INTERVAL '10' MINUTE",
        "INTERVAL '1 02:03:04.5' DAY TO SECOND",
    ],
    "clock": ["INTERVAL '10' MINUTE", "INTERVAL 1 DAY 2 HOURS", "INTERVAL '1 hour'"],
    "months": ["INTERVAL 1 MONTH", "INTERVAL '1-2' YEAR TO MONTH"],
    "list": ["l.numbers", "r.numbers", "array(1, NULL, 3)"],
    "words": ["l.names", "array('a', 'b')"],
    "entry": ["l.entry", "r.entry"],
    "scores": ["l.scores"],
    "bytes": ["l.raw", "CAST('x' AS BINARY)"],
}


def _numeric(written):
    """The forms of an operator of two numbers: whole, with decimals, with doubles."""
    return (
        form("whole", written, "whole", "whole"),
        form("exact", written, "exact", "whole"),
        form("exact", written, "exact", "exact"),
        form("double", written, "double", "exact"),
        form("double", written, "whole", "double"),
    )


def _compared(written):
    """The forms of a comparison."""
    return (
        form("truth", written, "whole", "exact"),
        form("truth", written, "double", "whole"),
        form("truth", written, "text", "text"),
        form("truth", written, "moment", "day"),
        form("truth", written, "entry", "entry"),
        form("truth", written, "list", "list"),
    )


def _chosen(written):
    """The forms of a choice between two values of one kind."""
    return tuple(
        form(kind, written, kind, kind) for kind in (*NUMBERS, "text", "day", "moment")
    )


def _of_day(name):
    """The form of a part of a date."""
    return (
        form("whole", f"{name}({{0}})", "day"),
        form("whole", f"{name}({{0}})", "moment"),
    )


FORMS = {
    "and": (form("truth", "({0} AND {1})", "truth", "truth"),),
    "or": (form("truth", "({0} OR {1})", "truth", "truth"),),
    "not": (form("truth", "(NOT {0})", "truth"),),
    "=": (*_compared("({0} = {1})"), form("truth", "({0} = {1})", "text", "whole")),
    "<=>": _compared("({0} <=> {1})"),
    "<>": _compared("({0} <> {1})"),
    "<": _compared("({0} < {1})"),
    "<=": _compared("({0} <= {1})"),
    ">": _compared("({0} > {1})"),
    ">=": _compared("({0} >= {1})"),
    "between": (
        form("truth", "({0} BETWEEN {1} AND {2})", "whole", "exact", "double"),
        form("truth", "({0} NOT BETWEEN {1} AND {2})", "moment", "moment", "day"),
    ),
    "in": (
        form("truth", "({0} IN ({1}, 1, NULL))", "whole", "whole"),
        form("truth", "({0} NOT IN ({1}, 'a'))", "text", "text"),
        form("truth", "({0} IN (1, 12345, -7))", "whole"),
    ),
    "isnull": (
        form("truth", "({0} IS NULL)", "whole"),
        form("truth", "({0} IS NULL)", "entry"),
    ),
    "isnotnull": (form("truth", "({0} IS NOT NULL)", "text"),),
    "isnan": (form("truth", "isnan({0})", "double"),),
    "case": (
        form(
            "text",
            "CASE WHEN {0} THEN {1} WHEN {2} THEN {3} END",
            "truth",
            "text",
            "truth",
            "text",
        ),
        form(
            "exact", "CASE {0} WHEN 1 THEN {1} ELSE {2} END", "whole", "exact", "exact"
        ),
    ),
    "if": (form("whole", "IF({0}, {1}, {2})", "truth", "whole", "whole"),),
    "coalesce": (
        *_chosen("coalesce({0}, {1})"),
        form("text", "coalesce({0}, {1})", "whole", "text"),
    ),
    "nvl": _chosen("nvl({0}, {1})"),
    "ifnull": _chosen("ifnull({0}, {1})"),
    "nvl2": (form("exact", "nvl2({0}, {1}, {2})", "text", "exact", "exact"),),
    "nullif": (form("whole", "nullif({0}, {1})", "whole", "whole"),),
    "greatest": (
        *_chosen("greatest({0}, {1})"),
        form("exact", "greatest({0}, {1})", "whole", "exact"),
    ),
    "least": _chosen("least({0}, {1})"),
    "+": (
        *_numeric("({0} + {1})"),
        form("day", "({0} + {1})", "day", "few"),
        form("moment", "({0} + {1})", "moment", "span"),
        form("local", "({1} + {0})", "local", "span"),
        form("moment", "({0} + {1})", "moment", "months"),
    ),
    "-": (
        *_numeric("({0} - {1})"),
        form("day", "({0} - {1})", "day", "months"),
        form("moment", "({0} - {1})", "moment", "span"),
        form("truth", "({0} - {1} < INTERVAL 1 DAY)", "moment", "moment"),
        form("truth", "({0} - {1} >= INTERVAL 3 DAYS)", "day", "day"),
    ),
    "*": (
        *_numeric("({0} * {1})"),
        form("moment", "({0} + {1} * INTERVAL 1 HOUR)", "moment", "few"),
    ),
    "+ of numbers": _numeric("({0} + {1})"),
    "- of numbers": _numeric("({0} - {1})"),
    "* of numbers": _numeric("({0} * {1})"),
    "+ of time": (form("moment", "({0} + {1})", "day", "clock"),),
    "+ of days": (form("day", "({0} + INTERVAL 3 DAYS)", "day"),),
    "+ of months": (form("local", "({0} + {1})", "local", "months"),),
    "+ of spans": (form("moment", "({0} + ({1} + {2}))", "moment", "span", "span"),),
    "- of spans": (form("moment", "({0} + ({1} - {2}))", "moment", "span", "span"),),
    "* of spans": (form("moment", "({0} + {1} * {2})", "moment", "span", "few"),),
    "- of moments": (form("moment", "({0} + ({1} - {2}))", "day", "moment", "day"),),
    "- of dates": (form("moment", "({0} + ({1} - {2}))", "moment", "day", "day"),),
    "/": (
        form("double", "({0} / {1})", "whole", "whole"),
        form("exact", "({0} / {1})", "exact", "exact"),
        form("double", "({0} / {1})", "double", "exact"),
    ),
    "div": (
        form("whole", "({0} div {1})", "whole", "whole"),
        form("whole", "({0} div {1})", "exact", "whole"),
    ),
    "%": _numeric("({0} % {1})"),
    "mod": _numeric("mod({0}, {1})"),
    "pmod": (
        form("whole", "pmod({0}, {1})", "whole", "whole"),
        form("exact", "pmod({0}, {1})", "exact", "exact"),
    ),
    "negative": tuple(form(kind, "(- {0})", kind) for kind in NUMBERS),
    "positive": tuple(form(kind, "positive({0})", kind) for kind in NUMBERS),
    "abs": tuple(form(kind, "abs({0})", kind) for kind in NUMBERS),
    "sign": (
        form("double", "sign({0})", "whole"),
        form("double", "sign({0})", "double"),
    ),
    "signum": (form("double", "signum({0})", "exact"),),
    "floor": (
        form("whole", "floor({0})", "double"),
        form("exact", "floor({0})", "exact"),
    ),
    "ceil": (form("whole", "ceil({0})", "double"), form("exact", "ceil({0})", "exact")),
    "ceiling": (form("whole", "ceiling({0})", "whole"),),
    "round": (
        form("double", "round({0}, 1)", "real"),
        form("exact", "round({0}, 1)", "exact"),
        form("whole", "round({0}, -1)", "whole"),
    ),
    "bround": (
        form("double", "bround({0})", "real"),
        form("exact", "bround({0}, 1)", "exact"),
    ),
    "pow": (form("double", "pow({0}, {1})", "real", "few"),),
    "power": (form("double", "power({0}, 0.5D)", "real"),),
    "sqrt": (form("double", "sqrt({0})", "double"),),
    "exp": (form("double", "exp({0})", "few"),),
    "ln": (form("double", "ln({0})", "whole"),),
    "concat": (
        form("text", "concat({0}, {1})", "text", "whole"),
        form("list", "concat({0}, {1})", "list", "list"),
        form("bytes", "concat({0}, {1})", "bytes", "bytes"),
    ),
    "||": (form("text", "({0} || {1})", "text", "text"),),
    "concat_ws": (
        form("text", "concat_ws({0}, {1}, 'x')", "text", "text"),
        form("text", "concat_ws('-', {0})", "words"),
    ),
    "upper": (form("text", "upper({0})", "text"),),
    "ucase": (form("text", "ucase({0})", "text"),),
    "lower": (form("text", "lower({0})", "text"),),
    "lcase": (form("text", "lcase({0})", "text"),),
    "trim": (
        form("text", "trim({0})", "text"),
        form("text", "trim(BOTH 'a' FROM {0})", "text"),
    ),
    "ltrim": (
        form("text", "ltrim({0})", "text"),
        form("text", "ltrim('xa', {0})", "text"),
    ),
    "rtrim": (
        form("text", "rtrim({0})", "text"),
        form("text", "trim(TRAILING 'x' FROM {0})", "text"),
    ),
    "length": (
        form("whole", "length({0})", "text"),
        form("whole", "length({0})", "bytes"),
    ),
    "char_length": (form("whole", "char_length({0})", "text"),),
    "substring": (
        form("text", "substring({0}, {1}, {2})", "text", "few", "few"),
        form("text", "substring({0}, -2)", "text"),
        form("text", "substring({0}, 2, 1)", "text"),
        form("bytes", "substring({0}, 2)", "bytes"),
    ),
    "substr": (
        form("text", "substr({0}, 0, 2)", "text"),
        form("text", "substr({0}, -2, 1)", "text"),
    ),
    "left": (
        form("text", "left({0}, {1})", "text", "few"),
        form("text", "left({0}, 2)", "text"),
    ),
    "right": (
        form("text", "right({0}, {1})", "text", "few"),
        form("text", "right({0}, 2)", "text"),
    ),
    "lpad": (
        form("text", "lpad({0}, 4, '*')", "text"),
        form("text", "lpad({0}, {1}, 'xy')", "text", "few"),
    ),
    "rpad": (
        form("text", "rpad({0}, 4)", "text"),
        form("text", "rpad({0}, 5, {1})", "text", "text"),
    ),
    "replace": (
        form("text", "replace({0}, 'a', 'bb')", "text"),
        form("text", "replace({0}, {1}, {2})", "text", "text", "text"),
    ),
    "instr": (form("whole", "instr({0}, {1})", "text", "text"),),
    "startswith": (form("truth", "startswith({0}, {1})", "text", "text"),),
    "endswith": (form("truth", "endswith({0}, {1})", "text", "text"),),
    "contains": (form("truth", "contains({0}, {1})", "text", "text"),),
    "like": (
        form("truth", "({0} LIKE {1})", "text", "pattern"),
        form("truth", "({0} NOT LIKE '%!_' ESCAPE '!')", "text"),
    ),
    **{
        name: _of_day(name)
        for name in (
            *("year", "quarter", "month", "day", "dayofmonth", "dayofweek"),
            *("dayofyear", "weekday", "weekofyear"),
        )
    },
    "hour": (form("whole", "hour({0})", "moment"),),
    "minute": (form("whole", "EXTRACT(MINUTE FROM {0})", "moment"),),
    "second": (form("whole", "second({0})", "moment"),),
    "unix_seconds": (form("whole", "unix_seconds({0})", "moment"),),
    "unix_millis": (form("whole", "unix_millis({0})", "moment"),),
    "unix_micros": (form("whole", "unix_micros({0})", "moment"),),
    "timestamp_seconds": (
        form("moment", "timestamp_seconds({0})", "few"),
        form("moment", "timestamp_seconds(2.5D)"),
    ),
    "timestamp_millis": (form("moment", "timestamp_millis({0})", "few"),),
    "timestamp_micros": (form("moment", "timestamp_micros({0})", "few"),),
    "date_trunc": (form("moment", "date_trunc({0}, {1})", "unit", "moment"),),
    "trunc": (form("day", "trunc({0}, {1})", "day", "unit"),),
    "datediff": (form("whole", "datediff({0}, {1})", "day", "moment"),),
    "date_diff": (form("whole", "date_diff({0}, {1})", "day", "day"),),
    "date_add": (form("day", "date_add({0}, {1})", "day", "few"),),
    "dateadd": (form("day", "dateadd({0}, {1})", "day", "few"),),
    "date_sub": (form("day", "date_sub({0}, {1})", "day", "few"),),
    "add_months": (form("day", "add_months({0}, {1})", "day", "few"),),
    "last_day": (form("day", "last_day({0})", "day"),),
    "to_timestamp": (form("moment", "to_timestamp({0})", "text"),),
    "timestamp": (form("moment", "timestamp({0})", "day"),),
    "to_date": (form("day", "to_date({0})", "text"),),
    "date": (form("day", "date({0})", "moment"),),
    "cast": (
        form("whole", "CAST({0} AS INT)", "double"),
        form("whole", "CAST({0} AS TINYINT)", "exact"),
        form("whole", "CAST({0} AS BIGINT)", "text"),
        form("whole", "CAST({0} AS SMALLINT)", "whole"),
        form("exact", "CAST({0} AS DECIMAL(5,2))", "real"),
        form("exact", "CAST({0} AS DECIMAL(20,4))", "whole"),
        form("double", "CAST({0} AS DOUBLE)", "exact"),
        form("double", "CAST({0} AS FLOAT)", "text"),
        form("text", "CAST({0} AS STRING)", "exact"),
        form("text", "CAST({0} AS STRING)", "moment"),
        form("text", "CAST({0} AS STRING)", "entry"),
        form("truth", "CAST({0} AS BOOLEAN)", "text"),
        form("moment", "CAST({0} AS TIMESTAMP)", "day"),
        form("day", "CAST({0} AS DATE)", "local"),
        form("words", "CAST({0} AS ARRAY<STRING>)", "list"),
    ),
    "try_cast": (
        form("whole", "TRY_CAST({0} AS TINYINT)", "whole"),
        form("whole", "TRY_CAST({0} AS INT)", "text"),
        form("whole", "TRY_CAST({0} AS INT)", "double"),
    ),
    "array": (form("list", "array({0}, {1})", "few", "few"),),
    "[]": (form("whole", "{0}[1]", "list"), form("whole", "{0}['a']", "scores")),
    "element_at": (form("whole", "element_at({0}, -1)", "list"),),
    "size": (form("whole", "size({0})", "list"), form("whole", "size({0})", "scores")),
    "cardinality": (form("whole", "cardinality({0})", "words"),),
    "field": (form("whole", "{0}.x", "entry"), form("text", "{0}.Y", "entry")),
    "named_struct": (
        form("entry", "named_struct('x', CAST({0} AS INT), 'y', {1})", "whole", "text"),
    ),
    "array_contains": (form("truth", "array_contains({0}, {1})", "list", "few"),),
    "array_min": (form("whole", "array_min({0})", "list"),),
    "array_max": (form("whole", "array_max({0})", "list"),),
    "map_keys": (form("whole", "size(map_keys({0}))", "scores"),),
    "map_values": (form("whole", "size(map_values({0}))", "scores"),),
    "transform": (
        form("list", "transform({0}, x -> x + {1})", "list", "few"),
        form("list", "transform({0}, (x, i) -> x * i)", "list"),
    ),
    "filter": (form("list", "filter({0}, x -> x > {1})", "list", "few"),),
    "exists": (form("truth", "exists({0}, x -> x > {1})", "list", "few"),),
    "forall": (form("truth", "forall({0}, x -> x > {1})", "list", "few"),),
    "aggregate": (
        form("whole", "aggregate({0}, 0, (p, x) -> p + coalesce(x, 1))", "list"),
        form("double", "aggregate({0}, 1.0D, (p, x) -> p * x, p -> p / 2)", "list"),
    ),
    "reduce": (form("text", "reduce({0}, '', (p, x) -> concat(p, x))", "words"),),
}
ALL_FORMS = tuple(one for forms in FORMS.values() for one in forms)


def plain_expressions():
    """Every form once for each of the first leaves that fit into its holes."""
    for one in ALL_FORMS:
        for place in range(3):
            leaves = [LEAVES[kind][place % len(LEAVES[kind])] for kind in one.takes]
            yield one.written.format(*leaves)
            if not one.takes:
                break


def deep_expressions(count, seed, depth=3):
    """So many random expressions, several forms deep."""
    dice = random.Random(seed)
    for _ in range(count):
        one = dice.choice(ALL_FORMS)
        yield _filled(one, depth - 1, dice)


def _filled(one, depth, dice):
    """A form with its holes filled."""
    return one.written.format(*(_expression(kind, depth, dice) for kind in one.takes))


def _expression(kind, depth, dice):
    """A random expression of a kind."""
    forms = [one for one in ALL_FORMS if one.gives == kind]
    if depth == 0 or not forms or dice.random() < 0.2:
        return dice.choice(LEAVES[kind])
    return _filled(dice.choice(forms), depth - 1, dice)
