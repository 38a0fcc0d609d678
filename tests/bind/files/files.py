"""Files of every sort with what is read of them, the same with and without Spark."""

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from dovetail.schema import Schema
from dovetail.spec.program import AnyLayout, CsvLayout, Given, Heading, NumberRange

INFINITE = float("inf")


@dataclass(frozen=True)
class Good:
    """A file, the columns that a program declares, and the rows that it has."""

    name: str
    content: object
    columns: dict
    rows: list
    layout: object = field(default_factory=AnyLayout)
    exact: bool = False
    optional: tuple = ()


@dataclass(frozen=True)
class Bad:
    """A file, a column that a program declares, and the value that stops it."""

    name: str
    content: object
    columns: dict
    says: str
    expected: str
    ranges: tuple = ()
    exact: bool = False


def given(case):
    """The input that a program declares."""
    logical = case.name.partition("/")[0].partition(".")[0]
    layout = getattr(case, "layout", AnyLayout())
    return Given(
        logical,
        Schema.of(case.columns),
        layout=layout,
        ranges=getattr(case, "ranges", ()),
        exact=case.exact,
        optional=getattr(case, "optional", ()),
    )


def write(folder, case):
    """Writes the file of a case; a list of contents is a folder of parts."""
    if isinstance(case.content, list) and "/" in case.name:
        for number, part in enumerate(case.content):
            _write(folder / case.name.replace("*", str(number)), part)
    else:
        _write(folder / case.name, case.content)


def _write(place, content):
    place.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case pa.Table():
            pq.write_table(content, place)
        case str():
            place.write_text(content, encoding="utf-8")
        case bytes():
            place.write_bytes(content)
        case _:
            place.write_text(json.dumps(content), encoding="utf-8")


