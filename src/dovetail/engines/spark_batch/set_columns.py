"""The columns of several sets side by side, under names with the number of their set.

A stepped column stands there once, as what sets are joined by:

    set 0   __key_0_0  __0_name  __place_0      set 1   __key_1_0  __1_name  __place_1
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.arrivals import PLACE
from dovetail.engines.spark_batch.truth import yes
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import Column as Field
from dovetail.schema import Schema, quoted
from dovetail.spec.join import SetJoinSpec, SetKind


def set_columns(
    join: SetJoinSpec, schema: Schema, frame: DataFrame, number: int
) -> DataFrame:
    """Returns the rows of a set with the columns of all, null where it has none."""
    own = {name.lower() for name in frame.columns}
    values = [
        (F.col(quoted(field.name)) if field.name.lower() in own else F.lit(None))
        .cast(str(field.type))
        .alias(_value(number, field))
        for field in schema.columns
        if field.name.lower() not in _stepped(join)
    ]
    keys = [
        F.col(quoted(name)).alias(key)
        for key, name in zip(keys_of(join, number), join.stepped, strict=True)
    ]
    return frame.select(*values, *keys, F.col(PLACE).alias(place_of(number)))


def row_of(join: SetJoinSpec, schema: Schema, number: int) -> Column:
    """Returns the row of a set, whether it is there or not."""
    keys = dict(zip(_stepped(join), keys_of(join, number), strict=True))
    values = [
        F.col(quoted(keys.get(field.name.lower(), _value(number, field))))
        .cast(str(field.type))
        .alias(field.name)
        for field in schema.columns
    ]
    return F.struct(*values)


def is_there(join: SetJoinSpec, number: int) -> Column:
    """Returns whether the row of a set is there, once sets stand side by side."""
    if join.kind is SetKind.INNER or (number == 0 and join.kind is not SetKind.M_OF_N):
        return yes()
    if join.stepped:
        return F.col(keys_of(join, number)[0]).isNotNull()
    return F.col(place_of(number)).isNotNull()


def keys_of(join: SetJoinSpec, number: int) -> list[str]:
    """Returns the names of the stepped columns of a set."""
    return [reserved(f"key_{number}_{place}") for place, _ in enumerate(join.stepped)]


def place_of(number: int) -> str:
    """Returns the name of the column with the places of a set's rows."""
    return reserved(f"place_{number}")


def are_equal(some: Sequence[str], others: Sequence[str]) -> Column:
    """Returns whether columns equal others, each its own."""
    terms = (
        F.col(one) == F.col(other) for one, other in zip(some, others, strict=True)
    )
    return reduce(Column.__and__, terms, yes())


def are_known(names: Sequence[str]) -> Column:
    """Returns whether no column is null."""
    return reduce(Column.__and__, (F.col(name).isNotNull() for name in names), yes())


def _value(number: int, field: Field) -> str:
    """Returns the name of a column that is not stepped."""
    return reserved(f"{number}_{field.name}")


def _stepped(join: SetJoinSpec) -> list[str]:
    """Returns the stepped columns as names are compared."""
    return [name.lower() for name in join.stepped]
