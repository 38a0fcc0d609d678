"""Random expressions: one form at least for every function of the table.

A form says what kind of value it gives, how it is written, and which kinds go into its
holes. A new function that has no form here fails a test, so it joins every law.
Kinds that a function could blow up on (how long a padded text is, how far a date is
moved) have names of their own and stay small.
"""

import math
import random
from datetime import UTC, date, datetime
from decimal import Decimal

from dovetail.expression import Scope
from dovetail.schema import Schema
from tests.expression.forms import FORMS

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
    "vast": "decimal(38,0)",
    "fine": "decimal(38,38)",
    "numbers": "array<int>",
    "names": "array<string>",
    "entry": "struct<x:int,y:string>",
    "scores": "map<string,int>",
    "raw": "binary",
}
SCHEMA = Schema.of(TYPES)
SCOPE = Scope.pair(SCHEMA, SCHEMA)

# As many as there can be. Not all nines: Spark fails where it rounds a sign away.
DIGITS = "98765432109876543210987654321098765432"
EDGES = {
    "truth": [True, False],
    "tiny": [0, 1, -1, 7, 127, -128],
    "small": [0, 2, -3, 300, 32767, -32768],
    "number": [0, 1, -7, 12345, 2**31 - 1, -(2**31)],
    "big": [0, 1, -1, 10**12, 2**63 - 1, -(2**63)],
    "single": [0.0, 1.5, -2.25, 16777216.0, math.nan, math.inf],
    "real": [
        *(0.0, -0.0, -0.5, 2.5, 3.5, 0.1, 1e300, math.nan),
        *(math.inf, -math.inf, 1e7, 0.001),
    ],
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
        "2019-12-31 23:59:59.5",
        "ünï",
        "ΑΣ😀é",
        "a-b c,12",
        "%_",
        "x\ny",
    ],
    "day": [
        date(1970, 1, 1),
        date(2020, 2, 29),
        date(1969, 12, 31),
        date(2001, 1, 31),
        date(1900, 2, 28),
        date(60, 2, 29),
        date(9940, 12, 31),
    ],
    "moment": [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2020, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
        datetime(2001, 1, 31, 12, 30, tzinfo=UTC),
        datetime(60, 2, 29, 1, 1, 1, 100_000, tzinfo=UTC),
        datetime(9940, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ],
    "local": [datetime(1970, 1, 1), datetime(2020, 2, 29, 1, 2, 3, 4)],  # noqa: DTZ001
    "price": [
        *(Decimal("0.00"), Decimal("1.50"), Decimal("0.05"), Decimal("-0.01")),
        *(Decimal("-999.99"), Decimal("999.99")),
    ],
    "count": [Decimal(0), Decimal(7), Decimal(-9999999999), Decimal(9999999999)],
    "wide": [
        Decimal(0).scaleb(-18),
        Decimal("1.500000000000000000"),
        Decimal("-12345678901234567890.123456789012345678"),
        Decimal("98765432109876543210.987654321098765432"),
    ],
    "vast": [Decimal(0), Decimal(3), Decimal(DIGITS), Decimal(f"-{DIGITS}")],
    "fine": [Decimal("0e-38"), Decimal("1e-38"), Decimal(f"-0.{DIGITS}")],
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
    "exact": ["l.price", "r.price", "l.count", "r.wide", "1.5", "0.05"],
    "limit": ["l.vast", "r.fine", "l.wide", "r.count"],
    "double": ["l.real", "r.real", "l.single", "2.5D", "0.1D", "1e3"],
    "few": ["l.tiny", "r.tiny", "1", "2", "0", "-1"],
    "number": ["l.number", "r.small", "7L"],
    "real": ["l.real", "r.single"],
    "text": ["l.text", "r.text", "'a'", "'Ab c'", "''", "'7'"],
    "letter": ["'a'", "'ü'", "''", "'xy'", "r.truth"],
    "dated": ["l.text", "r.text", "'2020-02-29'", "'2019-12-31T23:59:59.123456+02:00'"],
    "slight": ["1", "2", "0", "-1", "3"],
    "years": ["2020", "1999", "60", "9940", "1900", "2001"],
    "days": ["1", "28", "29", "30", "31", "32", "0", "-1"],
    "pattern": ["'%a%'", "'a_'", "'%'", "r.text", "''"],
    "unit": ["'year'", "'month'", "'week'", "'hour'", "'second'", "'nothing'"],
    "day": ["l.day", "r.day", "DATE '2020-02-29'"],
    "moment": ["l.moment", "r.moment", "TIMESTAMP '2020-02-29 12:00:00'"],
    "local": ["l.local", "r.local"],
    "modern": [
        "TIMESTAMP '2020-03-29 02:30:00'",
        "TIMESTAMP '2020-10-25 02:30:00'",
        "TIMESTAMP '2020-11-01 01:30:00'",
        "TIMESTAMP '2019-07-01 12:00:00.5'",
    ],
    "near": ["TIMESTAMP '2020-02-29 12:00:00'", "TIMESTAMP_NTZ '1999-12-31 23:59:59'"],
    "nearday": ["DATE '2020-02-29'", "DATE '1999-12-31'"],
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


ALL_FORMS = tuple(one for forms in FORMS.values() for one in forms)
# The functions that give a kind: each as likely as another, however many forms it has.
BY_KIND = {
    kind: [
        [one for one in forms if one.gives == kind]
        for forms in FORMS.values()
        if any(one.gives == kind for one in forms)
    ]
    for kind in {one.gives for one in ALL_FORMS}
}


def plain_expressions(*names):
    """Every form once for each of the first leaves that fit into its holes."""
    for one in (one for name in names or FORMS for one in FORMS[name]):
        for place in range(3):
            leaves = [LEAVES[kind][place % len(LEAVES[kind])] for kind in one.takes]
            yield one.written.format(*leaves)
            if not one.takes:
                break


def deep_expressions(count, seed, depth=3):
    """So many random expressions, several forms deep."""
    dice = random.Random(seed)
    for _ in range(count):
        forms = dice.choice(tuple(FORMS.values()))
        yield _filled(dice.choice(forms), depth - 1, dice)


def _filled(one, depth, dice):
    """A form with its holes filled."""
    return one.written.format(*(_expression(kind, depth, dice) for kind in one.takes))


def _expression(kind, depth, dice):
    """A random expression of a kind."""
    functions = BY_KIND.get(kind)
    if depth == 0 or not functions or dice.random() < 0.2:
        return dice.choice(LEAVES[kind])
    return _filled(dice.choice(dice.choice(functions)), depth - 1, dice)