GOOD = [
    Good(
        "names_have_no_case.csv",
        "Id, name,more\n1,Rita  ,x\n2,,y\n,Tom\n",
        {"id": "bigint", "NAME": "string"},
        [(1, "Rita"), (2, ""), (0, "Tom")],
    ),
    Good(
        "values.csv",
        'whole,exact,real,yes\n +7 ,1.255,1e3,TRUE\n-12,-.5,-Infinity,0\n"","","",\n',
        {
            "whole": "bigint",
            "exact": "decimal(5,2)",
            "real": "double",
            "yes": "boolean",
        },
        [
            (7, Decimal("1.26"), 1000.0, True),
            (-12, Decimal("-0.50"), -INFINITE, False),
            (0, Decimal("0.00"), 0.0, False),
        ],
    ),
    Good(
        "quotes.csv",
        'a,b\n"one\ntwo","say ""hi"""\n"x,y", z \n',
        {"a": "string", "b": "string"},
        [("one\ntwo", 'say "hi"'), ("x,y", " z")],
    ),
    Good(
        "nested.csv",
        'set,record\n"[1,""2""]","{""A"":1.10,""b"":[""u ""]}"\n,\n',
        {"set": "array<bigint>", "record": "struct<a:decimal(30,3),b:array<string>>"},
        [
            ([1, 2], {"a": Decimal("1.100"), "b": ["u"]}),
            ([], {"a": Decimal("0.000"), "b": []}),
        ],
    ),
    Good(
        "places.csv",
        "1|it's|9\n2\n",
        {"id": "bigint", "name": "string"},
        [(1, "it's"), (2, "")],
        CsvLayout("|", '"', heading=Heading.NONE),
    ),
    Good(
        "a_first_line_of_values.csv",
        "1,Rita\n2,Tom\n",
        {"id": "bigint", "name": "string"},
        [(1, "Rita"), (2, "Tom")],
    ),
    Good(
        "values_that_name_a_column.csv",
        "id,name\nx,y\n",
        {"id": "string", "name": "string"},
        [("id", "name"), ("x", "y")],
        CsvLayout(heading=Heading.NONE),
    ),
    Good(
        "bytes.json",
        {"data": "AAEC"},
        {"data": "binary"},
        [(b"\0\1\2",)],
    ),
    Good(
        "list.json",
        [{"ID": 1, "deep": {"K": 12345678901234567890.5}}, {"ID": None}],
        {"id": "bigint", "deep": "struct<k:decimal(30,2)>"},
        [(1, {"k": Decimal("12345678901234567000.00")}), (0, {"k": Decimal("0.00")})],
    ),
    Good(
        "lines.jsonl",
        '{"n":12345678901234567890.25,"t":"01"}\n\n{"t":1.10,"u":{"b":[1.10,true]}}\n',
        {"n": "decimal(30,2)", "t": "string", "u": "string"},
        [
            (Decimal("12345678901234567890.25"), "01", ""),
            (Decimal("0.00"), "1.10", '{"b":[1.10,true]}'),
        ],
    ),
    Good("empty.json", "", {"id": "bigint"}, []),
    Good(
        "parts/part-*.csv",
        ["b,a\n1,2\n", "b,a\n3,4\n5,6\n"],
        {"a": "bigint"},
        [(2,), (4,), (6,)],
    ),
    Good(
        "typed.parquet",
        pa.table(
            {
                "small": pa.array([1, None], pa.int16()),
                "real": pa.array([0.5, None], pa.float32()),
                "huge": pa.array([2**64 - 1, None], pa.uint64()),
                "Text": ["a  ", None],
                "rows": [[{"B": 1, "c": "x "}, None], None],
            }
        ),
        {
            "small": "bigint",
            "real": "double",
            "huge": "decimal(20,0)",
            "text": "string",
            "rows": "array<struct<b:bigint,c:string>>",
        },
        [
            (1, 0.5, Decimal(2**64 - 1), "a", [{"b": 1, "c": "x"}, {"b": 0, "c": ""}]),
            (0, 0.0, Decimal(0), "", []),
        ],
    ),
    Good(
        "turned.parquet",
        pa.table({"n": ["12", " "], "t": [7, None], "d": pa.array(["1.25", None])}),
        {"n": "bigint", "t": "string", "d": "decimal(4,1)"},
        [(12, "7", Decimal("1.3")), (0, "", Decimal("0.0"))],
    ),
]
GOOD += [
    Good(
        "exact_texts.csv",
        'a,b,n\n x  ,y ,1\n"",, 2 \n',
        {"a": "string", "b": "string", "n": "int"},
        [(" x  ", "y ", 1), ("", None, 2)],
        exact=True,
        optional=("b",),
    ),
    Good(
        "exact_values.jsonl",
        '{"m":{"1":[" a "],"2":[]},"o":null,"s":"b ","l":["1",2]}\n'
        '{"m":{},"o":{"x":null},"l":[]}\n',
        {
            "m": "map<int,array<string>>",
            "o": "struct<x:int>",
            "s": "string",
            "l": "array<bigint>",
        },
        [
            ({1: [" a "], 2: []}, None, "b ", [1, 2]),
            ({}, {"x": None}, "", []),
        ],
        exact=True,
        optional=("o",),
    ),
    Good(
        "exact_types.parquet",
        pa.table(
            {
                "m": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())),
                "n": [1, None],
            }
        ),
        {"m": "map<string,bigint>", "n": "bigint"},
        [({"a": 1}, 1), ({}, None)],
        exact=True,
        optional=("n",),
    ),
    Good(
        "times.csv",
        "at,day\n2026-01-02T03:04:05.5000000Z,2026-01-02\n",
        {"at": "timestamp", "day": "date"},
        [(datetime(2026, 1, 2, 3, 4, 5, 500000, UTC), date(2026, 1, 2))],
        exact=True,
    ),
    Good(
        "whole.csv",
        "price\n1.2500\n125e-2\n0.0e-9\n",
        {"price": "decimal(5,2)"},
        [(Decimal("1.25"),), (Decimal("1.25"),), (Decimal("0.00"),)],
        exact=True,
    ),
]
SMALL = (NumberRange("x", 0, 65535, "UNSIGNED2"),)
# The first lines are read by us, for the names; what is odd stands behind them.
MANY, TEXTS = "Rita\n" * 20_000, {"x": "string"}
BAD = [
    Bad("lacks.csv", "x,y\n,1\n", {"x": "int"}, "no value", "int", exact=True),
    Bad("lacks.json", {"y": 1, "x": None}, {"x": "int"}, "no value", "int", exact=True),
    Bad("keys.json", {"x": {"a": 1}}, {"x": "map<int,int>"}, '"a"', "int"),
    Bad("map.json", {"x": 7}, {"x": "map<int,int>"}, '"x" has "7"', "map<int,int>"),
    Bad("day.csv", "x\nMay\n", {"x": "date"}, '"x" has "May"', "date"),
    Bad("whole.csv", "id\n1\n2x\n", {"id": "bigint"}, '"id" has "2x"', "bigint"),
    Bad("part.csv", "id\n1.5\n", {"id": "bigint"}, '"id" has "1.5"', "bigint"),
    Bad("range.csv", f"id\n{2**63}\n", {"id": "bigint"}, "has", "bigint"),
    Bad("exact.csv", "x\n123.4\n", {"x": "decimal(4,2)"}, '"123.4"', "decimal(4,2)"),
    Bad("huge.csv", "x\n1e999\n", {"x": "double"}, '"x" has "1e999"', "double"),
    Bad("wide.csv", "x\n1e39\n", {"x": "float"}, '"x" has "1e39"', "float"),
    Bad("huge.json", '{"x": -1e999}', {"x": "double"}, '"-1e999"', "double"),
    *(
        Bad(f"{name}.csv", f"x\n{text}\n", {"x": kind}, f'"{text}"', kind, exact=True)
        for name, kind, text in (
            ("digits", "decimal(5,2)", "1.255"),
            ("moved", "decimal(5,2)", "125e-3"),
            ("hour", "date", "2026-03-02 23:00"),
            ("nano", "timestamp", "2026-03-02T12:00:00.1234567"),
            ("zone", "timestamp_ntz", "2026-03-02T12:00:00+05:00"),
        )
    ),
    Bad(
        *("digits.json", {"x": [1.255]}, {"x": "array<decimal(5,2)>"}),
        *('"1.255"', "decimal(5,2)"),
        exact=True,
    ),
    Bad("real.csv", "x\n1.5f\n", {"x": "double"}, '"x" has "1.5f"', "double"),
    Bad("truth.csv", "x\nyes\n", {"x": "boolean"}, '"x" has "yes"', "boolean"),
    Bad("set.csv", "x\n7\n", {"x": "array<bigint>"}, '"x" has "7"', "array<bigint>"),
    Bad("object.json", {"x": 2.0}, {"x": "bigint"}, '"x" has "2.0"', "bigint"),
    Bad("inside.json", {"x": ["1", "b"]}, {"x": "array<bigint>"}, '"b"', "bigint"),
    Bad("long.csv", "a,b\n1,2,3\n", {"a": "bigint"}, "values", ""),
    Bad(
        "big.parquet",
        pa.table({"x": pa.array([2**63], pa.uint64())}),
        {"x": "bigint"},
        f'"x" has "{2**63}"',
        "bigint",
    ),
    Bad("latin.csv", f"x\n{MANY}René\n".encode("latin-1"), TEXTS, "no UTF-8", "UTF-8"),
    Bad("small.csv", "x\n70000\n", {"x": "bigint"}, '"70000"', "UNSIGNED2", SMALL),
    Bad("sign.json", {"x": -1}, {"x": "bigint"}, '"x" has "-1"', "UNSIGNED2", SMALL),
    Bad(
        "small.parquet",
        pa.table({"x": pa.array([1, 65536])}),
        {"x": "bigint"},
        '"x" has "65536"',
        "UNSIGNED2, from 0 to 65535",
        SMALL,
    ),
]
