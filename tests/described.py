"""Calls of the public functions without Spark, and what every refusal must have.

A sentence names the argument, what came, and what is expected, and has a hint; it has
no word of case files and no class of a library.
"""

import re

import pytest
from pyspark.sql.types import (
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
)

import dovetail as dt

TYPES = {
    "int": IntegerType,
    "bigint": LongType,
    "double": DoubleType,
    "string": StringType,
    "timestamp": TimestampType,
    "map": lambda: MapType(StringType(), LongType()),
    "variant": VariantType,
}


class Settings(dict):
    """What a session is told, as a Spark keeps it."""

    def set(self, name, value):
        self[name] = value

    def unset(self, name):
        self.pop(name, None)


class Session:
    """A session that has settings, and does nothing."""

    def __init__(self):
        self.conf = Settings()


class Frame:
    """What is read of a DataFrame before anything runs."""

    def __init__(self, ddl, *, streams=True, session=None):
        fields = [field.split() for field in ddl.split(", ")]
        self.schema = StructType(
            [StructField(one, TYPES[two]()) for one, two in fields]
        )
        self.columns, self.isStreaming = self.schema.names, streams
        self.sparkSession = session or Session()

    def where(self, condition):  # noqa: ARG002 - nobody is there to ask
        """Takes any condition: of what Spark alone knows nobody is there to ask."""
        return self


class Column:
    """As a Column of Spark, which nobody may ask whether it is equal."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __eq__(self, other):
        return self

    __ne__ = __eq__
    __hash__ = object.__hash__

    def __bool__(self):
        raise ValueError("Cannot convert column into bool")

    def __repr__(self):
        return "Column<'l.k'>"


def sink(rows, batch):
    """A function as a sink."""


LEFT = Frame("k int, at timestamp, n bigint, w string, d double")
RIGHT = Frame("k int, seen timestamp, m bigint, v string")
STILL = Frame("k int, at timestamp, n bigint", streams=False)
TEN = dt.range(preceding="10 minutes")
CONDITION = Column()
SIDES = {"left": {"from": "a"}, "right": {"from": "b"}}


def orders(**facts):
    return dt.stream(LEFT, **{"time": "at", **facts})


def trades(**facts):
    return dt.stream(RIGHT, **{"time": "seen", **facts})


def join(other=None, **wish):
    other = trades().window(TEN) if other is None else other
    return orders().window(TEN).join(other, **{"on": "k", **wish})


def write(**how):
    return join().write(**{"checkpoint": "/c", "matched": dt.folder("/out"), **how})


def still():
    return dt.dataset(STILL).join(dt.dataset(STILL), on=["k", "at", "n"])


def asof(left="l.at", right="r.seen", **how):
    return dt.asof(left, right, **how)


def data_join(**given):
    spec = {"type": "inner", "clock": "batch", **SIDES}
    frames = {"a": STILL, "b": STILL}
    known = {"spec": spec, "frames": frames, **given}
    return dt.join(known.pop("spec"), known.pop("frames"), **known)


FOREIGN = re.compile(
    r"NoneType|pyspark|py4j|Py4J|Exception|Traceback|sqlglot|<locals>| object at 0x"
    r"|partition_by|\bsoft\b|\bhard\b"
)


OF_CASES = re.compile(
    r'"(window|range|tolerance|hop|time)":|\bthe clock\b|in "time"|outer_rows'
)


def refusal(call):
    with pytest.raises(dt.DovetailError) as refused:
        call()
    error = refused.value
    assert error.hint, f"no hint: {error}"
    assert not FOREIGN.search(f"{error.found} {error.expected} {error.hint}"), error
    assert not OF_CASES.search(f"{error.expected} {error.hint}"), error
    return error


def still_picture():
    return join().picture(left=[], right=[])
