"""One row of each set that has a key, where enough sets have it.

Full joins put the sets side by side, one after the other; then it is counted how many
sets are there.

    a: 1 2 2    b: 2 3    c: 2 3     2 or more sets: 2 and 3
                                     2 a b c, 2 a b c (the other 2 of a), 3 - b c
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.set_columns import (
    are_equal,
    are_known,
    is_there,
    keys_of,
)
from dovetail.kernels.arrays.names import reserved
from dovetail.spec.join import SetJoinSpec


def of_some(join: SetJoinSpec, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns one row of each set that has a key, for every key that enough have."""
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
    return [reserved(f"step_{place}") for place, _ in enumerate(join.stepped)]


def _steps_of(join: SetJoinSpec, number: int) -> list[Column]:
    """Returns a set's key under the names of the keys that were found."""
    named = zip(keys_of(join, number), _steps(join), strict=True)
    return [F.col(key).alias(step) for key, step in named]
