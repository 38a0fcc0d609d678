"""One row of each set that has a key, where enough sets have it.

First the keys are counted, then each set gives its rows to those that count: the rows
of keys that too few or too many sets have are never put together.

    a: 1 2 2    b: 2 3    c: 2 3     2 or more sets: 2 and 3
                                     2 a b c, 2 a b c (the other 2 of a), 3 - b c
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.run.spark_batch.set_columns import are_equal, are_known, is_there, keys_of
from dovetail.spec.join import SetJoinSpec

_SETS = "__sets"
# A whole number has a bit for each of so many sets.
_BITS = 63


def of_some(join: SetJoinSpec, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns one row of each set that has a key, for every key that enough have."""
    is_simple = join.stepped and len(sets) <= _BITS and _has_one_type(join, sets)
    return _of_keys(join, sets) if is_simple else _counted_last(join, sets)


def _of_keys(join: SetJoinSpec, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns the rows of the keys, which are found first.

    Spark moves the rows of each set once: left joins keep the keys where they are.
    """
    found = _keys(join, sets)
    for number, one in enumerate(sets):
        found = found.join(one, _meets(join, number), "left_outer")
    return found


def _keys(join: SetJoinSpec, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns every key once that enough sets have, and not too many."""
    keys = [
        one.select(*_steps_of(join, number), F.lit(1 << number).alias(_SETS))
        for number, one in enumerate(sets)
    ]
    steps = _steps(join)
    rows = reduce(DataFrame.unionByName, keys).where(are_known(steps))
    counted = rows.groupBy(*steps).agg(F.bit_count(F.bit_or(_SETS)).alias(_SETS))
    return counted.where(F.col(_SETS).between(join.least, join.most)).drop(_SETS)


def _counted_last(join: SetJoinSpec, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns the same where keys are of several types, or there are none.

    Of other types, two keys of one set that differ could both equal one of another.
    """
    first, *others = (
        one.where(are_known(keys_of(join, number))) for number, one in enumerate(sets)
    )
    found = first.select("*", *_steps_of(join, 0))
    for number, other in enumerate(others, start=1):
        joined = found.join(other, _meets(join, number), "full_outer")
        own = keys_of(join, number)
        either = zip(_steps(join), own, strict=True)
        known = {step: F.coalesce(step, key) for step, key in either}
        found = joined.withColumns(known) if known else joined
    there = (is_there(join, number).cast("int") for number in range(len(sets)))
    return found.where(reduce(add, there).between(join.least, join.most))


def _meets(join: SetJoinSpec, number: int) -> Column:
    """Returns whether a set's row has the key that was found."""
    return are_equal(_steps(join), keys_of(join, number))


def _steps(join: SetJoinSpec) -> list[str]:
    """Returns the names of the parts of the keys that were found."""
    return [f"__step_{place}" for place, _ in enumerate(join.stepped)]


def _steps_of(join: SetJoinSpec, number: int) -> list[Column]:
    """Returns a set's key under the names of the keys that were found."""
    named = zip(keys_of(join, number), _steps(join), strict=True)
    return [F.col(key).alias(step) for key, step in named]


def _has_one_type(join: SetJoinSpec, sets: Sequence[DataFrame]) -> bool:
    """Tells whether the keys of all sets have the same types."""
    kinds = {
        tuple(kind for _, kind in one.select(*keys_of(join, number)).dtypes)
        for number, one in enumerate(sets)
    }
    return len(kinds) == 1
