"""What of an index a few left rows need: its row groups, and in them which keys.

    left keys     row groups            needed
    BAKER         0: ADAM .. BELL       BAKER .. BAKER of group 0
    COOK          1: BELL .. COOK       COOK .. COOK of groups 1 and 2
                  2: COOK .. DUNN

Spark compares the keys itself, in one small job: the left rows against the bounds of
the row groups. So all types and their order are Spark's, and only what is needed comes
to the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import DataType, NumericType

from dovetail.engines.spark_index.layout import (
    COUNT,
    FILE,
    HIGH,
    LOW,
    NUMBER,
    Build,
    key_name,
)
from dovetail.engines.spark_index.values import carried

_TOTAL, _FROM, _TO = "total", "from", "to"


@dataclass(frozen=True, slots=True)
class Term:
    """An equality: a key of the index, and what of a left row must be equal to it."""

    key: str
    left: Column


@dataclass(frozen=True, slots=True)
class Stretch:
    """Keys that a row group may hold: some fixed, the last between two values."""

    file: str
    number: int
    rows: int
    fixed: tuple[object, ...]
    low: object
    high: object


@dataclass(frozen=True, slots=True)
class Needs:
    """What left rows need: so many were looked at, their keys' types, the stretches."""

    left_rows: int
    stretches: tuple[Stretch, ...]
    types: tuple[DataType, ...] = ()


def usable(left: DataFrame, terms: Sequence[Term], build: Build) -> list[Term]:
    """Returns the terms on the first keys, without a gap, whose types have one order.

    A text and a number may be equal, but do not lie in one order.
    """
    by_key = {term.key.lower(): term for term in reversed(terms)}
    found: list[Term] = []
    for name in build.keys:
        term = by_key.get(name.lower())
        if term is None or not _in_order(left, term, build.schema[name].dataType):
            break
        found.append(term)
    return found


def _in_order(left: DataFrame, term: Term, kind: DataType) -> bool:
    """Tells whether the left values are ordered as the key is."""
    given = left.select(term.left).schema[0].dataType
    numbers = isinstance(given, NumericType) and isinstance(kind, NumericType)
    return given == kind or numbers


def needs_of_keys(
    left: DataFrame, terms: Sequence[Term], build: Build, most: int
) -> Needs:
    """Returns what the first left rows need by their keys, one more than `most`."""
    names = [key_name(number) for number in range(len(terms))]
    columns = [term.left.alias(name) for term, name in zip(terms, names, strict=True)]
    keys = _few(left.select(*columns), most)
    holds = _at_least(LOW, names) & _at_most(HIGH, names)
    parts = build.parts(left.sparkSession)
    met = keys.join(F.broadcast(parts), holds, "left")
    *fixed, last = names
    types = keys.schema
    ends = [F.min(last).alias(_FROM), F.max(last).alias(_TO)]
    stretches = met.groupBy(FILE, NUMBER, COUNT, *fixed).agg(
        *ends, F.first(_TOTAL).alias(_TOTAL)
    )
    told = stretches.withColumns(
        {
            **{name: carried(F.col(name), types[name].dataType) for name in fixed},
            **{end: carried(F.col(end), types[last].dataType) for end in (_FROM, _TO)},
        }
    )
    found = _needs(told.collect(), fixed)
    return replace(found, types=tuple(types[name].dataType for name in names))


def _few(keys: DataFrame, most: int) -> DataFrame:
    """Returns the first rows, each once, with how many they are together."""
    total = F.count(F.lit(1)).over(Window.partitionBy(F.lit(1)))
    return keys.limit(most + 1).withColumn(_TOTAL, total).distinct()


def _needs(found: list[Row], fixed: Sequence[str]) -> Needs:
    """Returns what has been collected; keys that no row group holds have no file."""
    stretches = [
        Stretch(
            row[FILE],
            row[NUMBER],
            row[COUNT],
            tuple(row[name] for name in fixed),
            row[_FROM],
            row[_TO],
        )
        for row in found
        if row[FILE] is not None
    ]
    stretches.sort(key=lambda one: (one.file, one.number))
    total = max((row[_TOTAL] for row in found), default=0)
    return Needs(total, tuple(stretches))


def _at_least(bound: str, names: Sequence[str]) -> Column:
    """Returns whether the keys are not before a lower bound; a null one is first."""
    return _beyond(
        [
            (F.col(bound)[name].isNull(), F.col(bound)[name], F.col(name))
            for name in names
        ]
    )


def _at_most(bound: str, names: Sequence[str]) -> Column:
    """Returns whether the keys are not behind an upper bound."""
    no = F.lit(False)  # noqa: FBT003 - a value, not a switch
    return _beyond([(no, F.col(name), F.col(bound)[name]) for name in names])


def _beyond(pairs: Sequence[tuple[Column, Column, Column]]) -> Column:
    """Returns whether values are below others, the first that differ decide."""
    yes, no = F.lit(True), F.lit(False)  # noqa: FBT003 - values, not switches
    found = yes
    for is_free, lower, upper in reversed(pairs):
        below = is_free | F.coalesce(lower < upper, no)
        found = below | (F.coalesce(lower == upper, no) & found)
    return found
